"""Stops containers: one stop signal, a wait for the death, SIGKILL at the deadline.

The engine's own stop call is never used: it signals again at each call, can't be taken back, and holds a thread. A
death is seen by its event or by asking the engine each second, whichever comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.api import NotFoundError
from runtime.docker.errors import NotRunningError
from runtime.docker.nurseries import calls_side_by_side

if TYPE_CHECKING:
    from runtime.docker.bridge import Bridge
    from runtime.docker.events import EventHub

POLL_SECONDS = 1.0
SETTLE_SECONDS = 0.02
KILL_AGAIN_SECONDS = 10.0


@define(eq=False)
class _Stop:
    """A stop of one container. While somebody waits its deadline only moves closer; its signal is sent once."""

    deadline: float
    is_signalled: bool = False
    signalling: trio.Lock = field(factory=trio.Lock)
    changed: trio.Event = field(factory=trio.Event)
    callers: int = 0


@define(eq=False)
class Stopper:
    """Signals containers and waits for their deaths."""

    bridge: Bridge
    hub: EventHub
    _stops: dict[str, _Stop] = field(factory=dict, init=False)

    async def stop_by_its_signal(self, container_id: str, timeout_seconds: float) -> None:
        """Stop a container by its image's or its own stop signal; what is dead or gone is fine."""
        try:
            inspected = await self.bridge.urgent(lambda client: client.inspect_container(container_id))
        except NotFoundError:
            return
        if inspected["State"].get("Running"):
            await self.stop(container_id, inspected["Config"].get("StopSignal") or "SIGTERM", timeout_seconds)

    async def stop(self, container_id: str, signal: str, timeout_seconds: float) -> None:
        """Stop a container and return when it is dead; a second caller joins the first, the earlier deadline counts.

        A caller that is cancelled takes nothing back, and the next one does not signal again. Source: containerd's
        StopContainer, which sends the stop signal once in a container's life.
        """
        stop = self._join(container_id, trio.current_time() + max(0.0, timeout_seconds))
        try:
            async with stop.signalling:
                if not stop.is_signalled:
                    await self.send(container_id, signal)
                    stop.is_signalled = True
            await self._wait_until_deadline(container_id, stop)
            await self.kill(container_id)
            self._stops.pop(container_id, None)
        finally:
            stop.callers -= 1

    async def kill(self, container_id: str) -> None:
        """SIGKILL a container that runs and return when it is dead; a kill that does not work is repeated."""
        while await self.is_running(container_id):
            await self.send(container_id, "SIGKILL")
            await self._wait_dead(container_id, trio.current_time() + KILL_AGAIN_SECONDS)

    def _join(self, container_id: str, deadline: float) -> _Stop:
        """Return the stop of this container, with the earlier deadline of those who wait."""
        stop = self._stops.setdefault(container_id, _Stop(deadline=deadline))
        if stop.callers == 0:
            stop.deadline = deadline
        elif deadline < stop.deadline:
            stop.deadline = deadline
            stop.changed.set()
        stop.callers += 1
        return stop

    async def _wait_until_deadline(self, container_id: str, stop: _Stop) -> None:
        """Wait for the death until the deadline, which may move closer meanwhile."""
        while (now := trio.current_time()) < stop.deadline:
            async with calls_side_by_side() as nursery:
                nursery.start_soon(self._until_dead, container_id, nursery.cancel_scope)
                nursery.start_soon(_until_set, stop.changed, nursery.cancel_scope)
                nursery.cancel_scope.deadline = max(now, stop.deadline)
            if not stop.changed.is_set():
                return
            stop.changed = trio.Event()

    async def _until_dead(self, container_id: str, scope: trio.CancelScope) -> None:
        await self._wait_dead(container_id, float("inf"))
        scope.cancel()

    async def _wait_dead(self, container_id: str, deadline: float) -> None:
        """Return when the container is dead by the engine's own word, or at the deadline."""
        with trio.move_on_at(deadline), self.hub.death_of(container_id) as death:
            while await self.is_running(container_id):
                if death.is_set():
                    await trio.sleep(SETTLE_SECONDS)  # the event comes a little before the engine's state
                    continue
                with trio.move_on_after(POLL_SECONDS):
                    await death.wait()

    async def is_running(self, container_id: str) -> bool:
        """Ask the engine; what is gone does not run."""
        try:
            inspected = await self.bridge.read(lambda client: client.inspect_container(container_id))
        except NotFoundError:
            return False
        return bool(inspected["State"].get("Running"))

    async def send(self, container_id: str, signal: str) -> bool:
        """Send one signal as this runtime's own; tell whether there was somebody to receive it."""
        self.hub.expect_signal(container_id, signal)
        is_received = False
        try:
            is_received = await self.send_from_outside(container_id, signal)
        finally:
            if not is_received:
                self.hub.forget_signal(container_id, signal)
        return is_received

    async def send_from_outside(self, container_id: str, signal: str) -> bool:
        """Send one signal that nobody takes for this runtime's; tell whether there was somebody to receive it."""
        try:
            await self.bridge.urgent(lambda client: client.kill(container_id, signal))
        except (NotRunningError, NotFoundError):
            return False
        return True


async def _until_set(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
