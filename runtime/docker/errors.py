"""Turns what the engine and its client say into the kinds of `runtime.api`, once."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from runtime.api import (
    AlreadyExistsError,
    CRIError,
    NotFoundError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_PORT = re.compile(r"driver failed programming external connectivity on endpoint .*?: (?P<why>.*)", re.DOTALL)
_PLACE = re.compile(r"(\[[0-9a-f:.]+\]|\d+(?:\.\d+){3}):\d+")
_PORT_REASONS = {
    "already allocated": "another container of this engine has it",
    "address already in use": "another program of the engine's machine has it",
    "cannot assign requested address": "the engine's machine has no such address",
    "permission denied": "the engine may not open it",
    "protocol not supported": "the engine's machine knows no SCTP",
}
_MOUNT_ADVICE = (
    ": Are you trying to mount a directory onto a file (or vice-versa)? "
    "Check if the specified host path exists and is the expected type"
)
"""What an engine adds to each start that fails with "not a directory", whatever was none."""
_HOLDER = re.compile(r'name "?/?(?P<name>[^" ]+)"? is already in use by container "?(?P<id>[0-9a-f]{64})')


class NotRunningError(CRIError):
    """The container does not run, so it can't be signalled or entered."""


class NameTakenError(AlreadyExistsError):
    """A container of this name exists; `holder` is its id."""

    def __init__(self, message: str, holder: str) -> None:
        """Keep the holder beside the message."""
        super().__init__(message)
        self.holder = holder


def of_answer(status: int, text: str) -> CRIError:
    """Return the error for a refused call: an HTTP status and the engine's own text."""
    if status == 409 and (match := _HOLDER.search(text)):
        return NameTakenError(text, match["id"])
    if status == 404:
        return NotFoundError(text)
    if status in {304, 409} and ("is not running" in text or "is not paused" in text or "is restarting" in text):
        return NotRunningError(text)
    if "is not running" in text and status in {409, 500}:
        return NotRunningError(text)
    if status == 400 and text == "No command specified":
        return CRIError(no_command_failure(secrets.token_hex(32)))
    if match := _NO_PORT.search(text):
        return CRIError(port_failure(match["why"]))
    return CRIError(text or f"the engine answered with status {status}")


def port_failure(why: str) -> str:
    """Return why a host port could not be opened, in words that name the port; unknown words stay as they are."""
    reason = next((ours for theirs, ours in _PORT_REASONS.items() if theirs in why), "")
    if not reason:
        return f"a host port can't be opened: {why}"
    place = _PLACE.search(why)
    return f"host port {place[0]} can't be opened: {reason}" if place else f"a host port can't be opened: {reason}"


def no_command_failure(container_id: str) -> str:
    """Return containerd's words for a container that neither its spec nor its image gives a command.

    It has an ID by then, a new one at each attempt, so the kubelet's events of it are not counted together.
    """
    return f'failed to generate container "{container_id}" spec: failed to generate spec: no command specified'


def start_failure(text: str) -> str:
    """Return the message of a process that could not be started, as containerd words it.

    Source: kubelet v1.36 with containerd: `failed to create containerd task: failed to create shim task: OCI runtime
    create failed: ...`; Docker puts fewer words before the OCI runtime's and `: unknown` behind them.
    """
    text = text.strip().removesuffix(_MOUNT_ADVICE).removesuffix(": unknown")
    at = text.find("OCI runtime create failed")
    if at < 0:
        return f"failed to create containerd task: {text}"
    return f"failed to create containerd task: failed to create shim task: {text[at:]}"


def exec_failure(exec_id: str, text: str) -> str:
    """Return the message of a command that could not be started in a container, as containerd words it."""
    text = text.strip().removesuffix(": unknown")
    return f'rpc error: code = Unknown desc = failed to exec in container: failed to start exec "{exec_id}": {text}'


def exec_in_dead(state: str) -> str:
    """Return the message of an exec in a container that does not run, as containerd words it."""
    return f"rpc error: code = Unknown desc = failed to exec in container: container is in {state} state"


def exec_timeout(command: Sequence[str], seconds: float) -> str:
    """Return the message of a command whose time was over (kubelet v1.36 with containerd)."""
    words = " ".join(command).replace("\\", "\\\\").replace('"', '\\"')
    return f'command timed out: "{words}" timed out after {go_duration(seconds)}'


def go_duration(seconds: float) -> str:
    """Return a length of time as Go prints one: 1s, 1m30s, 500ms."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    head = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{head}{rest:g}s"
