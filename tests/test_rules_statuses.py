"""Statuses that one pass makes, where the decision tables say nothing.

Source: kubelet v1.36 generateAPIPodStatus, convertToAPIContainerStatuses, pkg/kubelet/status/generate.go.
"""

from __future__ import annotations

import pytest
from attrs import evolve
from pod_makers import (
    A_PROBE,
    NOW,
    a_container,
    a_pod,
    a_sandbox,
    a_sidecar,
    a_sync,
    an_instance,
    deleting,
    exited,
    gates,
    later,
    requesting,
    seen,
)
from status_makers import RESTARTER, WAS_RUNNING, WAS_WAITING, condition, made

from kubelet_emu.api.v1 import (
    PodReadinessGate,
    ResourceRequirements,
)
from kubelet_emu.api.v1_status import (
    ContainerStatus,
    HostIP,
    PodCondition,
    PodIP,
    PodStatus,
)
from kubelet_emu.rules.conditions import (
    Observation,
    complete_conditions,
    containers_ready_condition,
    initialized_condition,
)
from kubelet_emu.rules.disruption import PREEMPTED_STATUS
from kubelet_emu.rules.phase import get_phase
from kubelet_emu.rules.statuses import (
    generate_api_pod_status,
    rejected_pod_status,
    set_container_readiness,
    set_container_startup,
    set_ready_to_start_containers,
)
from runtime.api import SandboxID

# --- phase, reason, deadline


def test_a_terminal_phase_is_never_left_and_keeps_its_reason() -> None:
    previous = PodStatus(phase="Failed", reason="Evicted", message="why")
    status = made(a_pod(a_container("m")), seen(an_instance("m")), previous_status=previous)
    assert (status.phase, status.reason, status.message) == ("Failed", "Evicted", "why")


def test_a_pod_that_was_to_fail_succeeds_when_its_containers_do() -> None:
    previous = PodStatus(phase="Failed", reason="Preempting", message="why")
    sync = a_sync(deleting(a_pod(a_container("m"))), seen(exited("m", 0)), previous_status=previous)
    status = generate_api_pod_status(sync, pod_is_terminal=True)
    assert (status.phase, status.reason, status.message) == ("Succeeded", None, None)


def test_past_its_deadline_a_pod_is_failed_at_once() -> None:
    pod = a_pod(a_container("m"), active_deadline_seconds=5)
    previous = PodStatus(phase="Running", start_time=NOW)
    early = made(pod, seen(an_instance("m")), previous_status=previous, now=later(4.9))
    late = made(pod, seen(an_instance("m")), previous_status=previous, now=later(5))
    assert early.phase == "Running"
    assert (late.phase, late.reason, late.message) == (
        "Failed",
        "DeadlineExceeded",
        "Pod was active on the node longer than the specified deadline",
    )
    assert condition(late, "Ready").reason == "PodFailed"


def test_an_override_is_written_over_the_status_that_a_kill_begins_with() -> None:
    sync = a_sync(a_pod(a_container("m")), seen(an_instance("m")))
    status = generate_api_pod_status(sync, pod_is_terminal=False, override=PREEMPTED_STATUS)
    assert (status.phase, status.reason, condition(status, "Ready").status) == ("Failed", "Preempting", "True")
    assert condition(status, "DisruptionTarget") == PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="TerminationByKubelet",
        message="Pod was preempted by Kubelet to accommodate a critical pod.",
        last_transition_time=NOW,
        observed_generation=1,
    )


def test_a_sidecar_without_a_state_keeps_its_pod_pending() -> None:
    pod = a_pod(a_container("m"), init=[a_sidecar("s")])
    statuses = [ContainerStatus(name="s"), ContainerStatus(name="m", state=WAS_RUNNING)]
    phase = get_phase(pod, statuses, pod_is_terminal=False, pod_has_initialized=True, is_static=False, features=gates())
    assert phase == "Pending"


