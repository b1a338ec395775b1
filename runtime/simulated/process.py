"""One simulated process: its arguments, environment, open files, signals and end.

A process is a Trio task of its container that calls a `Main`. A signal that kills cancels the task; one that is caught
waits in `pending` until the program looks. The first process of a pid namespace ignores what it has no handler for,
as the kernel has it.
"""

from __future__ import annotations

import enum
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.simulated import signals
from runtime.simulated.streams import LogFile, StandardInput

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runtime.simulated.container import Container
    from runtime.simulated.streams import OpenFile

    Main = Callable[["Process"], Awaitable[int]]
    """What a process does; returns its exit code."""


STEP_BUDGET = 100_000


class StepBudgetError(Exception):
    """A process made too many steps without letting time pass."""

    def __init__(self, process: Process, at: float) -> None:
        """Say where time stands still."""
        line = process.script_line
        where = f"line {line} of the script in " if line else ""
        super().__init__(
            f"{where}container {process.container.name!r}: {STEP_BUDGET} steps and no time passed at {at:g} s: "
            "a loop without a sleep never lets time go on"
        )


class Disposition(enum.Enum):
    """What a process does about one signal."""

    DEFAULT = "default"
    IGNORE = "ignore"
    CATCH = "catch"


@define(eq=False)
class PidNamespace:
    """Process ids of one container, or of a pod that shares them; there its first process is the sandbox's."""

    is_shared: bool = False
    processes: dict[int, Process] = field(factory=dict, init=False)
    _last: int = field(default=0, init=False)

    def add(self, process: Process) -> int:
        """Give a process its id."""
        if self.is_shared and self._last == 0:
            self._last = 1
        self._last += 1
        self.processes[self._last] = process
        return self._last


