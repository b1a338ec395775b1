"""One `port-forward` from its words to its end: find the pod, listen, carry, until Ctrl-C or until the pod is lost."""

from __future__ import annotations

import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, cast

import click
import trio
from attrs import frozen

from kubelet_emu.cli.failures import InputError
from kubelet_emu.cli.forwarding.carrying import Carrier, NothingListensError, close, open_places
from kubelet_emu.cli.forwarding.finding import choose, pods_of
from kubelet_emu.cli.forwarding.services_file import read_services
from kubelet_emu.cli.forwarding.targets import POD, NotRunningError, TargetError
from kubelet_emu.cli.standard_streams import OutputError, discard_stdout
from runtime.api import CRIError, NotFoundError, PodSandboxState, RuntimeEventType

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.cli.forwarding.carrying import Place
    from kubelet_emu.cli.forwarding.finding import Chosen, FoundPod
    from kubelet_emu.cli.forwarding.targets import PortWords, Target
    from runtime.api import RuntimeService, SandboxID
    from runtime.docker import DockerRuntime

LOOK_AGAIN_SECONDS = 0.5
CLEAN_UP_SECONDS = 10.0
_ENDS = frozenset({RuntimeEventType.SANDBOX_STOPPED, RuntimeEventType.CONTAINER_REMOVED, RuntimeEventType.RESYNC})


@frozen(kw_only=True)
class Request:
    """What was asked for; `timeout` is how long to wait for a pod of a workload, in seconds."""

    target: Target
    ports: tuple[PortWords, ...]
    namespace: str
    addresses: tuple[str, ...]
    timeout: float
    root: Path
    run_id: str | None = None


class LostPodError(CRIError):
    """The pod has ended while its ports were forwarded."""


async def forward(request: Request) -> None:
    """Forward until SIGINT or SIGTERM; CRIError with what ended it otherwise, InputError without a run."""
    from kubelet_emu.embedding.instances import new_instance_id
    from runtime.docker import DockerRuntime

    async with DockerRuntime(new_instance_id()) as engine, AsyncExitStack() as stack:
        runs = [await stack.enter_async_context(engine.sibling(each)) for each in _instances(request)]
        try:
            chosen = await _choose(request, runs)
        except TargetError as error:
            raise CRIError(str(error)) from error
        runtime = next(each for each in runs if each.instance == chosen.pod.instance)
        try:
            await _forward(request, runtime, chosen)
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                await runtime.dialer.remove_carriers()
                await engine.remove_own_pause_image()


def _instances(request: Request) -> list[str]:
    """Return the runs whose state is kept below the root; InputError when there is none."""
    try:
        found = sorted(each.name for each in (request.root / "instances").iterdir())
    except OSError:
        found = []
    if request.run_id is not None:
        if request.run_id not in found:
            raise InputError(f"--run {request.run_id}: no run of this id keeps its state in {request.root}")
        return [request.run_id]
    if not found:
        text = f"no run keeps its state in {request.root}: start one, or say --root-dir as it did"
        raise InputError(text)
    return found


async def _choose(request: Request, runs: list[DockerRuntime]) -> Chosen:
    """Return the pod that is meant, waiting for one of a workload; TargetError."""
    deadline = trio.current_time() + (0 if request.target.kind == POD else request.timeout)
    while True:
        pods: list[FoundPod] = []
        services: list[Service] = []
        for runtime in runs:
            pods += await pods_of(cast("RuntimeService", runtime), runtime.instance)
            services += read_services(request.root / "instances" / runtime.instance)
        try:
            return choose(request.target, request.ports, request.namespace, pods, services)
        except NotRunningError:
            if trio.current_time() >= deadline:
                raise
        await trio.sleep(LOOK_AGAIN_SECONDS)


async def _forward(request: Request, runtime: DockerRuntime, chosen: Chosen) -> None:
    """Listen and carry until a signal; LostPodError when the pod ends, CRIError when nothing can be opened."""
    sandbox = await runtime.pod_sandbox_status(chosen.pod.sandbox_id)

    async def dial(port: int) -> trio.abc.Stream:
        return await runtime.dialer.dial_loopback(sandbox, port)

    carrier = Carrier(pod=chosen.pod.name, dial=dial, say=say, complain=complain)
    try:
        places = await open_places(chosen.ports, request.addresses, say, complain)
    except NothingListensError as error:
        raise CRIError(str(error)) from error
    is_lost = False
    try:
        is_lost = await _carry_until_end(carrier, places, runtime, sandbox.id)
    finally:
        with trio.CancelScope(shield=True):
            await close(places)
    if is_lost:
        raise LostPodError("lost connection to pod")


async def _carry_until_end(
    carrier: Carrier, places: list[Place], runtime: DockerRuntime, sandbox_id: SandboxID
) -> bool:
    """Carry connections; tell whether the pod was lost: else a signal came."""
    is_lost = False
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            nonlocal is_lost
            await until_gone(cast("RuntimeService", runtime), sandbox_id)
            is_lost = True
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        nursery.start_soon(carrier.serve, places)
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
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
