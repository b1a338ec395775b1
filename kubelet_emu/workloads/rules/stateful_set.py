"""The next step of a StatefulSet: one ordinal after the other, or all at once with podManagementPolicy Parallel.

Theory of operation. Each ordinal has one name, so a pod must be gone before its successor is made. OrderedReady waits
at each ordinal, in either direction, until what comes before it is Running, Ready and available; Parallel doesn't.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.jobs.rules.pods import is_active, is_ready, is_terminal
from kubelet_emu.manifests.workloads import claim_names
from kubelet_emu.workloads.rules import words
from kubelet_emu.workloads.rules.plan import NOTHING, Plan, WorkloadEvent
from kubelet_emu.workloads.rules.replica_set import wanted_replicas
from kubelet_emu.workloads.rules.templates import pod_from_template, template_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from kubelet_emu.api.apps_v1 import StatefulSet, StatefulSetSpec
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_volumes import Volume


def sync_stateful_set(stateful_set: StatefulSet, pods: Iterable[Pod], now: datetime) -> Plan:
    """Plan the next step of a StatefulSet.

    Source: kubernetes v1.36 pkg/controller/statefulset updateStatefulSet, processReplica, processCondemned.
    """
    known = {ordinal: pod for pod in pods if (ordinal := ordinal_of(stateful_set, pod)) is not None}
    wanted, spec = ordinals(stateful_set), stateful_set.spec
    if spec.pod_management_policy == "Parallel":
        return _all_at_once(stateful_set, known)
    for ordinal in wanted:
        step = _step(stateful_set, ordinal, known.get(ordinal), now)
        if step is not None:
            return step
    return _one_less([known[ordinal] for ordinal in sorted(known, reverse=True) if ordinal not in wanted], spec, now)


def _one_less(condemned: Sequence[Pod], spec: StatefulSetSpec, now: datetime) -> Plan:
    """Delete the highest of the pods that are too many; one that is not available only when none below it is so.

    Source: kubernetes v1.36 pkg/controller/statefulset processCondemned.
    """
    if not condemned or condemned[0].metadata.deletion_timestamp is not None:
        return NOTHING
    waits = [_wait(pod, spec, now) for pod in condemned]
    if waits[0] is not None and any(wait is not None for wait in waits[1:]):
        return waits[0]
    return Plan(delete=(condemned[0],))


def ordinals(stateful_set: StatefulSet) -> range:
    """Return the ordinals that a StatefulSet has pods for (KEP-3335)."""
    start = (stateful_set.spec.ordinals.start if stateful_set.spec.ordinals is not None else None) or 0
    return range(start, start + wanted_replicas(stateful_set.spec.replicas))


def ordinal_of(stateful_set: StatefulSet, pod: Pod) -> int | None:
    """Return the ordinal in a pod's name, None when it is no pod of the set (getParentNameAndOrdinal)."""
    parent, _, ordinal = (pod.metadata.name or "").rpartition("-")
    return int(ordinal) if parent == stateful_set.metadata.name and ordinal.isdecimal() else None


def _step(stateful_set: StatefulSet, ordinal: int, pod: Pod | None, now: datetime) -> Plan | None:
    """Return what has to happen at an ordinal before the next one comes; None when it is available (processReplica)."""
    if pod is None:
        return Plan(create=(new_pod(stateful_set, ordinal),))
    if is_terminal(pod) and pod.metadata.deletion_timestamp is None:
        return _recreation(stateful_set, pod)
    return _wait(pod, stateful_set.spec, now)


def _wait(pod: Pod, spec: StatefulSetSpec, now: datetime) -> Plan | None:
    """Return the waiting for a pod to be Running, Ready and available; None when it is (isUnavailable)."""
    if not is_active(pod) or not is_ready(pod) or pod.status.phase != "Running":
        return NOTHING
    available_at = _available_at(pod, spec.min_ready_seconds or 0)
    return None if available_at is None or available_at <= now else Plan(look_at=available_at)


def _available_at(pod: Pod, min_ready_seconds: int) -> datetime | None:
    """Return when a ready pod has been so for long enough (podutil.IsPodAvailable)."""
    since = next((c.last_transition_time for c in pod.status.conditions if c.type == "Ready"), None)
    return None if since is None or not min_ready_seconds else since + timedelta(seconds=min_ready_seconds)


def _recreation(stateful_set: StatefulSet, *ended: Pod) -> Plan:
    """Delete pods that have ended, so that they are made anew (processReplica)."""
    name = f"{stateful_set.metadata.namespace}/{stateful_set.metadata.name}"
    events = []
    for pod in ended:
        has_failed = pod.status.phase == "Failed"
        message = words.recreating_pod(name, pod.metadata.name or "", pod.status.phase or "")
        events.append(
            WorkloadEvent(
                type=words.WARNING if has_failed else words.NORMAL,
                reason=words.RECREATING_FAILED_POD if has_failed else words.RECREATING_TERMINATED_POD,
                message=message,
            )
        )
    return Plan(events=tuple(events), delete=ended)


def _all_at_once(stateful_set: StatefulSet, known: Mapping[int, Pod]) -> Plan:
    """Plan for podManagementPolicy Parallel: nobody waits for anybody but a name for its last bearer."""
    wanted = ordinals(stateful_set)
    alive = {ordinal: pod for ordinal, pod in known.items() if pod.metadata.deletion_timestamp is None}
    ended = tuple(pod for ordinal, pod in alive.items() if ordinal in wanted and is_terminal(pod))
    condemned = tuple(alive[ordinal] for ordinal in sorted(alive, reverse=True) if ordinal not in wanted)
    plan = _recreation(stateful_set, *ended)
    create = tuple(new_pod(stateful_set, ordinal) for ordinal in wanted if ordinal not in known)
    return evolve(plan, delete=(*plan.delete, *condemned), create=create)


def new_pod(stateful_set: StatefulSet, ordinal: int) -> Pod:
    """Return the pod of an ordinal: its name, host name, subdomain, labels and claims.

    Source: kubernetes v1.36 pkg/controller/statefulset newStatefulSetPod, initIdentity, updateStorage.
    """
    set_name, spec = stateful_set.metadata.name or "", stateful_set.spec
    name = f"{set_name}-{ordinal}"
    labels = {
        words.STATEFUL_POD_NAME: name,
        words.POD_INDEX: str(ordinal),
        words.CONTROLLER_REVISION_HASH: f"{set_name}-{template_hash(spec.template)}",
    }
    pod = pod_from_template(stateful_set, spec.template, labels)
    pod_spec = evolve(
        pod.spec,
        hostname=name,
        subdomain=spec.service_name or None,
        volumes=_with_claims(stateful_set, pod.spec.volumes, name),
    )
    return evolve(pod, metadata=evolve(pod.metadata, name=name), spec=pod_spec)


def _with_claims(stateful_set: StatefulSet, volumes: tuple[Volume, ...], pod_name: str) -> tuple[Volume, ...]:
    """Return the volumes with those of volumeClaimTemplates, which win over others of their name (updateStorage)."""
    source, volume = api_type("PersistentVolumeClaimVolumeSource"), api_type("Volume")
    names = claim_names(stateful_set)
    claims = (volume(name=name, persistent_volume_claim=source(claim_name=f"{name}-{pod_name}")) for name in names)
    return (*claims, *(each for each in volumes if each.name not in names))
