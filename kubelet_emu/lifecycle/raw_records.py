"""One record of a trace, and the readers of its fields.

A moment is an interval, since some facts are known only a little after they happened. A record with `resolution` (in
seconds) happened in [t, t + resolution): its clock is that coarse. Values only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

RawRecord = dict[str, object]
CANNOT_RUN = frozenset({"StartError", "ContainerCannotRun"})
EXIT_SLACK_SECONDS = 2.0
STATUS_SLACK_SECONDS = 1.0
EVENT_SLACK_SECONDS = 0.5


@frozen
class Interval:
    """When something happened: between `low` and `high` seconds after creation."""

    low: float
    high: float
    label: str

    def __str__(self) -> str:
        """Return the label and the time, as a failed check shows it."""
        if self.high - self.low < 0.005:
            return f"{self.label} @{self.high:.2f}"
        return f"{self.label} @{self.low:.2f}..{self.high:.2f}"


def interval(low: float, high: float, label: str) -> Interval:
    """Return an interval that doesn't begin before the trace."""
    return Interval(max(0.0, min(low, high)), high, label)


def time_of(record: Mapping[str, object]) -> float:
    """Return the seconds since creation of a record."""
    return float(cast("float", record["t"]))


def latest(record: Mapping[str, object]) -> float:
    """Return when a record's fact had surely happened: its time plus the step of its clock."""
    return time_of(record) + resolution_of(record)


def resolution_of(record: Mapping[str, object]) -> float:
    """Return the step of the clock that wrote a record, in seconds; 0 where it is exact."""
    return float(cast("float", record.get("resolution") or 0.0))


def number_of(value: object) -> int:
    """Return a number of a record, 0 where there is none."""
    return int(cast("int", value)) if value is not None else 0


def containers_of(record: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    """Return the container statuses of a status record by name."""
    return cast("Mapping[str, Mapping[str, object]]", record.get("containers") or {})


def mapping_of(record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return a nested mapping of a record, empty where there is none."""
    return cast("Mapping[str, object]", record.get(key) or {})
