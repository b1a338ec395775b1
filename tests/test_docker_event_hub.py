"""What the hub makes of the engine's messages; the stream itself is tested on an engine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import trio

from runtime.docker import naming
from runtime.docker.endpoint import find_endpoint
from runtime.docker.events import DELIVERY, EventHub
from runtime.docker.http import EngineHTTP

if TYPE_CHECKING:
    from runtime.api import RuntimeEvent


def a_hub() -> EventHub:
    return EventHub(EngineHTTP(find_endpoint("unix:///nowhere")), "i")


def kill_message(container_id: str, number: int, at: datetime) -> dict[str, object]:
    attributes = {"name": "k8s_c_p_default_u_0", "signal": str(number), naming.TYPE_LABEL: naming.CONTAINER_TYPE}
    return {
        "Action": "kill",
        "Actor": {"ID": container_id, "Attributes": attributes},
        "timeNano": int(at.timestamp() * 1e6) * 1000,
    }


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the hub notes the machine's time


async def told(hub: EventHub, at: datetime) -> RuntimeEvent:
    """Return the event that the engine's message makes."""
    async with hub.subscribe() as events:
        hub.take(kill_message("c1", 15, at))
        with trio.fail_after(1):
            return await anext(events)


async def test_our_signal_is_dated_to_when_it_reaches_its_receiver() -> None:
    hub = a_hub()
    before = now()
    hub.expect_signal("c1", "SIGTERM")
    after = now()
    event = await told(hub, after + timedelta(seconds=1))
    assert (event.signal, event.own) == ("SIGTERM", True)
    assert before + DELIVERY <= event.at <= after + DELIVERY


async def test_our_signal_is_never_dated_after_the_engines_word() -> None:
    hub = a_hub()
    hub.expect_signal("c1", "SIGTERM")
    at = now().replace(microsecond=0)
    assert (await told(hub, at)).at == at


async def test_anothers_signal_is_dated_as_the_engine_does() -> None:
    at = now().replace(microsecond=0) + timedelta(seconds=1)
    event = await told(a_hub(), at)
    assert (event.at, event.own) == (at, False)
