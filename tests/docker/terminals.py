"""Commands of second terminals beside a run, each at a pipe or at a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_SECONDS = 60.0
LOOK_SECONDS = 0.05
PROGRAM = (sys.executable, "-u", "-m", "kubelet_emu")
SIZE = (30, 100)


@define(eq=False)
class Command:
    """A command that runs; `terminal` are both ends of its terminal, or nothing."""

    process: subprocess.Popen[bytes]
    terminal: tuple[int, int] | None
    before: list[object]
    _shown: bytearray = field(factory=bytearray)
    _changed: threading.Condition = field(factory=threading.Condition)

    def read(self, descriptor: int) -> None:
        """Read what it shows, to the end."""
        while data := _read(descriptor):
            with self._changed:
                self._shown += data
                self._changed.notify_all()

    @property
    def shown(self) -> str:
        """Return what it has shown."""
        return self._shown.decode().replace("\r\n", "\n")

    def until(self, text: str) -> None:
        """Wait until it has shown a text."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self.shown, LIMIT_SECONDS), self.shown

    def type(self, text: str) -> None:
        """Give it input."""
        assert self.terminal is not None
        os.write(self.terminal[0], text.encode())

    def end(self) -> int:
        """Wait for its end and return its status; its terminal is as it was."""
        status = self.process.wait(LIMIT_SECONDS)
        assert self.terminal is None or termios.tcgetattr(self.terminal[1]) == self.before, "the terminal is left raw"
        return status

    @property
    def is_raw(self) -> bool:
        """Tell whether its terminal isn't as it was."""
        return self.terminal is not None and termios.tcgetattr(self.terminal[1]) != self.before


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # nobody has the other end of the terminal open any more
        return b""


@contextmanager
def at_a_terminal(*words: str, size: tuple[int, int] = SIZE) -> Iterator[Command]:
    """Give a command at a terminal and in a process group of its own; the terminal sends it no signals."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    before = list(termios.tcgetattr(far))
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen([*PROGRAM, *words], stdin=far, stdout=far, stderr=far, env=environment, process_group=0)
    with _running(Command(process, (near, far), before), near) as command:
        try:
            yield command
        finally:
            os.close(far)  # with its last one its reader ends
    os.close(near)


@contextmanager
def at_pipes(*words: str, stdin: bytes | None = None) -> Iterator[Command]:
    """Give a command at pipes; its stdin stays open when it has been given something."""
    source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    process = subprocess.Popen([*PROGRAM, *words], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    with ExitStack() as stack:
        stack.enter_context(process.stdout)
        if process.stdin is not None:
            process.stdin.write(stdin or b"")
            process.stdin.flush()
            stack.callback(process.stdin.close)
        yield stack.enter_context(_running(Command(process, None, []), process.stdout.fileno()))


@contextmanager
def _running(command: Command, descriptor: int) -> Iterator[Command]:
    reader = threading.Thread(target=command.read, args=(descriptor,))
    reader.start()
    try:
        yield command
    finally:
        command.process.kill()
        command.process.wait()
        reader.join()


def open_files(pid: int) -> int:
    """Return how many files a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - the names alone


def come_down(pid: int, most: int) -> int:
    """Wait until a process has no more files open than so many; return how many it has."""
    deadline = time.monotonic() + LIMIT_SECONDS  # noqa: TID251 - a limit on another process
    while open_files(pid) > most and time.monotonic() < deadline:  # noqa: TID251 - the same
        time.sleep(LOOK_SECONDS)  # noqa: TID251 - the same
    return open_files(pid)
