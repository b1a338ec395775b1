"""What one sync decides, where the decision tables say nothing.

Source: kubelet v1.36 computePodActions, computeInitContainerActions, computePodResizeAction.
"""

from __future__ import annotations

import pytest
from attrs import evolve
from pod_makers import (
    A_PROBE,
    a_container,
    a_pod,
    a_sandbox,
    a_sidecar,
    a_sync,
    an_instance,
    deleting,
    exited,
    gates,
    requesting,
    seen,
)

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import ContainerResizePolicy, ContainerRestartRule, ContainerRestartRuleOnExitCodes
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.rules.actions import ContainerKillReason, ContainerToKill, ContainerToReset, compute_pod_actions
from kubelet_emu.rules.observed import ProbeResult, ProbeResults
from runtime.api import ContainerID, ContainerState

RESTART_ALL = ContainerRestartRule(
    action="RestartAllContainers", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,))
)
TRIGGER = a_container("a", restart_policy="Never", restart_policy_rules=(RESTART_ALL,))
RESTARTING = PodStatus(conditions=(PodCondition(type=reasons.ALL_CONTAINERS_RESTARTING, status="True"),))


def test_the_reset_begins_in_the_sync_that_sees_the_exit() -> None:
    pod = a_pod(TRIGGER, a_container("b"), restart_policy="Never")
    actions = compute_pod_actions(a_sync(pod, seen(exited("a", 42), an_instance("b"))))
    assert actions.containers_to_reset == (
        ContainerToReset(id=ContainerID("b-0"), name="b", kill=True),
        ContainerToReset(id=ContainerID("a-0"), name="a", kill=False),
    )


def test_a_reset_removes_old_instances_too() -> None:
    pod = a_pod(TRIGGER, restart_policy="Never")
    actions = compute_pod_actions(a_sync(pod, seen(exited("a", 1), exited("a", 42, attempt=1))))
    assert [reset.id for reset in actions.containers_to_reset] == ["a-1", "a-0"]


def test_a_reset_that_failed_is_repeated_though_its_trigger_is_gone() -> None:
    pod = a_pod(TRIGGER, a_container("b"), restart_policy="Never")
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("b")), previous_status=RESTARTING))
    assert [reset.name for reset in actions.containers_to_reset] == ["b"]


def test_after_the_reset_everything_starts_again() -> None:
    pod = a_pod(TRIGGER, a_container("b"), restart_policy="Never")
    actions = compute_pod_actions(a_sync(pod, seen(), previous_status=RESTARTING))
    assert (actions.containers_to_reset, actions.containers_to_start) == ((), (0, 1))


def test_without_the_gate_the_containers_own_policy_decides() -> None:
    pod = a_pod(TRIGGER, a_container("b"), restart_policy="Never")
    sync = a_sync(
        pod, seen(exited("a", 42), an_instance("b")), features=gates(RestartAllContainersOnContainerExits=False)
    )
    actions = compute_pod_actions(sync)
    assert (actions.containers_to_reset, actions.containers_to_start) == ((), ())


def test_a_reset_in_a_lost_sandbox_kills_the_pod_first() -> None:
    pod = a_pod(TRIGGER, restart_policy="Never")
    observed = seen(exited("a", 42), sandboxes=[a_sandbox(ready=False)])
    actions = compute_pod_actions(a_sync(pod, observed))
    assert (actions.kill_pod, actions.containers_to_start, len(actions.containers_to_reset)) == (True, (), 1)


@pytest.mark.parametrize(
    ("state", "kill_pod", "start", "killed"),
    [
        (ContainerState.CREATED, False, (0,), False),
        (ContainerState.RUNNING, False, (), False),
        (ContainerState.UNKNOWN, False, (0,), True),
    ],
)
def test_an_init_container_that_has_not_ended(
    state: ContainerState, *, kill_pod: bool, start: tuple[int, ...], killed: bool
) -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("i", state))))
    assert (actions.kill_pod, actions.init_containers_to_start, bool(actions.containers_to_kill)) == (
        kill_pod,
        start,
        killed,
    )


