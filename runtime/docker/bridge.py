"""The only place that calls the Docker SDK: in threads, within limits, with errors of `runtime.api`.

A client of the SDK is used by one thread at a time (it is not promised to be thread-safe), so clients wait in a pool.
Writes (create, start, kill, remove) run to their end even when the caller is cancelled, so that nothing is made
behind its back; reads are left behind at once, and their thread ends with the call's own timeout.
"""

from __future__ import annotations

import enum
import functools
import re
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import docker
import docker.errors
import docker.tls
import docker.utils.config
import requests
import trio
import urllib3
from attrs import define, field

from runtime.api import CRIError, RuntimeUnavailableError
from runtime.docker import errors
from runtime.docker.http import EngineHTTP, connect, unanswered, unavailable
from runtime.docker.sdk_sockets import OneConnection
from runtime.docker.watch import Call, Watch, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.docker.endpoint import Endpoint

MINIMUM_API = (1, 41)
MAXIMUM_OPERATIONS = 4
READ_THREADS = 8
SIGNAL_THREADS = 8
READ_TIMEOUT_SECONDS = 15.0
WRITE_TIMEOUT_SECONDS = 120.0

_T = TypeVar("_T")
Client = Any  # docker.APIClient: its methods carry no types


class Kind(enum.Enum):
    """What a call does to the engine: reads can be given up at any moment, writes can't."""

    READ = "read"
    WRITE = "write"


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
    _reads: trio.CapacityLimiter = field(init=False)
    _signals: trio.CapacityLimiter = field(init=False)
    _idle: list[Client] = field(factory=list, init=False)
    _pool: threading.Lock = field(factory=threading.Lock, init=False)
    _version: str = field(default=".".join(map(str, MINIMUM_API)), init=False)
    _is_closed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the limiters; the number of operations is known once the engine has answered."""
        self.http = EngineHTTP(self.endpoint, self.watch)
        self.operations = trio.CapacityLimiter(self.engine_operations or 1)
        self.execs = trio.CapacityLimiter(self.exec_operations)
        self._reads = trio.CapacityLimiter(READ_THREADS)
        self._signals = trio.CapacityLimiter(SIGNAL_THREADS)

    async def open(self) -> dict[str, Any]:
        """Ask the engine for its version and size and return its `info`; RuntimeUnavailableError."""
        await self._reach()
        served = await self._served()
        if tuple(int(part) for part in served.split(".")) < MINIMUM_API:
            wanted = ".".join(map(str, MINIMUM_API))
            raise RuntimeUnavailableError(
                f"the Docker engine at {self.endpoint.url} speaks API {served}, and {wanted} or later is needed"
            )
        self._version = self.http.api_version = served
        info: dict[str, Any] = await self.read(lambda client: client.info())
        if self.engine_operations is None:
            self.operations.total_tokens = max(1, min(int(info.get("NCPU") or 1), MAXIMUM_OPERATIONS))
        return info

    async def _served(self) -> str:
        """Return the latest API that the engine serves; RuntimeUnavailableError for what is no engine."""
        try:
            version = await self.read(lambda client: client.version(api_version=False))
            if re.fullmatch(r"\d+\.\d+", served := str(version["ApiVersion"])):
                return served
            reason = f"ApiVersion {served!r}"
        except RuntimeUnavailableError:
            raise
        except (CRIError, KeyError, TypeError) as error:
            reason = str(error)
        raise RuntimeUnavailableError(f"what answers at {self.endpoint.url} is no Docker engine: {reason}")

    async def _reach(self) -> None:
        """Try a connection of our own first: the SDK leaves its socket open when it can't connect."""
        try:
            with trio.fail_after(READ_TIMEOUT_SECONDS):
                stream = await connect(self.endpoint)
        except trio.TooSlowError as error:
            raise unavailable(self.endpoint, f"no connection within {READ_TIMEOUT_SECONDS:g} s") from error
        except (OSError, trio.BrokenResourceError) as error:
            said = f" ({self.endpoint.origin} says so)" if self.endpoint.origin else ""
            raise unavailable(self.endpoint, _reason(error), said) from error
        await trio.aclose_forcefully(stream)

    def close(self) -> None:
        """Close the idle clients; those in use close themselves when their call ends."""
        with self._pool:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()

    async def read(self, call: Callable[[Client], _T], *, timeout_seconds: float = READ_TIMEOUT_SECONDS) -> _T:
        """Run a call that changes nothing; cancellation leaves it behind at once. Errors: CRIError kinds."""
        run = functools.partial(self._run, call, timeout_seconds)
        return await trio.to_thread.run_sync(run, limiter=self._reads, abandon_on_cancel=True)

    async def write(self, call: Callable[[Client], _T], *, timeout_seconds: float = WRITE_TIMEOUT_SECONDS) -> _T:
        """Run a call that changes the engine's state; cancellation takes effect while it waits for its turn only."""
        run = functools.partial(self._run, call, timeout_seconds)
        return await trio.to_thread.run_sync(run, limiter=self.operations)

    async def urgent(self, call: Callable[[Client], _T], *, timeout_seconds: float = WRITE_TIMEOUT_SECONDS) -> _T:
        """Run a short call past the queues: a signal, and what must be known for it, waits for no start or look."""
        run = functools.partial(self._run, call, timeout_seconds)
        return await trio.to_thread.run_sync(run, limiter=self._signals)

    async def load_images(self, archive: bytes) -> list[Any]:
        """Have the engine take in the images of an archive and return what it says; CRIError.

        A failure, as of a disk that is full, is one of the messages: the answer's status is good by then.
        """
        answer: list[Any] = await self.write(lambda client: list(client.load_image(archive)))
        for part in answer:
            if isinstance(part, dict) and "error" in part:
                raise CRIError(f"the engine can't load an image: {part['error']}")
        return answer

    def _run(self, call: Callable[[Client], _T], timeout_seconds: float) -> _T:
        """Run in a thread: take a client, call, translate the error, give the client back."""
        watched = Call()
        try:
            client = self._take()
            client.timeout = timeout_seconds
            client.auth = functools.partial(_named, watched)  # requests shows it each request that it sends
            try:
                with self.watch.waiting(watched):
                    return call(client)
            finally:
                self._give_back(client)
        except docker.errors.APIError as error:
            raise _translated(error) from error
        except requests.ReadTimeout as error:
            raise unanswered(self.endpoint, watched.name, timeout_seconds) from error
        except (
            docker.errors.DockerException,
            requests.RequestException,
            urllib3.exceptions.HTTPError,
            OSError,
        ) as error:
            raise unavailable(self.endpoint, _reason(error)) from error

    def _take(self) -> Client:
        """Return an idle client, or a new one."""
        with self._pool:
            if self._idle:
                return self._idle.pop()
        return self._new_client()

    def _give_back(self, client: Client) -> None:
        with self._pool:
            if not self._is_closed:
                self._idle.append(client)
                return
        client.close()

    def _new_client(self) -> Client:
        """Return a client of the SDK, which calls nothing yet.

        It trusts the endpoint alone: REQUESTS_CA_BUNDLE would replace the endpoint's own authority. It reads the user's
        config.json, too, and stumbles over one that the docker command would not write.
        """
        try:
            dict(docker.utils.config.load_general_config().get("HttpHeaders") or {})  # each request reads them
            client = docker.APIClient(
                base_url=self.endpoint.url,
                version=self._version,
                timeout=int(READ_TIMEOUT_SECONDS),
                tls=_tls_config(self.endpoint),
                max_pool_size=1,
                use_ssh_client=True,
            )
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            text = "the config.json of docker ($DOCKER_CONFIG, else ~/.docker) is not as the docker command writes it"
            told = RuntimeUnavailableError(text)
            told.add_note("mend that file, or name a folder with another one: DOCKER_CONFIG=DIR")
            raise told from error
        client.trust_env = False
        if self.endpoint.scheme == "unix":
            client.mount("http+docker://", OneConnection(self.endpoint.socket_path, int(READ_TIMEOUT_SECONDS)))
        return client


def _named(call: Call, request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Give a watched call the name of the request that it sends."""
    call.name = name_of(request.method or "", request.path_url)
    return request


def _tls_config(endpoint: Endpoint) -> docker.tls.TLSConfig | bool:
    """Return the SDK's form of the endpoint's certificates."""
    tls = endpoint.tls
    if tls is None:
        return False
    client_cert = (str(tls.cert), str(tls.key)) if tls.cert and tls.key else None
    return docker.tls.TLSConfig(client_cert=client_cert, ca_cert=str(tls.ca) if tls.ca else None, verify=tls.verify)


def _translated(error: docker.errors.APIError) -> Exception:
    """Return the error of a refused call."""
    status = error.response.status_code if error.response is not None else 500
    explanation = error.explanation
    text = explanation.decode(errors="replace") if isinstance(explanation, bytes) else str(explanation or "")
    return errors.of_answer(status, text)


def _reason(error: BaseException) -> str:
    """Return the innermost words of an error: the SDK wraps a socket's error four times, Trio groups them."""
    while (inner := _cause(error)) is not None:
        error = inner
    return str(error) or type(error).__name__


def _cause(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ or error.__context__
