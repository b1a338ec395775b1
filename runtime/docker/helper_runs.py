"""Our helper's one-off work: a container of its own for each, which is gone afterwards."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import trio
from attrs import define

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from runtime.docker.bridge import Bridge
    from runtime.docker.making import Maker
    from runtime.docker.pause import PauseImages

LOOK_SECONDS = 0.02
CLEAN_UP_SECONDS = 5.0


@define(eq=False)
class HelperRuns:
    """Runs our helper with words; a body says what its container sees, the image is added here."""

    bridge: Bridge
    maker: Maker
    pause: PauseImages

    async def run(self, body: dict[str, Any], words: Sequence[str]) -> int:
        """Run the helper and return its exit code; CRIError. Cancellation kills it."""
        async with self.made(body, words) as helper:
            return await self.finish(helper)

    @asynccontextmanager
    async def made(self, body: dict[str, Any], words: Sequence[str]) -> AsyncIterator[str]:
        """Give a container that is ready to `finish`, and remove it; CRIError."""
        helper = await self.pause.with_helper_image(
            lambda image: self._create(body | {"Image": image, "Cmd": list(words)})
        )
        try:
            yield helper
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                await self.maker.remove(helper)

    async def finish(self, helper: str) -> int:
        """Start what was made, wait for its end and return its exit code; CRIError."""
        await self.bridge.write(lambda client: client.start(helper))
        while True:
            inspected = await self.bridge.read(lambda client: client.inspect_container(helper))
            if not inspected["State"]["Running"]:
                return int(inspected["State"]["ExitCode"])
            await trio.sleep(LOOK_SECONDS)

    async def _create(self, body: dict[str, Any]) -> str:
        return await self.bridge.write(lambda client: str(client.create_container_from_config(body)["Id"]))
