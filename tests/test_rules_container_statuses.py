"""Container statuses, started and ready, where the decision tables say nothing.

Source: kubelet v1.36 convertToAPIContainerStatuses, UpdatePodStatus.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from pod_makers import (
    A_PROBE,
    a_container,
    a_pod,
    a_sidecar,
    an_instance,
    deleting,
    exited,
    gates,
    requesting,
    seen,
)
from status_makers import RESTARTER, WAS_RUNNING, WAS_WAITING, ended, made

from kubelet_emu.api import reasons
from kubelet_emu.api.codec import encode
from kubelet_emu.api.v1 import (
    VolumeMount,
)
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodCondition,
    PodStatus,
    VolumeMountStatus,
)
from kubelet_emu.rules.container_statuses import next_attempt
from kubelet_emu.rules.observed import ProbeResult, ProbeResults, StartFailure
from runtime.api import ContainerID, LinuxContainerUser
from runtime.api import ContainerState as Runtime

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod


# --- containers


def test_a_running_container_is_shown_with_its_image_id_and_resources() -> None:
    pod = a_pod(a_container("m", resources=requesting({"cpu": "1"}, {"cpu": "1500m"})))
    instance = an_instance("m", image_name="busybox:1", image_ref="busybox@sha256:1")
    [status] = made(pod, seen(instance)).container_statuses
    assert status == ContainerStatus(
        name="m",
        image="docker.io/library/busybox:1",
        image_id="busybox@sha256:1",
        container_id="docker://m-0",
        state=WAS_RUNNING,
        started=True,
        ready=True,
        resources=requesting({"cpu": "1"}, {"cpu": "1500m"}),
        allocated_resources={"cpu": "1"},
    )


def test_a_container_that_was_never_seen_is_shown_with_the_image_of_the_spec_and_no_resources() -> None:
    [status] = made(a_pod(a_container("m", resources=requesting({"cpu": "1"})))).container_statuses
    assert (status.image, status.image_id, status.container_id, status.resources, status.allocated_resources) == (
        "image:1",
        "",
        None,
        None,
        {},
    )


def test_mains_are_sorted_by_name_and_init_containers_are_not() -> None:
    pod = a_pod(a_container("z"), a_container("b"), init=[a_container("y"), a_container("a")], ephemeral=["d", "c"])
    status = made(pod)
    assert [s.name for s in status.container_statuses] == ["b", "z"]
    assert [s.name for s in status.init_container_statuses] == ["y", "a"]
    assert [s.name for s in status.ephemeral_container_statuses] == ["c", "d"]


def test_an_ephemeral_container_has_no_started() -> None:
    pod = a_pod(a_container("m"), ephemeral=["d"])
    [status] = made(pod, seen(an_instance("d"))).ephemeral_container_statuses
    assert (status.started, status.ready) == (None, False)


@pytest.mark.parametrize(
    ("why", "pod", "restarts"),
    [
        ("one that lives counts a restart", a_pod(a_container("m")), 4),
        ("one that is deleted does not", deleting(a_pod(a_container("m"))), 3),
    ],
)
def test_a_running_container_that_the_runtime_lost(why: str, pod: Pod, restarts: int) -> None:
    previous = PodStatus(container_statuses=(ContainerStatus(name="m", state=WAS_RUNNING, restart_count=3),))
    [status] = made(pod, seen(), previous_status=previous).container_statuses
    assert status.restart_count == restarts, why
    assert status.state.waiting == ContainerStateWaiting(reason="ContainerCreating")
    assert status.last_state.terminated == ContainerStateTerminated(
        exit_code=137,
        reason="ContainerStatusUnknown",
        message="The container could not be located when the pod was deleted.  The container used to be Running",
    )


def test_a_lost_container_keeps_the_end_that_was_known_before() -> None:
    old = ContainerStatus(name="m", state=WAS_RUNNING, last_state=ended(3), restart_count=3)
    [status] = made(
        a_pod(a_container("m")), seen(), previous_status=PodStatus(container_statuses=(old,))
    ).container_statuses
    assert (status.last_state, status.restart_count) == (ended(3), 3)


def test_a_waiting_container_that_is_still_absent_keeps_restart_count_and_last_state() -> None:
    old = ContainerStatus(name="m", state=WAS_WAITING, last_state=ended(3), restart_count=3)
    [status] = made(
        a_pod(a_container("m")), seen(), previous_status=PodStatus(container_statuses=(old,))
    ).container_statuses
    assert (status.last_state, status.restart_count) == (ended(3), 3)


@pytest.mark.parametrize(("old", "restarts", "last"), [(WAS_WAITING, 0, None), (WAS_RUNNING, 1, 137)])
def test_an_init_container_that_is_gone_is_taken_as_done_when_a_main_exists(
    old: ContainerState, restarts: int, last: int | None
) -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    previous = PodStatus(init_container_statuses=(ContainerStatus(name="i", state=old),))
    [status] = made(pod, seen(exited("m", 1)), previous_status=previous).init_container_statuses
    assert status.state.terminated is not None
    assert (status.state.terminated.reason, status.ready, status.restart_count) == ("Completed", True, restarts)
    ended_before = status.last_state.terminated
    assert (ended_before and ended_before.exit_code) == last


def test_an_init_container_taken_as_done_is_not_shown_as_waiting_for_a_failure_of_the_past() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    failure = {"i": StartFailure(reason="CrashLoopBackOff", message="back-off")}
    [status] = made(pod, seen(exited("m", 1)), start_failures=failure).init_container_statuses
    assert status.state.terminated is not None


def test_a_main_in_unknown_state_does_not_prove_that_a_lost_init_container_is_done() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i")])
    [status] = made(pod, seen(an_instance("m", Runtime.UNKNOWN))).init_container_statuses
    assert status.state.waiting == ContainerStateWaiting(reason="PodInitializing")


def test_an_unknown_container_that_was_not_running_waits() -> None:
    [status] = made(a_pod(a_container("m")), seen(an_instance("m", Runtime.UNKNOWN))).container_statuses
    assert status.state == ContainerState(waiting=ContainerStateWaiting())


def test_an_unknown_container_of_a_pod_that_restarts_all_is_part_of_that() -> None:
    pod = a_pod(RESTARTER)
    previous = PodStatus(
        conditions=(PodCondition(type=reasons.ALL_CONTAINERS_RESTARTING, status="True"),),
        container_statuses=(ContainerStatus(name="m", state=WAS_RUNNING),),
    )
    [status] = made(pod, seen(an_instance("m", Runtime.UNKNOWN)), previous_status=previous).container_statuses
    assert status.state.terminated is not None
    assert status.state.terminated.reason == "RestartingAllContainers"


def test_an_init_container_stays_ready_while_all_containers_are_reset() -> None:
    pod = a_pod(RESTARTER, init=(a_container("i"), a_sidecar("s")))
    previous = PodStatus(
        conditions=(PodCondition(type=reasons.ALL_CONTAINERS_RESTARTING, status="True"),),
        init_container_statuses=(
            ContainerStatus(name="i", state=ended(0, "Completed"), ready=True),
            ContainerStatus(name="s", state=ended(0, "Completed"), ready=False),
        ),
        container_statuses=(ContainerStatus(name="m", state=ended(42)),),
    )
    status = made(pod, previous_status=previous)
    init, sidecar = status.init_container_statuses
    assert init.state.waiting is not None
    assert init.state.waiting.reason == "RestartingAllContainers"
    assert [each.ready for each in (init, sidecar, *status.container_statuses)] == [True, False, False]


def test_the_second_newest_instance_is_the_last_state_and_older_ones_are_not_shown() -> None:
    pod = a_pod(a_container("m"))
    observed = seen(an_instance("m", attempt=2), exited("m", 2, attempt=1), exited("m", 1))
    [status] = made(pod, observed).container_statuses
    assert status.last_state.terminated is not None
    assert (status.last_state.terminated.exit_code, status.restart_count) == (2, 2)


def test_the_end_of_a_run_whose_instance_is_gone_moves_to_last_state() -> None:
    old = ContainerStatus(name="m", state=ended(7), container_id="docker://m-0")
    observed = seen(an_instance("m", attempt=1))
    [status] = made(
        a_pod(a_container("m")), observed, previous_status=PodStatus(container_statuses=(old,))
    ).container_statuses
    assert (status.last_state, status.restart_count) == (ended(7), 1)


def test_a_new_instance_that_counts_from_zero_again_raises_the_restart_count() -> None:
    old = ContainerStatus(name="m", state=ended(7), container_id="docker://gone", restart_count=4)
    [status] = made(
        a_pod(a_container("m")), seen(an_instance("m")), previous_status=PodStatus(container_statuses=(old,))
    ).container_statuses
    assert status.restart_count == 5


def test_a_restart_count_never_falls_unless_the_gate_is_off() -> None:
    old = PodStatus(container_statuses=(ContainerStatus(name="m", state=WAS_RUNNING, restart_count=4),))
    pod, observed = a_pod(a_container("m")), seen(exited("m", 1, attempt=1))
    off = gates(RestartAllContainersOnContainerExits=False)
    assert made(pod, observed, previous_status=old).container_statuses[0].restart_count == 4
    assert made(pod, observed, previous_status=old, features=off).container_statuses[0].restart_count == 1


def test_a_last_state_outlives_its_instance_unless_the_gate_is_off() -> None:
    old = PodStatus(container_statuses=(ContainerStatus(name="m", state=WAS_RUNNING, last_state=ended(7)),))
    pod, observed = a_pod(a_container("m")), seen(an_instance("m"))
    off = gates(RestartAllContainersOnContainerExits=False)
    assert made(pod, observed, previous_status=old).container_statuses[0].last_state == ended(7)
    assert made(pod, observed, previous_status=old, features=off).container_statuses[0].last_state == ContainerState()


def test_the_restart_count_is_the_one_that_the_kubelet_wrote_on_the_container() -> None:
    instance = an_instance("m", annotations={"io.kubernetes.container.restartCount": "9"})
    assert made(a_pod(a_container("m")), seen(instance)).container_statuses[0].restart_count == 9


def test_an_exit_shows_the_message_that_was_read_cut_to_the_pods_share() -> None:
    pod = a_pod(a_container("m"), a_container("n"))
    observed = seen(exited("m", 1), exited("n", 1, message="runtime text"), termination_messages={"m-0": "x" * 9000})
    first, second = made(pod, observed).container_statuses
    assert first.state.terminated is not None
    assert second.state.terminated is not None
    assert (first.state.terminated.message, second.state.terminated.message) == ("x" * 6144, "runtime text")


def test_a_process_that_never_started_began_in_1970() -> None:
    instance = exited("m", 128, started_at=None, finished_at=None, reason="StartError")
    [status] = made(a_pod(a_container("m")), seen(instance)).container_statuses
    assert status.state.terminated is not None
    assert status.state.terminated.started_at == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_completed_init_container_is_not_shown_as_waiting() -> None:
    pod = a_pod(a_container("m"), init=[a_container("i"), a_sidecar("s")])
    failures = {name: StartFailure(reason="CrashLoopBackOff", message="x") for name in ("i", "s")}
    status = made(pod, seen(exited("i", 0), exited("s", 0)), start_failures=failures)
    assert all(each.state.terminated is not None for each in status.init_container_statuses)


def test_mounts_are_shown_from_the_start_and_stay_as_they_were() -> None:
    mounts = (
        VolumeMount(name="rw", mount_path="/rw"),
        VolumeMount(name="ro", mount_path="/ro", read_only=True),
        VolumeMount(name="rro", mount_path="/rro", read_only=True, recursive_read_only="Enabled"),
    )
    pod = a_pod(a_container("m", volume_mounts=mounts))
    first = made(pod)
    assert first.container_statuses[0].volume_mounts == (
        VolumeMountStatus(name="rw", mount_path="/rw"),
        VolumeMountStatus(name="ro", mount_path="/ro", read_only=True, recursive_read_only="Disabled"),
        VolumeMountStatus(name="rro", mount_path="/rro", read_only=True, recursive_read_only="Enabled"),
    )
    pod = evolve(pod, spec=evolve(pod.spec, containers=(a_container("m"),)))
    again = made(pod, seen(an_instance("m")), previous_status=first)
    assert again.container_statuses[0].volume_mounts == first.container_statuses[0].volume_mounts
    assert made(pod, features=gates(RecursiveReadOnlyMounts=False)).container_statuses[0].volume_mounts == ()


def test_the_stop_signal_is_shown_with_its_gate_alone() -> None:
    pod, observed = a_pod(a_container("m")), seen(an_instance("m", stop_signal="SIGINT"))
    assert made(pod, observed).container_statuses[0].stop_signal is None
    status = made(pod, observed, features=gates(ContainerStopSignals=True))
    assert status.container_statuses[0].stop_signal == "SIGINT"


def test_who_a_container_runs_as_is_shown_with_its_gate_alone() -> None:
    user = LinuxContainerUser(uid=7, gid=0, supplemental_groups=(0, 44))
    pod, observed = a_pod(a_container("m")), seen(an_instance("m", user=user))
    shown = encode(made(pod, observed).container_statuses[0])["user"]
    assert shown == {"linux": {"uid": 7, "gid": 0, "supplementalGroups": [0, 44]}}
    assert made(pod, observed, features=gates(SupplementalGroupsPolicy=False)).container_statuses[0].user is None
    assert made(pod, seen(an_instance("m"))).container_statuses[0].user is None


# --- started and ready


def probed(pod: Pod, **results: dict[str, ProbeResult]) -> tuple[bool | None, bool]:
    previous = PodStatus(container_statuses=(ContainerStatus(name="m", state=WAS_RUNNING, started=True),))
    by_id = {kind: {ContainerID(i): r for i, r in found.items()} for kind, found in results.items()}
    status = made(pod, seen(an_instance("m")), probes=ProbeResults(**by_id), previous_status=previous)
    return status.container_statuses[0].started, status.container_statuses[0].ready


def test_a_startup_result_decides_whether_a_container_started() -> None:
    pod = a_pod(a_container("m", startup_probe=A_PROBE))
    assert probed(pod, startup={"m-0": ProbeResult.SUCCESS}) == (True, True)
    assert probed(pod, startup={"m-0": ProbeResult.UNKNOWN}) == (False, False)
    assert probed(pod) == (True, True)


def test_a_readiness_result_decides_whether_a_started_container_is_ready() -> None:
    pod = a_pod(a_container("m", readiness_probe=A_PROBE))
    assert probed(pod, readiness={"m-0": ProbeResult.SUCCESS}) == (True, True)
    assert probed(pod, readiness={"m-0": ProbeResult.FAILURE}) == (True, False)
    assert probed(pod) == (True, False)


def test_before_1_35_a_status_did_not_vouch_for_a_container_that_started() -> None:
    pod = a_pod(a_container("m", startup_probe=A_PROBE))
    previous = PodStatus(container_statuses=(ContainerStatus(name="m", state=WAS_RUNNING, started=True),))
    status = made(
        pod,
        seen(an_instance("m")),
        previous_status=previous,
        features=gates(ChangeContainerStatusOnKubeletRestart=True),
    )
    assert status.container_statuses[0].started is False


def test_a_running_container_is_not_shown_as_waiting_for_a_failure_of_the_past() -> None:
    failures = {"m": StartFailure(reason="PostStartHookError", message="x")}
    [status] = made(a_pod(a_container("m")), seen(an_instance("m")), start_failures=failures).container_statuses
    assert status.state == WAS_RUNNING


WAITING = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff"))
LOST = ContainerState(terminated=ContainerStateTerminated(reason=reasons.CONTAINER_STATUS_UNKNOWN, exit_code=137))
ENDED = ContainerState(terminated=ContainerStateTerminated(reason=reasons.ERROR, exit_code=1))


@pytest.mark.parametrize(
    ("why", "status", "attempt"),
    [
        ("nothing is told", None, 0),
        ("nothing of it ran", ContainerStatus(name="c", state=WAITING), 0),
        ("the first instance is told", ContainerStatus(name="c", container_id="docker://1"), 1),
        ("its end alone is told", ContainerStatus(name="c", state=ENDED), 1),
        (
            "it waits after its third end",
            ContainerStatus(name="c", state=WAITING, last_state=ENDED, restart_count=2),
            3,
        ),
        ("a lost one is counted", ContainerStatus(name="c", state=WAITING, last_state=LOST, restart_count=2), 2),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_next_instance_counts_on_from_what_the_status_tells(
    why: str, status: ContainerStatus | None, attempt: int
) -> None:
    assert next_attempt(status) == attempt
