"""What one sync knows: the pod as the runtime shows it, probe results, failed starts.

Values only. `ObservedPod` is the kubelet's kubecontainer.PodStatus; its tuples are newest first.
"""

from __future__ import annotations

import enum
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import field, frozen

from runtime.api import ContainerState, PodSandboxState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod, ResourceRequirements
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.config.features import FeatureGates
    from runtime.api import ContainerID, ContainerStatus, PodSandboxStatus


class ProbeResult(enum.Enum):
    """A stored probe result (kubelet pkg/kubelet/prober/results)."""

    UNKNOWN = "unknown"
    SUCCESS = "success"
    FAILURE = "failure"


class ProbeKind(enum.Enum):
    """The three probes of a container."""

    LIVENESS = "liveness"
    READINESS = "readiness"
    STARTUP = "startup"


@frozen(kw_only=True)
class ProbeResults:
    """Stored results by container id; an id that is missing has no result yet."""

    liveness: Mapping[ContainerID, ProbeResult] = field(factory=dict)
    readiness: Mapping[ContainerID, ProbeResult] = field(factory=dict)
    startup: Mapping[ContainerID, ProbeResult] = field(factory=dict)


@frozen(kw_only=True)
class ObservedPod:
    """Sandboxes and container instances of one pod (kubelet kubecontainer.PodStatus).

    `termination_messages` holds the text read for exited containers, by container id.
    """

    uid: str
    name: str = ""
    namespace: str = ""
    sandboxes: tuple[PodSandboxStatus, ...] = ()
    containers: tuple[ContainerStatus, ...] = ()
    termination_messages: Mapping[str, str] = field(factory=dict)

    def find(self, name: str) -> ContainerStatus | None:
        """Return the newest instance of a container (kubelet FindContainerStatusByName)."""
        instances = self._by_name.get(name)
        return instances[0] if instances else None

    def instances(self, name: str) -> tuple[ContainerStatus, ...]:
        """Return all instances of a container, newest first."""
        return self._by_name.get(name, ())

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[ContainerStatus, ...]]:
        """All instances by name, newest first: a sync asks for each container many times."""
        found: dict[str, tuple[ContainerStatus, ...]] = {}
        for status in self.containers:
            name = status.metadata.name
            found[name] = (*found.get(name, ()), status)
        return found

    def running(self) -> tuple[ContainerStatus, ...]:
        """Return the instances that run or whose state is unknown (kubelet GetRunningContainerStatuses)."""
        ended_or_new = (ContainerState.CREATED, ContainerState.EXITED)
        return tuple(c for c in self.containers if c.state not in ended_or_new)

    @property
    def has_ready_sandbox(self) -> bool:
        """Tell whether the newest sandbox is ready."""
        return bool(self.sandboxes) and self.sandboxes[0].state is PodSandboxState.READY


@frozen(kw_only=True)
class StartFailure:
    """Why the last start of a container was refused or failed (an entry of the kubelet's reason cache)."""

    reason: str
    message: str


@frozen(kw_only=True)
class SyncInput:
    """All that one sync decides from.

    `previous_status` is the last status that the kubelet made, or the API's; `start_failures` is keyed by container
    name, `actuated` (the resources last applied to a running container) too. `is_static` marks a pod from a manifest
    folder.
    """

    pod: Pod
    observed: ObservedPod
    probes: ProbeResults
    previous_status: PodStatus
    start_failures: Mapping[str, StartFailure]
    now: datetime
    features: FeatureGates
    is_static: bool = False
    actuated: Mapping[str, ResourceRequirements] = field(factory=dict)
