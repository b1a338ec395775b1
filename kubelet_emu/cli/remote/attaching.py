"""`attach` from its words to its end: this terminal becomes that of a container's first process.

Source: kubectl v1.36 pkg/cmd/attach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from attrs import frozen

from kubelet_emu.cli.remote.attachable import Wanted, attachable_pod, container_of, name_of, phase_of
from kubelet_emu.cli.remote.containers import is_ephemeral
from kubelet_emu.cli.remote.executing import refused
from kubelet_emu.cli.remote.finding import open_run
from kubelet_emu.cli.remote.streaming import Streams, carry, uses_terminal
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.control.errors import ControlError

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.detaching import DetachKeys
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import LiveView, Object

RECORDED = (
    "All commands and output from this session will be recorded in container logs, including credentials and "
    "sensitive information passed through the command prompt."
)
NO_PROMPT = "If you don't see a command prompt, try pressing enter."


@frozen(kw_only=True)
class AttachRequest:
    """What was asked for."""

    wanted: Wanted
    detach_keys: DetachKeys
    has_stdin: bool = False
    wants_tty: bool = False


async def attach(target: Target, request: AttachRequest) -> None:
    """Attach until the session ends; Refusal, ControlError, InputError."""
    async with open_run(target) as run:
        pod = await attachable_pod(run, target.namespace, request.wanted)
        phase = phase_of(pod)
        if phase in {"Succeeded", "Failed"}:
            raise Refusal(f"cannot attach a container in a completed pod; current phase is {phase}")
        await attach_to(run, target.namespace, pod, request)


async def attach_to(run: LiveView, namespace: str, pod: Object, request: AttachRequest) -> None:
    """Attach to a container of a pod until the session ends; Refusal, ControlError."""
    try:
        container = container_of(pod, request.wanted)
    except Refusal as error:
        raise Refusal(f"cannot attach to the container: {error.message}") from error
    is_quiet, name, has_tty = request.wanted.is_quiet, str(container["name"]), bool(container.get("tty"))
    if request.wants_tty and not has_tty and not is_quiet:
        click.echo(f"error: Unable to use a TTY - container {name} did not allocate one", err=True)
    is_raw = uses_terminal(has_stdin=request.has_stdin, wants_tty=has_tty, is_quiet=is_quiet)
    if not is_quiet:
        click.echo(f"{RECORDED}\n{NO_PROMPT}", err=True)
    keys = request.detach_keys if is_raw else None
    streams = Streams(has_stdin=request.has_stdin, is_raw=is_raw, redraws=True, detach_keys=keys)
    params = {"namespace": namespace, "pod": name_of(pod), "container": name}
    try:
        await carry(run.client, "attach", streams, params)
    except ControlError as error:
        raise refused(error, "attaching to container") from error
    if is_raw and not is_quiet:
        click.echo(_ended(namespace, pod, name))


def _ended(namespace: str, pod: Object, container: str) -> str:
    """Return how to come back."""
    again = f"'kubelet-emu attach {name_of(pod)} -c {container} -n {namespace} -i -t'"
    if is_ephemeral(pod, container):
        return (
            "Session ended, the ephemeral container will not be restarted but may be reattached using "
            f"{again} if it is still running"
        )
    return f"Session ended, resume using {again} command"
