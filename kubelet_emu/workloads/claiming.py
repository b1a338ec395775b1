"""Which pods belong to a workload: those of its selector; it takes strangers that match, and lets go those that don't.

Source: kubernetes v1.36 pkg/controller PodControllerRefManager ClaimPods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import evolve

from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.objects import controller_of
from kubelet_emu.jobs.rules.pods import is_active
from kubelet_emu.manifests.validation.metadata import selector_matches

if TYPE_CHECKING:
    from kubelet_emu.api.apps_v1 import DaemonSet, ReplicaSet, StatefulSet
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.apiserver.store import APIServer

CLAIMING = ("ReplicaSet", "StatefulSet", "DaemonSet")
"""The kinds that own pods themselves."""


def claimants(api: APIServer, pod: Pod) -> tuple[APIObject, ...]:
    """Return the workloads that would take a pod which nobody controls (getPodReplicaSets and the like)."""
    if controller_of(pod) is not None or not is_active(pod):
        return ()
    found = (each for kind in CLAIMING for each in api.list(kind, pod.metadata.namespace))
    return tuple(each for each in found if each.metadata.deletion_timestamp is None and _fits(each, pod))


def claim(api: APIServer, workload: APIObject) -> None:
    """Let go the pods of a workload that its selector no longer matches, and take those that it does; ConflictError."""
    if workload.kind not in CLAIMING:
        return
    for pod in api.dependents(workload.metadata.uid or ""):
        if isinstance(pod, Pod) and not _fits(workload, pod):
            kept = tuple(ref for ref in pod.metadata.owner_references if ref.uid != workload.metadata.uid)
            api.replace(evolve(pod, metadata=evolve(pod.metadata, owner_references=kept)))
    for pod in api.list("Pod", workload.metadata.namespace):
        if controller_of(pod) is None and is_active(pod) and _fits(workload, pod):
            owners = (*pod.metadata.owner_references, new_controller_ref(workload))
            api.replace(evolve(pod, metadata=evolve(pod.metadata, owner_references=owners)))


def _fits(workload: APIObject, pod: Pod) -> bool:
    """Tell whether a pod has the labels that a workload selects; of a StatefulSet also its name (isMemberOf)."""
    selector = cast("ReplicaSet | DaemonSet | StatefulSet", workload).spec.selector
    if workload.kind == "StatefulSet":
        from kubelet_emu.workloads.rules.stateful_set import ordinal_of  # noqa: PLC0415 - by kind

        if ordinal_of(cast("StatefulSet", workload), pod) is None:
            return False
    return selector_matches(selector, pod.metadata.labels)
