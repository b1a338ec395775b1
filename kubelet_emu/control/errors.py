"""What a request over the control socket can fail with; the texts are a server's or a kubelet's own."""

from __future__ import annotations

import enum


class Reason(enum.Enum):
    """What kind of error an answer is: the API's words where it has one."""

    BAD_REQUEST = "BadRequest"
    UNSUPPORTED_VERSION = "UnsupportedVersion"
    UNKNOWN_METHOD = "UnknownMethod"
    NOT_FOUND = "NotFound"
    CONFLICT = "Conflict"
    INVALID = "Invalid"
    EXPIRED = "Expired"
    TOO_MANY = "TooManyRequests"
    NOT_RUNNING = "NotRunning"
    RUNTIME = "RuntimeError"
    INTERNAL = "InternalError"
    ENDED = "Ended"
    LOST = "Lost"
    """The run's process is gone, and has not said that the run ends: it was killed."""


class ControlError(Exception):
    """A request was refused, or could not be done; `reason` says which kind of refusal."""

    def __init__(self, reason: Reason, message: str) -> None:
        """Keep the reason beside the message."""
        super().__init__(message)
        self.reason = reason

    def __str__(self) -> str:
        """Return the message."""
        return str(self.args[0])
