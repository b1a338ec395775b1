"""How long a workload waits before it makes a pod again that the node has refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pod_makers import NOW, a_container, a_pod

from kubelet_emu.api.v1 import PodStatus
from kubelet_emu.workloads.rules.refusals import is_refused, waits_until

ROWS = [
    ("nothing was refused", (), None),
    ("one pod", (0,), 1),
    ("two at once count once", (0, 0.4), 1.4),
    ("two after each other", (0, 1), 3),
    ("whatever their order", (7, 0, 3, 1), 15),
    ("never more than a quarter of an hour", tuple(range(0, 60, 2)), 58 + 900),
]


@pytest.mark.parametrize(("why", "refused", "until"), ROWS, ids=[row[0] for row in ROWS])
def test_each_pod_waits_longer_than_the_one_before(why: str, refused: tuple[float, ...], until: float | None) -> None:
    expected = None if until is None else NOW + timedelta(seconds=until)
    assert waits_until(NOW + timedelta(seconds=at) for at in refused) == expected


@pytest.mark.parametrize(
    ("phase", "message", "expected"),
    [
        ("Failed", "Pod was rejected: forbidden sysctl", True),
        ("Failed", "Pod was active on the node longer than the specified deadline", False),
        ("Failed", None, False),
        ("Running", "Pod was rejected: not really", False),
    ],
)
def test_a_refused_pod_has_failed_by_admission(phase: str, message: str | None, *, expected: bool) -> None:
    assert is_refused(a_pod(a_container("a"), status=PodStatus(phase=phase, message=message))) is expected
