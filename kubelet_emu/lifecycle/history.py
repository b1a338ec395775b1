"""What became of one pod, told as a value: who ran when, who stopped whom, and why.

Made by `kubelet_emu.lifecycle.recounting` from trace records and, if there is one, the pod's spec; whatever judges or
draws a log reads it. All times are Intervals in seconds on the log's time line, because some facts are known only a
little later than they happened; None is what the log doesn't tell. Containers stand in spec order.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.journal.facts import ContainerKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod
    from kubelet_emu.lifecycle.raw_records import Interval

__all__ = ["ContainerHistory", "ContainerKind", "LogHistory", "PodHistory", "RunHistory", "Stop", "StopCause"]


class StopCause(enum.Enum):
    """Why the kubelet stopped a container; the value completes "stopped because ..."."""

    DELETED = "the pod was deleted"
    ENDED = "the pod's mains had ended"
    INIT_FAILED = "an init container had failed"
    DEADLINE = "the pod's active deadline was over"
    EVICTED = "the pod was evicted"
    SHUTDOWN = "the node was shutting down"
    PROBE = "a probe failed and nothing was left to keep"
    SANDBOX = "the pod's sandbox was gone"
    REMOVED = "its manifest was removed from the node"
    LIVENESS = "its liveness probe failed"
    STARTUP = "its startup probe failed"
    POST_START = "its postStart hook failed"
    CHANGED = "its definition changed"
    RESTART_ALL = "all containers were restarted"
    UNKNOWN = "something the log doesn't name"

    @property
    def is_pod_wide(self) -> bool:
        """Tell whether all containers of the pod are stopped, sidecars in their order (KEP-753)."""
        return self not in _OF_ONE_CONTAINER


_OF_ONE_CONTAINER = frozenset(
    {StopCause.LIVENESS, StopCause.STARTUP, StopCause.POST_START, StopCause.CHANGED, StopCause.RESTART_ALL}
)


@frozen(kw_only=True)
class HookHistory:
    """One run of a hook. `is_expected` when its beginning would show in this log had it run."""

    began: Interval | None = None
    ended: Interval | None = None
    has_failed: bool = False
    sleep_seconds: float | None = None
    is_expected: bool = False


@frozen(kw_only=True)
class StopCall:
    """One StopContainer call to the runtime: the signal now, SIGKILL `timeout` seconds later."""

    at: Interval
    timeout: float | None = None


@frozen(kw_only=True)
class Stop:
    """How a run was stopped by the kubelet.

    `began` is when the kill of this container began: its preStop hook and its wait for others count from here.
    `grace` is what the kubelet had for it; `is_grace_told` when the log says so, else it is taken from the spec.
    """

    cause: StopCause
    began: Interval
    grace: float | None = None
    is_grace_told: bool = False
    pre_stop: HookHistory | None = None
    calls: tuple[StopCall, ...] = ()
    term: Interval | None = None
    kill: Interval | None = None
    is_signal_told: bool = False
    message: str = ""

    @property
    def first_call(self) -> StopCall | None:
        """Return the first stop call of this attempt; those before it failed."""
        return next((call for call in self.calls if call.at.high >= self.began.low), None)

    @property
    def timeout(self) -> float | None:
        """Return the timeout of the last stop call."""
        return self.calls[-1].timeout if self.calls else None


@frozen(kw_only=True)
class RunHistory:
    """One run of a container. `ready` are the changes of its readiness in order.

    A start is told by the runtime, a status or an event; without these it is assumed from the first log line, before
    which the container may have been silent. An exit that isn't told is assumed from the last line.
    """

    container: str
    n: int
    started: Interval | None = None
    exited: Interval | None = None
    is_start_told: bool = True
    is_exit_told: bool = True
    code: int | None = None
    reason: str | None = None
    post_start: HookHistory | None = None
    startup_ok: Interval | None = None
    not_started_seen: tuple[float, ...] = ()
    ready: tuple[tuple[Interval, bool], ...] = ()
    stop: Stop | None = None

    @property
    def name(self) -> str:
        """Return the container's name, with the number of the run from the second on."""
        return self.container if self.n == 1 else f"{self.container}#{self.n}"

    def is_running_at(self, at: float) -> bool:
        """Tell whether the run may have been in progress at a time."""
        is_over = self.exited is not None and self.exited.high < at
        return self.started is not None and self.started.low <= at and not is_over


@frozen(kw_only=True)
class StateChange:
    """A state of a container's status, as `running`, `waiting:REASON` or `terminated:REASON:CODE`."""

    at: Interval
    state: str
    restart_count: int
    message: str = ""
    image: str = ""


@frozen(kw_only=True)
class ContainerHistory:
    """One container. `spec` is None where no manifest names it; `index` is its place in the spec's list."""

    name: str
    kind: ContainerKind
    index: int = 0
    spec: Container | EphemeralContainer | None = None
    runs: tuple[RunHistory, ...] = ()
    states: tuple[StateChange, ...] = ()

    @property
    def last_run(self) -> RunHistory | None:
        """Return the newest run."""
        return self.runs[-1] if self.runs else None

    def runs_before(self, at: float) -> tuple[RunHistory, ...]:
        """Return the runs that had surely begun at a time."""
        return tuple(run for run in self.runs if run.started is not None and run.started.high <= at)


