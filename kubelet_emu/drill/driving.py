"""Runs a drill: the pod undisturbed once, then once for each phase, each time on a node of its own."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from attrs import evolve, frozen

from kubelet_emu.drill.outcome import Shutdown, shutdown_of
from kubelet_emu.drill.phases import Delete, Kill, RestartKubelet, Wait, phases_of
from kubelet_emu.embedding.node import open_node
from kubelet_emu.embedding.objects import WaitError
from kubelet_emu.embedding.signals import ended_by_signals
from kubelet_emu.journal.records import StepRecord
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.lifecycle.recounting import recount

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.drill.phases import Action, Phase
    from kubelet_emu.embedding.node import Node
    from kubelet_emu.embedding.objects import Pod
    from kubelet_emu.embedding.options import NodeOptions
    from kubelet_emu.lifecycle.history import PodHistory

LIFE_SECONDS = 120.0
"""How long the undisturbed pod is watched for mains that exit by themselves."""
LIFE_SECONDS_ON_ENGINE = 10.0
AFTER_GRACE_SECONDS = 30.0


@frozen(kw_only=True)
class Drill:
    """All shutdowns of one pod, in the order of its life.

    `phases` are all that the pod has, also those that were not wanted. `waits_for` is what kept it from starting, if
    nothing ran.
    """

    pod: str
    shutdowns: tuple[Shutdown, ...]
    phases: tuple[str, ...] = ()
    waits_for: str = ""


def run_drill(
    manifest: str,
    options: NodeOptions,
    wanted: Callable[[str], bool] = lambda _: True,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Drill:
    """Run a drill of the one pod of a manifest, in the phases whose name is wanted; ManifestError, CRIError.

    `on_progress` hears of each phase before it is run. Must not be called inside a Trio program. On an engine SIGINT,
    SIGTERM and SIGHUP end it as KeyboardInterrupt in a group, once nothing is left there.
    """
    manifest = _readable_again(manifest)
    clock: Callable[[], trio.abc.Clock | None] = VirtualClock if options.is_simulated else lambda: None
    on_progress("undisturbed")
    history = trio.run(_undisturbed, manifest, options, clock=clock())
    shutdowns = []
    phases = phases_of(history)
    for phase in filter(lambda phase: wanted(phase.name), phases):
        on_progress(phase.name)
        shutdowns.append(trio.run(_run_phase, manifest, options, phase, clock=clock()))
    return Drill(
        pod=history.name,
        shutdowns=tuple(shutdowns),
        phases=tuple(phase.name for phase in phases),
        waits_for=_waits_for(history),
    )


def _readable_again(manifest: str) -> str:
    """Return a manifest that each run can read: of standard input and pipes the text itself."""
    if "\n" in manifest:
        return manifest
    if manifest == "-":
        return sys.stdin.read() + "\n"
    return Path(manifest).read_text(encoding="utf-8") + "\n" if Path(manifest).is_fifo() else manifest


def _waits_for(pod: PodHistory) -> str:
    """Return the last warning about a pod of which nothing ever ran, empty for another."""
    if any(container.runs for container in pod.containers):
        return ""
    warnings = [event for event in pod.events if event.type == "Warning"]
    return f"{warnings[-1].reason}: {warnings[-1].message}" if warnings else "no event says why"


async def _undisturbed(manifest: str, options: NodeOptions) -> PodHistory:
    """Return what the pod does when nobody deletes it: until it has ended, or was watched for a while."""
    async with _open(options) as node:
        pod = await node.run(manifest)
        with suppress(WaitError):
            await pod.wait_for("Ready")
            await pod.wait_for_end(timeout=LIFE_SECONDS if options.is_simulated else LIFE_SECONDS_ON_ENGINE)
        history = recount(node.lifecycle_log())
    return next(each for each in history.pods if each.name == pod.name)


@asynccontextmanager
async def _open(options: NodeOptions) -> AsyncIterator[Node]:
    """Give a node; one on an engine leaves nothing there when a signal ends the drill."""
    async with nullcontext() if options.is_simulated else ended_by_signals(), open_node(options) as node:
        yield node


async def _run_phase(manifest: str, options: NodeOptions, phase: Phase) -> Shutdown:
    async with _open(options) as node:
        pod = await node.run(manifest)
        grace = pod.grace_period_seconds
        try:
            for action in phase.actions:
                await _do(action, node, pod)
        except (WaitError, LookupError) as error:
            return Shutdown(phase=phase.name, grace=grace, unreached=str(error).splitlines()[0])
        late = ""
        try:
            await pod.wait_for("deleted", timeout=grace + AFTER_GRACE_SECONDS)
        except WaitError as error:
            late = str(error).splitlines()[0]
        by_drill = tuple(action.container for action in phase.actions if isinstance(action, Kill))
        reached = shutdown_of(phase.name, node.lifecycle_log(), pod.name)
        return evolve(reached, error=late, by_drill=tuple(dict.fromkeys(by_drill)))


async def _do(action: Action, node: Node, pod: Pod) -> None:
    match action:
        case Wait(moment=moment, seconds=seconds):
            if moment:
                await pod.wait_for(moment)
            await trio.sleep(seconds)
        case Delete(grace_period_seconds=grace):
            await pod.delete(grace_period_seconds=grace, wait=False)
        case Kill(container=name):
            await pod.kill(name)
        case RestartKubelet():
            node.cluster.emit(StepRecord(n=1, what="kubelet"))
            await node.cluster.stop_kubelet()
            await node.cluster.start_kubelet()
