"""What one can wait for: words for the usual moments, and the whole grammar of expectations for the others."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kubelet_emu.scenarios.expectations import ExpectationError, parse_moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.scenarios.expectations import MomentExpression

_PHASES = frozenset({"Pending", "Running", "Succeeded", "Failed", "Unknown"})
_POD_WORDS = frozenset({"deleted", "terminating", "created"})
_CONDITIONS = frozenset(
    {"Ready", "ContainersReady", "Initialized", "PodScheduled", "PodReadyToStartContainers", "DisruptionTarget"}
)
_JOB_CONDITIONS = frozenset({"Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"})


def pod_moment(text: str) -> MomentExpression:
    """Return the moment that a text means for a pod; ValueError says what would be one.

    A phase, a condition, `deleted`, `terminating`, or a moment of the grammar such as `main exited(0)`.
    """
    if text in _PHASES:
        return parse_moment(f"pod phase({text})")
    if text in _CONDITIONS:
        return parse_moment(f"pod condition({text}=True)")
    return _parsed(f"pod {text}" if text in _POD_WORDS else text, (*_PHASES, *_CONDITIONS, *_POD_WORDS))


def job_moment(text: str) -> MomentExpression:
    """Return the moment that a text means for a Job: a condition, `deleted`, or a moment of the grammar; ValueError."""
    if text in _JOB_CONDITIONS:
        return parse_moment(f"job condition({text}=True)")
    return _parsed("job deleted" if text == "deleted" else text, (*_JOB_CONDITIONS, "deleted"))


def _parsed(text: str, words: Iterable[str]) -> MomentExpression:
    try:
        return parse_moment(text)
    except ExpectationError as error:
        near = get_close_matches(text, sorted(words), n=1)
        hint = f", did you mean {near[0]!r}?" if near else ":"
        raise ValueError(
            f"{text!r} is no moment{hint} it is one of {', '.join(sorted(words))}, or CONTAINER WHAT, "
            f"such as 'main exited(0)' ({error.why})"
        ) from None
