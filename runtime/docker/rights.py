"""What an engine lets us do on its machine: tried once, and remembered for all that share the engine."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import trio
from attrs import define, field, frozen

from runtime.docker import bodies
from runtime.docker.cgroup_tree import CgroupTree

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping


@define(eq=False)
class OOMScores:
    """Whether the engine may lower oom_score_adj, which needs CAP_SYS_RESOURCE on its machine.

    The first sandbox finds out; whoever comes meanwhile waits for it, so that many pods cost one refused start.
    """

    on_note: Callable[[str], None]
    may_be_lowered: bool = field(default=True, init=False)
    is_known: bool = field(default=False, init=False)
    _trial: trio.Lock = field(factory=trio.Lock, init=False)

    @asynccontextmanager
    async def of_sandboxes(self) -> AsyncIterator[int | None]:
        """Give the score of a sandbox that the block makes and starts, None for the engine's own.

        While nobody knows whether the score is taken, one block runs at a time.
        """
        if not self.is_known:
            async with self._trial:
                if not self.is_known:
                    yield self._of_sandbox()
                    return
        yield self._of_sandbox()

    def _of_sandbox(self) -> int | None:
        return bodies.SANDBOX_OOM_SCORE_ADJ if self.may_be_lowered else None

    def learn(self, running_sandbox_has: int | None) -> None:
        """Take note of the score that a sandbox runs with: another process may have tried, too."""
        if running_sandbox_has == bodies.SANDBOX_OOM_SCORE_ADJ:
            self.is_known = True
        else:
            self.refuse()

    def refuse(self) -> None:
        """Do without from now on: a rootless engine, or one in a container, may not lower the score."""
        self.is_known = True
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
