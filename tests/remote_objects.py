"""A run's objects as a second terminal reads them, for tests of which pod is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio
from attrs import define, field
from control_rig import FACTS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from kubelet_emu.cli.remote.views import Object


def a_pod(name: str, *, app: str = "web", ready: str = "", phase: str = "Running", restarts: int = 0) -> dict[str, Any]:
    """Return a pod; `ready` is the minute since which it is."""
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    if ready:
        condition["lastTransitionTime"] = f"2026-12-02T04:{ready}:00Z"
    return {
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}, "creationTimestamp": "2026-12-02T04:00:00Z"},
        "spec": {"nodeName": "node1", "initContainers": [{"name": "i"}], "containers": [{"name": "a"}, {"name": "b"}]},
        "status": {
            "phase": phase,
            "conditions": [condition],
            "containerStatuses": [{"name": "a", "restartCount": restarts}],
        },
    }


@define
class Objects:
    """A run with these objects; more come after a while."""

    objects: list[dict[str, Any]]
    later: list[dict[str, Any]] = field(factory=list)
    at: float = 5.0
    facts = FACTS

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Object]:  # noqa: ARG002 - the protocol's
        await trio.lowlevel.checkpoint()
        there = [*self.objects, *(self.later if trio.current_time() >= self.at else [])]
        return [each for each in there if each["kind"] == kind and name in {None, each["metadata"]["name"]}]

    async def now(self) -> Any:  # noqa: ANN401 - nobody asks here
        raise NotImplementedError

    async def logs(self, *_given: object) -> AsyncGenerator[Mapping[str, object]]:
        raise NotImplementedError
        yield {}


JOB = {"kind": "Job", "metadata": {"name": "j"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}}
SERVICE = {"kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"app": "web"}}}
BARE = {"kind": "Service", "metadata": {"name": "bare"}, "spec": {}}
