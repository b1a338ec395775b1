"""The rows of a live view: one for each container of a run, as it stands at a moment. Pure.

Words of states are those of the API (`Running`, `CrashLoopBackOff`, `Completed`); foreign text is made harmless here.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.cli.live.facts import PROBES, ProbeFacts
from kubelet_emu.cli.live.notes import Note, note_of
from kubelet_emu.cli.waits import gate_of
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.journal.text import harmless
from kubelet_emu.printers.durations import human_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from kubelet_emu.cli.live.facts import LiveFacts
    from kubelet_emu.cli.pull_lines import PullView
    from kubelet_emu.journal.facts import ContainerFacts, PodFacts, RunFacts

COMPLETED = "Completed"
_SHORT = {"startup": "startup", "liveness": "live", "readiness": "ready"}
_KINDS = {ContainerKind.INIT: " (init)", ContainerKind.SIDECAR: " (sidecar)", ContainerKind.EPHEMERAL: " (debug)"}


class Tone(enum.IntEnum):
    """How much a row wants to be seen; the first ones stay when not all fit."""

    BAD = 0
    BUSY = 1
    GOOD = 2
    QUIET = 3


@frozen(kw_only=True)
class Row:
    """One container. `age` is for how long it has been in its state."""

    pod: str
    container: str
    state: str
    tone: Tone
    age: str = ""
    restarts: int = 0
    probes: tuple[tuple[str, Tone], ...] = ()
    note: Note = field(factory=Note)

    @property
    def rank(self) -> Tone:
        """Return how much it wants to be seen: a countdown is news."""
        return min(self.tone, Tone.BUSY) if self.note.counts_down else self.tone


def rows_of(
    live: LiveFacts,
    pulls: Mapping[tuple[str, str], PullView],
    now: datetime,
    wanted: Callable[[PodFacts], bool] = lambda _pod: True,
) -> tuple[Row, ...]:
    """Return the rows at a moment, pods in the order of their creation, containers in that of their specs."""
    there = (pod for pod in live.facts.pods.values() if not pod.is_deleted and wanted(pod))
    return tuple(row for pod in there for row in _of_pod(live, pod, pulls, now))


def _of_pod(live: LiveFacts, pod: PodFacts, pulls: Mapping[tuple[str, str], PullView], now: datetime) -> Iterator[Row]:
    waits = "" if pod.is_terminal or pod.stop_requested_at is not None else gate_of(pod)
    for container in pod.containers.values():
        run = container.last_run
        note = note_of(live, pod, container, pulls.get((pod.ref.uid, container.name)), now)
        if not note.text and run is None and container.kind is ContainerKind.MAIN and waits:
            note, waits = Note(f"waits {waits}"), ""
        status_at = live.pod(pod).status_at
        yield Row(
            pod=harmless(pod.ref.name),
            container=harmless(container.name) + _KINDS.get(container.kind, ""),
            state=harmless(_state(pod, container, status_at)),
            tone=_tone(pod, container),
            age=human_duration(max(0.0, (now - _since(pod, run)).total_seconds())),
            restarts=max(container.restarts, (run.run if run is not None else 1) - 1),
            probes=_probes(live.container(pod, container).probes) if _runs(run) else (),
            note=Note(harmless(note.text, 200), counts_down=note.counts_down),
        )


def _runs(run: RunFacts | None) -> bool:
    return run is not None and run.started_at is not None and run.exited_at is None


def _state(pod: PodFacts, container: ContainerFacts, status_at: datetime | None) -> str:
    """Return a container's state in the words of its status; what was seen since goes before it."""
    run = container.last_run
    if _runs(run):
        return "Running"
    if container.waiting_reason and not _is_outdated(container, status_at):
        return container.waiting_reason
    if run is not None and run.exited_at is not None:
        word = run.reason or ("Error" if run.code else COMPLETED)
        return f"{word} ({run.code})" if run.code else word
    if run is not None and run.reason:
        return run.reason
    return pod.reason or pod.phase


def _is_outdated(container: ContainerFacts, status_at: datetime | None) -> bool:
    """Tell whether the waiting reason is from before the end of the last run."""
    run = container.last_run
    if run is None or run.exited_at is None:
        return False
    return container.restarts < run.run - 1 or status_at is None or status_at < run.exited_at


def _tone(pod: PodFacts, container: ContainerFacts) -> Tone:
    run = container.last_run
    if _runs(run):
        is_main = container.kind is ContainerKind.MAIN
        return Tone.GOOD if container.is_ready or (not is_main and not container.has_startup_probe) else Tone.BUSY
    if run is not None and run.exited_at is not None:
        return Tone.BAD if run.code else Tone.QUIET
    is_stuck = container.waiting_reason.endswith(("BackOff", "Error")) or container.waiting_reason.startswith("Err")
    return Tone.BAD if is_stuck or pod.phase == "Failed" else Tone.BUSY


def _since(pod: PodFacts, run: RunFacts | None) -> datetime:
    """Return when the state began: with the run, its end, or the pod."""
    moments = (pod.created_at, run.started_at if run else None, run.exited_at if run else None)
    return [moment for moment in moments if moment is not None][-1]


def _probes(probes: Mapping[str, ProbeFacts]) -> tuple[tuple[str, Tone], ...]:
    """Return the probes that count now: the startup probe alone until it has succeeded, then the other two."""
    startup = probes.get("startup")
    if startup is not None and (not startup.is_success or len(probes) == 1):
        return (_probe("startup", startup),)
    return tuple(_probe(kind, probes[kind]) for kind in PROBES[1:] if kind in probes)


def _probe(kind: str, probe: ProbeFacts) -> tuple[str, Tone]:
    word = _SHORT[kind]
    if 0 < probe.failures < probe.failure_threshold:
        return f"{word} {probe.failures}/{probe.failure_threshold} failed", Tone.BAD
    if probe.is_first:
        return f"{word} …", Tone.BUSY
    return (f"{word} ✓", Tone.GOOD) if probe.is_success else (f"{word} ✗", Tone.BAD)