@define(eq=False)
class Process:
    """A process of a container."""

    container: Container
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str = "/"
    parent: Process | None = None
    fds: dict[int, OpenFile] = field(factory=dict)
    dispositions: dict[int, Disposition] = field(factory=dict)
    memory_bytes: int = 0
    umask: int = 0o022
    line: int = field(default=0, init=False)
    pid: int = field(default=0, init=False)
    started_at: float = field(factory=trio.current_time, init=False)
    pending: list[int] = field(factory=list, init=False)
    exit_code: int | None = field(default=None, init=False)
    killed_by: int = field(default=0, init=False)
    exited: trio.Event = field(factory=trio.Event, init=False)
    _steps: int = field(default=0, init=False)
    _counted_at: float = field(default=-1.0, init=False)
    _scope: trio.CancelScope | None = field(default=None, init=False)
    _woken: trio.Event | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Take a process id."""
        self.pid = self.container.pids.add(self)

    @property
    def name(self) -> str:
        """Return the program's name as `ps` and `pidof` know it."""
        return self.argv[0].rsplit("/", 1)[-1]

    @property
    def turn_key(self) -> str:
        """Return the key that orders this process among all that do something at one instant."""
        return f"{self.container.turn_key}/{self.pid:06d}"

    @property
    def is_dying(self) -> bool:
        """Tell whether the process, or one in whose task it runs, is about to end."""
        return bool(self.killed_by) or (self.parent is not None and self.parent.is_dying)

    @property
    def parent_pid(self) -> int:
        """Return the parent's id, 1 for an orphan, 0 for a first process."""
        if self.parent is not None and self.parent.exit_code is None:
            return self.parent.pid
        return 0 if self.container.first is self or self.parent is None else 1

    def is_below(self, other: Process) -> bool:
        """Tell whether another process is this one, or has started it."""
        return other is self or (self.parent is not None and self.parent.is_below(other))

    @property
    def script_line(self) -> int:
        """Return the line that the nearest shell is at, counted from 1; 0 when there is none."""
        return self.line or (0 if self.parent is None else self.parent.script_line)

    def child(self, argv: tuple[str, ...], env: dict[str, str]) -> Process:
        """Make a child that shares this process's open files and ignores what it ignores; not running yet."""
        ignored: dict[int, Disposition] = {
            number: each for number, each in self.dispositions.items() if each is Disposition.IGNORE
        }
        process = Process(self.container, argv, env, self.cwd, self, dict(self.fds), ignored, umask=self.umask)
        for file in process.fds.values():
            file.retain()
        self.container.processes[process.pid] = process
        return process

    def is_terminal(self, fd: int) -> bool:
        """Tell whether a descriptor is the terminal of a container with `tty`."""
        return self.container.config.tty and isinstance(self.fds.get(fd), StandardInput | LogFile)

    def replace(self, fd: int, file: OpenFile) -> None:
        """Put an open file in a descriptor's place, closing what was there."""
        before = self.fds.pop(fd, None)
        if before is not None:
            before.release()
        self.fds[fd] = file

    def become(self, argv: tuple[str, ...], env: dict[str, str]) -> None:
        """Replace the program, as exec does: what was caught has its default again."""
        self.argv, self.env = argv, env
        self.dispositions = {n: each for n, each in self.dispositions.items() if each is Disposition.IGNORE}
        self.pending.clear()

    def step(self) -> None:
        """Count one step; StepBudgetError when too many are made at one instant."""
        self._steps += 1
        if self._steps > STEP_BUDGET:
            now = trio.current_time()
            if now == self._counted_at:
                raise StepBudgetError(self, now)
            self._steps, self._counted_at = 0, now

    def catch(self, number: int, disposition: Disposition = Disposition.CATCH) -> None:
        """Set what happens on a signal."""
        self.dispositions[number] = disposition

    def send(self, number: int) -> None:
        """Deliver a signal. SIGKILL always ends the process; a caught signal becomes pending."""
        if self.exit_code is not None or number == 0:
            return
        disposition = self.dispositions.get(number, Disposition.DEFAULT)
        if number == signals.SIGKILL:
            self.die(number)
        elif disposition is Disposition.CATCH:
            if number not in self.pending:
                self.pending.append(number)
            self._wake()
        elif disposition is Disposition.DEFAULT and self.pid != 1 and number not in signals.HARMLESS | signals.STOPPING:
            self.die(number)

    def die(self, number: int) -> None:
        """End the process as if the signal had killed it."""
        self.killed_by = self.killed_by or number
        if self._scope is not None:
            self._scope.cancel()

    async def run(self, main: Main) -> int:
        """Run to the end and return the exit code, 128 + n when signal n killed it."""
        try:
            with trio.CancelScope() as self._scope:
                if self.killed_by:
                    self._scope.cancel()
                self.exit_code = await self._guarded(main)
        finally:
            self._finish()
        return self.exit_code if self.exit_code is not None else 0

    async def _guarded(self, main: Main) -> int:
        """Run the program; a step too many ends it with a line on its standard error."""
        try:
            return (await main(self)) & 255
        except StepBudgetError as error:
            self.container.log.write("stderr", f"{self.name}: {error}\n".encode())
            self.killed_by = signals.SIGXCPU
            return 128 + signals.SIGXCPU

    def _finish(self) -> None:
        if self.killed_by or self.exit_code is None:
            self.exit_code = 128 + (self.killed_by or signals.SIGKILL)
        for file in self.fds.values():
            file.release()
        self.fds.clear()
        self.container.forget(self)
        self.exited.set()
        if self.parent is not None:
            self.parent._wake()  # noqa: SLF001 - one process wakes another

    async def sleep_until(self, deadline: float) -> None:
        """Sleep, then wait for this process's turn; signals that are caught don't cut it short."""
        await self.container.machine.turn(self.turn_key, deadline)

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds`, as `sleep_until`."""
        await self.sleep_until(trio.current_time() + seconds)

    async def wait_signal(self, deadline: float = math.inf) -> int | None:
        """Return the next caught signal, or None at the deadline (after this process's turn)."""
        while not self.pending and trio.current_time() < deadline:
            await self._park(deadline)
        return self.pending.pop(0) if self.pending else None

    async def wait_child(self, child: Process) -> int | None:
        """Wait for a child's exit and return its code, or None as soon as a caught signal is pending."""
        while not self.pending:
            if child.exit_code is not None:
                return child.exit_code
            await self._park(math.inf)
        return None

    async def wait_exit(self, child: Process) -> int:
        """Wait for a child's exit whatever signals come, and return its code."""
        while child.exit_code is None:
            await self._park(math.inf)
        return child.exit_code

    async def wait_children(self, children: tuple[Process, ...]) -> Process | None:
        """Wait until one of `children` has exited and return it, or None as soon as a caught signal is pending."""
        while not self.pending:
            for child in children:
                if child.exit_code is not None:
                    return child
            await self._park(math.inf)
        return None

    async def _park(self, deadline: float) -> None:
        """Wait for a signal, a child's exit or the deadline, then for this process's turn."""
        self._woken = trio.Event()
        with trio.CancelScope(deadline=deadline) if deadline < math.inf else nullcontext():
            await self._woken.wait()
        self._woken = None
        await self.container.machine.turn(self.turn_key)

    def _wake(self) -> None:
        if self._woken is not None:
            self._woken.set()

    async def write(self, fd: int, data: bytes) -> None:
        """Write to a descriptor; OSError when it is closed or can't be written."""
        file = self.fds.get(fd)
        if file is None:
            raise OSError(9, "Bad file descriptor")
        await file.write(data)


def in_turn(main: Main, at: float = -math.inf) -> Main:
    """Return a program that waits for `at` and for its process's turn before its first step."""

    async def begin(process: Process) -> int:
        await process.container.machine.turn(process.turn_key, at)
        return await main(process)

    return begin
