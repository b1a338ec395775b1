"""One container: its processes, state, log, memory and end.

States move CREATED -> RUNNING -> EXITED and never back. The container lives as long as its first process; what that
leaves behind dies with it. It runs as one task of the runtime's nursery.
"""

from __future__ import annotations

import posixpath
from datetime import timedelta
from typing import TYPE_CHECKING, NoReturn, Protocol

import trio
from attrs import define, field

from runtime.api import (
    ContainerState,
    ExecResult,
    ExecStartError,
    ExecTimeoutError,
    NamespaceMode,
    RuntimeEvent,
    RuntimeEventType,
    StartError,
)
from runtime.simulated import signals
from runtime.simulated.ids import Ids, make_ids
from runtime.simulated.logs import ContainerLog
from runtime.simulated.process import PidNamespace, Process
from runtime.simulated.program import StartFailure
from runtime.simulated.streams import Buffer, LogFile, NullFile, StandardInput
from runtime.simulated.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from runtime.api import ContainerConfig, ContainerID, ContainerStatus, ContainerSummary, Image
    from runtime.api.accounts import Accounts
    from runtime.simulated.machine import Machine
    from runtime.simulated.network import Listener, Serve
    from runtime.simulated.process import Main
    from runtime.simulated.program import Program
    from runtime.simulated.sandbox import Sandbox
    from runtime.simulated.tree import Tree

START_ERROR_CODE = 128
INIT_PID = 1
TICK = timedelta(microseconds=1)
_UNKNOWN = "rpc error: code = Unknown desc = failed to exec in container: "
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Contents(Protocol):
    """What a container's image and command mean: one for all containers of a runtime."""

    def words_of(self, config: ContainerConfig) -> frozenset[str]:
        """Return the words that a container's image has."""

    def accounts_of(self, config: ContainerConfig) -> Accounts:
        """Return the users and groups of a container's image."""

    def make_tree(self, container: Container) -> Tree:
        """Return a new tree of files for a container."""

    def argv_of(self, config: ContainerConfig, image: Image) -> tuple[str, ...]:
        """Return the argument vector."""

    def first_main(self, process: Process, at: float) -> Main:
        """Return what the first process does from `at` on; StartFailure."""

    def exec_main(self, process: Process) -> Main:
        """Return what a command inside the container does; StartFailure."""

    def resolve(self, process: Process, argv: tuple[str, ...]) -> Main:
        """Return what an argument vector runs inside a container; ProgramMissing of the shell."""


