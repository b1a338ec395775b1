"""One `port-forward` from its words to its end: find the pod, listen, carry, until Ctrl-C or until the pod is lost."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, cast

import click
import trio
from attrs import frozen

from kubelet_emu.cli.forwarding.carrying import Carrier, NothingListensError, close, open_places
from kubelet_emu.cli.forwarding.finding import find
from kubelet_emu.cli.forwarding.targets import TargetError
from kubelet_emu.cli.remote.finding import open_run
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.cli.standard_streams import OutputError, discard_stdout
from runtime.api import NotFoundError, PodSandboxState, RuntimeEventType

if TYPE_CHECKING:
    from kubelet_emu.cli.forwarding.carrying import Place
    from kubelet_emu.cli.forwarding.finding import Chosen, Wanted
    from kubelet_emu.cli.remote.target import Target
    from runtime.api import PodSandboxStatus, RuntimeService, SandboxID
    from runtime.docker import DockerRuntime

CLEAN_UP_SECONDS = 10.0
LOST = "lost connection to pod"
_ENDS = frozenset({RuntimeEventType.SANDBOX_STOPPED, RuntimeEventType.CONTAINER_REMOVED, RuntimeEventType.RESYNC})


@frozen(kw_only=True)
class Request:
    """What was asked for: of which run, of what, and at which addresses of this machine."""

    target: Target
    wanted: Wanted
    addresses: tuple[str, ...]


async def forward(request: Request) -> None:
    """Forward until a signal; Refusal with what ended it otherwise, InputError, ControlError, CRIError."""
    from kubelet_emu.embedding.instances import new_instance_id
    from runtime.docker import DockerRuntime

    async with open_run(request.target) as run:
        try:
            chosen = await find(run, request.wanted)
        except TargetError as error:
            raise Refusal(str(error)) from error
        instance = run.facts.id
    async with DockerRuntime(new_instance_id()) as engine, engine.sibling(instance) as runtime:
        try:
            ended = await _forward(request, runtime, chosen)
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                await runtime.dialer.remove_carriers()
                await engine.remove_own_pause_image()
    if ended:
        raise Refusal(ended)


async def _forward(request: Request, runtime: DockerRuntime, chosen: Chosen) -> str:
    """Listen and carry until a signal, or return what ended it: the runtime's nurseries would group an error."""
    name = chosen.pod.metadata.name or ""
    sandbox = await _sandbox_of(runtime, chosen.pod.metadata.uid)
    if sandbox is None:
        return f"no sandbox of pod {name} runs in {runtime.bridge.endpoint.url}: is that the run's engine?"

    async def dial(port: int) -> trio.abc.Stream:
        return await runtime.dialer.dial_loopback(sandbox, port)

    try:
        places = await open_places(chosen.ports, request.addresses, say, complain)
    except NothingListensError as error:
        return str(error)
    carrier = Carrier(pod=name, dial=dial, say=say, complain=complain)
    try:
        is_lost = await _carry_until_end(carrier, places, cast("RuntimeService", runtime), sandbox.id)
    finally:
        with trio.CancelScope(shield=True):
            await close(places)
    return LOST if is_lost else ""


async def _sandbox_of(runtime: DockerRuntime, pod_uid: str | None) -> PodSandboxStatus | None:
    """Return the sandbox of a pod, None when this engine has none that runs."""
    for sandbox in await runtime.list_pod_sandboxes(pod_uid):
        if sandbox.state is PodSandboxState.READY:
            return await runtime.pod_sandbox_status(sandbox.id)
    return None


async def _carry_until_end(
    carrier: Carrier, places: list[Place], runtime: RuntimeService, sandbox_id: SandboxID
) -> bool:
    """Carry connections; tell whether the pod was lost: else a signal came."""
    is_lost = False
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            nonlocal is_lost
            await until_gone(runtime, sandbox_id)
            is_lost = True
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        nursery.start_soon(carrier.serve, places)
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            await anext(aiter(signals))
        nursery.cancel_scope.cancel()
    return is_lost


async def until_gone(runtime: RuntimeService, sandbox_id: SandboxID) -> None:
    """Return when a sandbox doesn't run any more; CRIError when that can't be told."""
    async with runtime.events() as events:
        while await _runs(runtime, sandbox_id):
            async for event in events:
                is_of_all = event.type is RuntimeEventType.RESYNC
                if event.type in _ENDS and (is_of_all or event.sandbox_id == sandbox_id):
                    break


async def _runs(runtime: RuntimeService, sandbox_id: SandboxID) -> bool:
    try:
        return (await runtime.pod_sandbox_status(sandbox_id)).state is PodSandboxState.READY
    except NotFoundError:
        return False


def say(text: str) -> None:
    """Write a line; that nobody reads it any more is no reason to end."""
    try:
        click.echo(text)
    except OutputError:
        discard_stdout()


def complain(text: str) -> None:
    """Write a line about what went wrong."""
    click.echo(text, err=True)
