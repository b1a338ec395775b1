"""Ticks of a probe worker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, ContainerRestartRule, ContainerRestartRuleOnExitCodes, Pod, PodSpec
from kubelet_emu.api.v1_handlers import Probe
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodCondition,
    PodStatus,
)
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.observed import ProbeKind, ProbeResult
from kubelet_emu.rules.probe_times import ProbeTimes, probe_times
from kubelet_emu.rules.probes import (
    ProbeStep,
    ProbeTick,
    ProbeWorkerState,
    is_adopted,
    needs_readiness_run,
    observe,
    probed_containers,
    runtime_id,
    step,
)
from runtime.api import ContainerID

START = datetime(2026, 1, 1, tzinfo=UTC)
LIVENESS, READINESS, STARTUP = ProbeKind.LIVENESS, ProbeKind.READINESS, ProbeKind.STARTUP
SUCCESS, FAILURE, UNKNOWN = ProbeResult.SUCCESS, ProbeResult.FAILURE, ProbeResult.UNKNOWN
PROBE = Probe(initial_delay_seconds=10)
MAIN = Container(name="main", liveness_probe=PROBE, readiness_probe=PROBE, startup_probe=PROBE)
RUNNING = ContainerState(running=ContainerStateRunning(started_at=START))
OWNED = ProbeWorkerState(container_id=ContainerID("c1"))


def a_pod(container: Container = MAIN, *, restart_policy: str = "Never", sidecar: bool = False) -> Pod:
    containers = () if sidecar else (container,)
    inits = (evolve(container, restart_policy="Always"),) if sidecar else ()
    return Pod(spec=PodSpec(containers=containers, init_containers=inits, restart_policy=restart_policy))


def a_status(state: ContainerState = RUNNING, *, started: bool = True, container_id: str = "docker://c1") -> PodStatus:
    status = ContainerStatus(name="main", container_id=container_id, state=state, started=started)
    return PodStatus(phase="Running", container_statuses=(status,))


def a_tick(
    kind: ProbeKind = LIVENESS, status: PodStatus | None = None, *, after: float = 60, pod: Pod | None = None
) -> ProbeTick:
    pod = pod or a_pod()
    return ProbeTick(
        pod=pod,
        container=probed_containers(pod)[0],
        kind=kind,
        status=status,
        now=START + timedelta(seconds=after),
        features=FeatureGates(),
    )


EXITED = ContainerState(terminated=ContainerStateTerminated(exit_code=1))
WAITING = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff"))
DELETED = evolve(a_pod(), metadata=ObjectMeta(deletion_timestamp=START))
STEPS = [
    ("no status yet", a_tick(), ProbeStep(state=OWNED)),
    ("the pod is over", a_tick(status=PodStatus(phase="Succeeded")), ProbeStep(state=OWNED, goes_on=False)),
    ("the container is not in the status", a_tick(status=PodStatus()), ProbeStep(state=OWNED)),
    ("the container has no id yet", a_tick(status=a_status(container_id="")), ProbeStep(state=OWNED)),
    (
        "a waiting container with an id fails",
        a_tick(status=a_status(WAITING)),
        ProbeStep(state=OWNED, stored=(FAILURE,)),
    ),
    (
        "a container that never runs again ends the worker",
        a_tick(status=a_status(EXITED)),
        ProbeStep(state=OWNED, stored=(FAILURE,), goes_on=False),
    ),
    (
        "one that the policy restarts does not",
        a_tick(status=a_status(EXITED), pod=a_pod(restart_policy="OnFailure")),
        ProbeStep(state=OWNED, stored=(FAILURE,)),
    ),
    (
        "a sidecar does not",
        a_tick(status=a_status(EXITED), pod=a_pod(sidecar=True)),
        ProbeStep(state=OWNED, stored=(FAILURE,)),
    ),
    (
        "liveness of a pod first seen deleted succeeds and ends",
        a_tick(status=a_status(), pod=DELETED),
        ProbeStep(state=OWNED, stored=(SUCCESS,), goes_on=False),
    ),
    ("readiness of such a pod goes on", a_tick(READINESS, a_status(), pod=DELETED), ProbeStep(state=OWNED, run=True)),
    ("before the initial delay", a_tick(status=a_status(), after=9.99), ProbeStep(state=OWNED)),
    ("after it", a_tick(status=a_status(), after=10), ProbeStep(state=OWNED, run=True)),
    ("liveness waits for started", a_tick(status=a_status(started=False)), ProbeStep(state=OWNED)),
    ("startup runs until started", a_tick(STARTUP, a_status(started=False)), ProbeStep(state=OWNED, run=True)),
    ("startup is over once started", a_tick(STARTUP, a_status()), ProbeStep(state=OWNED)),
]


@pytest.mark.parametrize(("tick", "expected"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS])
def test_one_tick(tick: ProbeTick, expected: ProbeStep) -> None:
    assert step(OWNED, tick) == expected


def test_the_start_is_counted_from_its_whole_second() -> None:
    state = ContainerState(running=ContainerStateRunning(started_at=START + timedelta(seconds=0.9)))
    assert step(OWNED, a_tick(status=a_status(state), after=10)).run


def test_a_container_without_start_time_has_just_started() -> None:
    state = ContainerState(running=ContainerStateRunning())
    assert not step(OWNED, a_tick(status=a_status(state))).run


def test_a_container_without_this_probe_ends_the_worker() -> None:
    tick = a_tick(status=a_status(), pod=a_pod(Container(name="main")))
    assert step(OWNED, tick) == ProbeStep(state=OWNED, goes_on=False)


def test_on_hold_nothing_happens_until_there_is_a_new_container() -> None:
    held = evolve(OWNED, on_hold=True)
    assert step(held, a_tick(status=a_status(EXITED))) == ProbeStep(state=held)
    new = step(held, a_tick(status=a_status(container_id="docker://c2")))
    assert (new.state.on_hold, new.run) == (False, True)


@pytest.mark.parametrize(("kind", "initial"), [(LIVENESS, SUCCESS), (READINESS, FAILURE), (STARTUP, UNKNOWN)])
def test_a_new_container_starts_with_the_initial_result(kind: ProbeKind, initial: ProbeResult) -> None:
    old = evolve(OWNED, result_run=2)
    taken = step(old, a_tick(kind, a_status(container_id="docker://c2"), after=0))
    assert taken == ProbeStep(
        state=evolve(old, container_id=ContainerID("c2")), removed=ContainerID("c1"), stored=(initial,)
    )


def test_a_new_container_that_is_already_dead() -> None:
    taken = step(ProbeWorkerState(), a_tick(status=a_status(EXITED)))
    assert (taken.removed, taken.stored, taken.goes_on) == (None, (SUCCESS, FAILURE), False)


ADOPTED = [
    ("readiness keeps what the API says", READINESS, True, ()),
    ("a started container stays started", STARTUP, True, (SUCCESS,)),
    ("one that is not starts anew", STARTUP, False, (UNKNOWN,)),
    ("liveness counts from zero", LIVENESS, True, (SUCCESS,)),
]


@pytest.mark.parametrize(("kind", "started", "expected"), [row[1:] for row in ADOPTED], ids=[row[0] for row in ADOPTED])
def test_after_a_restart_of_the_kubelet(
    kind: ProbeKind,
    started: bool,  # noqa: FBT001
    expected: tuple[ProbeResult, ...],
) -> None:
    tick = evolve(a_tick(kind, a_status(started=started), after=0), adopted={ContainerID("c1")})
    assert step(ProbeWorkerState(), tick).stored == expected


def with_rule(action: str) -> Container:
    rule = ContainerRestartRule(action=action, exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,)))
    return Container(name="other", restart_policy="Never", restart_policy_rules=(rule,))


OTHERS = [
    ("another exits with a rule for all", "RestartAllContainers", 42, "Error", True),
    ("another exits with a rule for itself", "Restart", 42, "Error", False),
    ("another exits without a matching rule", "RestartAllContainers", 1, "Error", False),
    ("another was removed by a restart of all", "Restart", 137, "RestartingAllContainers", True),
]


@pytest.mark.parametrize(
    ("action", "code", "reason", "expected"), [row[1:] for row in OTHERS], ids=[row[0] for row in OTHERS]
)
def test_a_restart_of_all_containers(action: str, code: int, reason: str, expected: bool) -> None:  # noqa: FBT001
    other = ContainerState(terminated=ContainerStateTerminated(exit_code=code, reason=reason))
    status = a_status(EXITED)
    status = evolve(
        status,
        container_statuses=(*status.container_statuses, ContainerStatus(name="other", state=other)),
    )
    pod = evolve(a_pod(), spec=PodSpec(containers=(MAIN, with_rule(action)), restart_policy="Never"))
    assert step(OWNED, a_tick(status=status, pod=pod)).goes_on is expected


def test_the_condition_says_that_all_restart() -> None:
    condition = PodCondition(type="AllContainersRestarting", status="True")
    status = evolve(a_status(EXITED), conditions=(condition,))
    assert step(OWNED, a_tick(status=status)).goes_on


def test_without_the_gate_nothing_restarts_all() -> None:
    condition = PodCondition(type="AllContainersRestarting", status="True")
    tick = a_tick(status=evolve(a_status(EXITED), conditions=(condition,)))
    gates = FeatureGates({"RestartAllContainersOnContainerExits": False})
    assert not step(OWNED, evolve(tick, features=gates)).goes_on


def test_other_containers_without_status_are_left_aside() -> None:
    pod = evolve(a_pod(), spec=PodSpec(containers=(MAIN, Container(name="other")), restart_policy="Never"))
    assert not step(OWNED, a_tick(status=a_status(EXITED), pod=pod)).goes_on


TIMES = ProbeTimes(initial_delay=0, period=1, timeout=1, success_threshold=2, failure_threshold=3)


def stored(kind: ProbeKind, results: str, state: ProbeWorkerState | None = None) -> list[ProbeResult | None]:
    state, out = state or ProbeWorkerState(), []
    for letter in results:
        state, result = observe(state, kind, TIMES, SUCCESS if letter == "S" else FAILURE)
        out.append(result)
    return out


def test_thresholds_count_equal_results_in_a_row() -> None:
    assert stored(READINESS, "FFFSFSSF") == [None, None, FAILURE, None, None, None, SUCCESS, None]


@pytest.mark.parametrize(
    ("kind", "result", "held"),
    [
        (LIVENESS, FAILURE, True),
        (LIVENESS, SUCCESS, False),
        (READINESS, FAILURE, False),
        (READINESS, SUCCESS, False),
        (STARTUP, FAILURE, True),
        (STARTUP, SUCCESS, True),
    ],
)
def test_who_rests_after_a_decision(kind: ProbeKind, result: ProbeResult, held: bool) -> None:  # noqa: FBT001
    before = ProbeWorkerState(last_result=result, result_run=2)
    state, _ = observe(before, kind, TIMES, result)
    assert (state.on_hold, state.result_run) == ((True, 0) if held else (False, 3))


def test_defaults_of_a_probe() -> None:
    assert probe_times(Probe()) == ProbeTimes(
        initial_delay=0, period=10, timeout=1, success_threshold=1, failure_threshold=3
    )


def test_who_may_have_probes() -> None:
    pod = Pod(
        spec=PodSpec(
            containers=(Container(name="m"),),
            init_containers=(Container(name="i"), Container(name="s", restart_policy="Always")),
        )
    )
    assert [container.name for container in probed_containers(pod)] == ["m", "s"]


@pytest.mark.parametrize(
    ("text", "expected"), [("docker://x", "x"), ("x", "x"), ("docker://", None), ("", None), (None, None)]
)
def test_ids_of_a_status(text: str | None, expected: str | None) -> None:
    assert runtime_id(text) == expected


@pytest.mark.parametrize(
    ("state", "started", "result", "expected"),
    [
        (RUNNING, True, None, True),
        (RUNNING, True, FAILURE, True),
        (RUNNING, True, SUCCESS, False),
        (RUNNING, False, None, False),
        (WAITING, True, None, False),
    ],
)
def test_when_a_status_pass_asks_for_readiness(
    state: ContainerState,
    started: bool,  # noqa: FBT001
    result: ProbeResult | None,
    expected: bool,  # noqa: FBT001
) -> None:
    assert needs_readiness_run(ContainerStatus(name="main", state=state, started=started), result) is expected


@pytest.mark.parametrize(("after", "expected"), [(10, False), (10.5, True)])
def test_a_container_is_adopted_when_it_ran_well_before_the_kubelet(after: float, expected: bool) -> None:  # noqa: FBT001
    assert is_adopted(ContainerStatus(name="main", state=RUNNING), START + timedelta(seconds=after)) is expected


@pytest.mark.parametrize("state", [WAITING, ContainerState(running=ContainerStateRunning())])
def test_a_container_that_does_not_run_is_not_adopted(state: ContainerState) -> None:
    assert not is_adopted(ContainerStatus(name="main", state=state), START + timedelta(hours=1))
