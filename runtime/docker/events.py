"""The engine's event stream: who died with which code, who was signalled; fanned out to subscribers.

One stream for one runtime, only for its own objects. A stream that ends is opened again, and everybody is told to look
at everything (RESYNC), because events may have been lost between. What an event says of a death is remembered until
the object is gone: the engine's own lists lag behind its events.
"""

from __future__ import annotations

import json
import math
import signal
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import trio
from attrs import define, evolve, field

from runtime.api import ContainerID, CRIError, RuntimeEvent, RuntimeEventType, SandboxID
from runtime.docker import naming
from runtime.docker.ooms import SharedOOMs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from runtime.docker.http import EngineConnection, EngineHTTP

RECONNECT_SECONDS = 0.2
RECONNECT_CAP_SECONDS = 2.0
DELIVERY = timedelta(milliseconds=3)
"""A signal reaches its receiver a little after the request; when the engine tells of it that may have died already."""
EVENTS_ACTIONS = ("create", "start", "die", "oom", "kill", "destroy")

_TYPES = {
    "create": RuntimeEventType.CONTAINER_CREATED,
    "start": RuntimeEventType.CONTAINER_STARTED,
    "die": RuntimeEventType.CONTAINER_EXITED,
    "oom": RuntimeEventType.CONTAINER_OOM,
    "kill": RuntimeEventType.CONTAINER_SIGNALLED,
    "destroy": RuntimeEventType.CONTAINER_REMOVED,
}
_SANDBOX_TYPES = {
    "start": RuntimeEventType.SANDBOX_STARTED,
    "die": RuntimeEventType.SANDBOX_STOPPED,
}


def signal_name(number: str) -> str:
    """Return SIGTERM for 15; a number that has no name stays a number."""
    try:
        return signal.Signals(int(number)).name
    except ValueError:
        return number if number.startswith("SIG") or number.isdecimal() else f"SIG{number}"


