"""Plays the start and the end of a planned pod, and tells whether they were as the plan says."""

from __future__ import annotations

import enum
import random
from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.advice.ending import Ends
from kubelet_emu.advice.subjects import Role
from kubelet_emu.embedding.node import open_node
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.rehearsal.staging import assumptions, staged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.advice.plan import PodPlan
    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.embedding.node import Node
    from kubelet_emu.embedding.objects import Pod
    from kubelet_emu.lifecycle.history import PodHistory, RunHistory
    from kubelet_emu.manifests.workloads import Stored
    from kubelet_emu.simulation.values import Simulation

_SPUN_CODE = 152
WATCHED_SECONDS = 120.0
"""How long a pod is watched: longer than a minute of sleeping, and than the first back-offs."""


class Outcome(enum.Enum):
    """Whether a claim held: the run showed it, showed something else, or didn't come that far."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    NOT_REACHED = "notReached"


class ClaimKind(enum.Enum):
    """What a claim is about."""

    START = "start"
    END = "end"


@frozen(kw_only=True)
class Claim:
    """What a plan claims, what came of it in the run, and why, where it wasn't confirmed."""

    kind: ClaimKind
    text: str
    outcome: Outcome
    because: str = ""

    @property
    def is_contradicted(self) -> bool:
        """Tell whether the run showed something else."""
        return self.outcome is Outcome.CONTRADICTED


@frozen(kw_only=True)
class Rehearsal:
    """What a pod did while it was watched: first starts in their order, its last phase, who failed, who still ran.

    `spun` are those that the simulation ended because they did nothing but spin, `probed` those that a probe stopped.
    """

    started: tuple[str, ...]
    phase: str
    failed: tuple[str, ...] = ()
    spun: tuple[str, ...] = ()
    probed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    last_warning: str = ""


def confirm(plan: PodPlan, stored: Sequence[Stored] = (), told: Simulation | None = None) -> tuple[Claim, ...]:
    """Play a planned pod in virtual time and judge the plan's claims about its start and its end.

    `stored` are the ConfigMaps and Secrets of the manifests, `told` is what a simulate.yaml says of the programs; for
    the rest the plan's own assumptions hold. Must not be called inside a Trio program.
    """
    assumed = assumptions(plan.subject, _expected_to_end(plan))
    simulation = assumed if told is None else told + assumed
    rehearsal = trio.run(_watch, plan.subject, simulation, tuple(stored), clock=VirtualClock())
    return (judge_start(plan, rehearsal), judge_end(plan, rehearsal))


def _expected_to_end(plan: PodPlan) -> Iterator[str]:
    """Yield the init containers that let the start go on, and the mains of a pod that ends with them."""
    blockers = {step.blocked_by for step in plan.start}
    yield from (part.name for part in plan.subject.of(Role.INIT) if part.name not in blockers)
    if plan.ending.how is Ends.WITH_MAINS:
        yield from (part.name for part in plan.ending.mains)


async def _watch(subject: Subject, simulation: Simulation, stored: Sequence[Stored]) -> Rehearsal:
    async with open_node(NodeOptions(simulation=simulation)) as node:
        pod = await stage(node, subject, stored)
        await trio.sleep(WATCHED_SECONDS)
        phase, history = pod.phase, recount(node.lifecycle_log())
    return _rehearsal(next(each for each in history.pods if each.name == pod.name), phase)


async def stage(node: Node, subject: Subject, stored: Sequence[Stored], *, grace: int | None = None) -> Pod:
    """Create what a pod needs and the pod itself, or the Job that makes it, and return its pod."""
    for each in stored:
        node.cluster.create(each)
    node.cluster.create(staged(subject, random.Random(0), grace=grace))  # noqa: S311 - a name
    while not node.pods:
        await node.recording.more.wait()
    return node.pods[0]


