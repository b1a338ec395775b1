"""The stop that a plan foretells is the one that comes: when stop signals are sent, and who is killed when."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
from advice_makers import GATES

from kubelet_emu.advice.stopping import stops
from kubelet_emu.advice.subjects import Role, subjects_of
from kubelet_emu.embedding.node import open_node
from kubelet_emu.embedding.objects import WaitError
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.manifests import load
from kubelet_emu.manifests.admission import admit
from kubelet_emu.manifests.safety import SafetyPolicy
from kubelet_emu.rehearsal.confirming import stage
from kubelet_emu.rehearsal.staging import assumptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.advice.stopping import Stop
    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.lifecycle.history import PodHistory, RunHistory
    from kubelet_emu.manifests.workloads import Stored

FIXTURES = Path(__file__).parent.parent / "fixtures"
FILES = sorted(
    path
    for kind in ("scenarios/*/manifest.*", "manifests/*/manifest.*", "plans/*.yaml")
    for path in FIXTURES.glob(kind)
)
TOLERANCE_SECONDS = 2.0
"""A node sees and does things in steps of a second."""


@pytest.mark.parametrize("path", FILES, ids=[path.parent.name + "/" + path.stem for path in FILES])
def test_a_stop_comes_as_it_was_told(path: Path) -> None:
    for subject, stored in subjects_in(path):
        pod = trio.run(deleted, subject, stored, clock=VirtualClock())
        faults = [fault for stop in stops(subject) for fault in departures(stop, pod)] if pod else []
        assert faults == []


def subjects_in(path: Path) -> Iterator[tuple[Subject, Sequence[Stored]]]:
    """Yield the pods of a manifest that can run, and what they refer to."""
    result = load([str(path)])
    read = admit(result, GATES, random.Random(0), SafetyPolicy())  # noqa: S311 - names
    if not any(problem.severity == "error" for problem in read.problems):
        yield from ((subject, read.stored) for subject in subjects_of(result.objects, GATES))


async def deleted(subject: Subject, stored: Sequence[Stored]) -> PodHistory | None:
    """Return the history of a pod that was deleted a second after it was Ready; None for one that never is."""
    simulation = assumptions(subject, (part.name for part in subject.of(Role.INIT)))
    async with open_node(NodeOptions(simulation=simulation)) as node:
        pod = await stage(node, subject, stored)
        with suppress(WaitError):
            await pod.wait_for("Ready", timeout=60)
            await trio.sleep(1)
            if pod.phase == "Running":
                await pod.delete(wait=False)
                await pod.wait_for("deleted", timeout=subject.grace + 60)
        history = next(each for each in recount(node.lifecycle_log()).pods if each.name == pod.name)
    return history if history.deletions else None


def departures(stop: Stop, pod: PodHistory) -> Iterator[str]:
    """Yield where the stop of a container was not as it was told."""
    run = next(each for each in pod.containers if each.name == stop.part.name).last_run
    if run is None or run.stop is None or run.stop.term is None or run.exited is None:
        return
    began = pod.deletions[0].at.high
    term = run.stop.term.high - began
    if stop.term_at is not None and abs(term - stop.term_at) > TOLERANCE_SECONDS:
        yield f"{stop.part.name}: SIGTERM at {term:.1f} s, told for {stop.term_at:g} s"
    if stop.is_deaf and not _was_killed(run, began + stop.kill_at):
        yield f"{stop.part.name}: {run.code} at {run.exited.high - began:.1f} s, SIGKILL told for {stop.kill_at:g} s"


def _was_killed(run: RunHistory, at: float) -> bool:
    return run.code == 137 and run.exited is not None and abs(run.exited.high - at) <= TOLERANCE_SECONDS
