"""Finds the smallest terminationGracePeriodSeconds with which nobody needs SIGKILL, by bisecting simulated runs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import trio
from attrs import field, frozen

from kubelet_emu.advice.subjects import Role
from kubelet_emu.drill.outcome import shutdown_of
from kubelet_emu.embedding.node import open_node
from kubelet_emu.embedding.objects import WaitError
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.rehearsal.confirming import stage
from kubelet_emu.rehearsal.staging import assumptions
from kubelet_emu.simulation.values import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.manifests.workloads import Stored

MOST_SECONDS = 600
"""The longest grace that is tried: who needs more than ten minutes doesn't react to the signal."""
READY_SECONDS = 120.0
AFTER_READY_SECONDS = 1.0
AFTER_GRACE_SECONDS = 30.0


@frozen(kw_only=True)
class Solution:
    """The smallest grace period in seconds; None when SIGKILL was needed with the longest that was tried, too.

    `killed` are those who needed it with one second less, or with the longest one. `unknown` are containers whose
    programs aren't known: they are taken to end as soon as they are told to. `runs` are the graces that were tried.
    """

    seconds: int | None
    killed: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    runs: tuple[int, ...] = field(default=(), repr=False)
    unreached: str = ""


def solve_grace(subject: Subject, stored: Sequence[Stored] = (), told: Simulation | None = None) -> Solution:
    """Return the smallest grace period of a pod that is deleted a second after it is ready.

    Its sleep hooks must fit into it, as an API server demands. Must not be called inside a Trio program.
    """
    simulation = (Simulation() if told is None else told) + assumptions(
        subject, (part.name for part in subject.of(Role.INIT))
    )
    tried: dict[int, tuple[str, ...]] = {}

    def killed(grace: int) -> tuple[str, ...]:
        if grace not in tried:
            tried[grace] = trio.run(_killed, subject, simulation, tuple(stored), grace, clock=VirtualClock())
        return tried[grace]

    unknown = tuple(part.name for part in subject.parts if _is_unknown(part.name, subject, told))
    least = _least(subject)
    try:
        if killed(MOST_SECONDS):
            return Solution(seconds=None, killed=killed(MOST_SECONDS), unknown=unknown, runs=tuple(tried))
        found = _bisect(least, MOST_SECONDS, lambda grace: not killed(grace))
    except WaitError as error:
        return Solution(seconds=None, killed=(), unknown=unknown, unreached=str(error).splitlines()[0])
    below = killed(found - 1) if found > least else ()
    return Solution(seconds=found, killed=below, unknown=unknown, runs=tuple(tried))


def _least(subject: Subject) -> int:
    """Return the smallest grace that an API server takes: no sleep hook is longer."""
    hooks = (part.container.lifecycle for part in subject.parts)
    sleeps = (hook.pre_stop.sleep for hook in hooks if hook is not None and hook.pre_stop is not None)
    return max([1, *(each.seconds for each in sleeps if each is not None)])


def _bisect(low: int, high: int, is_enough: Callable[[int], bool]) -> int:
    """Return the smallest number between the two that is enough; the higher one is."""
    while low < high:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _is_unknown(name: str, subject: Subject, told: Simulation | None) -> bool:
    part = next(each for each in subject.parts if each.name == name)
    is_told = told is not None and any(key.rpartition("/")[2] == name for key in told.containers)
    return part.role is not Role.INIT and part.program.script is None and not part.program.deafness and not is_told


async def _killed(subject: Subject, simulation: Simulation, stored: Sequence[Stored], grace: int) -> tuple[str, ...]:
    """Return who needed SIGKILL when the pod was deleted, or when it ended by itself before; WaitError."""
    async with open_node(NodeOptions(simulation=simulation)) as node:
        pod = await stage(node, subject, stored, grace=grace)
        with suppress(WaitError):
            await pod.wait_for("Ready", timeout=READY_SECONDS)
            await trio.sleep(AFTER_READY_SECONDS)
        if pod.phase not in {"Succeeded", "Failed"}:
            await pod.delete(wait=False)
            await pod.wait_for("deleted", timeout=grace + AFTER_GRACE_SECONDS + READY_SECONDS)
        return shutdown_of("", node.lifecycle_log(), pod.name).killed
