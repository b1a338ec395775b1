"""What holds for every pod: whatever its containers do, whoever deletes it, whenever the kubelet dies.

The oracle is the runtime: its own events say what ran and which signals came, not what the kubelet believes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import evolve, frozen
from examples import examples
from hypothesis import event, given
from hypothesis import strategies as st
from kubelet_rig import a_node, a_pod, answers, container, hooks, probe, runs, sidecar, sleeps

from kubelet_emu.journal.records import StatusRecord, SyncRecord
from kubelet_emu.kubelet.timing import FAST, KUBELET, Timing
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from runtime.api import RuntimeEventType
from runtime.simulated import Exec, ExecAnswer, OnSignal, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_rig import Rig

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_handlers import Probe
    from runtime.api import RuntimeEvent

HORIZON = 90.0


@frozen(kw_only=True)
class Story:
    """One pod, what its containers do, and what happens to it: times in seconds."""

    pod: Pod
    programs: Mapping[str, tuple[Run, ...]]
    timing: Timing
    deletes: tuple[tuple[float, int], ...] = ()
    crashes: tuple[tuple[float, float], ...] = ()
    sandbox_dies_at: float | None = None


# -- strategies

halves = st.integers(0, 16).map(lambda n: n / 2)
codes = st.sampled_from([0, 0, 1, 42])
lifetimes = st.one_of(st.just(float("inf")), halves)
no_handler: Mapping[str, OnSignal] = {}
on_term = st.one_of(
    st.just(no_handler),
    st.builds(lambda code, after: {"SIGTERM": OnSignal(code, after)}, codes, halves),
)


def courses(lifetimes: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[Run, ...]]:
    """Return up to three runs; the last is repeated."""
    checks = st.lists(st.tuples(halves, st.sampled_from([0, 1])), max_size=2).map(
        lambda turns: Exec(("check",), ((0.0, ExecAnswer(0)), *((at, ExecAnswer(code)) for at, code in sorted(turns))))
    )
    bye = st.builds(
        lambda code, seconds: answers("bye", exit_code=code, takes_seconds=seconds), codes, st.sampled_from([0, 1, 6])
    )
    run = st.builds(
        lambda seconds, code, signals, check, bye: Run(
            duration=seconds, exit_code=code, on_signal=signals, execs=(check, bye, answers("setup"))
        ),
        lifetimes,
        codes,
        on_term,
        checks,
        bye,
    )
    return st.lists(run, min_size=1, max_size=3).map(tuple)


def maybe_probe() -> st.SearchStrategy[Probe | None]:
    """Return a probe or none."""
    return st.one_of(st.none(), st.builds(lambda n: probe(failure_threshold=n), st.sampled_from([1, 2, 9])))


@st.composite
def long_lived(draw: st.DrawFn, name: str, *, is_sidecar: bool) -> Container:
    """Return a main or a sidecar, perhaps with probes and hooks."""
    made = sidecar(name) if is_sidecar else container(name)
    pre_stop = draw(st.sampled_from([None, runs("bye"), sleeps(1)]))
    post_start = draw(st.sampled_from([None, None, runs("setup"), sleeps(1)]))
    return evolve(
        made,
        startup_probe=draw(maybe_probe()),
        liveness_probe=draw(maybe_probe()),
        readiness_probe=draw(maybe_probe()),
        lifecycle=hooks(post_start, pre_stop),
    )


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Return a pod with up to three containers of each kind and a fate."""
    inits = [container(f"i{n}") for n in range(draw(st.integers(0, 3)))]
    sidecars = [draw(long_lived(f"s{n}", is_sidecar=True)) for n in range(draw(st.integers(0, 3)))]
    mains = [draw(long_lived(f"m{n}", is_sidecar=False)) for n in range(draw(st.integers(1, 3)))]
    init = draw(st.permutations([*inits, *sidecars]))
    programs = {each.name: draw(courses(lifetimes)) for each in (*mains, *sidecars)}
    programs |= {each.name: draw(courses(halves)) for each in inits}
    fate = draw(st.sampled_from(["deleted", "deleted", "deleted again", "crash", "sandbox", "all"]))
    times = st.integers(0, 60).map(lambda n: n / 2)
    deletes = st.lists(st.tuples(times, st.integers(0, 12)), min_size=1, max_size=1 if fate == "deleted" else 2)
    return Story(
        pod=a_pod(
            *mains,
            init=init,
            restart_policy=draw(st.sampled_from(["Always", "OnFailure", "Never"])),
            termination_grace_period_seconds=draw(st.integers(1, 10)),
        ),
        programs=programs,
        timing=draw(st.sampled_from([FAST, KUBELET])),
        deletes=tuple(sorted(draw(deletes))) if fate in {"deleted", "deleted again", "all"} else (),
        crashes=tuple(draw(st.lists(st.tuples(times, halves), min_size=1, max_size=2)))
        if fate in {"crash", "all"}
        else (),
        sandbox_dies_at=draw(times) if fate in {"sandbox", "all"} else None,
    )


