"""Delays that double, as a value: the crash-loop back-off.

An entry is made, or doubled, at the moment a start is allowed; the delay itself is counted from the event that is
backed off from (the finish of the newest exited instance). An event that comes more than EXPIRE_SECONDS after the last
start starts a new series. Nothing here is random and nothing outlives the process.
Source: client-go flowcontrol.Backoff; kubelet v1.36 doBackOff, newCrashLoopBackOff (KEP-4603).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.api.codec import encode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod
    from kubelet_emu.config.features import FeatureGates

INITIAL_SECONDS = 10.0
MAX_SECONDS = 300.0
REDUCED_INITIAL_SECONDS = 1.0
REDUCED_MAX_SECONDS = 60.0
EXPIRE_SECONDS = 600.0


@frozen
class BackoffEntry:
    """The delay in force for one key, and when it was last made or doubled."""

    delay_seconds: float
    updated_at: datetime


@frozen(kw_only=True)
class Backoff:
    """Delays by key (client-go flowcontrol.Backoff)."""

    initial_seconds: float = INITIAL_SECONDS
    max_seconds: float = MAX_SECONDS
    entries: Mapping[str, BackoffEntry] = field(factory=dict)

    def refused_until(self, key: str, event_at: datetime, now: datetime) -> datetime | None:
        """Return when a start is allowed again; None when it is allowed now (Backoff.IsInBackOffSince)."""
        entry = self._live(key, event_at)
        if entry is None:
            return None
        until = event_at + timedelta(seconds=entry.delay_seconds)
        return until if now < until else None

    def next(self, key: str, event_at: datetime, now: datetime) -> Backoff:
        """Return the delays after a start is allowed at `now`: the key's is made, or doubled (Backoff.Next)."""
        entry = self._live(key, event_at)
        delay = self.initial_seconds if entry is None else min(entry.delay_seconds * 2, self.max_seconds)
        return evolve(self, entries={**self.entries, key: BackoffEntry(delay, now)})

    def delay(self, key: str) -> float:
        """Return the whole delay of a key in seconds, 0 for a key without one (Backoff.Get)."""
        entry = self.entries.get(key)
        return entry.delay_seconds if entry is not None else 0.0

    def collect_garbage(self, now: datetime) -> Backoff:
        """Return the delays without the keys that were not touched for EXPIRE_SECONDS (Backoff.GC, housekeeping)."""
        return evolve(self, entries={key: entry for key, entry in self.entries.items() if not _expired(entry, now)})

    def _live(self, key: str, event_at: datetime) -> BackoffEntry | None:
        entry = self.entries.get(key)
        return None if entry is None or _expired(entry, event_at) else entry


def _expired(entry: BackoffEntry, event_at: datetime) -> bool:
    return (event_at - entry.updated_at).total_seconds() > EXPIRE_SECONDS


def crash_loop_backoff(features: FeatureGates, max_container_restart_period_seconds: float | None = None) -> Backoff:
    """Return the node's crash-loop back-off; the period is crashLoopBackOff.maxContainerRestartPeriod.

    Source: kubelet v1.36 newCrashLoopBackOff (KEP-4603).
    """
    initial, maximum = INITIAL_SECONDS, MAX_SECONDS
    if features.enabled("ReduceDefaultCrashLoopBackOffDecay"):
        initial, maximum = REDUCED_INITIAL_SECONDS, REDUCED_MAX_SECONDS
    if features.enabled("KubeletCrashLoopBackOffMax") and max_container_restart_period_seconds is not None:
        maximum = max_container_restart_period_seconds
        initial = min(initial, maximum)
    return Backoff(initial_seconds=initial, max_seconds=maximum)


def backoff_key(pod: Pod, container: Container | EphemeralContainer) -> str:
    """Return the key of a container's delays: a new image or new resources start a new series.

    Source: kubelet v1.36 GetBackoffKey.
    """
    resources = encode(container.resources) if container.resources is not None else {}
    parts = (pod.metadata.name, pod.metadata.namespace, pod.metadata.uid, container.name, container.image, resources)
    return "_".join(map(str, parts))
