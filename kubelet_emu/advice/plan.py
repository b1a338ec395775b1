"""All that a manifest tells of one pod's life before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.advice.advising import advise
from kubelet_emu.advice.ending import ending_of
from kubelet_emu.advice.probing import execs_a_second, restarts
from kubelet_emu.advice.sizes import DEFAULT_NODE_MEMORY, sizes_of
from kubelet_emu.advice.starting import starts
from kubelet_emu.advice.stopping import stops

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubelet_emu.advice.advices import Advice
    from kubelet_emu.advice.ending import Ending
    from kubelet_emu.advice.probing import Restart
    from kubelet_emu.advice.sizes import Sizes
    from kubelet_emu.advice.starting import Start
    from kubelet_emu.advice.stopping import Stop
    from kubelet_emu.advice.subjects import Subject


@frozen(kw_only=True)
class PodPlan:
    """The start, stop and end of a pod, its probes' times, what it asks for, and the advice about it."""

    subject: Subject
    start: tuple[Start, ...]
    stop: tuple[Stop, ...]
    ending: Ending
    restarts: tuple[Restart, ...]
    execs_a_second: float
    sizes: Sizes
    node_memory: int
    advice: tuple[Advice, ...] = field(repr=False)


def plan_of(subject: Subject, ignored: Collection[str] = (), node_memory: int = DEFAULT_NODE_MEMORY) -> PodPlan:
    """Return the plan of a pod; `ignored` are codes of advice that isn't wanted, `node_memory` is in bytes."""
    return PodPlan(
        subject=subject,
        start=starts(subject),
        stop=stops(subject),
        ending=ending_of(subject),
        restarts=tuple(restarts(subject)),
        execs_a_second=execs_a_second(subject),
        sizes=sizes_of(subject, node_memory),
        node_memory=node_memory,
        advice=advise(subject, ignored),
    )
