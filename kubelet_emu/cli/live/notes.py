"""What comes next for a container, with the time that is left until then. Pure."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.reasons import CRASH_LOOP_BACK_OFF
from kubelet_emu.cli.pull_lines import measure, waiting
from kubelet_emu.config.durations import parse_duration
from kubelet_emu.images.outcome import PullState
from kubelet_emu.printers.durations import human_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from kubelet_emu.cli.live.facts import ContainerProgress, LiveFacts, ProbeFacts
    from kubelet_emu.cli.pull_lines import PullView
    from kubelet_emu.journal.facts import ContainerFacts, PodFacts, RunFacts

_BACK_OFF = "back-off "


@frozen
class Note:
    """A text beside a container; `counts_down` when it changes each second."""

    text: str = ""
    counts_down: bool = False


def note_of(live: LiveFacts, pod: PodFacts, container: ContainerFacts, pull: PullView | None, now: datetime) -> Note:
    """Return what comes next, an empty note when that isn't known."""
    run, progress = container.last_run, live.container(pod, container)
    if run is not None and run.started_at is not None and run.exited_at is None:
        return _of_running(live, pod, run, progress, now)
    if pod.is_terminal or pod.stop_requested_at is not None:
        return Note()
    if pull is not None:
        return Note(_of_pull(pull))
    if (again_at := _starts_again_at(container, run, progress)) is not None:
        return _count("starts again", again_at, now)
    if run is None and progress.pulls_again_at is not None and not container.is_pulling:
        return _count("pulls again", progress.pulls_again_at, now)
    return Note("pulling") if container.is_pulling else Note()


def _of_pull(pull: PullView) -> str:
    if pull.state is PullState.QUEUED:
        return f"pull of {pull.image}: {waiting(pull.running, pull.limit)}"
    return f"{measure(pull)}  {pull.image}"


def _of_running(live: LiveFacts, pod: PodFacts, run: RunFacts, progress: ContainerProgress, now: datetime) -> Note:
    if progress.kill_at is not None or pod.stop_requested_at is not None:
        return _of_stop(pod, progress, now)
    if progress.hook:
        return Note(f"{progress.hook} runs")
    if run.started_at is not None and (first := _first_probe(progress.probes, run.started_at)) is not None:
        kind, due_at = first
        if due_at > now:
            return _count(f"first {kind} probe", due_at, now)
    deadline, status = live.pod(pod).active_deadline_seconds, pod.status
    if deadline is not None and status is not None and status.start_time is not None:
        return _count("activeDeadlineSeconds is over", status.start_time + timedelta(seconds=deadline), now)
    return Note()


def _of_stop(pod: PodFacts, progress: ContainerProgress, now: datetime) -> Note:
    """Tell how far a stop has come: a hook, waiting for others, the signal; and when it becomes a kill."""
    kill_at = progress.kill_at
    if kill_at is None and pod.stop_requested_at is not None:
        grace = pod.grace_seconds if pod.stop_grace_seconds is None else pod.stop_grace_seconds
        kill_at = pod.stop_requested_at + timedelta(seconds=grace)
    stage = f"{progress.hook} runs" if progress.hook else "waits for its turn to stop"
    if progress.is_signalled:
        stage = "told to stop"
    return Note(stage) if kill_at is None else _count(f"{stage}, SIGKILL", kill_at, now)


def _first_probe(probes: Mapping[str, ProbeFacts], started_at: datetime) -> tuple[str, datetime] | None:
    """Return which probe is attempted first and when; the startup probe has succeeded before the others."""
    startup = probes.get("startup")
    if startup is not None and not startup.is_success:
        return _due(("startup", startup), started_at)
    others = ((kind, probe) for kind, probe in probes.items() if kind != "startup")
    dues = [due for each in others if (due := _due(each, started_at)) is not None]
    return min(dues, key=lambda due: due[1], default=None)


def _due(named: tuple[str, ProbeFacts], started_at: datetime) -> tuple[str, datetime] | None:
    kind, probe = named
    is_awaited = probe.is_first and probe.initial_delay_seconds > 0
    return (kind, started_at + timedelta(seconds=probe.initial_delay_seconds)) if is_awaited else None


def _starts_again_at(container: ContainerFacts, run: RunFacts | None, progress: ContainerProgress) -> datetime | None:
    """Return when a back-off is over: as the status says it, else as it was refused last."""
    if run is None or run.exited_at is None:
        return None
    told = next(_told_delays(container.waiting_message), None)
    if container.waiting_reason == CRASH_LOOP_BACK_OFF and told is not None:
        return run.exited_at + timedelta(seconds=told)
    return progress.starts_again_at


def _told_delays(message: str) -> Iterator[float]:
    """Yield the delay of `back-off 40s restarting failed container=...`."""
    if message.startswith(_BACK_OFF):
        try:
            yield parse_duration(message.removeprefix(_BACK_OFF).partition(" ")[0])
        except ValueError:
            return


def _count(what: str, until: datetime, now: datetime) -> Note:
    left = math.ceil((until - now).total_seconds())
    return Note(f"{what} in {human_duration(left)}", counts_down=True) if left > 0 else Note(f"{what} now")
