"""The Docker SDK, for the few calls where it knows more than the API says: those that need the user's credentials.

It is slow to import and to call, so nothing else goes through it; importing this module imports it. A client of the SDK
is used by one thread at a time (it is not promised to be thread-safe), so clients wait in a pool.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import docker
import docker.errors
import docker.tls
import docker.utils.config
import requests
import urllib3
from attrs import define, field

from runtime.docker import errors
from runtime.docker.endpoint import strange_config
from runtime.docker.http import reason_of, unanswered, unavailable
from runtime.docker.sdk_sockets import OneConnection
from runtime.docker.watch import Call, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.docker.endpoint import Endpoint
    from runtime.docker.http import EngineHTTP

CONNECT_SECONDS = 15

_T = TypeVar("_T")
Client = Any  # docker.APIClient: its methods carry no types


@define(eq=False)
class SDK:
    """Calls of the SDK to one engine, made in threads."""

    http: EngineHTTP
    _idle: list[Client] = field(factory=list, init=False)
    _pool: threading.Lock = field(factory=threading.Lock, init=False)
    _is_closed: bool = field(default=False, init=False)

    def close(self) -> None:
        """Close the idle clients; those in use close themselves when their call ends."""
        with self._pool:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()

    def run(self, call: Callable[[Client], _T], timeout_seconds: float) -> _T:
        """Run in this thread: take a client, call, translate the error, give the client back; CRIError kinds."""
        watched = Call()
        try:
            client = self._take()
            client.timeout = timeout_seconds
            client.auth = functools.partial(_named, watched)  # requests shows it each request that it sends
            try:
                with self.http.watch.waiting(watched):
                    return call(client)
            finally:
                self._give_back(client)
        except docker.errors.APIError as error:
            raise _translated(error) from error
        except requests.ReadTimeout as error:
            raise unanswered(self.http.endpoint, watched.name, timeout_seconds) from error
        except (
            docker.errors.DockerException,
            requests.RequestException,
            urllib3.exceptions.HTTPError,
            OSError,
        ) as error:
            raise unavailable(self.http.endpoint, reason_of(error)) from error

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
                base_url=self.http.endpoint.url,
                version=self.http.api_version,
                timeout=CONNECT_SECONDS,
                tls=_tls_config(self.http.endpoint),
                max_pool_size=1,
                use_ssh_client=True,
            )
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise strange_config() from error
        client.trust_env = False
        if self.http.endpoint.scheme == "unix":
            client.mount("http+docker://", OneConnection(self.http.endpoint.socket_path, CONNECT_SECONDS))
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
