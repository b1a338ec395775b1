"""A run as a second terminal sees it: one that lives, by its socket, or one that has ended, by its records.

Objects are in the API's JSON form, as both have them.
"""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, cast

from attrs import define

from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from kubelet_emu.control.client import ControlClient
    from kubelet_emu.control.places import RunFacts

    Object = Mapping[str, object]


class View(Protocol):
    """What can be read of a run."""

    @property
    def facts(self) -> RunFacts:
        """Return who the run is."""

    async def now(self) -> datetime:
        """Return the run's time."""

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Object]:
        """Return the objects of a kind."""

    def logs(self, namespace: str, pod: str, container: str, query: Mapping[str, object]) -> AsyncGenerator[Object]:
        """Yield the lines of a container's log as the protocol has them; ControlError."""


async def get_pod(view: View, namespace: str, name: str) -> Object:
    """Return a pod; ControlError (NotFound)."""
    found = await view.list("Pod", namespace, name)
    if not found:
        raise ControlError(Reason.NOT_FOUND, f'pods "{name}" not found')
    return found[-1]


@define(eq=False)
class LiveView:
    """A run that lives. `dial` opens one more connection to it."""

    client: ControlClient
    facts: RunFacts
    dial: Callable[[], Awaitable[ControlClient]]

    async def now(self) -> datetime:
        """Return the run's time."""
        answer = await self.client.call("info")
        return datetime.fromisoformat(str(answer["now"])).astimezone(UTC)

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Object]:
        """Return the objects of a kind."""
        answer = await self.client.call("list", kind=kind, namespace=namespace, name=name)
        return cast("list[Object]", answer["items"])

    async def logs(
        self, namespace: str, pod: str, container: str, query: Mapping[str, object]
    ) -> AsyncGenerator[Object]:
        """Yield the lines of a container's log; a last event with `text` says what a kubelet says instead.

        Each log has a connection of its own, so that several can be followed at once.
        """
        client = await self.dial()
        try:
            given = {"namespace": namespace, "pod": pod, "container": container}
            async with aclosing(client.events("logs", **given, **query)) as events:
                async for event in events:
                    yield event
            if "text" in client.result:
                yield client.result
        finally:
            await client.aclose()
