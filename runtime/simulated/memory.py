"""Memory of a pod's processes: what they use, and whom the kernel kills when a limit is passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from runtime.api import RuntimeEventType
from runtime.simulated import signals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runtime.simulated.container import Container
    from runtime.simulated.process import Process


def room_of(container: Container) -> int:
    """Return the bytes that a container's processes may use: its own limit, or what the others leave of the pod's."""
    others = sum(_used(each) for each in container.sandbox.containers if each is not container)
    return max(0, min(container.memory_limit, _pod_limit(container) - others))


async def use_memory(process: Process, size: int) -> None:
    """Set what a process uses, in bytes; over the limit of its container, or of the pod, the kernel kills one.

    That process does not return from this.
    """
    process.memory_bytes = size
    container = process.container
    if _used(container) > container.memory_limit:
        _kill_one([container], container.memory_limit)
    elif sum(map(_used, container.sandbox.containers)) > _pod_limit(container):
        _kill_one(container.sandbox.containers, _pod_limit(container))
    else:
        return
    await trio.lowlevel.checkpoint()


def _pod_limit(container: Container) -> int:
    return container.sandbox.memory_limit_bytes or container.machine.memory_bytes


def _used(container: Container) -> int:
    return sum(process.memory_bytes for process in _alive([container]))


def _alive(containers: Iterable[Container]) -> Iterator[Process]:
    """Yield the processes that nothing has killed yet."""
    return (each for container in containers for each in container.processes.values() if not each.is_dying)


def _kill_one(containers: Iterable[Container], limit: int) -> None:
    """Kill the process that the kernel likes least, or its whole container (cgroup v2's memory.oom.group).

    Source: Linux oom_badness: what it uses, and its share of the limit by oom_score_adj.
    """

    def badness(process: Process) -> tuple[int, str, int]:
        adjustment = process.container.config.resources.oom_score_adj or 0
        return process.memory_bytes + adjustment * limit // 1000, process.container.name, process.pid

    victim = max(_alive(containers), key=badness)
    container = victim.container
    container.is_oom = True
    container.emit(RuntimeEventType.CONTAINER_OOM)
    if container.machine.abilities.oom_kills_group and container.first is not None:
        victim = container.first
    victim.die(signals.SIGKILL)
