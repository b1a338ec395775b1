"""What of a status goes to the API, and the last status (kubelet v1.36 status_manager.go)."""

from __future__ import annotations

import pytest
from attrs import evolve
from pod_makers import NOW, a_container, a_pod, a_sidecar, gates, later

from kubelet_emu.api.v1 import Container, ContainerRestartRule, ContainerRestartRuleOnExitCodes
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodCondition,
    PodResourceClaimStatus,
    PodStatus,
)
from kubelet_emu.rules.pod_end import terminate_pod_status
from kubelet_emu.rules.statuses import check_container_state_transition, is_status_equal, merge_for_api

RUNNING = ContainerState(running=ContainerStateRunning(started_at=NOW))
WAITING = ContainerState(waiting=ContainerStateWaiting(reason="PodInitializing"))
UNKNOWN_END = ContainerState(
    terminated=ContainerStateTerminated(
        exit_code=137,
        reason="ContainerStatusUnknown",
        message="The container could not be located when the pod was terminated",
    )
)


def ended(code: int) -> ContainerState:
    return ContainerState(terminated=ContainerStateTerminated(exit_code=code))


def of(name: str, state: ContainerState, **facts: object) -> ContainerStatus:
    return ContainerStatus(name=name, state=state, **facts)  # type: ignore[arg-type]


def a_condition(kind: str, status: str = "True", **facts: object) -> PodCondition:
    return PodCondition(type=kind, status=status, **facts)  # type: ignore[arg-type]


def merged(api: PodStatus, new: PodStatus, *, running: bool = False) -> PodStatus:
    return merge_for_api(a_pod(), api, new, could_have_running_containers=running, now=later(9))


# --- equality


def test_times_of_conditions_and_foreign_conditions_make_no_difference() -> None:
    old = PodStatus(conditions=(a_condition("Ready", last_transition_time=NOW), a_condition("example.com/x")))
    new = PodStatus(conditions=(a_condition("Ready", last_transition_time=later(1), last_probe_time=NOW),))
    assert is_status_equal(old, new)


@pytest.mark.parametrize(
    "new",
    [
        PodStatus(phase="Running", conditions=(a_condition("Ready"),)),
        PodStatus(conditions=(a_condition("Ready", "False"),)),
        PodStatus(conditions=(a_condition("Ready", reason="x"),)),
        PodStatus(conditions=(a_condition("Ready", observed_generation=2),)),
        PodStatus(conditions=(a_condition("Ready"), a_condition("DisruptionTarget"))),
    ],
    ids=["phase", "status", "reason", "generation", "new condition"],
)
def test_what_the_kubelet_owns_makes_a_difference(new: PodStatus) -> None:
    assert not is_status_equal(PodStatus(conditions=(a_condition("Ready"),)), new)


# --- merging


def test_a_terminal_phase_waits_until_nothing_can_be_running() -> None:
    api = PodStatus(phase="Running", reason="old", message="older")
    new = PodStatus(phase="Failed", reason="Evicted", message="why", conditions=(a_condition("DisruptionTarget"),))
    withheld, sent = merged(api, new, running=True), merged(api, new)
    assert (withheld.phase, withheld.reason, withheld.message, withheld.conditions) == ("Running", "old", "older", ())
    assert (sent.phase, sent.reason, sent.message) == ("Failed", "Evicted", "why")
    assert [c.type for c in sent.conditions] == ["DisruptionTarget"]


def test_foreign_conditions_and_claims_stay_as_the_api_has_them() -> None:
    claims = (PodResourceClaimStatus(name="gpu"),)
    api = PodStatus(
        conditions=(a_condition("example.com/x"), a_condition("Ready", "False")), resource_claim_statuses=claims
    )
    new = PodStatus(conditions=(a_condition("example.com/x", "False"), a_condition("Ready")))
    result = merged(api, new)
    assert {c.type: c.status for c in result.conditions} == {"example.com/x": "True", "Ready": "True"}
    assert result.resource_claim_statuses == claims


def test_a_disruption_that_others_set_is_kept() -> None:
    api = PodStatus(phase="Running", conditions=(a_condition("DisruptionTarget", reason="EvictionByEvictionAPI"),))
    assert merged(api, PodStatus(phase="Running")).conditions == api.conditions


