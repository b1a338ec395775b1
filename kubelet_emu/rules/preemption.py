"""Which pods make room for a critical one that the node has no room for.

Source: kubelet v1.36 pkg/kubelet/preemption getPodsToPreempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.rules.disruption import is_critical_pod
from kubelet_emu.rules.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, compute_pod_qos
from kubelet_emu.rules.resources import pod_request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.rules.node_fit import Insufficient


def is_preemptable(preemptor: Pod, other: Pod) -> bool:
    """Tell whether a pod may be ended for another (kubelet v1.36 kubetypes.Preemptable)."""
    if is_critical_pod(preemptor) and not is_critical_pod(other):
        return True
    return (preemptor.spec.priority or 0) > (other.spec.priority or 0)


def pods_to_preempt(
    preemptor: Pod, active: Iterable[Pod], insufficient: tuple[Insufficient, ...], features: FeatureGates
) -> tuple[Pod, ...] | None:
    """Return the pods to end, None when even all of them would not make enough room (kubelet v1.36 getPodsToPreempt).

    Guaranteed pods go only for what the others can't give, Burstable ones only for what BestEffort ones can't.
    """
    groups: dict[str, list[Pod]] = {GUARANTEED: [], BURSTABLE: [], BEST_EFFORT: []}
    for pod in active:
        if is_preemptable(preemptor, pod):
            groups[pod.status.qos_class or compute_pod_qos(pod, features)].append(pod)
    missing = missing_resources(insufficient)
    best_effort, burstable, guaranteed = groups[BEST_EFFORT], groups[BURSTABLE], groups[GUARANTEED]
    if _subtract(missing, [*best_effort, *burstable, *guaranteed]):
        return None
    first = _by_distance(guaranteed, _subtract(missing, [*burstable, *best_effort]))
    second = _by_distance(burstable, _subtract(missing, [*best_effort, *first]))
    third = _by_distance(best_effort, _subtract(missing, [*second, *first]))
    return (*third, *second, *first)


def missing_resources(insufficient: tuple[Insufficient, ...]) -> tuple[Insufficient, ...]:
    """Return what has to be freed: of each resource what is asked for beyond what is left of it.

    Source: kubelet v1.36 InsufficientResourceError.GetInsufficientAmount.
    """
    return tuple(evolve(each, used=0, requested=each.requested - (each.capacity - each.used)) for each in insufficient)


def _subtract(missing: tuple[Insufficient, ...], pods: Iterable[Pod]) -> tuple[Insufficient, ...]:
    """Return what is still missing once these pods are gone."""
    ended = tuple(pods)
    left = (
        evolve(each, requested=each.requested - sum(_request(pod, each.resource) for pod in ended)) for each in missing
    )
    return tuple(each for each in left if each.requested > 0)


def _by_distance(pods: list[Pod], missing: tuple[Insufficient, ...]) -> list[Pod]:
    """Return the few pods that cover what is missing: each time the one that comes nearest, of these the smallest."""
    left, chosen = list(pods), []
    while missing:
        best = min(left, key=lambda pod: (_distance(pod, missing), _request(pod, "memory"), _request(pod, "cpu")))
        left.remove(best)
        chosen.append(best)
        missing = _subtract(missing, [best])
    return chosen


def _distance(pod: Pod, missing: tuple[Insufficient, ...]) -> float:
    shares = (max(0, each.requested - _request(pod, each.resource)) / each.requested for each in missing)
    return sum(share**2 for share in shares)


def _request(pod: Pod, resource: str) -> int:
    return 1 if resource == "pods" else pod_request(pod, resource)
