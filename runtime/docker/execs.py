"""Commands in running containers.

Starting a command is the engine's dearest call and more at once make all of them slower, so starts take turns; a
command that runs holds no turn. A timeout counts from the command's real start, not from the request.
"""

from __future__ import annotations

from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import trio
from attrs import define, field

from runtime.api import CRIError, ExecResult, ExecStartError, ExecTimeoutError, NotFoundError
from runtime.docker import errors
from runtime.docker.frames import Demultiplexer
from runtime.docker.local import kill_process_of
from runtime.docker.logs import error_text
from runtime.docker.nurseries import calls_side_by_side

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from runtime.docker.bridge import Bridge
    from runtime.docker.http import EngineConnection

MAXIMUM_OUTPUT_BYTES = 16 << 20
FIRST_LOOK_SECONDS = 0.02
LOOK_AGAIN_SECONDS = 0.05
_UPGRADE = {"Connection": "Upgrade", "Upgrade": "tcp"}
_FAILURE = b"OCI runtime exec failed"
_NOT_STARTED_CODES = frozenset({126, 127, 128})


@define(eq=False)
class _Output:
    """What a command has printed, up to a limit."""

    stdout: bytearray = field(factory=bytearray)
    stderr: bytearray = field(factory=bytearray)

    def add(self, stream: str, payload: bytes) -> None:
        target = self.stderr if stream == "stderr" else self.stdout
        target += payload[: max(0, MAXIMUM_OUTPUT_BYTES - len(target))]

    def all(self) -> bytes:
        return bytes(self.stdout + self.stderr)


@define(eq=False)
class Execs:
    """Runs commands in containers of one engine."""

    bridge: Bridge

    async def run(self, container_id: str, command: Sequence[str], timeout_seconds: float | None) -> ExecResult:
        """Run a command to its end; ExecTimeoutError, ExecStartError, NotFoundError.

        A cancelled call leaves the command running, as a kubelet that stops waiting does; a timeout kills it where
        this process may (root on the engine's machine).
        """
        output = _Output()
        turn = _Turn(self.bridge.execs)
        async with turn:
            exec_id = await self._create(container_id, command)
            connection = await self._start(exec_id)
            try:
                ended = await self._read_within(connection, exec_id, output, (turn, timeout_seconds))
            finally:
                await connection.aclose()
        state = await self.ended(exec_id) if ended else await self._inspect(exec_id)
        if not ended:
            await trio.to_thread.run_sync(kill_process_of, int(state.get("Pid") or 0), container_id)
            raise ExecTimeoutError(errors.exec_timeout(command, timeout_seconds or 0), output.all())
        return _result(exec_id, state, output)

    async def open(self, container_id: str, command: Sequence[str]) -> ExecStream:
        """Start a command and return its standard input and output as a stream."""
        async with self.bridge.execs:
            exec_id = await self._create(container_id, command, stdin=True)
            return ExecStream(await self._start(exec_id))

    @asynccontextmanager
    async def session(
        self, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool
    ) -> AsyncIterator[DockerExecSession]:
        """Start a command with its streams open; ExecStartError, NotFoundError. It may outlive the block."""
        async with self.bridge.execs:
            exec_id = await self._create(container_id, command, stdin=stdin, tty=tty)
            connection = await self._start(exec_id, tty=tty)
        try:
            yield DockerExecSession(self, exec_id, connection, Demultiplexer(is_raw=tty))
        finally:
            await connection.aclose()

    async def _create(
        self, container_id: str, command: Sequence[str], *, stdin: bool = False, tty: bool = False
    ) -> str:
        """Make an exec; ExecStartError when the container does not run."""
        try:
            created = await self.bridge.urgent(
                lambda client: client.exec_create(
                    container_id, list(command), stdin=stdin, stdout=True, stderr=True, tty=tty
                )
            )
        except errors.NotRunningError as error:
            raise ExecStartError(errors.exec_in_dead("CONTAINER_EXITED")) from error
        return str(created["Id"])

    async def _start(self, exec_id: str, *, tty: bool = False) -> EngineConnection:
        """Start an exec and return the connection that carries its streams."""
        body = {"Detach": False, "Tty": tty}
        connection = await self.bridge.http.open("POST", f"/exec/{exec_id}/start", headers=_UPGRADE, body=body)
        if connection.status in {101, 200}:
            return connection
        try:
            text = await error_text(connection)
        finally:
            await connection.aclose()
        if "not running" in text:
            raise ExecStartError(errors.exec_in_dead("CONTAINER_EXITED"))
        raise ExecStartError(errors.exec_failure(exec_id, text))

    async def _read_within(
        self, connection: EngineConnection, exec_id: str, output: _Output, limits: tuple[_Turn, float | None]
    ) -> bool:
        """Read the output until the command ends; False when its time was over first."""
        turn, timeout_seconds = limits
        is_over = False

        async def limit() -> None:
            nonlocal is_over
            await self._until_started(exec_id, output)
            turn.give_up()
            if timeout_seconds is not None:
                await trio.sleep(timeout_seconds)
                is_over = True
                nursery.cancel_scope.cancel()

        frames = Demultiplexer()
        async with calls_side_by_side() as nursery:
            nursery.start_soon(limit)
            while (chunk := await connection.receive()) is not None:
                for stream, payload in frames.feed(chunk):
                    output.add(stream, payload)
            nursery.cancel_scope.cancel()
        return not is_over

    async def _until_started(self, exec_id: str, output: _Output) -> None:
        """Return once the command's process exists, or is already over."""
        pause = FIRST_LOOK_SECONDS
        while not (output.stdout or output.stderr):
            await trio.sleep(pause)
            pause = LOOK_AGAIN_SECONDS
            state = await self._inspect(exec_id)
            if state.get("Pid") or not state.get("Running"):
                return

    async def ended(self, exec_id: str) -> dict[str, Any]:
        """Return the state of an exec whose streams have ended: the engine learns its code a little later."""
        while True:
            state = await self._inspect(exec_id)
            if not state.get("Running"):
                return state
            await trio.sleep(FIRST_LOOK_SECONDS)

    async def _inspect(self, exec_id: str) -> dict[str, Any]:
        """Return an exec's state; one that went with its container counts as killed."""
        try:
            state: dict[str, Any] = await self.bridge.read(lambda client: client.exec_inspect(exec_id))
        except NotFoundError:
            return {"Running": False, "ExitCode": 137, "Pid": 0}
        return state

    async def resize(self, exec_id: str, rows: int, columns: int) -> None:
        """Set the size of an exec's terminal; one that has ended has none."""
        with suppress(CRIError):
            await self.bridge.urgent(lambda client: client.exec_resize(exec_id, height=rows, width=columns))


