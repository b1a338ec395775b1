"""Taking everything down in order: what uses a database first, then StatefulSets, each from its last ordinal down.

Kubernetes orders no deletions: `kubectl delete -f FOLDER` deletes all at once. Who stops a run wants the applications
to find their databases until they have ended, and `kubectl scale --replicas=0` is how a StatefulSet stops in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import trio

from kubelet_emu.api.v1 import Pod
from kubelet_emu.journal.records import NoteRecord
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.workloads.rules.stateful_set import ordinal_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.apps_v1 import StatefulSet
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.cluster.cluster import Cluster


async def bring_down(cluster: Cluster, grace_period_seconds: int | None) -> None:
    """Delete every pod and workload in order; None is each pod's own grace. Returns when the last has ended.

    From the first step on no controller makes a pod any more. Cancellation leaves what was not deleted yet.
    """
    api = cluster.api
    sets = _release_ordinals(api)
    stateful = {pod.metadata.uid for pods in sets for pod in pods}
    others = [pod for pod in api.list("Pod") if pod.metadata.uid not in stateful]
    _delete(api, others, grace_period_seconds)
    cluster.delete_workloads()
    if stateful and any(_is_alive(api, pod) for pod in others):
        names = ", ".join(pod.metadata.name or "" for pods in sets for pod in reversed(pods))
        cluster.emit(NoteRecord(text=f"deleted when the other pods have ended: {names}"))
        await _ended(cluster, others)
    async with trio.open_nursery() as nursery:
        for pods in sets:
            nursery.start_soon(_one_by_one, cluster, pods, grace_period_seconds)


def _release_ordinals(api: APIServer) -> list[list[Pod]]:
    """Delete the StatefulSets alone; return the pods of each in the order of their ordinals, Parallel ones singly."""
    found = []
    for each in cast("tuple[StatefulSet, ...]", api.list("StatefulSet")):
        pods = [pod for pod in api.dependents(each.metadata.uid or "") if isinstance(pod, Pod)]
        pods.sort(key=lambda pod: ordinal_of(each, pod) or 0)
        is_parallel = each.spec.pod_management_policy == "Parallel"
        found += [[pod] for pod in pods] if is_parallel else [pods]
        namespace, name = each.metadata.namespace or "", each.metadata.name or ""
        api.delete("StatefulSet", namespace, name, propagation="Orphan")
    return found


async def _one_by_one(cluster: Cluster, pods: list[Pod], grace_period_seconds: int | None) -> None:
    """Delete pods from the last to the first, each when the one before has ended."""
    for pod in reversed(pods):
        _delete(cluster.api, [pod], grace_period_seconds)
        await _ended(cluster, [pod])


def _delete(api: APIServer, pods: Iterable[Pod], grace_period_seconds: int | None) -> None:
    """Delete those of the pods that are still there."""
    for pod in pods:
        if api.get_by_uid("Pod", pod.metadata.uid or "") is not None:
            namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
            api.delete("Pod", namespace, name, grace_period_seconds=grace_period_seconds)


async def _ended(cluster: Cluster, pods: Iterable[Pod]) -> None:
    """Wait until pods have ended or are gone."""
    waited_for = tuple(pods)
    async with cluster.api.watch("Pod") as events:
        while any(_is_alive(cluster.api, pod) for pod in waited_for):
            await anext(events)
    await cluster.timebase.turn(Lane.CONTROLLER, "bring down")


def _is_alive(api: APIServer, pod: Pod) -> bool:
    current = api.get_by_uid("Pod", pod.metadata.uid or "")
    return current is not None and not is_phase_terminal(current.status.phase)
