"""The same node for programs without Trio: it lives on a thread of its own, and each call waits for its result.

A simulated node's time stands still between calls: the thread that would move it waits for the next one, so a test sees
the same at every speed. On an engine time goes on.
"""

from __future__ import annotations

import atexit
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Self, TypeVar

import trio
from attrs import define, field

from kubelet_emu.embedding import objects
from kubelet_emu.embedding.errors import ManifestError
from kubelet_emu.embedding.node import Node, open_node
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path
    from types import TracebackType

    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.embedding.options import NodeOptions
    from kubelet_emu.embedding.pod_log import Answer, PodLog

T = TypeVar("T")
EXPECTED = (objects.WaitError, ManifestError, CRIError, LookupError, ValueError, TypeError)
LOOK_SECONDS = 0.5


@define(eq=False)
class NodeThread:
    """A thread in which a node lives."""

    options: NodeOptions
    _commands: queue.SimpleQueue[Callable[[Node], Awaitable[None]] | None] = field(
        factory=queue.SimpleQueue, init=False
    )
    _opened: Future[None] = field(factory=Future, init=False)
    _closed: Future[None] = field(factory=Future, init=False)
    _token: trio.lowlevel.TrioToken | None = field(default=None, init=False)
    _arrived: trio.Event = field(factory=trio.Event, init=False)

    def start(self) -> None:
        """Open the node; RuntimeUnavailableError when no engine answers."""
        threading.Thread(target=self._live, name="kubelet-emu node", daemon=True).start()
        self._opened.result()

    def call(self, command: Callable[[Node], Awaitable[T]]) -> T:
        """Run a command in the node's program and return what it returns; what it raises is raised here."""
        __tracebackhide__ = True  # a failed test shows the call, not how it got here
        done: Future[T] = Future()
        scope = trio.CancelScope()

        async def run(node: Node) -> None:
            try:
                with scope:
                    done.set_result(await command(node))
                if scope.cancelled_caught:
                    done.cancel()
            except Exception as error:  # noqa: BLE001 - it belongs to the caller
                done.set_exception(error)

        if self._closed.done():
            raise RuntimeError("the node is closed")
        self._send(run)
        try:
            error = self.outcome_of(done)
        except BaseException:  # Ctrl-C: nobody waits for the command any more
            if self._token is not None and not self._closed.done():
                self._token.run_sync_soon(scope.cancel)
            raise
        if isinstance(error, EXPECTED):
            raise error.with_traceback(None)  # where it was raised says nothing to whoever called
        if error is not None:
            raise error
        return done.result()

    def outcome_of(self, done: Future[T]) -> BaseException | None:
        """Wait for a command and return what it raised; RuntimeError when the node ends before."""
        while True:
            try:
                return done.exception(timeout=LOOK_SECONDS)
            except TimeoutError:
                if self._closed.done() and not done.done():
                    self._closed.result()
                    raise RuntimeError("the node has ended") from None

    def close(self) -> None:
        """Close the node and wait until nothing of it is left; does nothing twice."""
        if not self._closed.done():
            self._send(None)
        self._closed.result()

    def _send(self, command: Callable[[Node], Awaitable[None]] | None) -> None:
        self._commands.put(command)
        if not self.options.is_simulated and self._token is not None:
            self._token.run_sync_soon(self._wake)

    def _wake(self) -> None:
        self._arrived.set()

    def _live(self) -> None:
        clock = VirtualClock() if self.options.is_simulated else None
        try:
            trio.run(self._serve, clock=clock)
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            if not self._opened.done():
                self._closed.set_result(None)
                self._opened.set_exception(_unwrapped(error))
            else:
                self._closed.set_exception(_unwrapped(error))
        else:
            self._closed.set_result(None)

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        async with open_node(self.options) as node:
            self._opened.set_result(None)
            if self.options.is_simulated:
                await self._serve_blocking(node)
            else:
                await self._serve_waiting(node)

    async def _serve_blocking(self, node: Node) -> None:
        """Run commands one by one; the whole program, and with it virtual time, stands still in between."""
        while (command := self._commands.get()) is not None:
            await command(node)

    async def _serve_waiting(self, node: Node) -> None:
        while True:
            self._arrived = trio.Event()
            if self._commands.empty():
                await self._arrived.wait()
                continue
            command = self._commands.get()
            if command is None:
                return
            await command(node)


