"""One pod sandbox: identity, network namespace, and the containers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.api import NamespaceMode, PodSandboxState, PodSandboxStatus
from runtime.simulated.network import NODE
from runtime.simulated.process import PidNamespace

if TYPE_CHECKING:
    from datetime import datetime

    from runtime.api import PodSandboxConfig, SandboxID
    from runtime.simulated.container import Container


@define(eq=False)
class Sandbox:
    """A sandbox; its containers are kept oldest first."""

    id: SandboxID
    config: PodSandboxConfig
    created_at: datetime
    address: str = ""
    state: PodSandboxState = PodSandboxState.READY
    memory_limit_bytes: int | None = None
    containers: list[Container] = field(factory=list, init=False)
    _made: int = field(default=0, init=False)
    _status: PodSandboxStatus | None = field(default=None, init=False)
    pids: PidNamespace = field(factory=lambda: PidNamespace(is_shared=True), init=False)

    @property
    def network(self) -> str:
        """Return the network namespace: the node's, or one that is named by the sandbox's id."""
        return NODE if self.config.namespaces.network is NamespaceMode.NODE else self.id

    def next_number(self) -> int:
        """Count the containers that were made: at one instant the older one goes first."""
        self._made += 1
        return self._made

    def status(self) -> PodSandboxStatus:
        """Return what the CRI shows of the sandbox; the address goes with the sandbox's own process."""
        known = self._status
        if known is None or known.state is not self.state:
            known = self._status = self._make_status()
        return known

    def _make_status(self) -> PodSandboxStatus:
        return PodSandboxStatus(
            id=self.id,
            metadata=self.config.metadata,
            state=self.state,
            created_at=self.created_at,
            ip=self.address if self.state is PodSandboxState.READY else "",
            network=self.config.namespaces.network,
            labels=self.config.labels,
            annotations=self.config.annotations,
        )