def test_only_a_main_in_the_current_sandbox_shows_that_the_pod_has_initialized() -> None:
    pod = a_pod(a_container("m"), init=[a_sidecar("s", startup_probe=A_PROBE)])
    old = exited("m", 1, sandbox_id=SandboxID("old"))
    assert made(pod, seen(an_instance("s"), old)).phase == "Pending"
    assert made(pod, seen(an_instance("s"), exited("m", 1))).phase == "Running"


# --- conditions


def test_conditions_come_in_the_kubelets_order_after_foreign_ones() -> None:
    foreign = PodCondition(type="example.com/gate", status="True")
    disruption = PodCondition(type="DisruptionTarget", status="True", reason="EvictionByEvictionAPI")
    resize = PodCondition(type="PodResizePending", status="True", reason="Deferred")
    pod = a_pod(
        RESTARTER, status=PodStatus(conditions=(disruption, foreign, PodCondition(type="Ready", status="True")))
    )
    status = made(pod, previous_status=PodStatus(conditions=(resize,)))
    assert [c.type for c in status.conditions] == [
        "example.com/gate",
        "PodResizePending",
        "DisruptionTarget",
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
        "AllContainersRestarting",
    ]


def test_readiness_gates_are_looked_for_among_foreign_conditions() -> None:
    gate = PodReadinessGate(condition_type="example.com/gate")
    foreign = PodStatus(conditions=(PodCondition(type="example.com/gate", status="True"),))
    pod = a_pod(a_container("m"), readiness_gates=(gate,))
    assert condition(made(pod, seen(an_instance("m"))), "Ready").reason == "ReadinessGatesNotReady"
    assert condition(made(evolve(pod, status=foreign), seen(an_instance("m"))), "Ready").status == "True"


@pytest.mark.parametrize(("code", "reason"), [(0, "PodCompleted"), (1, "PodFailed")])
def test_a_pod_that_is_over_restarts_nothing(code: int, reason: str) -> None:
    pod = a_pod(RESTARTER, restart_policy="Never")
    found = condition(made(pod, seen(exited("m", code))), "AllContainersRestarting")
    assert (found.status, found.reason) == ("False", reason)


def test_the_gates_of_conditions() -> None:
    off = gates(PodReadyToStartContainersCondition=False, RestartAllContainersOnContainerExits=False)
    types = [c.type for c in made(a_pod(RESTARTER), features=off).conditions]
    assert types == ["Initialized", "Ready", "ContainersReady", "PodScheduled"]


def test_initialized_stays_true_unless_the_gate_is_off() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    previous = PodStatus(conditions=(PodCondition(type="Initialized", status="True"),))
    off = gates(RestartAllContainersOnContainerExits=False)
    assert condition(made(pod, previous_status=previous), "Initialized").status == "True"
    assert condition(made(pod, previous_status=previous, features=off), "Initialized").status == "False"
    assert condition(made(pod), "Initialized").status == "False"


def test_without_any_statuses_the_conditions_say_that_they_are_unknown() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    assert containers_ready_condition(pod, None, "Pending").reason == "UnknownContainerStatuses"
    assert initialized_condition(pod, None, "Pending", was_initialized=False).reason == "UnknownContainerStatuses"
    assert initialized_condition(a_pod(), None, "Pending", was_initialized=False).status == "True"


def test_init_containers_without_a_status_are_named_before_incomplete_ones() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i1"), a_container("i2")])
    statuses = [ContainerStatus(name="i1", state=WAS_WAITING)]
    found = initialized_condition(pod, statuses, "Pending", was_initialized=False)
    assert found.message == "containers with unknown status: [i2], containers with incomplete status: [i1]"