def _rehearsal(pod: PodHistory, phase: str) -> Rehearsal:
    starts = [
        (each.runs[0].started.high, index, each.name)
        for index, each in enumerate(pod.containers)
        if each.runs and each.runs[0].started is not None
    ]
    warnings = [event for event in pod.events if event.type == "Warning"]
    return Rehearsal(
        started=tuple(name for _, _, name in sorted(starts)),
        phase=phase,
        failed=tuple(each.name for each in pod.containers if any(run.code for run in each.runs)),
        running=tuple(each.name for each in pod.containers if each.last_run and each.last_run.exited is None),
        probed=tuple(each.name for each in pod.containers if any(_is_by_probe(run) for run in each.runs)),
        spun=tuple(each.name for each in pod.containers if any(run.code == _SPUN_CODE for run in each.runs)),
        last_warning=f"{warnings[-1].reason}: {warnings[-1].message}" if warnings else "",
    )


def _is_by_probe(run: RunHistory) -> bool:
    return run.stop is not None and run.stop.cause in {StopCause.LIVENESS, StopCause.STARTUP, StopCause.PROBE}


def judge_start(plan: PodPlan, rehearsal: Rehearsal) -> Claim:
    """Tell whether the containers started in the order of the plan, and those that are blocked didn't."""
    expected = tuple(step.part.name for step in plan.start if not step.blocked_by)
    started = rehearsal.started
    because, outcome = "", Outcome.CONFIRMED
    if started != tuple(name for name in expected if name in started):
        because, outcome = f"the run started {', '.join(started)}", Outcome.CONTRADICTED
    elif missing := [name for name in expected if name not in started]:
        more = f" ({rehearsal.last_warning})" if rehearsal.last_warning else ""
        because, outcome = f"{missing[0]} did not start{more}", Outcome.NOT_REACHED
    text = f"starts in the order {', '.join(expected)}"
    return Claim(kind=ClaimKind.START, text=text, outcome=outcome, because=because)


def judge_end(plan: PodPlan, rehearsal: Rehearsal) -> Claim:
    """Tell whether a pod ended with its mains, or was still there if it doesn't end by itself."""
    because, outcome = _judged_end(plan, rehearsal)
    ends = f"ends with {', '.join(part.name for part in plan.ending.mains)}"
    text = ends if plan.ending.how is Ends.WITH_MAINS else "doesn't end by itself"
    return Claim(kind=ClaimKind.END, text=text, outcome=outcome, because=because)


def _judged_end(plan: PodPlan, rehearsal: Rehearsal) -> tuple[str, Outcome]:
    keepers = {part.name for part in plan.ending.keepers}
    has_ended = rehearsal.phase in {"Succeeded", "Failed"}
    if has_ended == (plan.ending.how is Ends.WITH_MAINS):
        return "", Outcome.CONFIRMED
    if not has_ended:
        late = [part.name for part in plan.ending.mains if part.name not in rehearsal.started]
        late += [part.name for part in plan.ending.mains if part.name in rehearsal.running]
        if late:
            return f"{late[0]} had not ended after {WATCHED_SECONDS:g} s", Outcome.NOT_REACHED
        return f"it was {rehearsal.phase} after {WATCHED_SECONDS:g} s", Outcome.CONTRADICTED
    if plan.ending.how is Ends.IF_KEEPERS_END:
        return f"{', '.join(sorted(keepers))} ended", Outcome.NOT_REACHED
    if spun := keepers & set(rehearsal.spun):
        return f"{min(spun)} spins without a pause, which the simulation ends", Outcome.NOT_REACHED
    if probed := keepers & set(rehearsal.probed):
        return f"a probe stopped {min(probed)}", Outcome.NOT_REACHED
    before = [name for name in rehearsal.failed if name not in keepers]
    if before and not keepers & set(rehearsal.started):
        return f"{before[0]} failed before", Outcome.NOT_REACHED
    return f"it was {rehearsal.phase}", Outcome.CONTRADICTED