@frozen(kw_only=True)
class PhaseChange:
    """A phase of the pod's status."""

    at: Interval
    phase: str
    reason: str = ""
    message: str = ""


@frozen(kw_only=True)
class ConditionChange:
    """A condition that got another status, reason or message."""

    at: Interval
    type: str
    status: str
    reason: str = ""
    message: str = ""


@frozen(kw_only=True)
class EventSeen:
    """A v1 Event; `container` is empty for one of the whole object."""

    at: Interval
    type: str
    reason: str
    message: str
    container: str = ""
    count: int = 1


@frozen(kw_only=True)
class Pull:
    """One image pull. `ended` is None while it goes on; `seconds` is how long it took, without waiting for its turn."""

    container: str
    image: str
    asked: Interval
    ended: Interval | None = None
    seconds: float | None = None
    has_failed: bool = False


@frozen(kw_only=True)
class Deletion:
    """A deletion request as the object shows it."""

    at: Interval
    grace: float | None = None


@frozen(kw_only=True)
class PodStop:
    """One stop of the whole pod: the containers whose runs it ended, by (container, run)."""

    cause: StopCause
    began: Interval
    grace: float | None = None
    is_grace_told: bool = False
    runs: tuple[RunHistory, ...] = ()


@frozen(kw_only=True)
class PodHistory:
    """One pod. `spec` is None without a manifest; `owner` is the Job or other object it was made from.

    `is_mirror` for a static pod, which the API can't delete. `rebuilds` are when all containers were made anew (another
    sandbox, a restart of all), `remade` when another pod of the same name appeared, `spec_changes` when its status was
    first one of a changed spec. `is_seen_from_start` where the log begins before the pod's containers do, `is_exact`
    where it has the runtime's own records. `ended_at` is the last thing that the log knows of anything.
    """

    name: str
    spec: Pod | None = None
    owner: str = ""
    is_mirror: bool = False
    containers: tuple[ContainerHistory, ...] = ()
    created: Interval | None = None
    deletions: tuple[Deletion, ...] = ()
    gone: tuple[Interval, ...] = ()
    phases: tuple[PhaseChange, ...] = ()
    conditions: tuple[ConditionChange, ...] = ()
    events: tuple[EventSeen, ...] = ()
    pulls: tuple[Pull, ...] = ()
    stops: tuple[PodStop, ...] = ()
    sandbox_stops: tuple[Interval, ...] = ()
    kubelet_restarts: tuple[float, ...] = ()
    rebuilds: tuple[float, ...] = ()
    remade: tuple[float, ...] = ()
    spec_changes: tuple[Interval, ...] = ()
    is_seen_from_start: bool = False
    is_exact: bool = False
    ended_at: float = 0.0

    @property
    def terminating(self) -> Interval | None:
        """Return when the pod was seen to be deleted; None for a static pod, whose mirror alone can be deleted."""
        return self.deletions[0].at if self.deletions and not self.is_mirror else None

    @property
    def phase(self) -> str:
        """Return the last phase, empty where the log has none."""
        return self.phases[-1].phase if self.phases else ""

    @property
    def initialized(self) -> Interval | None:
        """Return when the condition Initialized first became True."""
        found = (c.at for c in self.conditions if c.type == "Initialized" and c.status == "True")
        return next(found, None)

    def of_kind(self, *kinds: ContainerKind) -> tuple[ContainerHistory, ...]:
        """Return the containers of these kinds in spec order."""
        return tuple(container for container in self.containers if container.kind in kinds)

    def container(self, name: str) -> ContainerHistory | None:
        """Return a container by name."""
        return next((container for container in self.containers if container.name == name), None)

    def runs(self) -> Iterator[tuple[ContainerHistory, RunHistory]]:
        """Yield all runs, container by container."""
        for container in self.containers:
            for run in container.runs:
                yield container, run

    def is_orphan_at(self, at: Interval) -> bool:
        """Tell whether a kubelet that was restarted may have known the pod only from the runtime, without its spec."""
        return any(gone.low <= again <= at.high for gone in self.gone for again in self.kubelet_restarts)

    @property
    def has_kinds(self) -> bool:
        """Tell whether it is known of each container whether it is an init container, a sidecar or a main one."""
        return bool(self.containers) and not self.of_kind(ContainerKind.UNKNOWN)


@frozen(kw_only=True)
class JobCounts:
    """The numbers of a Job's status when they changed."""

    at: Interval
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    ready: int = 0
    terminating: int = 0


@frozen(kw_only=True)
class JobHistory:
    """One Job with the names of its pods."""

    name: str
    spec: Job | None = None
    counts: tuple[JobCounts, ...] = ()
    conditions: tuple[ConditionChange, ...] = ()
    pods: tuple[str, ...] = ()

    def condition(self, type_: str) -> ConditionChange | None:
        """Return the condition of a type once it was True."""
        return next((c for c in self.conditions if c.type == type_ and c.status == "True"), None)


@frozen(kw_only=True)
class LogHistory:
    """All pods and Jobs of one log in the order in which they appear."""

    pods: tuple[PodHistory, ...] = ()
    jobs: tuple[JobHistory, ...] = ()
    resolution_seconds: float = 0.0
    kubernetes: str = ""
    has_events: bool = False
    has_signals: bool = False