@pytest.mark.parametrize(
    ("state", "killed"), [(ContainerState.CREATED, []), (ContainerState.UNKNOWN, ["s"]), (ContainerState.EXITED, [])]
)
def test_a_sidecar_that_does_not_run_is_started_whatever_the_policy(state: ContainerState, killed: list[str]) -> None:
    pod = a_pod(a_container("m"), init=[a_sidecar("s")], restart_policy="Never")
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("s", state), an_instance("m"))))
    assert (actions.init_containers_to_start, [kill.name for kill in actions.containers_to_kill]) == ((0,), killed)


def test_an_init_container_in_unknown_state_is_not_judged_by_its_rules() -> None:
    rule = ContainerRestartRule(
        action="Restart", exit_codes=ContainerRestartRuleOnExitCodes(operator="NotIn", values=(1,))
    )
    init = a_container("i", restart_policy="Never", restart_policy_rules=(rule,))
    actions = compute_pod_actions(
        a_sync(a_pod(a_container("m"), init=[init]), seen(an_instance("i", ContainerState.UNKNOWN)))
    )
    assert actions.kill_pod


def test_a_failed_init_container_of_a_pod_being_deleted_ends_the_pod() -> None:
    pod = deleting(a_pod(a_container("m"), init=[a_container("i")]))
    assert compute_pod_actions(a_sync(pod, seen(exited("i", 1)))).kill_pod


@pytest.mark.parametrize(("policy", "kill_pod"), [("Never", True), ("OnFailure", False), ("Always", False)])
def test_without_restart_rules_an_init_container_fails_by_the_pods_policy(policy: str, *, kill_pod: bool) -> None:
    pod = a_pod(a_container("m"), init=[a_container("i", restart_policy="OnFailure")], restart_policy=policy)
    sync = a_sync(pod, seen(exited("i", 1)), features=gates(ContainerRestartRules=False))
    assert compute_pod_actions(sync).kill_pod is kill_pod


def test_without_restart_rules_a_containers_policy_is_not_looked_at() -> None:
    pod = a_pod(a_container("m", restart_policy="Always"), restart_policy="Never")
    sync = a_sync(pod, seen(exited("m", 1)), features=gates(ContainerRestartRules=False))
    assert compute_pod_actions(sync).kill_pod


def test_a_finished_init_container_that_still_exists_is_not_looked_at_once_a_later_one_runs() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i1"), a_container("i2")])
    actions = compute_pod_actions(a_sync(pod, seen(exited("i1", 1), an_instance("i2"))))
    assert actions.init_containers_to_start == ()


def test_a_startup_probe_of_a_main_container_that_failed_is_told_from_a_liveness_probe() -> None:
    pod = a_pod(a_container("m", startup_probe=A_PROBE), a_container("n"), restart_policy="Never")
    probes = ProbeResults(startup={ContainerID("m-0"): ProbeResult.FAILURE})
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("m"), an_instance("n")), probes=probes))
    assert actions.containers_to_kill == (
        ContainerToKill(
            id=ContainerID("m-0"),
            name="m",
            message="Container m failed startup probe",
            reason=ContainerKillReason.STARTUP_PROBE,
        ),
    )


def test_a_changed_definition_restarts_even_with_never_and_wins_over_probes() -> None:
    pod = a_pod(evolve(a_container("m"), image="image:2"), restart_policy="Never")
    probes = ProbeResults(liveness={ContainerID("m-0"): ProbeResult.FAILURE})
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("m")), probes=probes))
    assert actions.containers_to_start == (0,)
    assert [kill.message for kill in actions.containers_to_kill] == [
        "Container m definition changed, will be restarted"
    ]


