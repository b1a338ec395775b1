"""`exec` from its words to its end: streams between this terminal and a command in a container.

Source: kubectl v1.36 pkg/cmd/exec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import frozen

from kubelet_emu.cli.remote.attachable import Wanted, attachable_pod, container_of, name_of, phase_of
from kubelet_emu.cli.remote.finding import open_run
from kubelet_emu.cli.remote.streaming import Streams, carry, uses_terminal
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.target import Target


@frozen(kw_only=True)
class ExecRequest:
    """What was asked for."""

    wanted: Wanted
    command: tuple[str, ...]
    has_stdin: bool = False
    wants_tty: bool = False


async def execute(target: Target, request: ExecRequest) -> int:
    """Run the command and return its exit code; Refusal, ControlError, InputError."""
    async with open_run(target) as run:
        pod = await attachable_pod(run, target.namespace, request.wanted)
        phase = phase_of(pod)
        if phase in {"Succeeded", "Failed"}:
            raise Refusal(f"cannot exec into a container in a completed pod; current phase is {phase}")
        container = str(container_of(pod, request.wanted)["name"])
        is_raw = uses_terminal(
            has_stdin=request.has_stdin, wants_tty=request.wants_tty, is_quiet=request.wanted.is_quiet
        )
        params = {
            "namespace": target.namespace,
            "pod": name_of(pod),
            "container": container,
            "command": list(request.command),
            "tty": is_raw,
        }
        try:
            result = await carry(run.client, "exec", Streams(has_stdin=request.has_stdin, is_raw=is_raw), params)
        except ControlError as error:
            raise refused(error, "executing command in container") from error
        return int(cast("int", result.get("exitCode", 0)))


def refused(error: ControlError, what: str) -> Exception:
    """Return an error of a container's streams in kubectl's words."""
    match error.reason:
        case Reason.NOT_RUNNING:
            return Refusal(f"unable to upgrade connection: {error}")
        case Reason.RUNTIME:
            said = str(error).removeprefix("rpc error: code = Unknown desc = ")
            return Refusal(f"Internal error occurred: error {what}: {said}")
        case _:
            return error
