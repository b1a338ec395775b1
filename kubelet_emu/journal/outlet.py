"""Text to a reader who may be slow, asleep or gone, without ever waiting for him.

What he doesn't take at once waits in memory, in order, and is handed over when he goes on; so a pipe that nobody reads
never holds up a pod. Regular files, and streams without a descriptor, are written through. A failure (the reader has
gone, the disk is full) ends an outlet for good and is kept in `error`; writing never raises.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
from typing import TYPE_CHECKING, Protocol, cast

import trio
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TextIO

MOST_BYTES = 64 * 1024 * 1024
PATIENCE_SECONDS = 1.0


class Writable(Protocol):
    """What a renderer writes to."""

    def write(self, text: str, /) -> object:
        """Take some text."""


def lines_lost(name: str, count: int) -> str:
    """Return the line that stands where lines are missing."""
    return f"... {count} lines were not shown: nobody read {name}\n"


@define(eq=False)
class Outlet:
    """One stream to a reader. `name` is what messages call it.

    Beyond `most_bytes` that nobody has read, lines are dropped, and a line says how many; where a line of ours has no
    place (`tells_loss` is false) that is a failure.
    """

    name: str
    file: TextIO | int
    most_bytes: int = MOST_BYTES
    tells_loss: bool = True
    error: OSError | None = field(default=None, init=False)
    _fd: int | None = field(init=False)
    _is_regular: bool = field(default=False, init=False)
    _waiting: bytearray = field(factory=bytearray, init=False)
    _lost: int = field(default=0, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        """Find the descriptor."""
        self._fd = self.file if isinstance(self.file, int) else _descriptor(self.file)
        self._is_regular = self._fd is not None and stat.S_ISREG(os.fstat(self._fd).st_mode)

    def write(self, text: str, /) -> None:
        """Take some whole lines: hand over what goes at once, keep the rest; never waits, never raises."""
        if self.error is not None or self._drops(text):
            return
        if self._fd is None:
            self._write_through(text)
            return
        self._waiting += text.encode(*self._encoding())
        self._hand_over(0)
        if self._waiting or self.error is not None:
            self._changed.set()

    @property
    def is_behind(self) -> bool:
        """Tell whether the reader hasn't taken all of it yet, or takes nothing more."""
        return bool(self._waiting) or self.error is not None

    def _drops(self, text: str) -> bool:
        """Tell whether there is no room; once there is again, say how much is missing."""
        limit = self.most_bytes // 2 if self._lost else self.most_bytes
        if len(self._waiting) <= limit:
            self._tell_loss()
            return False
        if not self.tells_loss:
            self._fail(OSError(errno.ENOBUFS, "nobody reads it"))
            return True
        self._lost += max(1, text.count("\n"))
        return True

    def _tell_loss(self) -> None:
        if self._lost:
            self._waiting += lines_lost(self.name, self._lost).encode()
            self._lost = 0

    def _encoding(self) -> tuple[str, str]:
        if isinstance(self.file, int):
            return "utf-8", "backslashreplace"
        return self.file.encoding or "utf-8", "backslashreplace"

    def _write_through(self, text: str) -> None:
        try:
            cast("TextIO", self.file).write(text)
        except (OSError, ValueError) as error:
            self._fail(error if isinstance(error, OSError) else OSError(errno.EBADF, str(error)))

    def _hand_over(self, patience_seconds: float) -> bool:
        """Write until the reader takes nothing for so long; tell whether everything is out.

        A descriptor that is ready takes PIPE_BUF bytes without waiting (poll(2), pipe(7)); a regular file always is.
        """
        fd = cast("int", self._fd)
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        while self._waiting and self.error is None:
            try:
                if not self._is_regular and not poll.poll(patience_seconds * 1000):
                    return False
                with memoryview(self._waiting) as view:
                    count = os.write(fd, view if self._is_regular else view[: select.PIPE_BUF])
            except OSError as error:
                self._fail(error)
            else:
                del self._waiting[:count]
        return True

    def _fail(self, error: OSError) -> None:
        self.error = error
        self._waiting.clear()
        self._changed.set()

    async def run(self, on_error: Callable[[Outlet], None]) -> None:
        """Hand over what waits as the reader goes on; `on_error` is told when the outlet ends.

        Ends then; otherwise runs until cancelled, which leaves what waits to `finish`.
        """
        while self.error is None:
            await self._changed.wait()
            self._changed = trio.Event()
            await self._hand_over_all()
        on_error(self)

    async def _hand_over_all(self) -> None:
        while self._fd is not None and not self._hand_over(0):
            try:
                await trio.lowlevel.wait_writable(self._fd)
            except OSError as error:  # no kind of file that can be waited for
                self._fail(error)

    def finish(self, patience_seconds: float | None = None, *, on_wait: Callable[[], None] = lambda: None) -> None:
        """Hand over the rest, waiting for the reader; KeyboardInterrupt comes out.

        With a patience, give up when he takes nothing for so long. `on_wait` is called when it takes more than a
        second. Only for the end, when nothing else is left to do: everything stands still meanwhile.
        """
        self._tell_loss()
        if self._fd is None or self._hand_over(PATIENCE_SECONDS):
            return
        if patience_seconds is None:
            on_wait()
            while not self._hand_over(60.0):
                pass
        else:
            self._hand_over(patience_seconds)

    def close(self, patience_seconds: float | None = None) -> None:
        """Finish an outlet of `open_outlet`, bring a regular file to the disk and close it."""
        fd = cast("int", self._fd)
        try:
            self.finish(patience_seconds)
            os.fsync(fd)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a pipe or a terminal has nothing to sync
                self.error = self.error or error
        finally:
            os.close(fd)

    def failure(self) -> str:
        """Return why nothing more goes out, for the user."""
        error = self.error
        if error is None:
            return ""
        return "its reader has gone" if error.errno == errno.EPIPE else error.strerror or str(error)


def _descriptor(file: TextIO) -> int | None:
    try:
        file.flush()
        return file.fileno()
    except (OSError, ValueError, io.UnsupportedOperation, AttributeError):
        return None


def open_outlet(path: Path, name: str) -> Outlet:
    """Create a file of records, mode 0600, or empty the one that is there; OSError when that can't be done."""
    return Outlet(name=name, file=_create(path), tells_loss=False)


def write_private(path: Path, text: str) -> None:
    """Write a whole file, mode 0600, over the one that is there; OSError."""
    with os.fdopen(_create(path), "w", encoding="utf-8") as file:
        file.write(text)


def _create(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fchmod(descriptor, 0o600)
    return descriptor
