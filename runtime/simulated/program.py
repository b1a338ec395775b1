"""What a container does: the interface, and programs that follow a written course.

A `Program` is given for each container that is created. `main` is the container's first process. `find` says what a
command means that somebody runs in the container (a probe, a hook, a word of a script) and that the container's image
is not known to have.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import trio
from attrs import field, frozen

from runtime.simulated import signals
from runtime.simulated.memory import use_memory
from runtime.simulated.network import Listener
from runtime.simulated.servers import Answers, GrpcAnswer, HttpAnswer, latest, serve_any, serve_grpc, serve_http

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from runtime.simulated.network import Serve
    from runtime.simulated.process import Main, Process


class StartFailure(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """The program can't be started; the text is what a container runtime says of it."""


class Program(Protocol):
    """What runs in one container."""

    async def main(self, process: Process) -> int:
        """Run the container's first process to its end and return the exit code."""

    def find(self, argv: tuple[str, ...]) -> Main | None:
        """Return what a command does in this container, None when the image's own files decide."""


@frozen
class Line:
    """A line written at a time, in seconds since the start."""

    at: float
    text: str
    stream: str = "stdout"


@frozen
class OnSignal:
    """Reaction to a signal: lines, each at its time after the signal, and an exit after a time.

    A line that is only text comes at once. `exit_code` None goes on living.
    """

    exit_code: int | None = 0
    after_seconds: float = 0.0
    lines: tuple[Line | str, ...] = ()


@frozen
class ExecAnswer:
    """Outcome of a command; `takes_seconds` math.inf never ends."""

    exit_code: int = 0
    output: str = ""
    takes_seconds: float = 0.0


@frozen
class Exec:
    """Answers to a command, from times since the start on.

    `command` None is any command but those of `spared`; one word is that program with any arguments.
    """

    command: tuple[str, ...] | None = None
    answers: Answers[ExecAnswer] = ((0.0, ExecAnswer()),)
    spared: frozenset[str] = frozenset()

    def means(self, argv: tuple[str, ...]) -> bool:
        """Tell whether a command is meant."""
        name = argv[0].rsplit("/", 1)[-1]
        if self.command is None:
            return name not in self.spared
        return argv == self.command or (len(self.command) == 1 and self.command[0] in {argv[0], name})


@frozen
class Port:
    """A listening port, open from a time to a time; `number` 0 is every port without a listener of its own.

    `refuses` are ports that number 0 leaves to others. It answers HTTP by path ("" is any) and gRPC health checks by
    service ("*" is any), whichever the client speaks; a port with neither accepts and says nothing.
    """

    number: int
    opens_at: float = 0.0
    closes_at: float = math.inf
    http: Mapping[str, Answers[HttpAnswer]] = field(factory=dict)
    grpc: Mapping[str, Answers[GrpcAnswer]] = field(factory=dict)
    refuses: frozenset[int] = frozenset()


@frozen(kw_only=True)
class Run:
    """One run of a container: what it prints, when and how it ends, what it answers.

    `duration` math.inf runs until it is killed. `memory` is what it uses from times on, in bytes. A signal that isn't
    in `on_signal` has no handler,
    so the first process of a container ignores it.
    """

    lines: tuple[Line, ...] = ()
    duration: float = math.inf
    exit_code: int = 0
    on_signal: Mapping[str, OnSignal] = field(factory=dict)
    ports: tuple[Port, ...] = ()
    execs: tuple[Exec, ...] = ()
    memory: tuple[tuple[float, int], ...] = ()
    start_error: str | None = None


@frozen
class ScriptedProgram:
    """Follows `runs`: the container's n-th start is the n-th of them, later ones are like the last."""

    runs: tuple[Run, ...] = (Run(),)
    attempt: int = 0

    @property
    def run(self) -> Run:
        """Return the run that this container is."""
        return self.runs[min(self.attempt, len(self.runs) - 1)]

    async def main(self, process: Process) -> int:
        """Follow the run; StartFailure when it can't start."""
        run = self.run
        started = trio.current_time()
        for name in run.on_signal:
            process.catch(signals.signal_number(name))
        for at, step in _steps(run, process, started):
            code = await _live_until(started + at, run, process)
            if code is not None:
                return code
            await step()
        code = await _live_until(started + run.duration, run, process)
        return run.exit_code if code is None else code

    def find(self, argv: tuple[str, ...]) -> Main | None:
        """Return the answer that the run has for a command."""
        return _find(self.run, argv)