# -- living a story


def live(story: Story) -> Rig:
    """Live a story to its horizon and return what was recorded."""
    rigs: list[Rig] = []

    async def main() -> None:
        async with a_node(story.programs, timing=story.timing) as node:
            rigs.append(node)
            node.create(story.pod)
            for at, grace in story.deletes:
                node.nursery.start_soon(_delete, node, at, grace)
            node.nursery.start_soon(_crash, node, story.crashes)
            if story.sandbox_dies_at is not None:
                node.nursery.start_soon(_end_sandbox, node, story.sandbox_dies_at)
            await node.until(HORIZON)

    trio.run(main, clock=VirtualClock())
    return rigs[0]


async def _delete(node: Rig, at: float, grace: int) -> None:
    await node.until(at)
    if node.find() is not None:
        node.delete(grace=grace)


async def _crash(node: Rig, crashes: tuple[tuple[float, float], ...]) -> None:
    for at, seconds in sorted(crashes):
        await node.until(max(at, node.seconds))
        node.cancel_kubelet()
        await node.cluster.stop_kubelet()
        await node.until(node.seconds + seconds)
        await node.cluster.start_kubelet()


async def _end_sandbox(node: Rig, at: float) -> None:
    await node.until(at)
    for sandbox in (await node.runtime.list_pod_sandboxes())[:1]:
        await node.runtime.kill_pod_sandbox(sandbox.id)


# -- the properties

STARTED, EXITED = RuntimeEventType.CONTAINER_STARTED, RuntimeEventType.CONTAINER_EXITED


def never_two_instances_of_a_container(node: Rig) -> None:
    running: dict[str, int] = {}
    for fact in node.facts:
        if fact.type is STARTED:
            running[fact.container_name] = running.get(fact.container_name, 0) + 1
            assert running[fact.container_name] == 1, fact
        elif fact.type is EXITED:
            running[fact.container_name] -= 1


def mains_come_after_inits_and_sidecars(node: Rig, story: Story) -> None:
    """In each sandbox the first start of a main comes after every init is done and every sidecar has started."""
    done: dict[str, set[str]] = {}
    began: set[tuple[str, str]] = set()
    inits = {each.name for each in story.pod.spec.init_containers if each.restart_policy != "Always"}
    wanted = {each.name for each in story.pod.spec.init_containers}
    for fact in node.facts:
        mine, name = done.setdefault(fact.sandbox_id, set()), fact.container_name
        if (fact.type is STARTED and name in wanted - inits) or (
            fact.type is EXITED and name in inits and fact.exit_code == 0
        ):
            mine.add(name)
        if fact.type is STARTED and name not in wanted and (fact.sandbox_id, name) not in began:
            began.add((fact.sandbox_id, name))
            assert mine == wanted, f"{name} started before {wanted - mine}"


def sidecars_are_signalled_in_order(node: Rig, story: Story) -> None:
    """In an undisturbed deletion a sidecar's turn comes when mains and the next sidecar are gone, or the grace is.

    Only the next one: a sidecar that is down already when the stop begins lets the one before it go at once.
    """
    if story.crashes or story.sandbox_dies_at is not None or len(story.deletes) != 1:
        return
    begun = terminating_at(node)
    if begun is None or story.deletes[0][1] == 0:
        return
    order = [each.name for each in story.pod.spec.init_containers if each.restart_policy == "Always"]
    mains = {each.name for each in story.pod.spec.containers}
    alive: set[str] = set()
    for fact in node.facts:
        name = fact.container_name
        if fact.type is STARTED:
            alive.add(name)
        elif fact.type is EXITED:
            alive.discard(name)
        elif fact.type is RuntimeEventType.CONTAINER_SIGNALLED and name in order and fact.signal == "SIGTERM":
            at = seconds_of(node, fact)
            if at < begun or at - begun >= story.deletes[0][1] - 1:
                continue
            later = {*order[order.index(name) + 1 :][:1], *mains}
            assert not alive & later, f"{name} was signalled at {at} before {alive & later}"


