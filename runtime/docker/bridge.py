"""The calls to one engine: within limits and times, with errors of `runtime.api`.

Nearly all are requests on kept connections, on Trio. Writes (create, start, kill, remove) run to their end even when
the caller is cancelled, so that nothing is made behind its back; reads are given up at once.
"""

from __future__ import annotations

import base64
import functools
import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

import trio
from attrs import define, field

from runtime.api import CRIError, RuntimeUnavailableError
from runtime.docker import calls, errors
from runtime.docker.archive_source import ArchiveSource
from runtime.docker.http import EngineHTTP, connect, message_of, reason_of, unanswered, unavailable
from runtime.docker.kept import KeptConnections
from runtime.docker.watch import Call, Watch, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.docker.calls import Request
    from runtime.docker.endpoint import Endpoint
    from runtime.docker.kept import Answer
    from runtime.docker.sdk import SDK, Client

MINIMUM_API = (1, 41)
MAXIMUM_OPERATIONS = 4
READS_AT_ONCE = 8
SIGNALS_AT_ONCE = 8
READ_TIMEOUT_SECONDS = 15.0
WRITE_TIMEOUT_SECONDS = 120.0

_T = TypeVar("_T")


@define(eq=False)
class Bridge:
    """Calls to one engine. `operations` bounds writes, `execs` bounds commands in containers."""

    endpoint: Endpoint
    engine_operations: int | None = None
    exec_operations: int = 3
    watch: Watch = field(factory=Watch, init=False)
    http: EngineHTTP = field(init=False)
    operations: trio.CapacityLimiter = field(init=False)
    execs: trio.CapacityLimiter = field(init=False)
    _kept: KeptConnections = field(init=False)
    _reads: trio.CapacityLimiter = field(init=False)
    _signals: trio.CapacityLimiter = field(init=False)
    _sdk: SDK | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the limiters; the number of operations is known once the engine has answered."""
        self.http = EngineHTTP(self.endpoint, self.watch)
        self._kept = KeptConnections(self.http)
        self.operations = trio.CapacityLimiter(self.engine_operations or 1)
        self.execs = trio.CapacityLimiter(self.exec_operations)
        self._reads = trio.CapacityLimiter(READS_AT_ONCE)
        self._signals = trio.CapacityLimiter(SIGNALS_AT_ONCE)

    async def open(self) -> dict[str, Any]:
        """Ask the engine for its version and size and return its `info`; RuntimeUnavailableError."""
        await self._reach()
        served = await self._served()
        if tuple(int(part) for part in served.split(".")) < MINIMUM_API:
            wanted = ".".join(map(str, MINIMUM_API))
            raise RuntimeUnavailableError(
                f"the Docker engine at {self.endpoint.url} speaks API {served}, and {wanted} or later is needed"
            )
        self.http.api_version = served
        info: dict[str, Any] = await self.read(calls.info())
        if self.engine_operations is None:
            self.operations.total_tokens = max(1, min(int(info.get("NCPU") or 1), MAXIMUM_OPERATIONS))
        return info

    async def _served(self) -> str:
        """Return the latest API that the engine serves; RuntimeUnavailableError for what is no engine."""
        try:
            version = await self.read(calls.version())
            if re.fullmatch(r"\d+\.\d+", served := str(version["ApiVersion"])):
                return served
            reason = f"ApiVersion {served!r}"
        except RuntimeUnavailableError:
            raise
        except (CRIError, KeyError, TypeError) as error:
            reason = str(error)
        raise RuntimeUnavailableError(f"what answers at {self.endpoint.url} is no Docker engine: {reason}")

    async def _reach(self) -> None:
        """Try a connection first, to tell who named an engine that is not there."""
        try:
            with trio.fail_after(READ_TIMEOUT_SECONDS):
                stream = await connect(self.endpoint)
        except trio.TooSlowError as error:
            raise unavailable(self.endpoint, f"no connection within {READ_TIMEOUT_SECONDS:g} s") from error
        except (OSError, trio.BrokenResourceError) as error:
            said = f" ({self.endpoint.origin} says so)" if self.endpoint.origin else ""
            raise unavailable(self.endpoint, reason_of(error), said) from error
        self._kept.put(stream)

    async def aclose(self) -> None:
        """Close the idle connections; those in use are closed when their call ends."""
        if self._sdk is not None:
            self._sdk.close()
        await self._kept.aclose()

    async def read(self, request: Request, *, timeout_seconds: float = READ_TIMEOUT_SECONDS) -> Any:  # noqa: ANN401 - the engine's JSON
        """Make a call that changes nothing, and return what it says; cancellation gives it up. CRIError kinds."""
        async with self._reads:
            return self._decoded(await self._answered(request, timeout_seconds))

    async def write(self, request: Request, *, timeout_seconds: float = WRITE_TIMEOUT_SECONDS) -> Any:  # noqa: ANN401 - the engine's JSON
        """Make a call that changes the engine's state; cancellation takes effect while it waits for its turn only."""
        async with self.operations:
            with trio.CancelScope(shield=True):
                return self._decoded(await self._answered(request, timeout_seconds))

    async def urgent(self, request: Request, *, timeout_seconds: float = WRITE_TIMEOUT_SECONDS) -> Any:  # noqa: ANN401 - the engine's JSON
        """Make a short call past the queues: a signal, and what must be known for it, waits for no start or look."""
        async with self._signals:
            with trio.CancelScope(shield=True):
                return self._decoded(await self._answered(request, timeout_seconds))

    async def stat(self, container_id: str, path: str) -> dict[str, Any]:
        """Return what the engine says of a path of a container; NotFoundError."""
        async with self._reads:
            answer = await self._answered(calls.stat_archive(container_id, path), READ_TIMEOUT_SECONDS)
        found: dict[str, Any] = json.loads(base64.b64decode(answer.headers[b"x-docker-container-path-stat"]))
        return found

    async def read_archive(self, call: Callable[[ArchiveSource], _T]) -> _T:
        """Run what reads archives of containers in a thread; CRIError kinds. Cancellation closes its connections."""
        source = ArchiveSource(self.http, READ_TIMEOUT_SECONDS)
        try:
            return await trio.to_thread.run_sync(call, source, limiter=self._reads)
        finally:
            await source.aclose()

    async def load_images(self, archive: bytes) -> list[Any]:
        """Have the engine take in the images of an archive and return what it says; CRIError.

        A failure, as of a disk that is full, is one of the messages: the answer's status is good by then.
        """
        async with self.operations:
            with trio.CancelScope(shield=True):
                answer = await self._answered(calls.load_images(archive), WRITE_TIMEOUT_SECONDS)
        try:
            messages = [json.loads(line) for line in answer.body.splitlines() if line.strip()]
        except ValueError as error:
            raise CRIError(f"the engine's answer to an image can't be read: {error}") from error
        for part in messages:
            if isinstance(part, dict) and "error" in part:
                raise CRIError(f"the engine can't load an image: {part['error']}")
        return messages

    async def by_sdk(self, call: Callable[[Client], _T], *, timeout_seconds: float = WRITE_TIMEOUT_SECONDS) -> _T:
        """Run a call of the SDK in a thread; cancellation takes effect while it waits for its turn only."""
        if self._sdk is None:
            from runtime.docker.sdk import SDK

            self._sdk = SDK(self.http)
        run = functools.partial(self._sdk.run, call, timeout_seconds)
        return await trio.to_thread.run_sync(run, limiter=self.operations)

    async def _answered(self, request: Request, timeout_seconds: float) -> Answer:
        """Make a call and return its answer; CRIError kinds for one that is refused, or doesn't come in time."""
        watched = Call(name_of(request.method, request.path))
        try:
            with self.watch.waiting(watched), trio.fail_after(timeout_seconds):
                answer = await self._kept.exchange(request)
        except trio.TooSlowError as error:
            raise unanswered(self.endpoint, watched.name, timeout_seconds) from error
        if answer.status >= 400:
            raise errors.of_answer(answer.status, message_of(answer.body))
        return answer

    def _decoded(self, answer: Answer) -> Any:  # noqa: ANN401 - the engine's JSON
        """Return the JSON of an answer, None where it has none; RuntimeUnavailableError for what is no JSON."""
        try:
            return json.loads(answer.body) if answer.body.strip() else None
        except (ValueError, RecursionError) as error:
            raise unavailable(self.endpoint, error) from error
