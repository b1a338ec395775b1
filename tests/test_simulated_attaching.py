"""Joining a container's streams in virtual time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attach_stories import IDS, STORIES, Place
from attrs import define, field
from simulated_world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from runtime.api import ContainerID, Runtime


@define(eq=False)
class SimulatedPlace:
    """Starts each script in a container of its own."""

    world: World
    _names: Iterator[str] = field(factory=lambda: (f"c{number}" for number in itertools.count()))

    @property
    def runtime(self) -> Runtime:
        return self.world.runtime

    async def begin(self, script: str, **settings: object) -> ContainerID:
        return await self.world.start(script, next(self._names), **settings)


@pytest.mark.parametrize("story", STORIES, ids=IDS)
def test_streams_are_joined_as_containerd_does(story: Callable[[Place], Awaitable[None]]) -> None:
    async def run() -> None:
        async with a_world() as world:
            await story(SimulatedPlace(world))

    trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
