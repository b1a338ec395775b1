"""What delete requests do, beyond the decision table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Pod, PodSpec
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.apiserver.deletion import (
    DeletionOutcome,
    delete_object,
    delete_pod,
    is_removable,
    kubectl_grace_period_seconds,
)

NOW = datetime(2026, 1, 1, 0, 0, 0, 700_000, tzinfo=UTC)
SECOND = NOW.replace(microsecond=0)


def a_pod(
    *, deleted_at: datetime | None = None, dgps: int | None = None, tgps: int | None = 30, phase: str = "Running"
) -> Pod:
    metadata = ObjectMeta(name="web", deletion_timestamp=deleted_at, deletion_grace_period_seconds=dgps)
    spec = PodSpec(node_name="node1", termination_grace_period_seconds=tgps)
    return Pod(metadata=metadata, spec=spec, status=PodStatus(phase=phase))


@pytest.mark.parametrize(
    ("grace", "tgps", "expected"),
    [
        pytest.param(None, 30, 30, id="the spec's grace"),
        pytest.param(None, None, 0, id="no grace at all"),
        pytest.param(-5, 30, 1, id="negative is 1"),
        pytest.param(None, -5, 1, id="negative in the spec is 1"),
        pytest.param(90, 30, 90, id="longer than the spec's"),
        pytest.param(0, 30, 0, id="forced"),
    ],
)
def test_a_first_delete(grace: int | None, tgps: int | None, expected: int) -> None:
    outcome = delete_pod(a_pod(tgps=tgps), grace, NOW)
    assert outcome == DeletionOutcome(
        deletion_timestamp=(NOW + timedelta(seconds=expected)).replace(microsecond=0),
        deletion_grace_period_seconds=expected,
        removed=expected == 0,
        changed=True,
        generation_bumped=True,
    )


@pytest.mark.parametrize(
    ("grace", "after", "at", "dgps"),
    [
        pytest.param(None, 5, 30, 30, id="no value changes nothing"),
        pytest.param(30, 5, 30, 30, id="the same changes nothing"),
        pytest.param(60, 5, 30, 30, id="longer changes nothing"),
        pytest.param(10, 5, 10, 10, id="shorter counts from the first delete"),
        pytest.param(10, 20, 20, 1, id="a time that is over becomes now, and 1 s"),
        pytest.param(-1, 20, 20, 1, id="negative is 1"),
        pytest.param(0, 20, 20, 0, id="forced"),
    ],
)
def test_a_second_delete(grace: int | None, after: int, at: int, dgps: int) -> None:
    pod = a_pod(deleted_at=SECOND + timedelta(seconds=30), dgps=30)
    outcome = delete_pod(pod, grace, NOW + timedelta(seconds=after))
    assert outcome == DeletionOutcome(
        deletion_timestamp=SECOND + timedelta(seconds=at),
        deletion_grace_period_seconds=dgps,
        removed=dgps == 0,
        changed=dgps != 30,
    )


def test_an_object_without_finalizers_is_gone_at_once() -> None:
    assert delete_object(ObjectMeta(name="c"), NOW).removed


def test_an_object_with_finalizers_is_marked_once() -> None:
    metadata = ObjectMeta(name="c", finalizers=("a/hold",), generation=1)
    assert delete_object(metadata, NOW) == DeletionOutcome(
        deletion_timestamp=SECOND, deletion_grace_period_seconds=0, changed=True, generation_bumped=True
    )
    marked = ObjectMeta(name="c", finalizers=("a/hold",), deletion_timestamp=SECOND, deletion_grace_period_seconds=0)
    assert delete_object(marked, NOW + timedelta(seconds=9)) == DeletionOutcome(
        deletion_timestamp=SECOND, deletion_grace_period_seconds=0
    )


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param(ObjectMeta(), False, id="not deleted"),
        pytest.param(ObjectMeta(deletion_timestamp=NOW), True, id="deleted"),
        pytest.param(ObjectMeta(deletion_timestamp=NOW, finalizers=("a",)), False, id="held"),
        pytest.param(ObjectMeta(deletion_timestamp=NOW, deletion_grace_period_seconds=5), False, id="still stopping"),
    ],
)
def test_what_an_update_lets_go(metadata: ObjectMeta, *, expected: bool) -> None:
    assert is_removable(metadata) is expected


@pytest.mark.parametrize(
    ("grace", "now", "force", "expected"),
    [
        pytest.param(None, False, False, None, id="nothing"),
        pytest.param(7, False, False, 7, id="--grace-period=7"),
        pytest.param(0, False, False, 1, id="--grace-period=0"),
        pytest.param(None, True, False, 1, id="--now"),
        pytest.param(None, False, True, 0, id="--force"),
        pytest.param(0, False, True, 0, id="--force --grace-period=0"),
    ],
)
def test_the_grace_kubectl_asks_for(grace: int | None, *, now: bool, force: bool, expected: int | None) -> None:
    assert kubectl_grace_period_seconds(grace, now=now, force=force) == expected
