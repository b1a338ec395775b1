"""Makes a timeline out of a pod's history. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.drawing.timeline import Bar, BarKind, Mark, MarkKind, Row, Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory

BACK_OFF = "waiting:CrashLoopBackOff"


def timeline_of(pod: PodHistory) -> Timeline:
    """Return the timeline of a pod: a row for itself, then one for each container in the order of its spec."""
    rows = (_pod_row(pod), *(_container_row(pod, container) for container in pod.containers))
    times = [time for row in rows for time in _times_of(row)]
    created = () if pod.created is None else (pod.created.high,)
    start = min((*times, *created), default=0.0)
    return Timeline(title=pod.name, rows=rows, start=start, end=max((*times, start)))


def _times_of(row: Row) -> Iterator[float]:
    for bar in row.bars:
        yield from (bar.start, bar.end)
    for mark in row.marks:
        yield mark.at


def _pod_row(pod: PodHistory) -> Row:
    bars = [*_phases(pod), *_ready_spans(pod), *_graces(pod)]
    asked = [deletion for i, deletion in enumerate(pod.deletions) if i == 0 or deletion.grace]
    marks = [Mark(kind=MarkKind.DELETED, at=deletion.at.high, label="deleted") for deletion in asked]
    return Row(name=pod.name, kind="pod", bars=tuple(bars), marks=tuple(marks))


def _phases(pod: PodHistory) -> Iterator[Bar]:
    for phase, after in zip(pod.phases, (*pod.phases[1:], None), strict=False):
        end = pod.ended_at if after is None else after.at.high
        is_open = after is None and phase.phase not in {"Succeeded", "Failed"}
        yield Bar(
            kind=BarKind.PHASE, start=phase.at.high, end=max(end, phase.at.high), label=phase.phase, is_open=is_open
        )


def _ready_spans(pod: PodHistory) -> Iterator[Bar]:
    changes = [c for c in pod.conditions if c.type == "Ready"]
    for change, after in zip(changes, (*changes[1:], None), strict=False):
        if change.status == "True":
            end = pod.ended_at if after is None else after.at.high
            yield Bar(kind=BarKind.READY, start=change.at.high, end=end, label="Ready", is_open=after is None)


def _graces(pod: PodHistory) -> Iterator[Bar]:
    """Yield the grace of each stop of the whole pod, as far as it was used."""
    for stop in pod.stops:
        ends = [run.exited.high for run in stop.runs if run.exited is not None]
        if stop.grace is not None:
            used = max(ends, default=pod.ended_at)
            yield Bar(
                kind=BarKind.GRACE,
                start=stop.began.high,
                end=max(stop.began.high, used),
                label=f"{stop.grace:g} s of grace, {max(0.0, used - stop.began.high):.1f} s used",
            )


def _container_row(pod: PodHistory, container: ContainerHistory) -> Row:
    bars = [*_pulls(pod, container), *_back_offs(pod, container)]
    marks: list[Mark] = []
    for run in container.runs:
        bars += _bars_of(pod, run)
        marks += _marks_of(run)
    return Row(name=container.name, kind=container.kind.value, bars=tuple(bars), marks=tuple(marks))


def _pulls(pod: PodHistory, container: ContainerHistory) -> Iterator[Bar]:
    for pull in pod.pulls:
        if pull.container == container.name:
            end = pod.ended_at if pull.ended is None else pull.ended.high
            text = f"pull of {pull.image}{' failed' if pull.has_failed else ''}"
            yield Bar(kind=BarKind.PULL, start=pull.asked.high, end=end, label=text, is_open=pull.ended is None)


def _back_offs(pod: PodHistory, container: ContainerHistory) -> Iterator[Bar]:
    """Yield the waits between an exit and the next start that the status calls back-off."""
    waits = [state for state in container.states if state.state == BACK_OFF]
    runs = container.runs
    for run, after in zip(runs, (*runs[1:], None), strict=False):
        if run.exited is None:
            continue
        end = pod.ended_at if after is None or after.started is None else after.started.high
        if any(run.exited.low <= state.at.high <= end for state in waits):
            label = f"back-off of {end - run.exited.high:.1f} s"
            yield Bar(kind=BarKind.BACK_OFF, start=run.exited.high, end=end, label=label, is_open=after is None)


def _bars_of(pod: PodHistory, run: RunHistory) -> Iterator[Bar]:
    """Yield the run, its ready parts, its stop and its hooks."""
    if run.started is None:
        return
    start = run.started.high
    end = pod.ended_at if run.exited is None else max(start, run.exited.high)
    code = "" if run.code is None else f", exit {run.code}"
    length = f"{run.name}: {end - start:.1f} s{code}"
    yield Bar(kind=BarKind.RUN, start=start, end=end, label=length, is_open=run.exited is None)
    for (at, is_ready), after in zip(run.ready, (*run.ready[1:], None), strict=False):
        if is_ready:
            until = end if after is None else min(end, after[0].high)
            yield Bar(kind=BarKind.READY, start=min(at.high, until), end=until, label="ready")
    if run.stop is not None:
        began = min(end, max(start, run.stop.began.high))
        yield Bar(kind=BarKind.STOPPING, start=began, end=end, label=f"stopped: {run.stop.cause.value}")
    hooks = ((BarKind.POST_START, run.post_start), (BarKind.PRE_STOP, None if run.stop is None else run.stop.pre_stop))
    for kind, hook in hooks:
        if hook is not None and hook.began is not None:
            is_over = kind is BarKind.POST_START and bool(run.ready)  # a status goes out only behind the hook
            unknown = hook.began.high if is_over else end
            until = unknown if hook.ended is None else max(hook.began.high, hook.ended.high)
            failed = " failed" if hook.has_failed else ""
            yield Bar(kind=kind, start=hook.began.high, end=until, label=f"{kind.value}{failed}")


def _marks_of(run: RunHistory) -> Iterator[Mark]:
    if run.stop is not None and run.stop.term is not None:
        yield Mark(kind=MarkKind.TERM, at=run.stop.term.high, label="TERM")
    if run.stop is not None and run.stop.kill is not None:
        yield Mark(kind=MarkKind.KILL, at=run.stop.kill.high, label="KILL")
    if run.exited is not None:
        kind = MarkKind.BAD_EXIT if run.code else MarkKind.EXIT
        yield Mark(kind=kind, at=run.exited.high, label="exit" if run.code is None else f"exit {run.code}")
