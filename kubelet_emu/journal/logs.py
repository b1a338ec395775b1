"""Follows container logs into the journal.

One task a run. A run's log is drained to its end before the run may be removed: whoever removes waits for `drained`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.journal.records import LogRecord, NoteRecord
from runtime.api import CRIError, NotFoundError, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kubelet_emu.journal.records import ObjectRef, Record
    from runtime.api import ContainerID, LogLine, RuntimeService

MAX_LINE_BYTES = 256 * 1024
ASK_AGAIN_SECONDS = 1.0


@define(eq=False)
class _Reading:
    """One log that is being read."""

    ref: ObjectRef
    container: str
    run: int
    done: trio.Event = field(factory=trio.Event)
    lines: int = 0


@define(eq=False)
class LogFollower:
    """Follows the logs of runs in `nursery`; `emit` gets one LogRecord a line, in the order the container wrote them.

    It outlives a kubelet: a restart of that one doesn't cut a log.
    """

    runtime: RuntimeService
    emit: Callable[[Record], None]
    nursery: trio.Nursery
    silence_seconds: float = 5.0
    _readings: dict[ContainerID, _Reading] = field(factory=dict, init=False)

    def follow(
        self, container_id: ContainerID, ref: ObjectRef, container: str, run: int, *, since: datetime | None = None
    ) -> None:
        """Begin to read the log of a run, from its start or a time on; a second call for the same run does nothing."""
        if container_id not in self._readings:
            reading = self._readings[container_id] = _Reading(ref, container, run)
            self.nursery.start_soon(self._follow, container_id, reading, since)

    async def _follow(self, container_id: ContainerID, reading: _Reading, since: datetime | None) -> None:
        """Emit a run's lines from its first to its last.

        A container that is gone has no lines; another failure of the runtime becomes a note. A runtime that doesn't
        answer is asked again each second. Cancellation leaves the rest unread.
        """
        try:
            while not await self._read(container_id, reading, since):  # noqa: ASYNC110 - nobody tells
                await trio.sleep(ASK_AGAIN_SECONDS)
        except NotFoundError:
            pass
        except CRIError as error:
            text = f"log of {reading.container} is cut: {error}"
            self.emit(NoteRecord(ref=reading.ref, level="warning", text=text))
        finally:
            reading.done.set()

    async def _read(self, container_id: ContainerID, reading: _Reading, since: datetime | None) -> bool:
        """Emit lines to the last; False when the runtime can't be asked for them now."""
        try:
            async with self.runtime.container_logs(container_id, follow=True, since=since) as lines:
                async for line in lines:
                    reading.lines += 1
                    self.emit(_record(line, reading))
        except RuntimeUnavailableError:
            if reading.lines:
                raise
            return False
        return True

    async def drained(self, container_id: ContainerID) -> None:
        """Wait until every line of a run that has ended was read, or none has come for `silence_seconds`; say so."""
        reading = self._readings.get(container_id)
        if reading is None or await self._end_of((reading,)):
            return
        text = f"log of {reading.container} may lack its end: nothing came for {self.silence_seconds:g} s"
        self.emit(NoteRecord(ref=reading.ref, level="warning", text=text))

    def forget(self, container_id: ContainerID) -> None:
        """Drop a run whose container is gone; what is still being read of it is read on."""
        self._readings.pop(container_id, None)

    def forget_pod(self, uid: str) -> None:
        """Drop the runs of a pod that is gone."""
        for container_id in [each for each, reading in self._readings.items() if reading.ref.uid == uid]:
            self.forget(container_id)

    async def all_drained(self) -> None:
        """Wait until no log is being read any more, or no line of any has come for `silence_seconds`."""
        await self._end_of(tuple(self._readings.values()))

    async def _end_of(self, readings: tuple[_Reading, ...]) -> bool:
        """Wait for the ends of logs as long as lines come; tell whether all have ended."""
        before = -1
        while (lines := sum(reading.lines for reading in readings)) > before:
            before = lines
            with trio.move_on_after(self.silence_seconds):
                for reading in readings:
                    await reading.done.wait()
                return True
        return False


def _record(line: LogLine, reading: _Reading) -> LogRecord:
    return LogRecord(
        at=line.at,
        ref=reading.ref,
        container=reading.container,
        run=reading.run,
        line=to_text(line.line, line.cut_bytes),
        stream=line.stream,
    )


def to_text(data: bytes, cut_bytes: int = 0) -> str:
    """Return what a container wrote as text: bad UTF-8 stays visible, a line beyond the bound is cut with a mark.

    `cut_bytes` were cut off before.
    """
    kept, cut = data[:MAX_LINE_BYTES], max(0, len(data) - MAX_LINE_BYTES) + cut_bytes
    text = kept.removesuffix(b"\r").decode(errors="backslashreplace")
    return text if cut <= 0 else f"{text}… [{cut} more bytes]"
