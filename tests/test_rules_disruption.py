"""Deadline, eviction, preemption, node shutdown: who, how long, and the status texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kubelet_emu.api import reasons_node
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Pod, PodSpec
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.rules.disruption import (
    DEADLINE_EXCEEDED_STATUS,
    PREEMPTED_STATUS,
    ContainerUsage,
    Termination,
    active_deadline,
    apply_kill_status,
    is_critical_pod,
    is_past_active_deadline,
    kill_wait_seconds,
    limit_eviction_status,
    pressure_eviction_status,
    soft_eviction_override,
)
from kubelet_emu.rules.node_shutdown import (
    NODE_SHUTDOWN_STATUS,
    ShutdownGroup,
    group_of,
    pods_by_group,
    shutdown_grace_override,
    shutdown_groups,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("after", "expected"), [(4.99, False), (5.0, True), (6.0, True)])
def test_the_deadline_counts_from_the_start_time(after: float, expected: bool) -> None:  # noqa: FBT001
    pod = Pod(spec=PodSpec(active_deadline_seconds=5))
    assert is_past_active_deadline(pod, NOW, NOW + timedelta(seconds=after)) is expected


def test_a_pod_without_deadline_is_never_past_it() -> None:
    assert not is_past_active_deadline(Pod(), NOW, NOW + timedelta(days=9))


def test_a_pod_not_yet_seen_has_no_deadline() -> None:
    assert active_deadline(Pod(spec=PodSpec(active_deadline_seconds=5)), None) is None


CRITICAL = [
    ("a plain pod is not", {}, None, False),
    ("highest priority of users is not", {}, 1_999_999_999, False),
    ("system-critical priority is", {}, 2_000_000_000, True),
    ("a static pod is", {"kubernetes.io/config.source": "file"}, None, True),
    ("a pod of the API is not", {"kubernetes.io/config.source": "api"}, None, False),
    ("a mirror pod is", {"kubernetes.io/config.mirror": "x"}, None, True),
]


@pytest.mark.parametrize(
    ("annotations", "priority", "expected"), [row[1:] for row in CRITICAL], ids=[row[0] for row in CRITICAL]
)
def test_critical_pods(annotations: dict[str, str], priority: int | None, expected: bool) -> None:  # noqa: FBT001
    pod = Pod(metadata=ObjectMeta(annotations=annotations), spec=PodSpec(priority=priority))
    assert is_critical_pod(pod) is expected


def test_the_message_of_an_eviction_under_pressure() -> None:
    kill = pressure_eviction_status(
        "memory", ("100Mi", "50Mi"), [ContainerUsage(container="c", usage="60Mi", request="0")]
    )
    assert kill.message == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. "
        "Container c was using 60Mi, request is 0, has larger consumption of memory. "
    )
    assert kill.disruption_message == kill.message


def test_an_eviction_without_threshold_says_only_the_resource() -> None:
    assert pressure_eviction_status("pids").message == "The node was low on resource: pids. "


LIMITS = [
    (reasons_node.empty_dir_over_limit("v", "1Mi"), 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". '),
    (
        reasons_node.pod_over_ephemeral_storage_limit("1Gi"),
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
    ),
    (
        reasons_node.container_over_ephemeral_storage_limit("c", "1Gi"),
        'Container c exceeded its local ephemeral storage limit "1Gi". ',
    ),
]


@pytest.mark.parametrize(("message", "expected"), LIMITS)
def test_a_pod_over_its_own_limit_is_no_disruption(message: str, expected: str) -> None:
    status = apply_kill_status(PodStatus(phase="Running"), limit_eviction_status(message), NOW)
    assert (status.phase, status.reason, status.message, status.conditions) == ("Failed", "Evicted", expected, ())


def test_preemption_adds_the_disruption_condition() -> None:
    status = apply_kill_status(
        PodStatus(conditions=(PodCondition(type="Ready", status="True"),)), PREEMPTED_STATUS, NOW
    )
    assert (status.reason, status.message) == ("Preempting", "Preempted in order to admit critical pod")
    assert status.conditions[1] == PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="TerminationByKubelet",
        message="Pod was preempted by Kubelet to accommodate a critical pod.",
        last_transition_time=NOW,
    )


@pytest.mark.parametrize(("was", "since"), [("True", NOW - timedelta(hours=1)), ("False", NOW)])
def test_a_disruption_condition_that_is_true_keeps_its_time(was: str, since: datetime) -> None:
    old = PodCondition(type="DisruptionTarget", status=was, last_transition_time=NOW - timedelta(hours=1))
    ready = PodCondition(type="Ready", status="True")
    status = apply_kill_status(PodStatus(conditions=(old, ready)), NODE_SHUTDOWN_STATUS, NOW)
    assert [condition.type for condition in status.conditions] == ["DisruptionTarget", "Ready"]
    assert status.conditions[0].last_transition_time == since


def test_a_shutdown_leaves_a_succeeded_pod_so() -> None:
    assert apply_kill_status(PodStatus(phase="Succeeded"), NODE_SHUTDOWN_STATUS, NOW).phase == "Succeeded"


def test_a_deadline_makes_any_pod_fail() -> None:
    status = apply_kill_status(PodStatus(phase="Succeeded"), DEADLINE_EXCEEDED_STATUS, NOW)
    assert (status.phase, status.reason) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize(("most", "spec", "expected"), [(0, 30, 0), (60, 30, 30), (10, 30, 10), (10, None, 10)])
def test_soft_eviction_override(most: int, spec: int | None, expected: int) -> None:
    assert soft_eviction_override(most, spec) == expected


@pytest.mark.parametrize(("grace", "expected"), [(1, 10.0), (15, 22.0), (30, 45.0)])
def test_how_long_an_eviction_waits(grace: int, expected: float) -> None:
    assert kill_wait_seconds(grace) == expected


GROUPS = (ShutdownGroup(0, 20), ShutdownGroup(100, 10), ShutdownGroup(1000, 5))


@pytest.mark.parametrize(
    ("total", "critical", "expected"),
    [
        (0, 0, ()),
        (1, 100, ()),
        (30, -1, ()),
        (30, 10, (ShutdownGroup(0, 20), ShutdownGroup(2_000_000_000, 10))),
        (10, 10, (ShutdownGroup(0, 0), ShutdownGroup(2_000_000_000, 10))),
    ],
)
def test_groups_of_the_two_values(total: int, critical: int, expected: tuple[ShutdownGroup, ...]) -> None:
    assert shutdown_groups(total, critical) == expected


def test_the_list_by_priority_wins_and_is_sorted() -> None:
    assert shutdown_groups(30, 10, tuple(reversed(GROUPS))) == GROUPS


@pytest.mark.parametrize(
    ("priority", "expected"), [(None, 0), (-5, 0), (0, 0), (99, 0), (100, 100), (500, 100), (1000, 1000), (9999, 1000)]
)
def test_the_group_of_a_pod(priority: int | None, expected: int) -> None:
    assert group_of(GROUPS, priority).priority == expected


def test_groups_without_pods_are_left_out() -> None:
    low, high = Pod(spec=PodSpec(priority=1)), Pod(spec=PodSpec(priority=2000))
    assert pods_by_group(GROUPS, (high, low)) == ((GROUPS[0], (low,)), (GROUPS[2], (high,)))


def test_no_groups_take_no_pods() -> None:
    assert pods_by_group((), (Pod(),)) == ()


@pytest.mark.parametrize(("seconds", "spec", "expected"), [(20, 5, 5), (0, 30, 0), (20, None, 20)])
def test_shutdown_override(seconds: int, spec: int | None, expected: int) -> None:
    assert shutdown_grace_override(seconds, spec) == expected


EVICTED, DELETED = limit_eviction_status("too much"), Termination(why="deleted")
LATER = [
    ("the first request is as it is", DELETED, None, DELETED),
    (
        "a deletion takes no words away",
        DELETED,
        Termination(why="evicted", override_seconds=1, status=EVICTED, removes_containers=True),
        Termination(why="deleted", status=EVICTED, removes_containers=True),
    ),
    (
        "of two statuses the later one counts",
        Termination(why="preempted", status=PREEMPTED_STATUS),
        Termination(why="evicted", status=EVICTED),
        Termination(why="preempted", status=PREEMPTED_STATUS),
    ),
    (
        "who was admitted by nobody stays so",
        DELETED,
        Termination(why="deleted", is_orphan=True),
        Termination(why="deleted", is_orphan=True),
    ),
]


@pytest.mark.parametrize(("why", "later", "before", "expected"), LATER, ids=[row[0] for row in LATER])
def test_a_later_request_keeps_what_an_earlier_one_said(
    why: str, later: Termination, before: Termination | None, expected: Termination
) -> None:
    assert later.after(before) == expected