def test_a_transition_time_changes_with_the_status_alone() -> None:
    pod, before = a_pod(a_container("m")), NOW
    first = made(pod, seen(an_instance("m")))
    same = made(pod, seen(an_instance("m")), previous_status=first, now=later(5))
    changed = made(pod, seen(exited("m", 1)), previous_status=same, now=later(9))
    assert condition(same, "Ready").last_transition_time == before
    assert condition(changed, "Ready").last_transition_time == later(9)
    assert condition(changed, "PodScheduled").last_transition_time == before


def test_generations_are_tracked_or_brought_up_to_date_where_there_is_one() -> None:
    off = gates(PodObservedGenerationTracking=False)
    pod = a_pod(RESTARTER, metadata={"generation": 3})
    tracked = made(pod)
    assert (tracked.observed_generation, condition(tracked, "Ready").observed_generation) == (3, 3)
    assert condition(tracked, "AllContainersRestarting").observed_generation is None
    untracked = made(pod, features=off)
    assert (untracked.observed_generation, condition(untracked, "Ready").observed_generation) == (None, None)
    newer = evolve(pod, metadata=evolve(pod.metadata, generation=4))
    again = made(newer, features=off, previous_status=tracked)
    assert (again.observed_generation, condition(again, "Ready").observed_generation) == (4, 4)


def test_an_observed_generation_never_falls_and_zero_is_absent() -> None:
    assert made(a_pod(), previous_status=PodStatus(observed_generation=7)).observed_generation == 7
    assert made(a_pod(metadata={"generation": 0})).observed_generation is None


def test_foreign_conditions_and_those_of_a_resize_keep_their_own_times() -> None:
    kept = tuple(PodCondition(type=t, status="True") for t in ("example.com/gate", "PodResizeInProgress"))
    assert complete_conditions(kept, (), Observation(now=NOW, generation=1)) == kept


# --- addresses and other fields


def test_a_pod_shows_the_first_address_of_each_family_the_nodes_primary_one_first() -> None:
    observed = seen(sandboxes=[a_sandbox(ip="10.0.0.7", additional_ips=("10.0.0.8", "fd00::7"))])
    for node, expected in (("192.0.2.1", ("10.0.0.7", "fd00::7")), ("fd00::1", ("fd00::7", "10.0.0.7"))):
        status = generate_api_pod_status(a_sync(a_pod(), observed), pod_is_terminal=False, host_ips=(node,))
        assert (status.pod_ip, tuple(each.ip for each in status.pod_ips)) == (expected[0], expected)
        assert (status.host_ip, status.host_ips) == (node, (HostIP(ip=node),))


def test_addresses_stay_after_the_sandbox_has_stopped() -> None:
    previous = PodStatus(pod_ip="10.0.0.7", pod_ips=(PodIP(ip="10.0.0.7"),))
    stopped = made(a_pod(), seen(sandboxes=[a_sandbox(ready=False)]), previous_status=previous)
    assert stopped.pod_ip == "10.0.0.7"
    unready = seen(sandboxes=[a_sandbox(1, ip=""), a_sandbox()])
    assert made(a_pod(), unready, previous_status=previous).pod_ip is None


def test_a_pod_on_the_nodes_network_has_the_nodes_addresses_as_first_seen() -> None:
    pod = a_pod(host_network=True)
    sync = a_sync(pod, previous_status=PodStatus(pod_ips=(PodIP(ip="192.0.2.1"),)))
    status = generate_api_pod_status(sync, pod_is_terminal=False, host_ips=("192.0.2.9", "fd00::1"))
    assert [each.ip for each in status.pod_ips] == ["192.0.2.1", "fd00::1"]
    status = generate_api_pod_status(a_sync(pod), pod_is_terminal=False, host_ips=("192.0.2.9",))
    assert status.pod_ip == "192.0.2.9"
    assert made(pod).pod_ip is None


def test_start_time_and_qos_class_never_change() -> None:
    previous = PodStatus(start_time=NOW, qos_class="Guaranteed")
    status = made(a_pod(a_container("m")), previous_status=previous, now=later(60))
    assert (status.start_time, status.qos_class) == (NOW, "Guaranteed")
    assert (made(a_pod()).start_time, made(a_pod()).qos_class) == (NOW, "BestEffort")


