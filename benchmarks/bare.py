"""The same containers by bare calls of the Docker SDK: what the engine itself costs.

Pods go two at a time, as kubelet-emu's own operations do on a machine of two cores; inside a pod one call follows the
other: a container that holds the network, then each container, with a wait after an init container. No mounts, no
records, no status.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import local
from typing import TYPE_CHECKING, Any

import docker
from attrs import define, field
from marks import Measured
from shapes import IMAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapes import Container, Shape

LABEL = "kubelet-emu-benchmark"
PODS_AT_ONCE = 2
GRACE_SECONDS = 30
NETWORK_SCRIPT = "sleep 3600"


@define
class BarePods:
    """Makes, stops and removes the pods of one shape. `owner` labels what it makes."""

    shape: Shape
    owner: str
    _clients: local = field(factory=local, init=False)
    _holders: list[str] = field(factory=list, init=False)
    _made: list[str] = field(factory=list, init=False)
    _gaps: list[float] = field(factory=list, init=False)

    def measure(self) -> Measured:
        """Live the pods' whole life once."""
        cpu = time.process_time()
        start = self._timed(self._start, range(self.shape.pods))
        stop = self._timed(self._stop, [each for each in self._made if each not in self._holders])
        stop += self._timed(lambda holder: self._client().kill(holder), self._holders)
        clean_up = self._timed(self._remove, [*self._made])
        cpu = time.process_time() - cpu
        return Measured(start=start, stop=stop + clean_up, clean_up=clean_up, cpu=cpu, gaps=tuple(self._gaps))

    def _timed(self, call: Callable[[Any], None], items: Any) -> float:  # noqa: ANN401 - pods or ids
        """Call for each item, two at a time, and return how long all took."""
        began = time.perf_counter()
        with ThreadPoolExecutor(PODS_AT_ONCE) as pool:
            list(pool.map(call, items))
        return time.perf_counter() - began

    def _client(self) -> Any:  # noqa: ANN401 - the SDK's client
        """Return this thread's client."""
        if not hasattr(self._clients, "client"):
            self._clients.client = docker.APIClient(version="auto")
        return self._clients.client

    def _start(self, _pod: int) -> None:
        holder = self._create(NETWORK_SCRIPT, network="bridge")
        self._holders.append(holder)
        self._client().start(holder)
        finished_at: datetime | None = None
        for container in self.shape.containers:
            finished_at = self._run(container, holder, finished_at)

    def _run(self, container: Container, holder: str, finished_at: datetime | None) -> datetime | None:
        """Start one container; return the end of an init container."""
        client, made = self._client(), self._create(container.script, network=f"container:{holder}")
        client.start(made)
        if container.is_init:
            client.wait(made)
        if finished_at is None and not container.is_init:
            return None
        state = client.inspect_container(made)["State"]
        if finished_at is not None:
            self._gaps.append((_time(state["StartedAt"]) - finished_at).total_seconds())
        return _time(state["FinishedAt"]) if container.is_init else None

    def _create(self, script: str, network: str) -> str:
        client = self._client()
        made: str = client.create_container(
            IMAGE,
            command=["sh", "-c", script],
            labels={LABEL: self.owner},
            host_config=client.create_host_config(network_mode=network),
        )["Id"]
        self._made.append(made)
        return made

    def _stop(self, container: str) -> None:
        self._client().stop(container, timeout=GRACE_SECONDS)

    def _remove(self, container: str) -> None:
        self._client().remove_container(container, force=True)


def _time(text: str) -> datetime:
    """Read the engine's time, whose nanoseconds Python has no place for."""
    return datetime.fromisoformat(text[:26].rstrip("Z")).replace(tzinfo=UTC)


def remove_all(client: Any, owner: str) -> None:  # noqa: ANN401 - the SDK's client
    """Remove every container that carries the owner's label."""
    for item in client.containers(all=True, filters={"label": f"{LABEL}={owner}"}):
        client.remove_container(item["Id"], force=True)
