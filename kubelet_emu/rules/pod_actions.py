"""What one sync is to do: values that `rules.actions` makes and the container manager carries out.

Source: kubelet v1.36 podActions, containerToKillInfo, containerToRemoveInfo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.rules.termination import ContainerKillReason

if TYPE_CHECKING:
    from runtime.api import ContainerID, SandboxID


@frozen(kw_only=True)
class ContainerToKill:
    """One container to stop; `message` is the text of its Killing event (kubelet v1.36 containerToKillInfo)."""

    id: ContainerID
    name: str
    message: str
    reason: ContainerKillReason = ContainerKillReason.NONE


@frozen(kw_only=True)
class ContainerToReset:
    """One instance to remove, its logs kept; `kill` says that it must be stopped first (KEP-5532)."""

    id: ContainerID
    name: str
    kill: bool


@frozen(kw_only=True)
class PodActions:
    """The decisions of one sync.

    The three lists of starts hold indexes into the spec's lists, in start order. `attempt` is that of the sandbox to
    use or to make. `sandbox_changed` says that event SandboxChanged is due. With `kill_pod` the single kills are not
    carried out: everything is stopped. `cpu_updates` and `memory_updates` are container names in the order of update.
    Source: kubelet v1.36 podActions.
    """

    kill_pod: bool = False
    create_sandbox: bool = False
    sandbox_id: SandboxID | None = None
    attempt: int = 0
    ephemeral_containers_to_start: tuple[int, ...] = ()
    init_containers_to_start: tuple[int, ...] = ()
    containers_to_start: tuple[int, ...] = ()
    containers_to_kill: tuple[ContainerToKill, ...] = ()
    containers_to_reset: tuple[ContainerToReset, ...] = ()
    cpu_updates: tuple[str, ...] = ()
    memory_updates: tuple[str, ...] = ()

    @property
    def sandbox_changed(self) -> bool:
        """Tell whether a new sandbox replaces a known one (kubelet v1.36 SyncPod)."""
        return self.create_sandbox and self.sandbox_id is not None

    def describe(self) -> dict[str, object]:
        """Return the decisions as plain data for a record; what is not done is left out."""
        facts: dict[str, object] = {
            "killPod": self.kill_pod,
            "createSandbox": self.create_sandbox,
            "sandboxChanged": self.sandbox_changed,
            "startEphemeral": list(self.ephemeral_containers_to_start),
            "startInit": list(self.init_containers_to_start),
            "start": list(self.containers_to_start),
            "kill": [
                {"id": kill.id, "name": kill.name, "message": kill.message, "reason": kill.reason.name}
                for kill in self.containers_to_kill
            ],
            "reset": [{"id": reset.id, "name": reset.name, "kill": reset.kill} for reset in self.containers_to_reset],
            "updateCPU": list(self.cpu_updates),
            "updateMemory": list(self.memory_updates),
        }
        return {"sandbox": self.sandbox_id, "attempt": self.attempt} | {k: v for k, v in facts.items() if v}