@define(eq=False)
class Container:
    """A container of a sandbox."""

    id: ContainerID
    sandbox: Sandbox
    config: ContainerConfig
    image: Image
    machine: Machine
    program: Program
    commands: Contents
    created_at: datetime
    pids: PidNamespace
    stop_signal: int = signals.SIGTERM
    memory_limit_bytes: int | None = None
    stdin: StandardInput = field(factory=StandardInput, init=False)
    terminal: Terminal = field(init=False)
    log: ContainerLog = field(init=False)
    turn_key: str = field(init=False)
    words: frozenset[str] = field(init=False)
    state: ContainerState = field(default=ContainerState.CREATED, init=False)
    started_at: datetime | None = field(default=None, init=False)
    started_seconds: float = field(default=0.0, init=False)
    finished_at: datetime | None = field(default=None, init=False)
    exit_code: int | None = field(default=None, init=False)
    message: str = field(default="", init=False)
    is_oom: bool = field(default=False, init=False)
    is_stopping: bool = field(default=False, init=False)
    is_removed: bool = field(default=False, init=False)
    ended: trio.Event = field(factory=trio.Event, init=False)
    summary: ContainerSummary | None = field(default=None, init=False)
    status: ContainerStatus | None = field(default=None, init=False)
    processes: dict[int, Process] = field(factory=dict, init=False)
    first: Process | None = field(default=None, init=False)
    _nursery: trio.Nursery | None = field(default=None, init=False)
    _backlog: list[Callable[[trio.Nursery], None]] = field(factory=list, init=False)
    _tree: Tree | None = field(default=None, init=False)
    _ids: Ids | None = field(default=None, init=False)
    _last_stamp: datetime | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Open the log, and say once who this is and what it can run."""
        log = self.log = ContainerLog(self.stamp)
        self.terminal = Terminal(self.stdin, lambda shown: log.write("stdout", shown), self.signal_from_terminal)
        meta = self.sandbox.config.metadata
        place = f"{meta.attempt:04d}/{self.sandbox.next_number():06d}"
        self.turn_key = f"{meta.namespace}/{meta.name}/{meta.uid}/{place}/{self.name}"
        self.words = self.commands.words_of(self.config)

    def stamp(self) -> datetime:
        """Return the time of a fact of this container, later than that of its fact before.

        Processes take no virtual time, so what a script does at one instant is told apart by a microsecond each.
        """
        now = self.machine.now()
        if self._last_stamp is not None and now <= self._last_stamp:
            now = self._last_stamp + TICK
        self._last_stamp = now
        return now

    @property
    def name(self) -> str:
        """Return the container's name in its pod."""
        return self.config.metadata.name

    @property
    def memory_limit(self) -> int:
        """Return the bytes that it may use, the machine's when it has no limit."""
        return self.memory_limit_bytes or self.machine.memory_bytes

    @property
    def ids(self) -> Ids:
        """Return who its processes run as, by the lists that its image has."""
        if self._ids is None:
            self._ids = make_ids(self.config.security, self.image, self.commands.accounts_of(self.config))
        return self._ids

    @property
    def hostname(self) -> str:
        """Return the pod's host name, with the machine's network the machine's."""
        config = self.sandbox.config
        is_of_node = config.namespaces.network is NamespaceMode.NODE
        return config.hostname or (self.machine.hostname if is_of_node else config.metadata.name)

    @property
    def network(self) -> str:
        """Return the network namespace."""
        return self.sandbox.network

    @property
    def tree(self) -> Tree:
        """Return the container's files, made when they are first needed."""
        if self._tree is None:
            self._tree = self.commands.make_tree(self)
        return self._tree

    @property
    def reason(self) -> str:
        """Return why it ended, in containerd's words."""
        if self.state is not ContainerState.EXITED:
            return ""
        if self.started_at is None:
            return "StartError"
        if self.is_oom:
            return "OOMKilled"
        return "Error" if self.exit_code else "Completed"

    @property
    def is_alive(self) -> bool:
        """Tell whether its first process runs: with that one everything ends, at the same instant."""
        return self.state is ContainerState.RUNNING and self.first is not None and self.first.exit_code is None

    def emit(
        self, kind: RuntimeEventType, *, exit_code: int | None = None, signal: str = "", own: bool = False
    ) -> None:
        """Publish an event of this container."""
        event = RuntimeEvent(
            type=kind,
            at=self.stamp(),
            pod_uid=self.sandbox.config.metadata.uid,
            sandbox_id=self.sandbox.id,
            container_id=self.id,
            container_name=self.name,
            attempt=self.config.metadata.attempt,
            exit_code=exit_code,
            signal=signal,
            own=own,
        )
        self.machine.events.publish(event)

    def new_process(self, argv: tuple[str, ...], env: dict[str, str]) -> Process:
        """Make a process that writes to the log, not running yet."""
        files = {0: NullFile(), 1: LogFile(self.log, "stdout"), 2: LogFile(self.log, "stderr")}
        process = Process(self, argv, env, cwd=self._cwd(), fds=dict(files))
        self.processes[process.pid] = process
        return process

    def _cwd(self) -> str:
        cwd = self.config.working_dir or "/"
        return posixpath.normpath(cwd) if cwd.startswith("/") else cwd

    def start(self, nursery: trio.Nursery) -> None:
        """Start the first process; StartError when the program says that it can't."""
        argv = self.commands.argv_of(self.config, self.image)
        process = self.new_process(argv or (self.config.image_name,), self._environment())
        if self.config.stdin or self.config.tty:
            process.fds[0] = self.stdin
        if self.config.tty:
            process.fds[2] = process.fds[1]
        try:
            main = self.commands.first_main(process, trio.current_time() + self.machine.boot_seconds)
        except StartFailure as failure:
            self.forget(process)
            self._fail_start(str(failure))
        self.first = process
        self.state = ContainerState.RUNNING
        self.started_at = self.stamp()
        self.started_seconds = trio.current_time()
        self.emit(RuntimeEventType.CONTAINER_STARTED)
        nursery.start_soon(self._run, process, main, name=f"container {self.turn_key}")

    def _environment(self) -> dict[str, str]:
        return {"PATH": DEFAULT_PATH, "HOSTNAME": self.hostname, "HOME": "/root", **self.image.env, **self.config.envs}

    def _fail_start(self, text: str) -> NoReturn:
        self.state = ContainerState.EXITED
        self.finished_at = self.machine.now()
        self.exit_code = START_ERROR_CODE
        self.message = text
        self.log.close()
        self.ended.set()
        self.emit(RuntimeEventType.CONTAINER_EXITED, exit_code=START_ERROR_CODE)
        raise StartError(text)

    async def _run(self, process: Process, main: Main) -> None:
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                for begin in self._backlog:
                    begin(nursery)
                code = await process.run(main)
                self._nursery = None
                self.machine.network.forget(self)
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            group.add_note(f"in container {self.turn_key}")
            raise
        self._end(code)

    def _end(self, code: int) -> None:
        for process in tuple(self.processes.values()):
            self.forget(process)
        if self.first is not None and self.first.pid == INIT_PID:
            for process in tuple(self.pids.processes.values()):
                process.send(signals.SIGKILL)  # the kernel ends a namespace with its first process: pid_namespaces(7)
        self.machine.network.forget(self)
        self.state = ContainerState.EXITED
        self.exit_code = code
        self.log.close()
        self.finished_at = self.stamp()
        self.emit(RuntimeEventType.CONTAINER_EXITED, exit_code=code)
        self.ended.set()

    def forget(self, process: Process) -> None:
        """Take a process out of the tables."""
        self.processes.pop(process.pid, None)
        self.pids.processes.pop(process.pid, None)

    def spawn(self, process: Process, main: Main) -> None:
        """Run a process of this container in a task of its own."""
        self._begin(lambda nursery: nursery.start_soon(process.run, main))

    def start_task(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task that is no process of the container and ends with it."""
        self._begin(lambda nursery: nursery.start_soon(task))

    def start_service(self, serve: Serve, stream: trio.abc.Stream) -> None:
        """Answer a connection; the stream is closed with the task."""
        self._begin(lambda nursery: nursery.start_soon(_serve, serve, stream))

    def _begin(self, begin: Callable[[trio.Nursery], None]) -> None:
        """Start a task of the container, or keep it until the container's own task has been scheduled."""
        if self._nursery is not None:
            begin(self._nursery)
        elif self.is_alive:
            self._backlog.append(begin)

    def signal(self, number: int, *, own: bool) -> None:
        """Send a signal to the first process, from outside."""
        if self.first is None or self.state is not ContainerState.RUNNING:
            return
        self.emit(RuntimeEventType.CONTAINER_SIGNALLED, signal=signals.signal_name(number), own=own)
        if number != signals.SIGKILL and trio.current_time() == self.started_seconds:
            self._begin(lambda nursery: nursery.start_soon(self._signal_late, number))
        else:
            self.first.send(number)

    async def _signal_late(self, number: int) -> None:
        """Deliver a signal of the starting instant after the process had the time to install its handlers.

        On a real node a start takes longer than that; in no time at all every first process would ignore the signal.
        """
        await self.machine.turn(f"{self.turn_key}/~")
        if self.first is not None:
            self.first.send(number)

    def signal_from_terminal(self, number: int) -> None:
        """Send a signal to the first process and all that it has started: to those that the terminal is theirs."""
        for process in tuple(self.processes.values()):
            if self.first is not None and process.is_below(self.first):
                process.send(number)

    async def stop(self, timeout_seconds: float, slow_seconds: float = 0.0) -> None:
        """Send the stop signal once, wait for so long, then kill. Returns when the container is dead.

        An engine that is slow sends the signal later, and counts the timeout from there. Cancellation leaves the
        container as it is; a later call waits without a second signal, as containerd does.
        """
        if slow_seconds:
            await self.machine.turn(f"{self.turn_key}/~", trio.current_time() + slow_seconds)
        deadline = trio.current_time() + timeout_seconds
        if timeout_seconds > 0:
            if not self.is_stopping:
                self.is_stopping = True
                self.signal(self.stop_signal, own=True)
            with trio.move_on_at(deadline):
                await self.ended.wait()
        if self.state is ContainerState.RUNNING:
            await self.machine.turn(f"{self.turn_key}/~")
        if self.state is ContainerState.RUNNING:
            self.signal(signals.SIGKILL, own=True)
            await self.ended.wait()

    async def exec(self, argv: tuple[str, ...], timeout_seconds: float | None) -> ExecResult:
        """Run a command in the container; ExecStartError, ExecTimeoutError. Cancellation lets the command go on."""
        if not self.is_alive:
            state = f"CONTAINER_{(ContainerState.EXITED if self.first is not None else self.state).name}"
            raise ExecStartError(f"{_UNKNOWN}container is in {state} state")
        process = self.new_process(argv, self._environment())
        try:
            main = self.commands.exec_main(process)
        except StartFailure as failure:
            self.forget(process)
            raise ExecStartError(f"{_UNKNOWN}{failure}") from failure
        output = (Buffer(), Buffer())
        process.fds.update({1: output[0], 2: output[1]})
        self.spawn(process, main)
        with trio.move_on_after(float("inf") if timeout_seconds is None else timeout_seconds):
            await process.exited.wait()
        if process.exit_code is None:
            await self.machine.turn(f"{process.turn_key}/~")
        if process.exit_code is None:
            process.send(signals.SIGKILL)
            text = f"failed to exec in container: timeout {timeout_seconds:g}s exceeded: context deadline exceeded"
            raise ExecTimeoutError(text, bytes(output[0].data + output[1].data))
        return ExecResult(exit_code=process.exit_code, stdout=bytes(output[0].data), stderr=bytes(output[1].data))

    def listen(self, port: int, listener: Listener) -> None:
        """Listen on a port of the pod's network; OSError when it is taken."""
        self.machine.network.listen(self.network, port, listener)

    def unlisten(self, port: int, listener: Listener) -> None:
        """Close a listening port."""
        self.machine.network.close(self.network, port, listener)

    @property
    def shares_pids(self) -> bool:
        """Tell whether its processes are numbered in the pod's namespace."""
        return self.config.security.namespaces.pid is NamespaceMode.POD


async def _serve(serve: Serve, stream: trio.abc.Stream) -> None:
    try:
        await serve(stream)
    finally:
        await trio.aclose_forcefully(stream)