def to_runtime_event(message: dict[str, Any], *, own: bool = False) -> RuntimeEvent | None:
    """Return one of the engine's events in our words; None for what is of no interest here."""
    attributes = message.get("Actor", {}).get("Attributes", {})
    parsed = naming.parse_name(attributes.get("name", ""))
    action = str(message.get("Action", ""))
    if parsed is None or action not in _TYPES:
        return None
    is_sandbox = attributes.get(naming.TYPE_LABEL) == naming.SANDBOX_TYPE
    kind = _SANDBOX_TYPES.get(action) if is_sandbox else _TYPES[action]
    if kind is None:
        return None
    container_id = message["Actor"]["ID"]
    code = attributes.get("exitCode")
    return RuntimeEvent(
        type=kind,
        at=datetime.fromtimestamp(message.get("timeNano", 0) // 1000 / 1e6, UTC),
        pod_uid=attributes.get(naming.POD_UID_LABEL) or parsed.pod.uid,
        sandbox_id=SandboxID(container_id if is_sandbox else attributes.get(naming.SANDBOX_ID_LABEL, "")),
        container_id=ContainerID("" if is_sandbox else container_id),
        container_name="" if is_sandbox else parsed.container,
        attempt=parsed.pod.attempt,
        exit_code=int(code) if action == "die" and code is not None else None,
        signal=signal_name(attributes.get("signal", "")) if action == "kill" else "",
        own=own,
    )


@define(eq=False)
class EventHub:
    """Reads the stream and tells subscribers and those who wait for a death."""

    http: EngineHTTP
    instance: str
    ooms: SharedOOMs = field(factory=SharedOOMs)
    _subscribers: set[trio.MemorySendChannel[RuntimeEvent]] = field(factory=set, init=False)
    _dead: dict[str, int | None] = field(factory=dict, init=False)
    _waiters: dict[str, list[trio.Event]] = field(factory=dict, init=False)
    _own_signals: dict[tuple[str, str], list[datetime]] = field(factory=dict, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read events until cancelled; started once the first stream is open. Cancellation closes the stream."""
        pause = RECONNECT_SECONDS
        is_first = True
        while True:
            try:
                async with self._open() as connection:
                    if is_first:
                        task_status.started()
                    else:
                        self._resync()
                    is_first, pause = False, RECONNECT_SECONDS
                    await self._read(connection)
            except CRIError:
                if is_first:
                    raise
            await trio.sleep(pause)
            pause = min(pause * 2, RECONNECT_CAP_SECONDS)

    def _open(self) -> Any:  # noqa: ANN401 - an async context manager of EngineConnection
        wanted = {
            "type": ["container"],
            "label": [f"{naming.INSTANCE_LABEL}={self.instance}"],
            "event": list(EVENTS_ACTIONS),
        }
        return self.http.request("GET", f"/events?filters={quote(json.dumps(wanted))}")

    async def _read(self, connection: EngineConnection) -> None:
        """Take in messages until the stream ends; they are JSON objects, one a line."""
        rest = b""
        async for chunk in connection.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                for message in self.ooms.settle(json.loads(line)) if line.strip() else ():
                    self.take(message)

    def take(self, message: dict[str, Any]) -> None:
        """Note one message and pass it on."""
        action, container_id = str(message.get("Action", "")), message.get("Actor", {}).get("ID", "")
        sent_at: datetime | None = None
        match action:
            case "die":
                code = message["Actor"]["Attributes"].get("exitCode")
                self.note_dead(container_id, int(code) if code is not None else None)
            case "start":
                self._dead.pop(container_id, None)
            case "destroy":
                self.note_dead(container_id, None)
                self._dead.pop(container_id, None)
                for key in [key for key in self._own_signals if key[0] == container_id]:
                    del self._own_signals[key]
            case "kill":
                sent_at = self._sent(container_id, signal_name(message["Actor"]["Attributes"].get("signal", "")))
            case _:
                pass
        event = to_runtime_event(message, own=sent_at is not None)
        if event is not None and sent_at is not None:
            event = evolve(event, at=min(event.at, sent_at + DELIVERY))
        if event is not None:
            self._publish(event)

    def note_dead(self, container_id: str, exit_code: int | None) -> None:
        """Remember a death and wake those who wait for it."""
        self._dead.setdefault(container_id, exit_code)
        for waiter in self._waiters.pop(container_id, ()):
            waiter.set()

    def is_dead(self, container_id: str) -> bool:
        """Tell whether a death was seen that the engine's list may not show yet."""
        return container_id in self._dead

    @contextmanager
    def death_of(self, container_id: str) -> Iterator[trio.Event]:
        """Give an event that is set once the container's death is seen."""
        waiter = trio.Event()
        if container_id in self._dead:
            waiter.set()
        self._waiters.setdefault(container_id, []).append(waiter)
        try:
            yield waiter
        finally:
            waiters = self._waiters.get(container_id, [])
            if waiter in waiters:
                waiters.remove(waiter)
            if not waiters:
                self._waiters.pop(container_id, None)

    def expect_signal(self, container_id: str, name: str) -> None:
        """Note that this runtime is about to send a signal."""
        now = datetime.now(UTC)  # noqa: TID251 - when it is sent, by this machine's clock
        self._own_signals.setdefault((container_id, name), []).append(now)

    def forget_signal(self, container_id: str, name: str) -> None:
        """Take back what was noted: the signal was refused."""
        self._sent(container_id, name)

    def _sent(self, container_id: str, name: str) -> datetime | None:
        """Return when this runtime sent a signal, each one once; None for a signal from elsewhere."""
        key = (container_id, name)
        waiting = self._own_signals.get(key)
        if not waiting:
            return None
        sent_at = waiting.pop(0)
        if not waiting:
            del self._own_signals[key]
        return sent_at

    def _resync(self) -> None:
        """Tell everybody to look at everything, because events were lost."""
        self._dead.clear()
        now = datetime.now(UTC)  # noqa: TID251 - there is no event of the engine to take the time from
        self._publish(RuntimeEvent(type=RuntimeEventType.RESYNC, at=now))

    def _publish(self, event: RuntimeEvent) -> None:
        for channel in self._subscribers:
            channel.send_nowait(event)

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[RuntimeEvent]]:
        """Give the events from now on, in the engine's order."""
        send, receive = trio.open_memory_channel[RuntimeEvent](math.inf)
        self._subscribers.add(send)
        async with receive:
            try:
                yield receive
            finally:
                self._subscribers.discard(send)
                send.close()