def _result(exec_id: str, state: dict[str, Any], output: _Output) -> ExecResult:
    """Return the outcome; ExecStartError."""
    code = _exit_code(exec_id, state, output.all())
    return ExecResult(exit_code=code, stdout=bytes(output.stdout), stderr=bytes(output.stderr))


def _exit_code(exec_id: str, state: dict[str, Any], text: bytes) -> int:
    """Return the code; the engine reports a command that never started as 126 or 127 with its text as output."""
    code = int(state.get("ExitCode") or 0)
    if code in _NOT_STARTED_CODES and not state.get("Pid") and _FAILURE in text:
        raise ExecStartError(errors.exec_failure(exec_id, text.decode(errors="replace")))
    return code


@define(eq=False)
class DockerExecSession:
    """See `runtime.api.ExecSession`."""

    _execs: Execs
    _exec_id: str
    _connection: EngineConnection
    _frames: Demultiplexer
    _ready: deque[tuple[str, bytes]] = field(factory=deque, init=False)
    _failure: bytes = field(default=b"", init=False)

    async def send(self, data: bytes) -> None:
        """Write to the command's standard input."""
        await self._connection.send_input(data)

    async def send_eof(self) -> None:
        """End the command's standard input."""
        await self._connection.send_input_eof()

    async def receive(self) -> tuple[str, bytes] | None:
        """Return the next output; the engine's own text of a command that can't start is no output."""
        while not self._ready:
            chunk = await self._connection.receive()
            if chunk is None:
                return None
            for stream, payload in self._frames.feed(chunk):
                if payload.startswith(_FAILURE) or self._failure:
                    self._failure += payload
                else:
                    self._ready.append((stream, payload))
        return self._ready.popleft()

    async def resize(self, rows: int, columns: int) -> None:
        """Set the size of the command's terminal."""
        await self._execs.resize(self._exec_id, rows, columns)

    async def exit_code(self) -> int:
        """Return the command's exit code; ExecStartError when it could not start."""
        return _exit_code(self._exec_id, await self._execs.ended(self._exec_id), self._failure)


@define(eq=False)
class _Turn:
    """A token of a limiter that can be given up before the block ends."""

    limiter: trio.CapacityLimiter
    _holder: object = field(factory=object, init=False)
    _is_held: bool = field(default=False, init=False)

    async def __aenter__(self) -> None:
        await self.limiter.acquire_on_behalf_of(self._holder)
        self._is_held = True

    async def __aexit__(self, *exc: object) -> None:
        self.give_up()

    def give_up(self) -> None:
        """Let the next one have its turn; later calls do nothing."""
        if self._is_held:
            self._is_held = False
            self.limiter.release_on_behalf_of(self._holder)


@define(eq=False)
class ExecStream(trio.abc.HalfCloseableStream):
    """Standard input and output of a command in a container; its standard error is dropped."""

    _connection: EngineConnection
    _frames: Demultiplexer = field(factory=Demultiplexer, init=False)
    _pending: bytearray = field(factory=bytearray, init=False)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write to the command's standard input."""
        await self._connection.send(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until writing is likely not to block."""
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Read what the command wrote; empty at its end."""
        while not self._pending:
            chunk = await self._connection.receive()
            if chunk is None:
                return b""
            for stream, payload in self._frames.feed(chunk):
                if stream == "stdout":
                    self._pending += payload
        data = bytes(self._pending[:max_bytes])
        del self._pending[: len(data)]
        return data

    async def send_eof(self) -> None:
        """Close the command's standard input."""
        await self._connection.send_eof()

    async def aclose(self) -> None:
        """Close both ways; the command sees the end of its input."""
        await self._connection.aclose()