@pytest.mark.parametrize(("phase", "reason"), [("Failed", "PodFailed"), ("Succeeded", "PodCompleted")])
def test_a_pod_that_is_over_is_never_called_ready(phase: str, reason: str) -> None:
    new = PodStatus(phase=phase, conditions=(a_condition("Ready"), a_condition("ContainersReady", "False")))
    result = merged(PodStatus(phase="Running"), new)
    assert {(c.type, c.status, c.reason) for c in result.conditions} == {
        ("Ready", "False", reason),
        ("ContainersReady", "False", reason),
    }
    assert result.conditions[0].last_transition_time == later(9)


def test_an_unready_pod_that_is_over_keeps_its_reason() -> None:
    new = PodStatus(phase="Failed", conditions=(a_condition("Ready", "False", reason="ContainersNotReady"),))
    assert merged(PodStatus(phase="Pending"), new).conditions == new.conditions


def test_times_are_cut_to_whole_seconds() -> None:
    half = later(0.5)
    run = ContainerState(running=ContainerStateRunning(started_at=half))
    end = ContainerState(terminated=ContainerStateTerminated(started_at=half, finished_at=half))
    new = PodStatus(
        start_time=half,
        conditions=(a_condition("Ready", last_transition_time=half, last_probe_time=half),),
        container_statuses=(of("m", run, last_state=end),),
        init_container_statuses=(of("i", WAITING),),
    )
    result = merged(PodStatus(), new)
    assert result == PodStatus(
        start_time=NOW,
        conditions=(a_condition("Ready", last_transition_time=NOW, last_probe_time=NOW),),
        container_statuses=(
            of(
                "m",
                RUNNING,
                last_state=ContainerState(terminated=ContainerStateTerminated(started_at=NOW, finished_at=NOW)),
            ),
        ),
        init_container_statuses=(of("i", WAITING),),
    )


def test_what_has_whole_seconds_is_not_copied() -> None:
    end = ContainerState(terminated=ContainerStateTerminated(started_at=NOW, finished_at=NOW))
    new = PodStatus(
        conditions=(a_condition("Ready", last_transition_time=NOW),),
        container_statuses=(of("m", RUNNING), of("n", end)),
    )
    result = merged(PodStatus(), new)
    assert result.conditions[0] is new.conditions[0]
    pairs = zip(new.container_statuses, result.container_statuses, strict=True)
    assert all(kept is status for kept, status in pairs)


# --- illegal steps

RULE = ContainerRestartRule(action="Restart", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,)))
RESTART_ALL = evolve(RULE, action="RestartAllContainers")