def _unwrapped(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


@define(eq=False)
class BlockingPod:
    """A pod on a node; every method waits for its result. See `kubelet_emu.embedding.objects.Pod`."""

    _thread: NodeThread = field(repr=False)
    _pod: objects.Pod

    @property
    def name(self) -> str:
        """Return the pod's name."""
        return self._pod.name

    @property
    def namespace(self) -> str:
        """Return the pod's namespace."""
        return self._pod.namespace

    @property
    def log(self) -> PodLog:
        """Return what has happened to the pod so far."""
        return self._thread.call(_later(lambda: self._pod.log))

    @property
    def status(self) -> PodStatus | None:
        """Return its status as the API has it, None once the object is gone."""
        return self._thread.call(_later(lambda: self._pod.status))

    @property
    def phase(self) -> str:
        """Return its last phase, also of one that is gone."""
        return self._thread.call(_later(lambda: self._pod.phase))

    def wait_for(self, moment: str, *, timeout: float | None = None) -> float:
        """Wait until a moment was and return when, in seconds since creation; WaitError, ValueError."""
        __tracebackhide__ = True
        return self._thread.call(lambda _: self._pod.wait_for(moment, timeout=timeout))

    def wait_for_end(self, *, timeout: float | None = None) -> str:
        """Wait until it has ended and return how: its last phase; WaitError."""
        __tracebackhide__ = True
        return self._thread.call(lambda _: self._pod.wait_for_end(timeout=timeout))

    def delete(self, *, grace_period_seconds: int | None = None, wait: bool = True) -> None:
        """Delete the pod, with its own grace unless told otherwise, and wait until it is gone."""
        __tracebackhide__ = True
        self._thread.call(lambda _: self._pod.delete(grace_period_seconds=grace_period_seconds, wait=wait))

    def exec(self, container: str, *command: str, timeout: float = 60.0) -> tuple[int, str]:
        """Run a command in a running container and return its exit code and output."""
        __tracebackhide__ = True
        return self._thread.call(lambda _: self._pod.exec(container, *command, timeout=timeout))

    def kill(self, container: str, signal: str = "SIGKILL") -> None:
        """Send a signal to a running container from outside."""
        __tracebackhide__ = True
        self._thread.call(lambda _: self._pod.kill(container, signal))


@define(eq=False)
class BlockingJob:
    """A Job on a node; every method waits for its result. See `kubelet_emu.embedding.objects.Job`."""

    _thread: NodeThread = field(repr=False)
    _job: objects.Job

    @property
    def name(self) -> str:
        """Return the Job's name."""
        return self._job.name

    @property
    def log(self) -> PodLog:
        """Return what has happened to the Job and its pods so far."""
        return self._thread.call(_later(lambda: self._job.log))

    @property
    def pods(self) -> tuple[BlockingPod, ...]:
        """Return its pods in the order of their creation."""
        return tuple(BlockingPod(self._thread, pod) for pod in self._thread.call(_later(lambda: self._job.pods)))

    def wait_for(self, moment: str, *, timeout: float | None = None) -> float:
        """Wait until a moment was and return when, in seconds since creation; WaitError, ValueError."""
        __tracebackhide__ = True
        return self._thread.call(lambda _: self._job.wait_for(moment, timeout=timeout))

    def wait_for_end(self, *, timeout: float | None = None) -> str:
        """Wait until it has ended and return how: Complete or Failed; WaitError."""
        __tracebackhide__ = True
        return self._thread.call(lambda _: self._job.wait_for_end(timeout=timeout))

    def delete(self) -> None:
        """Delete the Job and its pods."""
        __tracebackhide__ = True
        self._thread.call(lambda _: self._job.delete())


@define(eq=False)
class BlockingNode:
    """A node on a thread of its own. A context manager: leaving it takes everything away, as the program's end does."""

    options: NodeOptions
    _thread: NodeThread | None = field(default=None, init=False, repr=False)
    _is_closed: bool = field(default=False, init=False, repr=False)

    def __enter__(self) -> Self:
        """Open the node."""
        self._started()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the node."""
        self.close()

    def _started(self) -> NodeThread:
        """Return the thread, started at the first use."""
        if self._thread is None:
            if self._is_closed:
                raise RuntimeError("the node is closed")
            thread = NodeThread(self.options)
            thread.start()
            self._thread = thread
            atexit.register(self.close)
        return self._thread

    def close(self) -> None:
        """Take everything away; what has happened can still be asked of the logs taken before."""
        self._is_closed = True
        atexit.unregister(self.close)
        if self._thread is not None:
            self._thread.close()

    def run(self, manifest: str | Path) -> BlockingPod:
        """Create what a manifest says and return its one pod; of a Job the first pod. ManifestError."""
        thread = self._started()
        return BlockingPod(thread, thread.call(lambda node: node.run(manifest)))

    def apply(self, manifest: str | Path) -> tuple[BlockingPod | BlockingJob, ...]:
        """Create what manifests say and return handles on their pods and Jobs. ManifestError."""
        thread = self._started()
        made = thread.call(lambda node: node.apply(manifest))
        return tuple(
            BlockingPod(thread, each) if isinstance(each, objects.Pod) else BlockingJob(thread, each) for each in made
        )

    def pod(self, name: str) -> BlockingPod:
        """Return the newest pod of a name; LookupError."""
        thread = self._started()
        return BlockingPod(thread, thread.call(_of_node(lambda node: node.pod(name))))

    def job(self, name: str, namespace: str = "default") -> BlockingJob:
        """Return a Job by name; LookupError."""
        thread = self._started()
        return BlockingJob(thread, thread.call(_of_node(lambda node: node.job(name, namespace))))

    @property
    def pods(self) -> tuple[BlockingPod, ...]:
        """Return every pod there has been, in the order of creation."""
        thread = self._started()
        return tuple(BlockingPod(thread, pod) for pod in thread.call(_of_node(lambda node: node.pods)))

    def log_lines(self) -> tuple[str, ...]:
        """Return the lines of the lifecycle log of everything that has happened; none before the first call."""
        return () if self._thread is None else self._thread.call(_of_node(lambda node: node.log_lines()))

    @property
    def failures(self) -> tuple[Answer, ...]:
        """Return the answers of its logs that were no."""
        if self._thread is None:
            return ()
        return tuple(self._thread.call(_of_node(lambda node: node.failures)))

    def sleep(self, seconds: float) -> None:
        """Let the node's time pass."""
        self._started().call(lambda node: node.sleep(seconds))


def _later(value: Callable[[], T]) -> Callable[[Node], Awaitable[T]]:
    return _of_node(lambda _: value())


def _of_node(value: Callable[[Node], T]) -> Callable[[Node], Awaitable[T]]:
    async def read(node: Node) -> T:
        return value(node)

    return read
