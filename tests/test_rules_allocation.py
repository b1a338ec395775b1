"""What a resize asks of a node, in which order resizes are tried, and how their sizes are told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from pod_makers import NOW, a_container, a_pod, an_instance, exited, requesting, seen

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import ResourceClaim, ResourceRequirements
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.allocation import (
    clear_resize_condition,
    describe_resize,
    in_progress_condition,
    is_resize_in_progress,
    pending_condition,
    resize_order,
    resources_of,
    set_resize_condition,
    with_allocated,
)

if TYPE_CHECKING:
    from kubelet_emu.rules.observed import ObservedPod

SMALL, LARGE = requesting({"cpu": "1"}), requesting({"cpu": "2"})
POD = a_pod(a_container("m", resources=LARGE), init=(a_container("i"),))


def test_the_granted_resources_take_the_place_of_the_desired_ones() -> None:
    granted = {"m": SMALL, "i": ResourceRequirements()}
    assert resources_of(with_allocated(POD, granted)) == granted
    assert with_allocated(POD, resources_of(POD)) is POD


PROGRESS = [
    ("has what it should have", seen(an_instance("m")), {"m": LARGE}, False),
    ("has less", seen(an_instance("m")), {"m": SMALL}, True),
    ("does not run", seen(exited("m", 0)), {"m": SMALL}, False),
    ("is not there", seen(), {"m": SMALL}, False),
    ("nothing is known of what it has", seen(an_instance("m")), {}, False),
]


@pytest.mark.parametrize(
    ("observed", "actuated", "goes_on"), [row[1:] for row in PROGRESS], ids=[row[0] for row in PROGRESS]
)
def test_whether_a_resize_goes_on(
    observed: ObservedPod, actuated: dict[str, ResourceRequirements], *, goes_on: bool
) -> None:
    assert is_resize_in_progress(POD, observed, actuated) is goes_on


def test_resizes_are_tried_in_order() -> None:
    features, later = FeatureGates(), NOW + timedelta(seconds=1)
    before = a_pod(a_container("m", resources=SMALL))
    guaranteed = requesting({"cpu": "2", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"})
    orders = [
        resize_order(before, a_pod(a_container("m", resources=LARGE)), later, features),  # shrinks
        resize_order(a_pod(a_container("m", resources=LARGE), priority=1), before, later, features),
        resize_order(a_pod(a_container("m", resources=guaranteed)), before, later, features),
        resize_order(a_pod(a_container("m", resources=LARGE)), before, NOW, features),
        resize_order(a_pod(a_container("m", resources=LARGE)), before, later, features),
    ]
    assert sorted(orders) == orders
    assert len(set(orders)) == len(orders)


def test_sizes_are_told_as_json() -> None:
    both = requesting({"memory": "1Gi", "cpu": "1"}, {"cpu": "2"})
    pod = a_pod(a_container("m", resources=evolve(both, claims=(ResourceClaim(name="gpu"),))), init=(a_container("i"),))
    assert describe_resize(pod, 3, 'not "now"') == (
        '{"initContainers":[{"name":"i","resources":{}}],"containers":[{"name":"m","resources":{"limits":{"cpu":"2"},'
        '"requests":{"cpu":"1","memory":"1Gi"},"claims":[{"name":"gpu"}]}}],"generation":3,"error":"not \\"now\\""}'
    )
    assert describe_resize(a_pod(a_container("m")), None) == '{"containers":[{"name":"m","resources":{}}]}'
    assert describe_resize(a_pod(), 1) == '{"generation":1}'


def test_a_condition_is_dated_anew_when_its_reason_changes() -> None:
    pod, later = evolve(POD, metadata=ObjectMeta(generation=2)), NOW + timedelta(seconds=5)
    status = set_resize_condition(PodStatus(), pending_condition(pod, "Deferred", "no room"), NOW)
    again = set_resize_condition(status, pending_condition(pod, "Deferred", "none"), later)
    other = set_resize_condition(status, pending_condition(pod, "Infeasible", "never"), later)
    assert [each.conditions[0].last_transition_time for each in (status, again, other)] == [NOW, NOW, later]
    assert [each.conditions[0].last_probe_time for each in (status, again, other)] == [NOW, later, later]
    assert again.conditions[0].observed_generation == 2


def test_a_condition_that_is_cleared_leaves_the_others() -> None:
    status = set_resize_condition(PodStatus(), in_progress_condition(POD), NOW)
    status = set_resize_condition(status, pending_condition(POD, "Deferred", "no room"), NOW)
    assert [c.type for c in clear_resize_condition(status, "PodResizePending").conditions] == ["PodResizeInProgress"]
    assert clear_resize_condition(status, "Ready") is status
