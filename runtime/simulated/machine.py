"""What all containers of one simulated runtime share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen

from runtime.api import NamespaceMode, NetworkFiles
from runtime.api.app_armor import check_app_armor
from runtime.api.seccomp import check_seccomp
from runtime.simulated.network import Network

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from runtime.api import LinuxSecurityContext
    from runtime.simulated.events import EventHub
    from runtime.simulated.tree import Tree
    from runtime.simulated.turns import Turn

DEFAULT_MEMORY_BYTES = 8 << 30
RESOLV_CONF = "nameserver 192.0.2.53\n"
_HOSTS = "127.0.0.1\tlocalhost\n"
_NODE_HOSTS = _HOSTS + "::1\tlocalhost ip6-localhost ip6-loopback\n"


@frozen(kw_only=True)
class Abilities:
    """What a machine's kernel and runtime can do; `oom_kills_group` is cgroup v2's memory.oom.group.

    `app_armor_profiles` are those that are loaded where there is AppArmor, None for whichever a container names.
    """

    oom_kills_group: bool = False
    has_app_armor: bool = False
    app_armor_profiles: frozenset[str] | None = None
    supports_supplemental_groups_policy: bool = True

    def check(self, security: LinuxSecurityContext) -> None:
        """Refuse a container whose profiles this machine hasn't; CRIError."""
        if self.app_armor_profiles is not None:
            check_app_armor(security, self.app_armor_profiles)
        check_seccomp(security)


@define(eq=False)
class Machine:
    """Clock, order, network and host files.

    `boot_seconds` pass between the start of a container and the first step of its process.
    """

    now: Callable[[], datetime]
    turn: Turn
    events: EventHub
    host: Tree
    abilities: Abilities = field(factory=Abilities)
    boot_seconds: float = 0.0
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    cpus: int = 8
    hostname: str = "node1"
    network: Network = field(factory=Network, init=False)

    def files(self, network: NamespaceMode) -> NetworkFiles:
        """Return what stands in /etc of a sandbox of which nothing else was asked."""
        hosts = _NODE_HOSTS if network is NamespaceMode.NODE else _HOSTS
        return NetworkFiles(hosts=hosts, resolv_conf=RESOLV_CONF)
