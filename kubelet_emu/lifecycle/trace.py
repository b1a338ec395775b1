"""A recorded trace, ready to be asked.

Reads the records of docs/SCENARIOS.md, in our own spelling and in that of a recorder on a real node, into one form.
Values only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import define, field

from kubelet_emu.lifecycle.raw_records import containers_of, latest, mapping_of, time_of
from kubelet_emu.lifecycle.runs import runs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.runs import Run

_RUNTIME_WORDS = {"started": "start", "exited": "exit"}


class MissingError(Exception):
    """A moment or value that a check needs is not in the trace."""


@define(eq=False)
class Trace:
    """The records of one trace in order of time."""

    records: Sequence[RawRecord]
    pods: tuple[str, ...] = ()
    is_exact: bool = False
    _runs: dict[tuple[str, str], Mapping[int, Run]] = field(factory=dict, init=False)

    @classmethod
    def of(cls, records: Iterable[Mapping[str, object]]) -> Trace:
        """Return a trace of raw records; those without a time are left out."""
        raw = [dict(record) for record in records if "t" in record]
        known = sorted((new for record in raw for new in _normalised(record)), key=time_of)
        _number_steps(known)
        pods = dict.fromkeys(str(record["pod"]) for record in known if record.get("pod"))
        return cls(known, tuple(pods), any(map(_is_exact_run, raw)))

    def pod_named(self, pod: str) -> str | None:
        """Return the pod that a selector means: a name, "@k" for the k-th to appear, None for "*"."""
        if pod == "*":
            return None
        if not pod.startswith("@"):
            return pod
        index = int(pod[1:]) - 1
        if index >= len(self.pods):
            raise MissingError(f"there is no pod {pod}")
        return self.pods[index]

    def pods_of(self, pod: str) -> tuple[str, ...]:
        """Return the pods that a selector covers, one by one, so that equally named containers don't mix."""
        if self.pod_named(pod) is not None or not self.pods:
            return (pod,)
        return self.pods

    def of_kind(self, kind: str, pod: str = "*") -> Iterator[RawRecord]:
        """Return the records of a kind, of one pod or of all; a record without a pod belongs to every one."""
        wanted = self.pod_named(pod)
        for record in self.records:
            if record.get("kind") == kind and (wanted is None or record.get("pod", wanted) == wanted):
                yield record

    def container_names(self, pod: str) -> tuple[str, ...]:
        """Return the containers of a pod in the order in which they show."""
        names: dict[str, None] = {}
        for status in self.of_kind("status", pod):
            names.update(dict.fromkeys(containers_of(status)))
        for kind in ("log", "run", "event"):
            for record in self.of_kind(kind, pod):
                if record.get("container"):
                    names[str(record["container"])] = None
        return tuple(names)

    def container_statuses(self, name: str, pod: str) -> Iterator[tuple[float, Mapping[str, object]]]:
        """Return the statuses of a container, each with the time when it had surely been seen."""
        for record in self.of_kind("status", pod):
            status = containers_of(record).get(name)
            if status is not None:
                yield latest(record), status

    def runs(self, name: str, pod: str) -> Mapping[int, Run]:
        """Return the runs of one container of one pod by number."""
        key = (name, pod)
        if key not in self._runs:
            self._runs[key] = runs_of(self, name, pod)
        return self._runs[key]


def _is_exact_run(record: RawRecord) -> bool:
    """Tell whether a record is the runtime's own of a run, not one that a status told to the second."""
    return record.get("kind") in {"runtime", "run"} and not record.get("resolution")


def _number_steps(records: list[RawRecord]) -> None:
    for n, record in enumerate((r for r in records if r.get("kind") == "step"), 1):
        record.setdefault("n", n)


def _normalised(record: RawRecord) -> list[RawRecord]:
    """Return a record in our own spelling; none for what says nothing."""
    match record.get("kind"):
        case "runtime":
            what = _RUNTIME_WORDS.get(str(record.get("what")))
            if record.get("container") == "POD" or what is None:
                return []
            return [{**record, "kind": "run", "what": what, "code": record.get("exitCode")}]
        case "object":
            return _normalised_object(record)
        case "job" if isinstance(record.get("status"), dict):
            return [_normalised_job(record)]
        case "status":
            return [_normalised_status(record)]
        case _:
            return [record]


def _normalised_object(record: RawRecord) -> list[RawRecord]:
    what = record.get("what")
    if record.get("job"):
        return [{**record, "kind": "job", "deleted": True}] if what == "deleted" else []
    if what == "deleted":
        return [{**record, "kind": "deleted"}]
    return [{**record, "kind": "terminating"}] if what == "deletionTimestamp" else [record]


def _normalised_job(record: RawRecord) -> RawRecord:
    status = {k: v for k, v in mapping_of(record, "status").items() if k not in {"t", "kind", "conditions"}}
    conditions = cast("Sequence[Mapping[str, object]]", mapping_of(record, "status").get("conditions") or ())
    return {
        **status,
        "t": record["t"],
        "kind": "job",
        "job": record.get("job"),
        "suspend": record.get("suspend"),
        "conditions": {str(c["type"]): c.get("status") for c in conditions},
        "conditionReasons": {str(c["type"]): c.get("reason") for c in conditions},
    }


def _normalised_status(record: RawRecord) -> RawRecord:
    new = dict(record)
    if record.get("deleting"):
        new["deletionTimestamp"] = True
    both = mapping_of(record, "conditionReasons")
    if any(isinstance(value, list) for value in both.values()):
        pairs = {key: cast("list[object]", value) for key, value in both.items()}
        new["conditionReasons"] = {key: pair[0] for key, pair in pairs.items()}
        new["conditionMessages"] = {key: pair[1] for key, pair in pairs.items()}
    return new
