"""Goes through the entries of a log and puts together what each sync decided from.

The inverse of what a worker does when it begins a step: the pod as its manifest and its status records tell it, what
the runtime showed, the probe results and failed starts up to then. What a log doesn't tell is said, never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.codec import DecodeError, decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.config.features import FeatureGates, gates_for
from kubelet_emu.journal.deferred import Deferred
from kubelet_emu.journal.records import HeaderRecord, ManifestRecord, ObservedRecord, StatusRecord, SyncRecord
from kubelet_emu.journal.sync_input import SyncFacts, probe_results, read_input, says_restarting_all
from kubelet_emu.rules.observed import ObservedPod, SyncInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.sync_input import Results
    from kubelet_emu.rules.observed import StartFailure


@frozen(kw_only=True)
class RecordedSync:
    """One sync of a log. `sync` is None when the log doesn't tell what it decided from: `missing` says what.

    `statuses` are those that reached the API during the sync, led by the one that stood before it.
    """

    record: SyncRecord
    at: datetime
    sync: SyncInput | None = None
    statuses: tuple[PodStatus, ...] = ()
    missing: str = ""


@define(eq=False)
class _PodFold:
    """What the log has told of one pod so far."""

    versions: list[Pod] = field(factory=list)
    fault: str = ""
    observed: list[ObservedPod] = field(factory=list)
    statuses: list[tuple[datetime, StatusRecord]] = field(factory=list)
    probes: Results = field(factory=dict)
    failures: Mapping[str, StartFailure] = field(factory=dict)

    def add_version(self, record: ManifestRecord) -> None:
        try:
            self.versions.append(decode_mapping(Pod, record.manifest, ignore_unknown=True))
        except DecodeError as error:
            self.fault = f"its manifest can't be read: {error}"

    def pod_at(self, facts: SyncFacts) -> Pod:
        """Return the pod as the sync saw it; ValueError without a manifest."""
        if not self.versions:
            raise ValueError(self.fault or "the log has no manifest of this pod")
        older = [pod for pod in self.versions if (pod.metadata.generation or 1) <= facts.generation]
        pod = (older or self.versions)[-1]
        metadata = evolve(
            pod.metadata,
            generation=facts.generation,
            deletion_timestamp=facts.now if facts.is_deleting else None,
        )
        return evolve(pod, metadata=metadata, status=self.status_before(facts.now))

    def observed_at(self, uid: str, behind: int) -> ObservedPod:
        """Return what the runtime had shown when as many records were still to come."""
        index = len(self.observed) - 1 - behind
        return self.observed[index] if index >= 0 else ObservedPod(uid=uid)

    def status_before(self, now: datetime) -> PodStatus:
        """Return the status that the API had when a sync began."""
        return next((record.status for at, record in reversed(self.statuses) if at < now), PodStatus())

    def statuses_since(self, now: datetime) -> tuple[PodStatus, ...]:
        """Return the statuses since a sync began, led by the one before it."""
        return (self.status_before(now), *(record.status for at, record in self.statuses if at >= now))


@define(eq=False)
class Fold:
    """Takes the entries of one log in their order."""

    features: FeatureGates = field(factory=FeatureGates)
    _pods: dict[str, _PodFold] = field(factory=dict, init=False)

    def feed(self, entry: Entry) -> RecordedSync | None:
        """Take an entry; return the sync that it is, None when it is none.

        ValueError for a header of a Kubernetes version whose gates aren't known.
        """
        match record := entry.record:
            case HeaderRecord():
                self.features = gates_for(record.kubernetes, record.features)
            case ManifestRecord() if record.ref.kind == "Pod":
                self._pod(record.ref.uid).add_version(record)
            case ObservedRecord():
                self._pod(record.ref.uid).observed.append(record.observed)
            case StatusRecord():
                self._pod(record.ref.uid).statuses.append((entry.at, record))
            case SyncRecord():
                return self._sync(record, entry.at)
        return None

    def _pod(self, uid: str) -> _PodFold:
        return self._pods.setdefault(uid, _PodFold())

    def _sync(self, record: SyncRecord, at: datetime) -> RecordedSync:
        fold = self._pod(record.ref.uid)
        try:
            facts = read_input(_plain(record.input))
            if facts.probes is not None:
                fold.probes = facts.probes
            if facts.start_failures is not None:
                fold.failures = facts.start_failures
            sync = self._input(fold, record.ref.uid, facts)
        except (AttributeError, OverflowError, TypeError) as error:  # values of another shape than was ever written
            return RecordedSync(record=record, at=at, missing=f"its input can't be read: {error}")
        except ValueError as error:
            return RecordedSync(record=record, at=at, missing=str(error))
        return RecordedSync(
            record=record,
            at=at,
            sync=sync,
            statuses=fold.statuses_since(facts.now),
        )

    def _input(self, fold: _PodFold, uid: str, facts: SyncFacts) -> SyncInput:
        observed = fold.observed_at(uid, facts.behind)
        pod = fold.pod_at(facts)
        return SyncInput(
            pod=pod,
            observed=observed,
            probes=probe_results(fold.probes, observed),
            previous_status=_restarting(pod.status, is_true=facts.is_restarting_all),
            start_failures=fold.failures,
            actuated=facts.actuated,
            now=facts.now,
            features=self.features,
            is_static=facts.is_static,
        )


def _restarting(status: PodStatus, *, is_true: bool) -> PodStatus:
    """Return a status that says of the restart of all containers what the sync saw (KEP-5532)."""
    if says_restarting_all(status) is is_true:
        return status
    others = tuple(c for c in status.conditions if c.type != reasons.ALL_CONTAINERS_RESTARTING)
    own = (PodCondition(type=reasons.ALL_CONTAINERS_RESTARTING, status="True"),) if is_true else ()
    return evolve(status, conditions=(*others, *own))


def recorded_syncs(entries: Iterable[Entry]) -> Iterator[RecordedSync]:
    """Yield the syncs of a log in their order, each with what it decided from."""
    fold = Fold()
    for entry in entries:
        if (found := fold.feed(entry)) is not None:
            yield found


def _plain(data: Mapping[str, object] | Deferred) -> Mapping[str, object]:
    return data.make() if isinstance(data, Deferred) else data
