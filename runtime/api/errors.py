"""The ways in which a call to the runtime fails."""

from __future__ import annotations


class CRIError(Exception):
    """A runtime call failed; the text is the runtime's own. Expected: callers turn it into statuses and events."""


class NotFoundError(CRIError):
    """What the call names does not exist."""


class AlreadyExistsError(CRIError):
    """The name is taken by something that can't be adopted."""


class RuntimeUnavailableError(CRIError):
    """The runtime does not answer."""


class SubPathError(CRIError):
    """A part of a volume can't be mounted: it leads out of the volume, or, `is_missing`, it can't be made."""

    def __init__(self, message: str, *, is_missing: bool) -> None:
        """Keep what went wrong beside the message."""
        super().__init__(message)
        self.is_missing = is_missing


class StartError(CRIError):
    """The container's process could not be started; the container is EXITED with 128 and reason StartError."""


class ExecTimeoutError(CRIError):
    """The command ran longer than its timeout and was killed; `output` is what it had printed."""

    def __init__(self, message: str, output: bytes = b"") -> None:
        """Keep the output beside the message."""
        super().__init__(message)
        self.output = output


class ExecStartError(CRIError):
    """The command could not be started at all (no such program, container not running)."""


class ImagePullError(CRIError):
    """A pull failed."""


class ImageNotFoundError(ImagePullError):
    """The registry has no such image or tag."""


class RegistryUnavailableError(ImagePullError):
    """The registry could not be reached or refuses to serve."""


class SignatureValidationError(ImagePullError):
    """The image's signature was refused."""
