"""What all containers of one simulated runtime share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated.network import Network

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from runtime.simulated.events import EventHub
    from runtime.simulated.tree import Tree
    from runtime.simulated.turns import Turn

DEFAULT_MEMORY_BYTES = 8 << 30


@define(eq=False)
class Machine:
    """Clock, order, network and host files; `oom_kills_group` is cgroup v2's memory.oom.group.

    `boot_seconds` pass between the start of a container and the first step of its process.
    """

    now: Callable[[], datetime]
    turn: Turn
    events: EventHub
    host: Tree
    oom_kills_group: bool = False
    boot_seconds: float = 0.0
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    cpus: int = 8
    network: Network = field(factory=Network, init=False)
