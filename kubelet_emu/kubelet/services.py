"""What the workers of one node share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.container_manager import ContainerManager
    from kubelet_emu.kubelet.killer import Killer
    from kubelet_emu.kubelet.pleg import PLEG
    from kubelet_emu.kubelet.prober import ProbeManager
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.kubelet.remover import Remover
    from kubelet_emu.kubelet.resizer import Resizer
    from kubelet_emu.kubelet.status_manager import StatusManager
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.kubelet.timing import Timing
    from kubelet_emu.volumes.manager import VolumeManager


@define(eq=False, kw_only=True)
class NodeServices:
    """One of each, made by the kubelet and handed to every worker."""

    api: APIServer
    timebase: Timebase
    timing: Timing
    features: FeatureGates
    emit: Callable[[Record], None]
    recorder: Recorder
    pleg: PLEG
    probes: ProbeManager
    statuses: StatusManager
    killer: Killer
    containers: ContainerManager
    remover: Remover
    resizer: Resizer
    volumes: VolumeManager
    host_ips: Callable[[], tuple[str, ...]]
    log: FilteringBoundLogger
    reconcile_mirror: Callable[[Pod], bool]
