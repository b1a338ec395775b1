"""What became of a pod, a container, a run, a Job and a workload: values that the fold of records fills in."""

from __future__ import annotations

import enum
from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.api import reasons

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import JobStatus
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.journal.records import ObjectRef

DEFAULT_GRACE_SECONDS = 30
KEPT_LINES = 5
"""How many of the last lines of a run are kept."""
LOST_SANDBOX = "has lost its sandbox, and with restartPolicy Never it gets no other: it neither goes on nor ends"
LOST_SANDBOX_FIX = "delete it, or let restartPolicy OnFailure begin it anew"


class ContainerKind(enum.Enum):
    """The part a container plays in its pod; UNKNOWN where a log comes without the manifest that says it."""

    INIT = "init"
    SIDECAR = "sidecar"
    MAIN = "main"
    EPHEMERAL = "ephemeral"
    UNKNOWN = "unknown"


@define
class RunFacts:
    """One run of a container. `code` is None until it ended; `stop_timeout` is what the stop call gave it."""

    run: int
    started_at: datetime | None = None
    exited_at: datetime | None = None
    code: int | None = None
    reason: str = ""
    message: str = ""
    stop_timeout: float | None = None
    signalled_at: datetime | None = None
    killed_at: datetime | None = None
    outside_signal: str = ""
    startup_ok_at: datetime | None = None
    pre_stop_seconds: float | None = None
    post_start_seconds: float | None = None
    last_lines: deque[str] = field(factory=lambda: deque(maxlen=KEPT_LINES))

    @property
    def seconds(self) -> float | None:
        """Return how long it ran, None while that isn't known."""
        if self.started_at is None or self.exited_at is None:
            return None
        return (self.exited_at - self.started_at).total_seconds()


@define
class ContainerFacts:
    """One container of a pod with its runs in order."""

    name: str
    kind: ContainerKind = ContainerKind.MAIN
    has_startup_probe: bool = False
    has_post_start: bool = False
    memory_limit: str = ""
    runs: dict[int, RunFacts] = field(factory=dict)
    is_ready: bool = False
    was_ready: bool = False
    waiting_reason: str = ""
    waiting_message: str = ""
    restarts: int = 0
    is_pulling: bool = False

    def run(self, number: int) -> RunFacts:
        """Return the facts of a run, new ones when it wasn't heard of before."""
        return self.runs.setdefault(number, RunFacts(run=number))

    @property
    def last_run(self) -> RunFacts | None:
        """Return the newest run."""
        return self.runs[max(self.runs)] if self.runs else None


@define
class PodFacts:
    """One pod. `stop_requested_at` is when its deletion was seen first."""

    ref: ObjectRef
    created_at: datetime
    grace_seconds: int = DEFAULT_GRACE_SECONDS
    owner: str = ""
    restart_policy: str = "Always"
    phase: str = "Pending"
    reason: str = ""
    containers: dict[str, ContainerFacts] = field(factory=dict)
    is_ready: bool = False
    was_ready: bool = False
    stop_requested_at: datetime | None = None
    stop_grace_seconds: int | None = None
    is_deleted: bool = False
    status: PodStatus | None = None

    @property
    def is_terminal(self) -> bool:
        """Tell whether nothing more will happen to it."""
        return self.is_deleted or self.phase in {"Succeeded", "Failed"}

    @property
    def has_lost_sandbox(self) -> bool:
        """Tell whether its sandbox is gone for good: a pod that has run gets no other with restartPolicy Never.

        Source: kubelet v1.36 computePodActions.
        """
        conditions = () if self.status is None else self.status.conditions
        has_none = any(c.type == reasons.POD_READY_TO_START_CONTAINERS and c.status == "False" for c in conditions)
        runs = [run for container in self.containers.values() for run in container.runs.values()]
        is_over = bool(runs) and all(run.exited_at is not None for run in runs)
        return self.restart_policy == "Never" and has_none and is_over

    def container(self, name: str) -> ContainerFacts:
        """Return the facts of a container, new ones when the manifest didn't name it."""
        return self.containers.setdefault(name, ContainerFacts(name=name))

    def of_kind(self, kind: ContainerKind) -> tuple[ContainerFacts, ...]:
        """Return the containers of a kind in spec order."""
        return tuple(c for c in self.containers.values() if c.kind is kind)


@define
class JobFacts:
    """One Job: its last status, when it got its verdict, and whether it makes pods at all (suspend, parallelism 0)."""

    ref: ObjectRef
    created_at: datetime | None = None
    finished_at: datetime | None = None
    status: JobStatus | None = None
    is_deleted: bool = False
    is_idle: bool = False

    def has(self, condition: str) -> bool:
        """Tell whether a condition is True."""
        conditions = () if self.status is None else self.status.conditions
        return any(c.type == condition and c.status == "True" for c in conditions)

    @property
    def has_verdict(self) -> bool:
        """Tell whether it is Complete or Failed."""
        return self.has("Complete") or self.has("Failed")

    @property
    def is_finished(self) -> bool:
        """Tell whether it is Complete or Failed, or gone."""
        return self.is_deleted or self.has_verdict


@define
class WorkloadFacts:
    """A workload that keeps its pods running: how many it wants, and which workload owns it."""

    ref: ObjectRef
    replicas: int = 1
    owner: str = ""
