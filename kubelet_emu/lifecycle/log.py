"""What was read of one run, whatever wrote it: the value that verify, why, replay and timeline share.

Every source becomes trace records (docs/SCENARIOS.md) on one time line, so a log of this program, of kubectl or of a
container runtime is judged by the same code. What only some sources know is optional: objects, entries, the epoch.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.trace import Trace


class SourceFormat(enum.Enum):
    """What a source was recognised as, by its content."""

    LIFECYCLE_LOG = "lifecycle log"
    TRACE = "trace"
    EVENTS = "kubectl get events"
    WATCH = "kubectl get pod --watch"
    PREFIXED_LINES = "container lines with times"
    CRI_LOG = "CRI container log"
    DOCKER_LOG = "Docker container log"


@frozen(kw_only=True)
class Source:
    """One file of a log. `resolution_seconds` is the step of its clock: 1 for RFC 3339 times without a fraction."""

    file: str
    format: SourceFormat
    records: int
    resolution_seconds: float = 0.0


@frozen(kw_only=True)
class LogFault:
    """A line that can't be read; lines count from 1, 0 is the file as a whole."""

    file: str
    line: int
    text: str


class Place(NamedTuple):
    """Where a record about a pod, or about a container of it, is: `at` seconds of the trace, in a line from 1."""

    at: float
    pod: str
    container: str
    file: str
    line: int


@frozen(kw_only=True)
class LifecycleLog:
    """One run as it was read.

    `trace` counts seconds from `epoch`, which is None when no source has wall time. `objects` are what was accepted,
    by (kind, name), from the log itself or from manifests given beside it. `entries` are the records of our own log,
    which alone can be replayed. `places` tell where the records are that come from files. `kubernetes` is the version
    that wrote it, empty where no source says.
    """

    trace: Trace
    epoch: datetime | None = None
    objects: Mapping[tuple[str, str], APIObject]
    sources: tuple[Source, ...]
    faults: tuple[LogFault, ...] = ()
    entries: tuple[Entry, ...] = ()
    kubernetes: str = ""
    is_torn: bool = False
    places: tuple[Place, ...] = ()

    @property
    def resolution_seconds(self) -> float:
        """Return the coarsest step of the sources' clocks: what is closer than this has no known order."""
        return max((source.resolution_seconds for source in self.sources), default=0.0)