def test_a_pod_whose_mains_are_all_gone_starts_its_init_containers_in_a_new_sandbox() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    actions = compute_pod_actions(a_sync(pod, seen(exited("m", 0), sandboxes=[a_sandbox(2, ready=False)])))
    assert (actions.sandbox_changed, actions.attempt, actions.init_containers_to_start) == (True, 3, (0,))


def test_a_main_container_in_unknown_state_does_not_count_as_one_that_existed() -> None:
    pod = a_pod(a_container("m"), restart_policy="OnFailure")
    observed = seen(an_instance("m", ContainerState.UNKNOWN), sandboxes=[a_sandbox(ready=False)])
    actions = compute_pod_actions(a_sync(pod, observed))
    assert (actions.create_sandbox, actions.containers_to_start) == (True, ())


@pytest.mark.parametrize("state", [ContainerState.CREATED, ContainerState.UNKNOWN])
def test_a_main_container_never_seen_to_end_has_no_exit_code_and_so_waits_for_the_new_sandbox(
    state: ContainerState,
) -> None:
    pod = a_pod(a_container("m"), a_container("n"), restart_policy="OnFailure")
    observed = seen(an_instance("m", state), an_instance("n"), sandboxes=[a_sandbox(ready=False)])
    actions = compute_pod_actions(a_sync(pod, observed))
    assert (actions.create_sandbox, actions.containers_to_start) == (True, (1,))


# --- resize

SMALL, LARGE = requesting({"cpu": "1"}, {"cpu": "1"}), requesting({"cpu": "2"}, {"cpu": "2"})
RESTART_FOR_CPU = (
    ContainerResizePolicy(resource_name="memory", restart_policy="NotRequired"),
    ContainerResizePolicy(resource_name="cpu", restart_policy="RestartContainer"),
)


def test_a_request_alone_is_resized_too() -> None:
    pod = a_pod(a_container("m", resources=requesting({"memory": "64Mi"}, {"memory": "64Mi"})))
    actuated = {"m": requesting({"memory": "32Mi"}, {"memory": "64Mi"})}
    assert compute_pod_actions(a_sync(pod, seen(an_instance("m"))), actuated=actuated).memory_updates == ("m",)


@pytest.mark.parametrize(
    "off",
    ["InPlacePodVerticalScaling", "InPlacePodVerticalScalingInitContainers"],
)
def test_a_running_init_container_keeps_its_size_with_a_gate_off(off: str) -> None:
    pod = a_pod(a_container("m"), init=[a_container("i", resources=LARGE)])
    sync = a_sync(pod, seen(an_instance("i")), features=gates(**{off: False}))
    assert compute_pod_actions(sync, actuated={"i": SMALL}).cpu_updates == ()


def test_a_resize_that_needs_a_restart_kills_and_starts_the_sidecar() -> None:
    sidecar = a_sidecar("s", resources=LARGE, resize_policy=RESTART_FOR_CPU)
    pod = a_pod(a_container("m"), init=[sidecar])
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("s"), an_instance("m"))), actuated={"s": SMALL})
    assert (actions.init_containers_to_start, actions.cpu_updates) == ((0,), ())
    assert [kill.message for kill in actions.containers_to_kill] == ["Container s resize requires restart"]


def test_what_is_not_known_to_have_been_applied_is_not_resized() -> None:
    pod = a_pod(a_container("m", resources=LARGE), a_container("n"))
    actions = compute_pod_actions(a_sync(pod, seen(an_instance("m"), an_instance("n"))), actuated={"n": SMALL})
    assert actions.cpu_updates == ()


def test_actions_are_described_as_plain_data_without_what_is_not_done() -> None:
    pod = a_pod(TRIGGER, a_container("b"), restart_policy="Never")
    actions = compute_pod_actions(a_sync(pod, seen(exited("a", 42), an_instance("b"))))
    assert actions.describe() == {
        "sandbox": "sandbox-0",
        "attempt": 0,
        "reset": [{"id": "b-0", "name": "b", "kill": True}, {"id": "a-0", "name": "a", "kill": False}],
    }
