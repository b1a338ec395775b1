"""The kubelet's own latest status of each pod, and its way into the API.

Owns the cache of statuses. A status reaches the API when it changed; a terminal phase is withheld until no container of
the pod can be running. Readiness and `started` follow probe results at once, without a sync.
Source: kubelet v1.36 pkg/kubelet/status/status_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.apiserver.errors import ConflictError, NotFoundError
from kubelet_emu.rules import statuses
from kubelet_emu.rules.allocation import clear_resize_condition, set_resize_condition
from kubelet_emu.rules.conditions import find_condition
from kubelet_emu.rules.status_merge import (
    check_container_state_transition,
    is_status_equal,
    merge_for_api,
    normalize_status,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import PodCondition, PodStatus
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.config.features import FeatureGates


@define(eq=False, kw_only=True)
class StatusManager:
    """Statuses by pod uid."""

    api: APIServer
    now: Callable[[], datetime]
    features: FeatureGates
    log: FilteringBoundLogger
    _statuses: dict[str, PodStatus] = field(factory=dict, init=False)
    _stopped: set[str] = field(factory=set, init=False)

    def get(self, pod: Pod) -> PodStatus:
        """Return the latest status, or what the API has when this kubelet has made none yet."""
        return self._statuses.get(pod.metadata.uid or "", pod.status)

    def latest(self, uid: str) -> PodStatus | None:
        """Return the latest status by uid, None before the first."""
        return self._statuses.get(uid)

    def set_pod_status(self, pod: Pod, status: PodStatus, *, has_mirror: bool = True) -> None:
        """Keep a status and publish it (SetPodStatus).

        Without `has_mirror` the pod is a static one that is wanted no more: its name in the API may be another's.
        """
        self._keep(pod, status, publish=has_mirror)

    def set_ready_to_start_containers(self, pod: Pod) -> None:
        """Say that the pod has its sandbox (kubelet v1.36 OnPodSandboxReady)."""
        status = self._statuses.get(pod.metadata.uid or "")
        if status is not None:
            self._change(pod, status, statuses.set_ready_to_start_containers(pod, status, self.now(), self.features))

    def set_container_readiness(self, pod: Pod, container: str, *, ready: bool) -> None:
        """Follow a readiness probe (SetContainerReadiness)."""
        status = self._statuses.get(pod.metadata.uid or "")
        if status is not None:
            self._change(pod, status, statuses.set_container_readiness(pod, status, container, ready, self.now()))

    def set_container_startup(self, pod: Pod, container: str, *, started: bool) -> None:
        """Follow a startup probe (SetContainerStartup)."""
        status = self._statuses.get(pod.metadata.uid or "")
        if status is not None:
            self._change(pod, status, statuses.set_container_startup(pod, status, container, started, self.now()))

    def set_resize_condition(self, pod: Pod, condition: PodCondition) -> bool:
        """Keep a resize condition for the next status; tell whether its reason or its generation is another.

        Source: kubelet v1.36 SetPodResizePendingCondition, SetPodResizeInProgressCondition.
        """
        status = self.get(pod)
        old = find_condition(status.conditions, condition.type)
        self._statuses[pod.metadata.uid or ""] = set_resize_condition(status, condition, self.now())
        before = None if old is None else (old.reason, old.observed_generation)
        return before != (condition.reason, condition.observed_generation)

    def clear_resize_condition(self, pod: Pod, kind: str) -> PodCondition | None:
        """Drop a resize condition from the next status and return it, None when there is none."""
        status = self.get(pod)
        cleared = find_condition(status.conditions, kind)
        if cleared is not None:
            self._statuses[pod.metadata.uid or ""] = clear_resize_condition(status, kind)
        return cleared

    def containers_stopped(self, uid: str) -> None:
        """Say that nothing of the pod can be running any more: its terminal phase may go out."""
        self._stopped.add(uid)

    def terminate_pod(self, pod: Pod, known: PodStatus, *, is_static: bool = False, has_mirror: bool = True) -> None:
        """Write the last status; a pod that was deleted leaves the API then (TerminatePod, syncPod).

        `known` is what the API said of the pod when its end was asked for.
        """
        uid = pod.metadata.uid or ""
        self._stopped.add(uid)
        last = statuses.terminate_pod_status(pod, self.get(pod), known=known, is_static=is_static)
        self._keep(pod, last, publish=has_mirror)
        current = self.api.get_by_uid("Pod", uid)
        if current is None or current.metadata.deletion_timestamp is None:
            return
        namespace, name = current.metadata.namespace or "", current.metadata.name or ""
        try:
            self.api.delete("Pod", namespace, name, grace_period_seconds=0, uid=uid)
        except (NotFoundError, ConflictError):
            return

    def _change(self, pod: Pod, old: PodStatus, new: PodStatus) -> None:
        """Take a change between two passes over, if it is one."""
        if new is not old:
            self._keep(pod, new)

    def _keep(self, pod: Pod, status: PodStatus, *, publish: bool = True) -> None:
        """Take a status over, unless it takes an illegal step, and publish it (updateStatusInternal, syncPod)."""
        uid = pod.metadata.uid or ""
        refusal = check_container_state_transition(self.get(pod), status, pod, self.features)
        if refusal is not None:
            self.log.error("status refused", pod=pod.metadata.name, why=refusal)
            return
        self._statuses[uid] = status = normalize_status(status)
        current = self.api.get_by_uid("Pod", uid)
        if current is None or not publish:
            return
        could_run = uid not in self._stopped
        merged = merge_for_api(current, current.status, status, could_have_running_containers=could_run, now=self.now())
        if not is_status_equal(current.status, merged):
            namespace, name = current.metadata.namespace or "", current.metadata.name or ""
            self.api.update_status("Pod", namespace, name, merged, uid=uid)

    def pods(self) -> Iterable[str]:
        """Return the uids of the pods that something is kept of."""
        return self._statuses.keys() | self._stopped

    def forget(self, uid: str) -> None:
        """Drop a pod that is over for good."""
        self._statuses.pop(uid, None)
        self._stopped.discard(uid)
