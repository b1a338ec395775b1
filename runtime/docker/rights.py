"""What an engine lets us do on its machine: tried once, and remembered for all that share the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from runtime.docker import bodies
from runtime.docker.cgroup_tree import CgroupTree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@define(eq=False)
class OOMScores:
    """Whether the engine may lower oom_score_adj."""

    on_note: Callable[[str], None]
    may_be_lowered: bool = field(default=True, init=False)

    @property
    def of_sandboxes(self) -> int | None:
        """Return the score of a sandbox, None for the engine's own."""
        return bodies.SANDBOX_OOM_SCORE_ADJ if self.may_be_lowered else None

    def refuse(self) -> None:
        """Do without from now on: a rootless engine may not lower the score."""
        if self.may_be_lowered:
            self.may_be_lowered = False
            self.on_note("the engine may not lower oom_score_adj: sandboxes and containers run with its own value")


@define(eq=False)
class PodCgroupRights:
    """Whether pods can have cgroups of their own on the engine's machine."""

    tree: CgroupTree
    on_note: Callable[[str], None]
    is_refused: bool = field(default=False, init=False)

    def refuse(self, why: str) -> None:
        """Do without from now on."""
        if not self.is_refused:
            self.is_refused = True
            self.on_note(f"limits of a whole pod hold for each of its containers alone: {why}")


@frozen
class EngineRights:
    """All of it."""

    oom_scores: OOMScores
    pod_cgroups: PodCgroupRights

    @classmethod
    def of_info(cls, info: Mapping[str, Any], on_note: Callable[[str], None]) -> EngineRights:
        """Return what may be tried on an engine with this `info`; `on_note` gets a line for each thing refused."""
        return cls(OOMScores(on_note), PodCgroupRights(CgroupTree.of_info(info), on_note))
