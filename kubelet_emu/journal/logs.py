"""Follows container logs into the journal.

One task a run. A run's log is drained to its end before the run may be removed: whoever removes waits for `drained`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.journal.records import LogRecord, NoteRecord
from runtime.api import CRIError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.records import ObjectRef, Record
    from runtime.api import ContainerID, LogLine, RuntimeService

MAX_LINE_BYTES = 256 * 1024


@define(eq=False)
class LogFollower:
    """Follows the logs of runs in `nursery`; `emit` gets one LogRecord a line, in the order the container wrote them.

    It outlives a kubelet: a restart of that one doesn't cut a log.
    """

    runtime: RuntimeService
    emit: Callable[[Record], None]
    nursery: trio.Nursery
    drain_seconds: float = 5.0
    _done: dict[ContainerID, trio.Event] = field(factory=dict, init=False)

    def follow(self, container_id: ContainerID, ref: ObjectRef, container: str, run: int) -> None:
        """Begin to read the log of a run that has just started; a second call for the same run does nothing."""
        if container_id not in self._done:
            self._done[container_id] = trio.Event()
            self.nursery.start_soon(self._follow, container_id, ref, container, run)

    async def _follow(self, container_id: ContainerID, ref: ObjectRef, container: str, run: int) -> None:
        """Emit a run's lines from its first to its last.

        A container that is gone has no lines; another failure of the runtime becomes a note. Cancellation leaves the
        rest unread.
        """
        try:
            async with self.runtime.container_logs(container_id, follow=True) as lines:
                async for line in lines:
                    self.emit(_record(line, ref, container, run))
        except NotFoundError:
            pass
        except CRIError as error:
            self.emit(NoteRecord(ref=ref, level="warning", text=f"log of {container} is cut: {error}"))
        finally:
            self._done[container_id].set()

    async def drained(self, container_id: ContainerID) -> None:
        """Wait until every line of a run that has ended was read, at most `drain_seconds`."""
        done = self._done.get(container_id)
        if done is not None:
            with trio.move_on_after(self.drain_seconds):
                await done.wait()

    async def all_drained(self) -> None:
        """Wait until no log is being read any more, at most `drain_seconds` altogether."""
        with trio.move_on_after(self.drain_seconds):
            for done in tuple(self._done.values()):
                await done.wait()


def _record(line: LogLine, ref: ObjectRef, container: str, run: int) -> LogRecord:
    return LogRecord(at=line.at, ref=ref, container=container, run=run, line=to_text(line.line), stream=line.stream)


def to_text(data: bytes) -> str:
    """Return what a container wrote as text: bad UTF-8 stays visible, a line beyond the bound is cut with a mark."""
    kept, cut = data[:MAX_LINE_BYTES], len(data) - MAX_LINE_BYTES
    text = kept.removesuffix(b"\r").decode(errors="backslashreplace")
    return text if cut <= 0 else f"{text}… [{cut} more bytes]"