@frozen
class AnsweredProgram:
    """A program with a run's ports and answers to commands added to it, which come first."""

    base: Program
    run: Run

    async def main(self, process: Process) -> int:
        """Run the program itself."""
        return await self.base.main(process)

    def find(self, argv: tuple[str, ...]) -> Main | None:
        """Return the answer that is given for a command, else the program's own."""
        return _find(self.run, argv) or self.base.find(argv)

    def around(self, main: Main) -> Main:
        """Return a first process that opens and closes the ports while `main` runs."""

        async def begin(process: Process) -> int:
            started = trio.current_time()

            async def steps() -> None:
                for at, step in _steps(self.run, process, started):
                    await process.container.machine.turn(process.turn_key, started + at)
                    await step()

            process.container.start_task(steps)
            return await main(process)

        return begin


def _find(run: Run, argv: tuple[str, ...]) -> Main | None:
    return next((_answer(each) for each in run.execs if each.means(argv)), None)


async def _live_until(deadline: float, run: Run, process: Process) -> int | None:
    """Wait for a time, reacting to signals; return the exit code when one of them ends the run."""
    while trio.current_time() < deadline:
        number = await process.wait_signal(deadline)
        if number is None:
            break
        reaction = run.on_signal[signals.signal_name(number)]
        code = await _react(reaction, process)
        if code is not None:
            return code
    return None


async def _react(reaction: OnSignal, process: Process) -> int | None:
    """Do what a signal causes and return the exit code, None to go on."""
    began = trio.current_time()
    for line in reaction.lines:
        if isinstance(line, str):
            await process.write(1, f"{line}\n".encode())
            continue
        if line.at:
            await process.sleep_until(began + line.at)
        await _print(process, line)()
    if reaction.exit_code is not None and reaction.after_seconds:
        await process.sleep_until(began + reaction.after_seconds)
    return reaction.exit_code


def _steps(run: Run, process: Process, started: float) -> list[tuple[float, Callable[[], Awaitable[None]]]]:
    """Return what a run does and when, in order of time; at one time memory, then ports, then lines."""
    steps: list[tuple[float, int, Callable[[], Awaitable[None]]]] = []
    for at, size in run.memory:
        steps.append((at, 0, _use(process, size)))
    for port in run.ports:
        listener = Listener(process.container, _serve(port, started), port.refuses)
        steps.append((port.opens_at, 1, _open(process, port, listener)))
        if port.closes_at < math.inf:
            steps.append((port.closes_at, 1, _close(process, port, listener)))
    steps.extend((line.at, 2, _print(process, line)) for line in run.lines)
    steps.sort(key=lambda step: step[:2])
    return [(at, step) for at, _, step in steps]


def _use(process: Process, size: int) -> Callable[[], Awaitable[None]]:
    async def step() -> None:
        await use_memory(process, size)

    return step


def _print(process: Process, line: Line) -> Callable[[], Awaitable[None]]:
    async def step() -> None:
        await process.write(2 if line.stream == "stderr" else 1, f"{line.text}\n".encode())

    return step


def _open(process: Process, port: Port, listener: Listener) -> Callable[[], Awaitable[None]]:
    async def step() -> None:
        try:
            process.container.listen(port.number, listener)
        except OSError:
            text = f"{process.container.name}: can't listen on port {port.number}: address already in use\n"
            await process.write(2, text.encode())

    return step


def _close(process: Process, port: Port, listener: Listener) -> Callable[[], Awaitable[None]]:
    async def step() -> None:
        process.container.unlisten(port.number, listener)

    return step


def _serve(port: Port, started: float) -> Serve:
    def age() -> float:
        return trio.current_time() - started

    async def serve(stream: trio.abc.Stream) -> None:
        if port.http and port.grpc:
            await serve_any(stream, port.http, port.grpc, age)
        elif port.http:
            await serve_http(stream, port.http, age)
        elif port.grpc:
            await serve_grpc(stream, port.grpc, age)
        else:
            while await stream.receive_some():
                pass

    return serve


def _answer(answers: Exec) -> Main:
    async def main(process: Process) -> int:
        age = trio.current_time() - process.container.started_seconds
        answer = latest(answers.answers, age)
        if answer is None:
            return 1
        if answer.takes_seconds:
            await process.sleep(answer.takes_seconds)
        await process.write(1, answer.output.encode())
        return answer.exit_code

    return main
