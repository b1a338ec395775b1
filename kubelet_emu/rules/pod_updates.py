"""What an update of a pod is worth, and what is known of a pod whose spec is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.rules.phase import is_phase_terminal
from runtime.api import PodSandboxState

if TYPE_CHECKING:
    from kubelet_emu.rules.observed import ObservedPod


def differ_semantically(old: Pod, new: Pod) -> bool:
    """Tell whether an update is news to a worker: the kubelet's own status writes are not.

    Source: kubelet v1.36 podsDifferSemantically.
    """
    return (
        old.spec != new.spec
        or old.metadata.labels != new.metadata.labels
        or old.metadata.annotations != new.metadata.annotations
        or old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
    )


def gate_conditions(pod: Pod) -> dict[str, str]:
    """Return what the readiness gates of a pod say (kubelet v1.36 NeedToReconcilePodReadiness)."""
    gates = {gate.condition_type for gate in pod.spec.readiness_gates}
    return {c.type: c.status for c in pod.status.conditions if c.type in gates}


def has_ended_before(pod: Pod, observed: ObservedPod) -> bool:
    """Tell whether a pod that is seen first was over already, and nothing of it is left to stop.

    Source: kubelet v1.36 UpdatePod, isPodStatusCacheTerminal.
    """
    is_ready = any(sandbox.state is PodSandboxState.READY for sandbox in observed.sandboxes)
    return is_phase_terminal(pod.status.phase) and not observed.running() and not is_ready


def orphan_pod(observed: ObservedPod) -> Pod:
    """Return what is known of a pod whose spec is lost: no hooks, no sidecars (kubelet v1.36 ToAPIPod)."""
    names = dict.fromkeys(status.metadata.name for status in observed.containers)
    return Pod(
        metadata=ObjectMeta(name=observed.name, namespace=observed.namespace, uid=observed.uid),
        spec=PodSpec(containers=tuple(Container(name=name) for name in names)),
    )