def terminating_at(node: Rig) -> float | None:
    """Return when the first kill round of a deletion began, None when there was none."""
    steps = [step for step in node.steps() if step.step == "terminating"]
    killing = [node.at(record) for record in node.of(StatusRecord) if record.deleting]
    if not steps or not killing:
        return None
    last_sync = max((node.at(step) for step in node.steps() if step.step in {"sync", "mount", "terminal"}), default=0.0)
    return max(killing[0], last_sync)


def seconds_of(node: Rig, fact: RuntimeEvent) -> float:
    """Return when something happened in the runtime."""
    return round(node.timebase.seconds_of(fact.at), 3)


def kills_end_within_their_grace(node: Rig, story: Story) -> None:
    """From the begin of a kill everything is gone within G + 2 s, + 1 s for a hook, + 1 s for a wait."""
    if story.crashes or story.sandbox_dies_at is not None or not story.deletes:
        return
    begun = terminating_at(node)
    if begun is None:
        return
    grace = max(story.deletes[0][1], 1)
    if any(at < begun and seconds < grace for at, seconds in story.deletes):
        grace = max(seconds for at, seconds in story.deletes if at <= begun)
    bound = begun + max(grace, 1) + 4
    late = [fact for fact in node.facts if fact.type is EXITED and seconds_of(node, fact) > bound + 0.01]
    assert not late, f"kill began at {begun} with {grace} s: {late}"


def nothing_starts_once_terminating(node: Rig) -> None:
    """Compare starts with what workers have done: their steps only move forward."""
    ended_at: float | None = None
    for record in node.records:
        if isinstance(record, SyncRecord) and record.step in {"terminating", "terminated"} and ended_at is None:
            ended_at = node.at(record)
        assert not (ended_at is not None and isinstance(record, SyncRecord) and record.step == "sync"), record
    if ended_at is not None:
        assert [fact for fact in node.facts if fact.type is STARTED and seconds_of(node, fact) > ended_at] == []


def statuses_only_move_forward(node: Rig) -> None:
    counts: dict[str, int] = {}
    final: str | None = None
    for record in node.of(StatusRecord):
        status = record.status
        assert final is None or status.phase == final, f"phase left {final}"
        final = status.phase if status.phase in {"Succeeded", "Failed"} else None
        for each in (*status.init_container_statuses, *status.container_statuses):
            assert each.restart_count >= counts.get(each.name, 0), f"restartCount of {each.name} fell"
            counts[each.name] = each.restart_count


def every_pod_that_is_gone_leaves_nothing(node: Rig) -> None:
    if node.find() is None:
        running = [fact.container_id for fact in node.facts if fact.type is STARTED]
        ended = [fact.container_id for fact in node.facts if fact.type is EXITED]
        assert sorted(running) == sorted(ended)


@examples(40)
@given(story=stories())
def test_invariants_of_a_pod_s_life(story: Story) -> None:
    node = live(story)
    event(f"ends {node.phases()[-1] if node.phases() else 'unborn'}")
    never_two_instances_of_a_container(node)
    mains_come_after_inits_and_sidecars(node, story)
    sidecars_are_signalled_in_order(node, story)
    kills_end_within_their_grace(node, story)
    nothing_starts_once_terminating(node)
    statuses_only_move_forward(node)
    every_pod_that_is_gone_leaves_nothing(node)


@examples(25)
@given(
    main_code=st.sampled_from([0, 1]),
    policy=st.sampled_from(["Never", "OnFailure"]),
    side=st.tuples(halves, st.integers(0, 255), st.integers(0, 255)),
    deleted_at=st.one_of(st.none(), halves),
)
def test_the_phase_never_depends_on_a_sidecar_s_exit_code(
    main_code: int, policy: str, side: tuple[float, int, int], deleted_at: float | None
) -> None:
    def phases(own_code: int, term_code: int) -> list[str]:
        seconds = side[0] or float("inf")
        programs = {
            "m0": (Run(duration=4, exit_code=main_code, on_signal={"SIGTERM": OnSignal(main_code)}), Run(duration=1)),
            "s0": (Run(duration=seconds, exit_code=own_code, on_signal={"SIGTERM": OnSignal(term_code)}),),
        }
        pod = a_pod(container("m0"), init=[sidecar("s0")], restart_policy=policy)
        deletes = () if deleted_at is None else ((deleted_at, 5),)
        return live(Story(pod=pod, programs=programs, timing=FAST, deletes=deletes)).phases()

    assert phases(side[1], side[2]) == phases(0, 0)