def test_resources_of_the_pod_are_the_sum_of_its_containers_or_its_own() -> None:
    containers = [
        a_container("a", resources=requesting({"cpu": "500m", "memory": "16Mi"}, {"cpu": "1"})),
        a_container("b", resources=requesting({"cpu": "1"}, {"cpu": "500m"})),
    ]
    status = made(a_pod(*containers))
    assert status.allocated_resources == {"cpu": "1500m", "memory": "16Mi"}
    assert status.resources == requesting({"cpu": "1500m", "memory": "16Mi"}, {"cpu": "1500m"})
    own = made(a_pod(*containers, resources=requesting({"cpu": "3"})))
    assert own.allocated_resources == {"cpu": "3", "memory": "16Mi"}
    assert made(a_pod(a_container("m"))).resources == ResourceRequirements()
    off = made(a_pod(*containers), features=gates(InPlacePodLevelResourcesVerticalScaling=False))
    assert (off.resources, off.allocated_resources) == (None, {})


def test_a_rejected_pod_has_no_containers_and_no_conditions() -> None:
    pod = a_pod(a_container("m"))
    assert rejected_pod_status(pod, "NodeAffinity", "no", NOW) == PodStatus(
        phase="Failed",
        reason="NodeAffinity",
        message="Pod was rejected: no",
        qos_class="BestEffort",
        start_time=NOW,
        observed_generation=1,
    )
    off = gates(PodObservedGenerationTracking=False)
    assert rejected_pod_status(pod, "NodeAffinity", "no", NOW, off).observed_generation is None


# --- between passes


def test_readiness_changes_the_container_and_the_two_conditions_at_once() -> None:
    pod = a_pod(a_container("m", readiness_probe=A_PROBE), init=[a_sidecar("s")])
    before = made(pod, seen(an_instance("m"), an_instance("s")))
    ready = set_container_readiness(pod, before, "m", True, later(3))
    assert ready.container_statuses[0].ready
    for kind in ("Ready", "ContainersReady"):
        assert condition(ready, kind) == PodCondition(
            type=kind, status="True", last_transition_time=later(3), observed_generation=1
        )
    assert condition(ready, "Initialized") == condition(before, "Initialized")
    unready = set_container_readiness(pod, ready, "s", False, later(4))
    assert condition(unready, "Ready").message == "containers with unready status: [s]"


def test_readiness_that_is_no_news_changes_nothing() -> None:
    pod = a_pod(a_container("m"))
    before = made(pod, seen(an_instance("m")))
    assert set_container_readiness(pod, before, "m", True, later(3)) is before
    assert set_container_readiness(pod, before, "nobody", True, later(3)) is before


def test_startup_changes_the_container_alone() -> None:
    pod = a_pod(a_container("m", startup_probe=A_PROBE))
    before = made(pod, seen(an_instance("m")))
    after = set_container_startup(pod, before, "m", True, later(3))
    assert (after.container_statuses[0].started, after.conditions) == (True, before.conditions)


def test_a_new_sandbox_shows_before_the_sync_ends() -> None:
    pod = a_pod(a_container("m"))
    before = made(pod, seen(sandboxes=[]))
    after = set_ready_to_start_containers(pod, before, later(2), gates())
    assert condition(after, "PodReadyToStartContainers").last_transition_time == later(2)
    assert [c.type for c in after.conditions] == [c.type for c in before.conditions]
    first = set_ready_to_start_containers(pod, PodStatus(), later(2), gates())
    assert [c.type for c in first.conditions] == ["PodReadyToStartContainers"]
    off = gates(PodReadyToStartContainersCondition=False)
    assert set_ready_to_start_containers(pod, before, later(2), off) is before
