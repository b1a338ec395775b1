"""A SummaryModel as text, wrapped at the terminal's width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.journal.summary import SHOWN_SECONDS, SLOW_STOP_SECONDS, killed
from kubelet_emu.journal.text import harmless

if TYPE_CHECKING:
    from kubelet_emu.journal.endings import Ending
    from kubelet_emu.journal.job_summary import JobSummary
    from kubelet_emu.journal.summary import PodSummary, StartStep, StopStep, SummaryModel

_ARROW = " -> "
_INDENT = 7


def format_summary(model: SummaryModel, width: int = 80) -> str:
    """Return the whole summary; it ends in a newline unless there is nothing to say."""
    blocks = ["\n".join(_job_lines(job)) for job in model.jobs]
    blocks += ["\n".join(_pod_lines(pod, width)) for pod in model.pods]
    return "".join(block + "\n" for block in blocks)


def _job_lines(job: JobSummary) -> list[str]:
    lines = [f"job/{job.name}  {job.verdict}    {job.succeeded} succeeded, {job.failed} failed"]
    if job.why:
        lines.append(f"why    {harmless(job.why, 300)}")
    if job.seconds is not None:
        waited = f", {job.sidecar_seconds:.1f} s of them for sidecars" if job.sidecar_seconds >= SHOWN_SECONDS else ""
        lines.append(f"time   {job.seconds:.1f} s{waited}")
    return lines


def _pod_lines(pod: PodSummary, width: int) -> list[str]:
    lines = [_head(pod), *([f"why    {pod.why}"] if pod.why else [])]
    lines += _wrapped("start", [_start_text(step) for step in pod.starts], "", width)
    if pod.stops:
        tail = f"      order: {pod.order}" if pod.order else ""
        lines += _wrapped("stop", [_stop_text(step) for step in pod.stops], tail, width)
    for end in pod.bad_ends:
        lines.append(f"ended  {end.name} {harmless(end.text, 300)}")
        lines += [f"       | {harmless(line, 200)}" for line in end.lines]
    return lines


def _head(pod: PodSummary) -> str:
    phase = f"{pod.phase} ({pod.reason})" if pod.reason else pod.phase
    if pod.stop_seconds is None:
        return f"{pod.name}  {phase}"
    names = killed(pod)
    by_force = f"killed: {', '.join(names)}" if names else "nobody killed"
    return f"{pod.name}  {phase}    stop: {pod.stop_seconds:.1f} s of {pod.grace_seconds:g} s grace, {by_force}"


def _start_text(step: StartStep) -> str:
    notes = list(step.gates)
    if step.restarts:
        notes.append("1 restart" if step.restarts == 1 else f"{step.restarts} restarts")
    words = [step.name, f"({', '.join(notes)})" if notes else "", _outcome(step)]
    return " ".join(word for word in words if word)


def _outcome(step: StartStep) -> str:
    if not step.has_started:
        return "(not started)"
    if step.ending is None:
        return ""
    seconds = "" if step.seconds is None else f" {step.seconds:.1f}s"
    return _verdict(step.ending) + seconds


def _verdict(ending: Ending) -> str:
    return "ok" if ending.code == 0 else f"exit {ending.code}"


def _stop_text(step: StopStep) -> str:
    words = [step.name]
    if step.pre_stop_seconds is not None:
        words.append(f"(preStop {step.pre_stop_seconds:.1f}s)")
    if step.term_seconds is not None and step.term_seconds >= SLOW_STOP_SECONDS:
        words.append(f"TERM +{step.term_seconds:.1f}s")
    return " ".join([*words, _verdict(step.ending)])


def _wrapped(label: str, steps: list[str], tail: str, width: int) -> list[str]:
    """Join steps by arrows; a line that would be too long breaks before an arrow."""
    lines, line = [], label.ljust(_INDENT)
    for number, step in enumerate(steps):
        piece = step if number == 0 else _ARROW + step
        if number and len(line) + len(piece) > width:
            lines.append(line)
            line, piece = " " * (_INDENT - 1), _ARROW.rstrip() + " " + step
        line += piece
    if tail and len(line) + len(tail) > width:
        return [*lines, line, " " * _INDENT + tail.strip()]
    return [*lines, line + tail]
