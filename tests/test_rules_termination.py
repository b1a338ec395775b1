"""Grace arithmetic and stop order."""

from __future__ import annotations

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.api.v1_handlers import Probe
from kubelet_emu.rules.termination import (
    ContainerKillReason,
    ContainerStop,
    GraceDecision,
    container_grace_period,
    effective_grace_period,
    plan_stop,
    plan_stop_call,
    remaining_grace,
    stop_timeout,
    termination_prerequisites,
    whole_seconds,
)

EFFECTIVE = [
    ("the spec's grace when nobody asks for another", (0, None, None, 30), (30, False)),
    ("the deletion's grace, also a longer one", (0, 90, None, 30), (90, False)),
    ("the smaller of deletion and override", (0, 20, 5, 30), (5, False)),
    ("an override that is larger than the deletion's is not taken", (0, 5, 20, 30), (5, False)),
    ("zero becomes one", (0, 0, None, 30), (1, False)),
    ("nothing given at all is one", (0, None, None, None), (1, False)),
    ("a second request shortens", (30, 10, None, 30), (10, True)),
    ("a second request never lengthens", (10, 30, None, 30), (10, False)),
    ("an earlier grace is kept when nothing new is asked", (7, None, None, 30), (7, False)),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in EFFECTIVE], ids=[row[0] for row in EFFECTIVE])
def test_effective_grace_period(
    given: tuple[int, int | None, int | None, int | None], expected: tuple[int, bool]
) -> None:
    decision = effective_grace_period(*given)
    assert decision == GraceDecision(grace=expected[0], shortened=expected[1])


def a_container(*, liveness: int | None = None, startup: int | None = None) -> Container:
    return Container(
        name="main",
        liveness_probe=Probe(termination_grace_period_seconds=liveness) if liveness else None,
        startup_probe=Probe(termination_grace_period_seconds=startup) if startup else None,
    )


LIVENESS, STARTUP = ContainerKillReason.LIVENESS_PROBE, ContainerKillReason.STARTUP_PROBE
CONTAINER_GRACE = [
    ("the probe's own grace", 60, None, a_container(liveness=10), LIVENESS, 10),
    ("the startup probe's own grace may be longer", 5, None, a_container(startup=50), STARTUP, 50),
    ("a probe without a grace of its own", 60, None, a_container(startup=10), LIVENESS, 60),
    ("another reason leaves the probes aside", 60, None, a_container(liveness=10), ContainerKillReason.UNKNOWN, 60),
    ("a failed postStart hook too", 60, None, a_container(liveness=10), ContainerKillReason.POST_START_HOOK, 60),
    ("a deletion beats the probe", 60, 7, a_container(liveness=10), LIVENESS, 7),
    ("no grace in the spec is the minimum", None, None, a_container(liveness=10), LIVENESS, 2),
    ("a container whose spec is lost", 60, None, None, LIVENESS, 60),
]


@pytest.mark.parametrize(
    ("spec_grace", "deletion_grace", "container", "reason", "expected"),
    [row[1:] for row in CONTAINER_GRACE],
    ids=[row[0] for row in CONTAINER_GRACE],
)
def test_container_grace_period(
    spec_grace: int | None,
    deletion_grace: int | None,
    container: Container | None,
    reason: ContainerKillReason,
    expected: int,
) -> None:
    pod = Pod(
        metadata=ObjectMeta(deletion_grace_period_seconds=deletion_grace),
        spec=PodSpec(termination_grace_period_seconds=spec_grace),
    )
    assert container_grace_period(pod, container, reason) == expected


def test_remaining_grace_loses_whole_seconds_only() -> None:
    assert remaining_grace(30, 4.7) == 26


def test_remaining_grace_is_never_negative() -> None:
    assert remaining_grace(3, 99.0) == 0


def test_whole_seconds_forgives_the_last_place_of_a_float() -> None:
    assert whole_seconds(5.1 - 3.1) == 2


def test_stop_timeout_has_a_minimum() -> None:
    assert [stop_timeout(grace) for grace in (0, 1, 2, 3)] == [2, 2, 2, 3]


def a_pod(*names: str) -> Pod:
    """Make a pod of sidecars "s…", plain init containers "i…" and regular containers "m…"."""
    return Pod(
        spec=PodSpec(
            init_containers=tuple(
                Container(name=name, restart_policy="Always" if name.startswith("s") else None)
                for name in names
                if not name.startswith("m")
            ),
            containers=tuple(Container(name=name) for name in names if name.startswith("m")),
        )
    )


def test_sidecars_wait_for_regular_containers_and_the_next_sidecar() -> None:
    pod = a_pod("s1", "i1", "s2", "s3", "m1", "m2")
    assert termination_prerequisites(pod, ["s1", "s2", "s3", "m1", "m2"]) == {
        "s3": frozenset({"m1", "m2"}),
        "s2": frozenset({"m1", "m2", "s3"}),
        "s1": frozenset({"m1", "m2", "s2"}),
    }


def test_what_does_not_run_counts_as_gone() -> None:
    pod = a_pod("s1", "s2", "m1", "m2")
    assert termination_prerequisites(pod, ["s1", "m2"]) == {"s2": frozenset({"m2"}), "s1": frozenset({"m2"})}


def test_a_pod_without_sidecars_has_no_order() -> None:
    assert termination_prerequisites(a_pod("i1", "m1"), ["i1", "m1"]) == {}


def test_grace_zero_runs_no_hook_and_waits_for_nobody() -> None:
    call = plan_stop_call(0, ContainerStop(name="m1", exits_after=9, pre_stop=5), released_at=7)
    assert (call.pre_stop_runs, call.signal_at, call.timeout, call.gone_at, call.killed) == (False, 0.0, 2, 2.0, True)


def test_a_container_that_exits_at_the_timeout_is_not_killed() -> None:
    call = plan_stop_call(2, ContainerStop(name="m1", exits_after=2))
    assert (call.gone_at, call.killed) == (2.0, False)


def test_after_the_grace_all_waiting_sidecars_are_signalled_together() -> None:
    pod = a_pod("s1", "s2", "m1")
    stops = [ContainerStop(name="m1"), ContainerStop(name="s1"), ContainerStop(name="s2")]
    calls = plan_stop(4, stops, termination_prerequisites(pod, ["s1", "s2", "m1"]))
    assert {name: (call.signal_at, call.gone_at) for name, call in calls.items()} == {
        "m1": (0.0, 4.0),
        "s1": (4.0, 6.0),
        "s2": (4.0, 6.0),
    }


def test_a_hook_that_outlasts_the_grace_is_followed_by_the_signal() -> None:
    call = plan_stop_call(4, ContainerStop(name="s1", exits_after=1, pre_stop=60), released_at=2)
    assert (call.pre_stop_runs, call.signal_at, call.timeout, call.gone_at) == (True, 4.0, 2, 5.0)
