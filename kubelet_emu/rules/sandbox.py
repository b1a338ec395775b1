"""Whether a pod needs a new sandbox.

Source: kubelet v1.36 PodSandboxChanged (pkg/kubelet/kuberuntime/util).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from runtime.api import NamespaceMode, PodSandboxState

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.rules.observed import ObservedPod
    from runtime.api import SandboxID


@frozen(kw_only=True)
class SandboxChange:
    """What is to be done about the sandbox.

    `attempt` is that of the sandbox to use or to make; `sandbox_id` the one there is, None when there is none or when
    it is not to be thought of any more.
    """

    changed: bool
    attempt: int
    sandbox_id: SandboxID | None


def pod_sandbox_changed(pod: Pod, observed: ObservedPod) -> SandboxChange:
    """Decide whether the pod needs a new sandbox (kubelet v1.36 PodSandboxChanged)."""
    if not observed.sandboxes:
        return SandboxChange(changed=True, attempt=0, sandbox_id=None)
    newest, is_host_network = observed.sandboxes[0], bool(pod.spec.host_network)
    ready = sum(sandbox.state is PodSandboxState.READY for sandbox in observed.sandboxes)
    attempt = newest.metadata.attempt + 1
    if ready > 1 or newest.state is not PodSandboxState.READY:
        return SandboxChange(changed=True, attempt=attempt, sandbox_id=newest.id)
    if (newest.network is NamespaceMode.NODE) != is_host_network:
        # The kubelet forgets the old id here, so no event tells of this change.
        return SandboxChange(changed=True, attempt=attempt, sandbox_id=None)
    if not is_host_network and not newest.ip:
        return SandboxChange(changed=True, attempt=attempt, sandbox_id=newest.id)
    return SandboxChange(changed=False, attempt=newest.metadata.attempt, sandbox_id=newest.id)
