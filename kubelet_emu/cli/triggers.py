"""`--delete-when`: the moment after which a run deletes its pods.

`ready` (every workload has its pods, and each is Ready or has done its work), `running` (every pod's phase is Running
or beyond), a number of seconds from the start, or `NAME started|exited|ready`, where NAME is a container, POD/CONTAINER
or WORKLOAD/CONTAINER; each may end in `+SECONDS`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.manifests.workloads import pod_spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.journal.facts import ContainerFacts
    from kubelet_emu.journal.fold import Facts
    from kubelet_emu.manifests.workloads import Workload

_PLUS = re.compile(r"\s*\+\s*(\d+(?:\.\d+)?)s?\s*$")
_SECONDS = re.compile(r"\d+(?:\.\d+)?s?")
_OF_POD = frozenset({"ready", "running"})
_OF_CONTAINER = frozenset({"started", "exited", "ready"})


@frozen(kw_only=True)
class Trigger:
    """A moment: `what` of container `name` (empty: of all pods), or `seconds` alone; then `plus` more seconds."""

    what: str = ""
    name: str = ""
    seconds: float = 0.0
    plus: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Trigger:
        """Read a moment; ValueError says what would be one."""
        moment, plus = text.strip(), 0.0
        if (tail := _PLUS.search(moment)) is not None:
            moment, plus = moment[: tail.start()], float(tail.group(1))
        if _SECONDS.fullmatch(moment):
            return cls(seconds=float(moment.removesuffix("s")), plus=plus)
        if moment in _OF_POD:
            return cls(what=moment, plus=plus)
        name, _, what = moment.rpartition(" ")
        if name.strip() and " " not in name.strip() and what in _OF_CONTAINER:
            return cls(what=what, name=name.strip(), plus=plus)
        raise ValueError(f"{text!r} is no moment: use ready, running, SECONDS or 'NAME started|exited|ready'")

    def has_come(self, facts: Facts) -> bool:
        """Tell whether the moment has come; for seconds alone it always has: they are waited for."""
        if not self.what:
            return True
        if self.name:
            return any(_has_happened(container, self.what) for container in self._containers(facts))
        pods = facts.pods.values()
        if self.what == "ready":
            return facts.is_ready
        return bool(pods) and all(pod.phase != "Pending" for pod in pods)

    def _containers(self, facts: Facts) -> Iterator[ContainerFacts]:
        owner_name, _, name = self.name.rpartition("/")
        for pod in facts.pods.values():
            if owner_name in {"", pod.ref.name, *facts.owners_of(pod)} and name in pod.containers:
                yield pod.containers[name]

    def check(self, runnables: Iterable[Workload]) -> None:
        """Raise ValueError, with the names that there are, when no pod will have the container that is named."""
        known = [(each.metadata.name or "", _container_names(each)) for each in runnables]
        owner_name, _, name = self.name.rpartition("/")
        if not self.name or any(owner_name in {"", owner} and name in names for owner, names in known):
            return
        is_one = len(known) == 1 and not owner_name
        there = [word if is_one else f"{owner}/{word}" for owner, names in known for word in names]
        raise ValueError(f"no pod has a container {self.name!r}; there are {', '.join(there)}")


def _container_names(runnable: Workload) -> tuple[str, ...]:
    """Return the names of a pod's containers in the order of their starts."""
    spec = pod_spec_of(runnable)
    return tuple(container.name for container in (*spec.init_containers, *spec.containers))


def _has_happened(container: ContainerFacts, what: str) -> bool:
    match what:
        case "started":
            return any(run.started_at is not None for run in container.runs.values())
        case "exited":
            return any(run.exited_at is not None for run in container.runs.values())
        case _:
            return container.was_ready
