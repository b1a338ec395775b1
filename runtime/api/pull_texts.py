"""What containerd says of a failed pull, so that every runtime says it in the same words. Pure.

Source: nodes with kubelet v1.36 and containerd, recorded.
"""

from __future__ import annotations

from runtime.api.references import full_name, manifest_url

CUT = "..."
"""What a text ends with of which there was more."""


def not_found(name: str) -> str:
    """Say that the registry has no such image or tag."""
    return f"rpc error: code = NotFound desc = {_resolving(name)}{full_name(name)}: not found"


def no_answer(name: str, reason: str) -> str:
    """Say that the registry could not be asked: `dial tcp 127.0.0.1:1: connect: connection refused`."""
    return f'{_resolving(name)}failed to do request: Head "{manifest_url(name)}": {reason}'


def bad_status(name: str, status: str) -> str:
    """Say that the registry answered with a status such as `500 Internal Server Error`."""
    return f"{_resolving(name)}unexpected status from HEAD request to {manifest_url(name)}: {status}"


def denied(name: str, reason: str) -> str:
    """Say that the registry wants other credentials, or any."""
    return (
        f"{_resolving(name)}pull access denied, repository does not exist or may require authorization: "
        f"authorization failed: {reason}"
    )


def unresolved(name: str, reason: str) -> str:
    """Say that what the registry answered of the image is of no use."""
    return f"{_resolving(name)}{reason}"


def uncopied(name: str, reason: str) -> str:
    """Say that the content of an image could not be fetched."""
    return f"{_pulling(name)}failed to copy: {reason}"


def no_progress(name: str, duration: str) -> str:
    """Say that a pull was given up, as nothing of it had come for a while."""
    return f"rpc error: code = Canceled desc = {_pulling(name)}no progress for {duration}: context canceled"


def given_up(name: str) -> str:
    """Say that who wanted the image doesn't any more."""
    return f"rpc error: code = Canceled desc = {_pulling(name)}context canceled"


def _pulling(name: str) -> str:
    return f'failed to pull and unpack image "{full_name(name)}": '


def _resolving(name: str) -> str:
    return f"{_pulling(name)}failed to resolve image: "
