"""What the values of an expectation are in a trace, at its end or in one status record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.raw_records import containers_of, mapping_of, number_of, time_of
from kubelet_emu.lifecycle.trace import MissingError
from kubelet_emu.scenarios.moments import occurrences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.trace import Trace
    from kubelet_emu.scenarios.expectations import MomentExpression, Subject, ValueExpression

_POD_FIELDS = {
    "phase": "phase",
    "podreason": "reason",
    "podmessage": "message",
    "qos": "qosClass",
    "ip": "podIP",
    "observedgeneration": "observedGeneration",
    "generation": "generation",
}
_CONDITION_FIELDS = {
    "condition": "conditions",
    "conditionreason": "conditionReasons",
    "conditionmessage": "conditionMessages",
}
_JOB_COUNTS = frozenset({"active", "succeeded", "failed", "ready", "terminating"})


def value_of(trace: Trace, value: ValueExpression, record: RawRecord | None = None) -> object:
    """Return a value, in `record` or at the end of the trace; MissingError."""
    function = value.function
    if function in _POD_FIELDS:
        return (record or last_status(trace, value.pod)).get(_POD_FIELDS[function])
    if function in _CONDITION_FIELDS:
        return mapping_of(record or last_status(trace, value.pod), _CONDITION_FIELDS[function]).get(value.argument)
    match function:
        case "pods":
            return _pods(trace, value.argument)
        case "job":
            return _job(trace, value.argument)
        case "count" if value.moment is not None:
            return _count(trace, value.moment)
        case _ if value.subject is not None:
            return _of_container(trace, value, value.subject, record)
        case _:
            raise MissingError(f"no such value: {value.source}")


def last_status(trace: Trace, pod: str, until: float = math.inf) -> RawRecord:
    """Return the last status record not later than `until`; MissingError."""
    found = [record for record in trace.of_kind("status", pod) if time_of(record) <= until]
    if not found:
        raise MissingError("no status record" if until == math.inf else f"no status record before {until:.2f}")
    return found[-1]


def _pods(trace: Trace, phase: str) -> int:
    if not phase:
        return len(trace.pods)
    return sum(last_status(trace, pod).get("phase") == phase for pod in trace.pods)


def _job(trace: Trace, argument: str) -> object:
    records = [record for record in trace.of_kind("job") if not record.get("deleted")]
    if not records:
        raise MissingError("no job record")
    field, _, kind = argument.partition(" ")
    if field == "condition":
        return mapping_of(records[-1], "conditions").get(kind.strip())
    if field == "conditionreason":
        return mapping_of(records[-1], "conditionReasons").get(kind.strip())
    found = records[-1].get(field)
    return 0 if found is None and field in _JOB_COUNTS else found


def _count(trace: Trace, moment: MomentExpression) -> int:
    """Count occurrences; of events their `count`, each pod, container and message once."""
    if moment.verb != "event":
        return len(occurrences(trace, moment))
    subject = moment.subject
    totals: dict[tuple[object, object, object], int] = {}
    for record in trace.of_kind("event", subject.pod):
        message = str(record.get("message") or "")
        is_meant = subject.name in {"pod", "job", "*", record.get("container")}
        if is_meant and record.get("reason") == moment.argument and (moment.text is None or moment.text in message):
            key = (record.get("pod"), record.get("container"), message)
            totals[key] = max(totals.get(key, 0), number_of(record.get("count") or 1))
    return sum(totals.values())


def _of_container(trace: Trace, value: ValueExpression, subject: Subject, record: RawRecord | None) -> object:
    pods = _pods_with(trace, value, subject)
    match value.function:
        case "log":
            return "\n".join(line for pod in pods for line in _lines(trace, pod, subject))
        case "runs":
            return sum(run.started is not None for pod in pods for run in trace.runs(subject.name, pod).values())
        case "exitcode" | "reason":
            return _of_last_run(trace, pods[0], value.function, subject)
    status = _container_status(trace, pods[0], subject.name, record)
    match value.function:
        case "restarts":
            return number_of(status.get("restartCount"))
        case "message":
            return status.get("message", status.get("stateMessage"))
        case "ready" | "started":
            return bool(status.get(value.function))
        case function:
            return status.get(function)


def _pods_with(trace: Trace, value: ValueExpression, subject: Subject) -> tuple[str, ...]:
    """Return the pods whose container is meant; where one value is wanted there must be one."""
    pods = trace.pods_of(value.pod)
    if len(pods) <= 1:
        return pods
    found = tuple(pod for pod in pods if subject.name in trace.container_names(pod))
    if len(found) > 1 and value.function not in {"log", "runs"}:
        raise MissingError(f"{subject.name} is in {len(found)} pods: name one, as in @1/{subject.name}")
    if not found and value.function not in {"log", "runs"}:
        return (value.pod,)
    return found


def _lines(trace: Trace, pod: str, subject: Subject) -> list[str]:
    records = [record for record in trace.of_kind("log", pod) if record.get("container") == subject.name]
    if subject.n is not None:
        numbers = [number_of(record.get("run", 1)) for record in records]
        wanted = max(numbers, default=0) if subject.n == "last" else int(subject.n)
        records = [record for record, n in zip(records, numbers, strict=True) if n == wanted]
    return [str(record["line"]) for record in records]


def _of_last_run(trace: Trace, pod: str, function: str, subject: Subject) -> object:
    runs = trace.runs(subject.name, pod)
    over = [n for n, run in runs.items() if run.exited is not None]
    if not over:
        raise MissingError(f"{subject.name} never exited")
    n = max(over) if subject.n in {None, "last"} else int(subject.n or 0)
    if n not in over:
        raise MissingError(f"{subject.name}#{n} never exited")
    found = runs[n].code if function == "exitcode" else runs[n].reason
    if found is None:
        raise MissingError(f"the trace does not tell the {function} of {subject.name}#{n}")
    return found


def _container_status(trace: Trace, pod: str, name: str, record: RawRecord | None) -> Mapping[str, object]:
    if record is not None:
        found = containers_of(record).get(name)
    else:
        found = next(iter([status for _, status in trace.container_statuses(name, pod)][-1:]), None)
    if found is None:
        raise MissingError(f"no status of {name}")
    return found
