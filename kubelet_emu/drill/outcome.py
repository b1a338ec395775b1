"""What a shutdown was like: grace used, who had to be killed, hooks cut short, exit codes, and what broke a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.lifecycle.verification import Case, Outcome, Terms, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import LogHistory, PodHistory
    from kubelet_emu.lifecycle.log import LifecycleLog

KILLED_CODE = 137


@frozen(kw_only=True)
class Shutdown:
    """One shutdown. Times are seconds; `deleted_at` counts from the pod's creation, `used` from the deletion.

    `broken` are the rules that did not hold, as `CODE sentence`. `by_drill` are containers that the drill itself killed
    on the way. `unreached` says why the pod never came into this phase: nothing is judged then. `error` is why it could
    not be deleted.
    """

    phase: str
    deleted_at: float | None = None
    grace: float = 30.0
    used: float | None = None
    killed: tuple[str, ...] = ()
    cut_short: tuple[str, ...] = ()
    codes: tuple[tuple[str, int], ...] = ()
    broken: tuple[str, ...] = ()
    by_drill: tuple[str, ...] = ()
    unreached: str = ""
    error: str = ""

    @property
    def faults(self) -> tuple[str, ...]:
        """Return what went wrong, a sentence each."""
        return (
            *((self.error,) if self.error else ()),
            *(f"{name} needed SIGKILL" for name in self.killed),
            *(f"the preStop hook of {name} was cut short" for name in self.cut_short),
            *self.broken,
        )

    @property
    def is_in_order(self) -> bool:
        """Tell whether every rule held."""
        return not self.broken


def shutdown_of(phase: str, log: LifecycleLog, pod: str) -> Shutdown:
    """Return what the shutdown of a pod was like."""
    history = recount(log)
    mine = next(each for each in history.pods if each.name == pod)
    deletion = mine.deletions[0] if mine.deletions else None
    began = None if deletion is None else deletion.at.high
    ended = [run.exited.high for _, run in mine.runs() if run.exited is not None]
    created = mine.created.high if mine.created is not None else 0.0
    return Shutdown(
        phase=phase,
        deleted_at=None if began is None else began - created,
        grace=_grace(mine),
        used=None if began is None else max(0.0, max(ended, default=began) - began),
        killed=tuple(_killed(mine)),
        cut_short=tuple(_cut_short(mine)),
        codes=tuple((c.name, c.last_run.code) for c in mine.containers if c.last_run and c.last_run.code is not None),
        broken=tuple(_broken(history)),
    )


def _grace(pod: PodHistory) -> float:
    told = [deletion.grace for deletion in pod.deletions if deletion.grace is not None]
    if told:
        return told[0]
    grace = None if pod.spec is None else pod.spec.spec.termination_grace_period_seconds
    return 30.0 if grace is None else float(grace)


def _killed(pod: PodHistory) -> Iterator[str]:
    for container, run in pod.runs():
        if run.stop is not None and run.stop.kill is not None and run.code == KILLED_CODE:
            yield container.name


def _cut_short(pod: PodHistory) -> Iterator[str]:
    for container, run in pod.runs():
        hook = None if run.stop is None else run.stop.pre_stop
        if hook is not None and hook.began is not None and (hook.has_failed or hook.ended is None):
            yield container.name


def _broken(history: LogHistory) -> Iterator[str]:
    report = judge(Case(history=history, terms=Terms()))
    for finding in report.of(Outcome.VIOLATION):
        for verdict in finding.of(Outcome.VIOLATION):
            yield f"{finding.rule.code} {verdict.text}"
