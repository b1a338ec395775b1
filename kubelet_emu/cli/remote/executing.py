"""`exec` from its words to its end: streams between this terminal and a command in a container.

Source: kubectl v1.36 pkg/cmd/exec and pkg/util/term.
"""

from __future__ import annotations

import base64
import os
import signal
import sys
import termios
import tty
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, cast

import click
import trio
from attrs import evolve, frozen

from kubelet_emu.cli.remote.containers import default_container
from kubelet_emu.cli.remote.finding import open_run
from kubelet_emu.cli.remote.views import get_pod
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import LiveView, Object
    from kubelet_emu.control.client import ControlClient

CHUNK_BYTES = 32768
NO_TTY = "Unable to use a TTY - input is not a terminal or the right kind of file"


@frozen(kw_only=True)
class ExecRequest:
    """What was asked for."""

    pod: str
    command: tuple[str, ...]
    container: str | None = None
    has_stdin: bool = False
    wants_tty: bool = False
    is_quiet: bool = False


async def execute(target: Target, request: ExecRequest) -> int:
    """Run the command and return its exit code; Refusal, ControlError, InputError."""
    if request.wants_tty and not os.isatty(0):
        click.echo(NO_TTY, err=True)
        request = evolve(request, wants_tty=False)
    async with open_run(target) as run:
        container = await _container(run, target.namespace, request)
        with _raw_terminal(is_wanted=request.wants_tty and request.has_stdin):
            try:
                return await _carry(run.client, target.namespace, evolve(request, container=container))
            except ControlError as error:
                raise _refused(error) from error


async def _container(run: LiveView, namespace: str, request: ExecRequest) -> str:
    """Return the container that is meant; Refusal for a pod that has ended, ControlError."""
    pod = await get_pod(run, namespace, request.pod)
    phase = cast("Object", pod.get("status") or {}).get("phase")
    if phase in {"Succeeded", "Failed"}:
        raise Refusal(f"cannot exec into a container in a completed pod; current phase is {phase}")
    if request.container is not None:
        return request.container
    name, said = default_container(pod)
    if said and not request.is_quiet:
        click.echo(said, err=True)
    return name


def _refused(error: ControlError) -> Exception:
    """Return an error in kubectl's words."""
    match error.reason:
        case Reason.NOT_RUNNING:
            return Refusal(f"unable to upgrade connection: {error}")
        case Reason.RUNTIME:
            said = str(error).removeprefix("rpc error: code = Unknown desc = ")
            return Refusal(f"Internal error occurred: error executing command in container: {said}")
        case _:
            return error


async def _carry(client: ControlClient, namespace: str, request: ExecRequest) -> int:
    """Carry the streams until the command ends."""
    size = os.get_terminal_size(0) if request.wants_tty else None
    events = client.events(
        "exec",
        namespace=namespace,
        pod=request.pod,
        container=request.container,
        command=list(request.command),
        stdin=request.has_stdin,
        tty=request.wants_tty,
        **({} if size is None else {"rows": size.lines, "columns": size.columns}),
    )
    failure: ControlError | None = None
    async with trio.open_nursery() as nursery:
        lock = trio.Lock()
        if request.has_stdin:
            nursery.start_soon(_carry_stdin, client, lock)
        if size is not None:
            nursery.start_soon(_carry_size, client, lock)
        try:
            async with aclosing(events) as pieces:
                async for piece in pieces:
                    for name, stream in (("stdout", sys.stdout.buffer), ("stderr", sys.stderr.buffer)):
                        if name in piece:
                            stream.write(base64.b64decode(str(piece[name])))
                            stream.flush()
        except ControlError as error:  # as a value: the nursery would put it into a group
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return int(cast("int", client.result.get("exitCode", 0)))


async def _carry_stdin(client: ControlClient, lock: trio.Lock) -> None:
    """Hand on what comes from stdin, and its end."""
    while True:
        try:
            await trio.lowlevel.wait_readable(0)
        except OSError:  # a regular file is always readable, and can't be waited for
            await trio.lowlevel.checkpoint()
        data = os.read(0, CHUNK_BYTES)
        message = {"stdin": base64.b64encode(data).decode("ascii")} if data else {"eof": True}
        async with lock:
            await client.send(message)
        if not data:
            return


async def _carry_size(client: ControlClient, lock: trio.Lock) -> None:
    """Hand on the size of the terminal whenever it changes."""
    with trio.open_signal_receiver(signal.SIGWINCH) as signals:
        async for _ in signals:
            size = os.get_terminal_size(0)
            async with lock:
                await client.send({"rows": size.lines, "columns": size.columns})


@contextmanager
def _raw_terminal(*, is_wanted: bool) -> Iterator[None]:
    """Have the terminal hand on each key as it is, Ctrl-C too, and be as it was afterwards."""
    if not is_wanted:
        yield
        return
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
