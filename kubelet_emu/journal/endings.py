"""Who ended a run, from its facts."""

from __future__ import annotations

import enum
import signal
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.reasons import START_ERROR

if TYPE_CHECKING:
    from kubelet_emu.journal.facts import ContainerFacts, RunFacts


class EndedBy(enum.Enum):
    """Who or what ended a run."""

    ITSELF = "itself"
    TERM = "our signal"
    KILL = "our SIGKILL"
    OUT_OF_MEMORY = "out of memory"
    OUTSIDE = "something outside"
    NEVER_STARTED = "never started"


@frozen(kw_only=True)
class Ending:
    """How a run ended; `text` is for people, empty for a good end."""

    by: EndedBy
    code: int
    text: str = ""


def ending_of(container: ContainerFacts, run: RunFacts, grace_seconds: float) -> Ending | None:
    """Return how a run ended, None while it runs. `grace_seconds` is the grace it had when it was stopped."""
    if run.code is None:
        return None
    by = _ended_by(run)
    return Ending(by=by, code=run.code, text=_text(container, run, by, grace_seconds))


def _ended_by(run: RunFacts) -> EndedBy:
    if run.reason == START_ERROR:
        return EndedBy.NEVER_STARTED
    if run.reason == "OOMKilled":
        return EndedBy.OUT_OF_MEMORY
    if run.killed_at is not None and run.code != 0:
        return EndedBy.KILL
    if run.outside_signal:
        return EndedBy.OUTSIDE
    if run.signalled_at is not None:
        return EndedBy.TERM
    return EndedBy.OUTSIDE if run.code in {128 + signal.SIGKILL, 128 + signal.SIGTERM} else EndedBy.ITSELF


def _text(container: ContainerFacts, run: RunFacts, by: EndedBy, grace_seconds: float) -> str:
    if run.code == 0:
        return ""
    match by:
        case EndedBy.NEVER_STARTED:
            return f"could not be started: {run.message}" if run.message else "could not be started"
        case EndedBy.OUT_OF_MEMORY:
            limit = f" (limit {container.memory_limit})" if container.memory_limit else ""
            return f"exit {run.code}: out of memory{limit}"
        case EndedBy.KILL:
            return f"exit {run.code}: SIGKILL by kubelet-emu, grace of {grace_seconds:g} s was over"
        case EndedBy.OUTSIDE:
            return f"exit {run.code}: killed by something outside"
        case EndedBy.TERM if run.code == 128 + signal.SIGTERM:
            return f"exit {run.code}: SIGTERM by kubelet-emu, not caught"
        case EndedBy.TERM:
            return f"exit {run.code} after our stop signal"
        case EndedBy.ITSELF:
            return f"exited by itself with {run.code}{_signal_name(run.code)}"


def _signal_name(code: int | None) -> str:
    """Return the signal that an exit code above 128 stands for."""
    if code is None or not 128 < code < 128 + signal.NSIG:
        return ""
    try:
        return f" ({signal.Signals(code - 128).name})"
    except ValueError:
        return ""