@pytest.mark.parametrize(
    ("why", "policy", "main", "code", "legal"),
    [
        ("a container that is over runs again", "Never", a_container("m"), 0, False),
        ("a container that failed for good runs again", "Never", a_container("m"), 1, False),
        ("a container that failed is restarted", "OnFailure", a_container("m"), 1, True),
        ("a container that succeeded is restarted", "OnFailure", a_container("m"), 0, False),
        ("everything may restart", "Always", a_container("m"), 0, True),
        (
            "a rule restarts the container",
            "Never",
            a_container("m", restart_policy="Never", restart_policy_rules=(RULE,)),
            42,
            True,
        ),
        (
            "the pod may restart all containers",
            "Never",
            a_container("m", restart_policy="Never", restart_policy_rules=(RESTART_ALL,)),
            0,
            True,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_leaving_the_terminated_state(why: str, policy: str, main: object, code: int, *, legal: bool) -> None:
    pod = a_pod(main, restart_policy=policy)  # type: ignore[arg-type]
    old = PodStatus(container_statuses=(of("m", ended(code)),))
    new = PodStatus(container_statuses=(of("m", RUNNING),))
    error = check_container_state_transition(old, new, pod, gates())
    expected = None if legal else "terminated container m attempted illegal transition to non-terminated state"
    assert error == expected, why


def test_an_init_container_may_not_run_again_and_a_sidecar_may() -> None:
    pod = a_pod(a_container("m"), init=[a_sidecar("s"), a_container("i")], restart_policy="Never")
    old = PodStatus(init_container_statuses=(of("s", ended(0)), of("i", ended(0))))
    sidecar = evolve(old, init_container_statuses=(of("s", RUNNING), of("i", ended(0))))
    init = evolve(old, init_container_statuses=(of("s", RUNNING), of("i", RUNNING)))
    assert check_container_state_transition(old, sidecar, pod, gates()) is None
    assert check_container_state_transition(old, init, pod, gates()) == (
        "terminated init container i attempted illegal transition to non-terminated state"
    )


# --- the end


def test_a_container_without_an_end_gets_an_unknown_one_and_the_pod_fails() -> None:
    status = PodStatus(phase="Pending", container_statuses=(of("a", ended(0)), of("b", WAITING)))
    result = terminate_pod_status(a_pod(a_container("a"), a_container("b")), status)
    assert (result.phase, [s.state for s in result.container_statuses]) == ("Failed", [ended(0), UNKNOWN_END])


@pytest.mark.parametrize(("phase", "result"), [("Succeeded", "Succeeded"), ("Failed", "Failed"), ("Running", "Failed")])
def test_the_last_phase_is_terminal_unless_the_pod_is_static(phase: str, result: str) -> None:
    assert terminate_pod_status(a_pod(), PodStatus(phase=phase)).phase == result
    assert terminate_pod_status(a_pod(), PodStatus(phase=phase), is_static=True).phase == phase


@pytest.mark.parametrize(
    ("why", "inits", "mains", "expected"),
    [
        ("nothing ever ran: the first init container counts", [WAITING, WAITING], [WAITING], "iww"),
        ("the second init container ran", [ended(0), RUNNING], [WAITING], "eiw"),
        ("an init container has run before", [WAITING, WAITING], [WAITING], "iiw"),
        ("the last init container is done", [ended(0), ended(0)], [WAITING], "eei"),
        ("a main container ran", [ended(0), WAITING], [RUNNING], "ewi"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_how_far_a_pod_came_says_who_gets_an_end(
    why: str, inits: list[ContainerState], mains: list[ContainerState], expected: str
) -> None:
    pod = a_pod(a_container("m"), init=[a_container("i1"), a_container("i2")])
    last = ended(1) if "before" in why else ContainerState()
    status = PodStatus(
        init_container_statuses=(of("i1", inits[0]), of("i2", inits[1], last_state=last)),
        container_statuses=tuple(of("m", state) for state in mains),
    )
    result = terminate_pod_status(pod, status)
    words = {True: "e"}
    shown = "".join(
        "i" if s.state == UNKNOWN_END else words.get(s.state.terminated is not None, "w")
        for s in (*result.init_container_statuses, *result.container_statuses)
    )
    assert shown == expected, why


@pytest.mark.parametrize(("started", "state"), [(True, UNKNOWN_END), (False, WAITING)])
def test_a_last_sidecar_that_started_means_that_mains_may_have_run(*, started: bool, state: ContainerState) -> None:
    pod = a_pod(a_container("m"), init=[a_sidecar("s")])
    status = PodStatus(
        init_container_statuses=(of("s", RUNNING, started=started),), container_statuses=(of("m", WAITING),)
    )
    assert terminate_pod_status(pod, status).container_statuses[0].state == state


def test_a_pod_whose_init_containers_have_no_status_has_not_initialized() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    assert terminate_pod_status(pod, PodStatus(container_statuses=(of("m", WAITING),))).container_statuses == (
        of("m", WAITING),
    )


@pytest.mark.parametrize(
    ("why", "init", "known", "state"),
    [
        ("the last init container ended with 0 on its stop signal", a_container("i"), of("i", RUNNING), WAITING),
        ("the last sidecar had started", a_sidecar("i"), of("i", RUNNING, started=True), UNKNOWN_END),
        ("a sidecar that has ended did not start", a_sidecar("i"), of("i", ended(0), started=True), WAITING),
    ],
)
def test_how_far_a_pod_came_is_judged_on_what_the_api_knew(
    why: str, init: Container, known: ContainerStatus, state: ContainerState
) -> None:
    pod = a_pod(a_container("m"), init=[init])
    status = PodStatus(init_container_statuses=(of("i", ended(0)),), container_statuses=(of("m", WAITING),))
    seen = PodStatus(init_container_statuses=(known,), container_statuses=(of("m", WAITING),))
    assert terminate_pod_status(pod, status, known=seen).container_statuses[0].state == state, why
