"""Who ended each container's last run, as a line. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.history import StopCause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import PodHistory, RunHistory

KILLED, TERMINATED = 137, 143


def endings_of(pod: PodHistory) -> tuple[tuple[str, str], ...]:
    """Return (run, who ended it and why) of every run that has ended, in spec order."""
    return tuple(_endings(pod))


def _endings(pod: PodHistory) -> Iterator[tuple[str, str]]:
    for _, run in pod.runs():
        if run.exited is not None and run.is_exit_told:
            yield run.name, _ending(run)


def _ending(run: RunHistory) -> str:
    code = "ended" if run.code is None else f"exited {run.code}"
    if run.reason == "OOMKilled":
        return f"{code}: out of memory"
    stop = run.stop
    if stop is None:
        return f"{code} {'by a signal from outside' if run.code in {KILLED, TERMINATED} else 'by itself'}"
    why = (
        f"since {stop.cause.value}" if stop.cause is not StopCause.UNKNOWN else "for a reason that the log doesn't name"
    )
    if stop.kill is not None and run.code == KILLED:
        grace = "" if stop.grace is None else f" when its grace of {stop.grace:g} s was over"
        return f"{code}: killed by the kubelet{grace}, stopped {why}"
    return f"{code}: stopped by the kubelet {why}"
