"""A recorded trace as the mutations need it: raw records and the manifest, asked without a verifier."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

from attrs import define, field
from lifecycle_logs import manifests_of, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Container, Pod, PodSpec

Raw = dict[str, object]
KILLS = {"killed", "SIGKILL"}


@define(eq=False)
class Recording:
    """One recorded trace; `records` are changed by a mutation, so each works on a copy."""

    path: Path
    records: list[Raw] = field(factory=list)

    @classmethod
    def read(cls, path: Path) -> Recording:
        return cls(path, records_of(path))

    def copied(self) -> Recording:
        return Recording(self.path, copy.deepcopy(self.records))

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    def pods(self) -> list[PodRecording]:
        """Return the pods of which the manifest is known; a static pod has another name."""
        names = dict.fromkeys(str(r["pod"]) for r in self.records if r.get("pod"))
        found = ((name, self.spec_of(name)) for name in names)
        return [PodRecording(self, name, spec) for name, spec in found if spec is not None]

    def spec_of(self, pod: str) -> PodSpec | None:
        for obj in manifests_of(self.path.parent):
            if obj.kind == "Pod" and obj.metadata.name == pod:
                return cast("Pod", obj).spec
            if obj.kind == "Job" and pod.startswith(f"{obj.metadata.name}-"):
                return cast("Job", obj).spec.template.spec
        return None

    def has_step(self, *words: str) -> bool:
        """Tell whether the driver did something of these kinds to the node or the kubelet."""
        steps = (str(r.get("do")) for r in self.records if r.get("kind") == "step")
        return any(word in step for step in steps for word in words)

    def sort(self) -> None:
        self.records.sort(key=at)


def at(record: Raw) -> float:
    return float(cast("float", record["t"]))


@define(eq=False)
class PodRecording:
    """The records of one pod."""

    whole: Recording
    name: str
    spec: PodSpec

    def of(self, kind: str, container: str | None = None, **fields: object) -> list[Raw]:
        return [
            r
            for r in self.whole.records
            if r.get("kind") == kind
            and r.get("pod") == self.name
            and (container is None or r.get("container") == container)
            and all(r.get(key) == value for key, value in fields.items())
        ]

    # what the manifest says
    def inits(self) -> list[Container]:
        return [c for c in self.spec.init_containers if c.restart_policy != "Always"]

    def sidecars(self) -> list[Container]:
        return [c for c in self.spec.init_containers if c.restart_policy == "Always"]

    def mains(self) -> list[Container]:
        return list(self.spec.containers)

    def in_order(self) -> list[Container]:
        return [*self.spec.init_containers, *self.spec.containers]

    def after(self, container: Container) -> Iterator[Container]:
        """Yield what the spec starts after an init container or sidecar."""
        every = self.in_order()
        yield from every[every.index(container) + 1 :]

    # what the runtime says
    def start(self, container: str, run: int = 1) -> Raw | None:
        return next(iter(self.of("runtime", container, what="started", run=run)), None)

    def exit(self, container: str, run: int = 1) -> Raw | None:
        return next(iter(self.of("runtime", container, what="exited", run=run)), None)

    def runs(self, container: str) -> list[int]:
        return sorted({cast("int", r["run"]) for r in self.of("runtime", container, what="started")})

    def last_run(self, container: str) -> int:
        return max(self.runs(container), default=0)

    def call(self, container: str) -> Raw | None:
        return next(iter(self.of("cri", container, what="StopContainer")), None)

    def signals(self, container: str, *, kill: bool) -> list[Raw]:
        return [r for r in self.of("cri", container, what="signal") if (r.get("signal") in KILLS) == kill]

    def term(self, container: str) -> Raw | None:
        return next(iter(self.signals(container, kill=False)), None)

    def kill(self, container: str) -> Raw | None:
        return next(iter(self.signals(container, kill=True)), None)

    def lines(self, container: str, text: str) -> list[Raw]:
        return [r for r in self.of("log", container) if text in str(r["line"])]

    def killing(self, container: str) -> Raw | None:
        return next(iter(self.of("event", container, reason="Killing")), None)

    def deletion(self) -> Raw | None:
        return next(iter(self.of("object", what="deletionTimestamp")), None)

    def is_plain(self) -> bool:
        """Tell whether nothing but the kubelet's ordinary work happened: no new sandbox, no restart of all, no away."""
        if self.whole.has_step("kubelet", "runtime", "node", "shutdown"):
            return False
        reasons = {r.get("reason") for r in self.of("event")}
        return "SandboxChanged" not in reasons and not self.of("event", message="killing")

    def stopped_once(self, container: str) -> bool:
        """Tell whether a container was stopped exactly once, in its only stopped run."""
        return (
            len(self.of("cri", container, what="StopContainer")) == 1 and len(self.signals(container, kill=False)) == 1
        )


def plain_pods(recording: Recording) -> Iterator[tuple[Recording, PodRecording]]:
    """Yield a copy for each pod that nothing out of the ordinary happened to."""
    for index, pod in enumerate(recording.pods()):
        if pod.is_plain():
            copied = recording.copied()
            yield copied, copied.pods()[index]


def move(record: Raw | None, to: float) -> None:
    if record is not None:
        record["t"] = round(to, 4)


def done(recording: Recording) -> Recording:
    recording.sort()
    return recording
