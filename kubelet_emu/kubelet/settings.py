"""How a kubelet is to behave: its configuration file, feature gates, timing, and what only an emulator has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.kubelet.timing import FAST, Timing
from kubelet_emu.volumes.host_files import LocalHostPaths

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.images.outcome import PullOverride, PullUpdate
    from kubelet_emu.images.pulling import NodeCredentials
    from kubelet_emu.volumes.manager import HostPaths


@frozen(kw_only=True)
class KubeletSettings:
    """Everything that is decided before a kubelet starts.

    `keep_removed` leaves containers of deleted pods in the runtime; `publish_address` is where host ports are bound.
    """

    configuration: KubeletConfiguration = field(factory=KubeletConfiguration)
    features: FeatureGates = field(factory=FeatureGates)
    timing: Timing = FAST
    mirrors: tuple[Mirror, ...] = ()
    pull_override: PullOverride | None = None
    node_credentials: NodeCredentials | None = None
    host_paths: HostPaths = field(factory=LocalHostPaths)
    on_pull: Callable[[PullUpdate], None] | None = None
    publish_address: str = "127.0.0.1"
    keep_removed: bool = False
