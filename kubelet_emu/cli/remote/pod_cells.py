"""What `get pods` shows of a pod: READY, STATUS, RESTARTS and the rest. Pure, over the API's JSON form.

Source: kubernetes v1.36 pkg/printers/internalversion printPod.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

from attrs import define, field, frozen

from kubelet_emu.printers.durations import human_duration

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.views import Object

NONE = "<none>"
UNKNOWN = "<unknown>"
HEADERS = ("NAME", "READY", "STATUS", "RESTARTS", "AGE")
WIDE_HEADERS = ("IP", "NODE", "NOMINATED NODE", "READINESS GATES")


def part(obj: Object, name: str) -> Object:
    """Return a part of an object, an empty one where there is none."""
    return cast("Object", obj.get(name) or {})


def parts(obj: Object, name: str) -> list[Object]:
    """Return a list of an object, an empty one where there is none."""
    return cast("list[Object]", obj.get(name) or [])


def age_of(stamp: object, now: datetime) -> str:
    """Return how long ago a time was."""
    return UNKNOWN if not stamp else human_duration((now - _time(stamp)).total_seconds())


def _time(stamp: object) -> datetime:
    return datetime.fromisoformat(str(stamp))


def cells_of(pod: Object, now: datetime, *, is_wide: bool = False) -> tuple[str, ...]:
    """Return the cells of a pod's row."""
    shown = _Shown.of(pod)
    metadata = part(pod, "metadata")
    cells = (
        str(metadata.get("name", "")),
        f"{shown.ready}/{shown.total}",
        shown.status,
        shown.restarts_text(now),
        age_of(metadata.get("creationTimestamp"), now),
    )
    return (*cells, *_wide_cells(pod)) if is_wide else cells


def _wide_cells(pod: Object) -> tuple[str, ...]:
    spec, status = part(pod, "spec"), part(pod, "status")
    ips = parts(status, "podIPs")
    gates = [str(gate["conditionType"]) for gate in parts(spec, "readinessGates")]
    true = {condition["type"] for condition in parts(status, "conditions") if condition["status"] == "True"}
    return (
        str(ips[0].get("ip", NONE) if ips else status.get("podIP") or NONE),
        str(spec.get("nodeName") or NONE),
        str(status.get("nominatedNodeName") or NONE),
        f"{sum(gate in true for gate in gates)}/{len(gates)}" if gates else NONE,
    )


@frozen
class _Counts:
    """Restarts of some containers, and when the newest of the runs before ended."""

    restarts: int = 0
    last_end: datetime | None = None

    def plus(self, status: Object) -> _Counts:
        """Count a container."""
        ended = part(part(status, "lastState"), "terminated").get("finishedAt")
        ends = [end for end in (self.last_end, _time(ended) if ended else None) if end is not None]
        return _Counts(self.restarts + cast("int", status.get("restartCount", 0)), max(ends, default=None))


@define
class _Shown:
    """A pod on its way to its row; the numbers of rules are those of printPod's steps."""

    pod: Object
    status: str = ""
    ready: int = 0
    total: int = 0
    counts: _Counts = field(factory=_Counts)

    @classmethod
    def of(cls, pod: Object) -> _Shown:
        """Look at a pod."""
        spec, status = part(pod, "spec"), part(pod, "status")
        shown = cls(pod, str(status.get("reason") or status.get("phase") or ""))
        sidecars = {each["name"] for each in parts(spec, "initContainers") if each.get("restartPolicy") == "Always"}
        shown.total = len(parts(spec, "containers")) + len(sidecars)
        conditions = {str(condition["type"]): condition for condition in parts(status, "conditions")}
        if part(conditions, "PodScheduled").get("reason") == "SchedulingGated":
            shown.status = "SchedulingGated"
        of_sidecars, is_initializing = shown._see_init(sidecars)
        if not is_initializing or part(conditions, "Initialized").get("status") == "True":
            shown._see_mains(of_sidecars, is_ready=part(conditions, "Ready").get("status") == "True")
        shown._see_deletion()
        return shown

    def _see_init(self, sidecars: set[object]) -> tuple[_Counts, bool]:
        """Walk init containers up to the first that isn't done; return the counts of sidecars, and if there is one."""
        of_sidecars = _Counts()
        is_initializing = False
        total = len(parts(part(self.pod, "spec"), "initContainers"))
        for index, status in enumerate(parts(part(self.pod, "status"), "initContainerStatuses")):
            self.counts = self.counts.plus(status)
            is_sidecar = status["name"] in sidecars
            if is_sidecar:
                of_sidecars = of_sidecars.plus(status)
            if is_initializing:
                continue
            state = part(status, "state")
            ended, waiting = state.get("terminated"), part(state, "waiting")
            if ended is not None and cast("Object", ended).get("exitCode") == 0:
                continue
            if is_sidecar and status.get("started"):
                self.ready += bool(status.get("ready"))
                continue
            is_initializing = True
            if ended is not None:
                self.status = f"Init:{_ending(cast('Object', ended))}"
            elif waiting.get("reason") not in {None, "", "PodInitializing"}:
                self.status = f"Init:{waiting['reason']}"
            else:
                self.status = f"Init:{index}/{total}"
        return of_sidecars, is_initializing

    def _see_mains(self, of_sidecars: _Counts, *, is_ready: bool) -> None:
        """Walk the other containers from the last to the first: the first one has the last word."""
        self.counts = of_sidecars
        has_running, error = False, ""
        for status in reversed(parts(part(self.pod, "status"), "containerStatuses")):
            self.counts = self.counts.plus(status)
            state = part(status, "state")
            if part(state, "waiting").get("reason"):
                self.status = str(part(state, "waiting")["reason"])
            elif (ended := state.get("terminated")) is not None:
                self.status = _ending(cast("Object", ended))
                error = self.status if cast("Object", ended).get("exitCode") else error
            elif status.get("ready") and state.get("running") is not None:
                has_running = True
                self.ready += 1
        if self.status == "Completed":
            if has_running and is_ready:
                self.status = "Running"
            elif error:
                self.status = error
            elif has_running:
                self.status = "NotReady"

    def _see_deletion(self) -> None:
        status = part(self.pod, "status")
        if not part(self.pod, "metadata").get("deletionTimestamp"):
            return
        if status.get("reason") == "NodeLost":
            self.status = "Unknown"
        elif status.get("phase") not in {"Succeeded", "Failed"}:
            self.status = "Terminating"

    def restarts_text(self, now: datetime) -> str:
        """Return the restarts, with how long ago the newest of the runs before ended."""
        counts = self.counts
        if not counts.restarts or counts.last_end is None:
            return str(counts.restarts)
        return f"{counts.restarts} ({human_duration((now - counts.last_end).total_seconds())} ago)"


def _ending(ended: Object) -> str:
    """Return how a container ended, in one word."""
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"
