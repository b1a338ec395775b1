"""Joining a container's streams on a real engine."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from attach_stories import IDS, STORIES, Place
from attrs import define, field

from runtime.api import ContainerID, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from engine_pods import PodMaker

    from runtime.api import Runtime

pytestmark = pytest.mark.docker


@define(eq=False)
class EnginePlace:
    """Starts each script in a container of its own."""

    pod: PodMaker
    _names: Iterator[str] = field(factory=lambda: (f"c{number}" for number in itertools.count()))

    @property
    def runtime(self) -> Runtime:
        return self.pod.runtime

    async def begin(self, script: str, **settings: object) -> ContainerID:
        return await self.pod.start(next(self._names), script, **settings)


@pytest.mark.parametrize("story", STORIES, ids=IDS)
async def test_streams_are_joined_as_containerd_does(pod: PodMaker, story: Callable[[Place], Awaitable[None]]) -> None:
    await story(EnginePlace(pod))


async def test_the_streams_of_nothing_are_not_found(pod: PodMaker) -> None:
    with pytest.raises(NotFoundError):
        async with pod.runtime.attach(ContainerID("0" * 64)):
            pass
