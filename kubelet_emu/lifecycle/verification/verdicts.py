"""What a rule says of a log: its verdicts, each with the moments that decided it and the margin in seconds."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.config.features import FeatureGates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from kubelet_emu.lifecycle.history import LogHistory, PodHistory
    from kubelet_emu.lifecycle.raw_records import Interval

NEWEST_MINOR = 36


class Outcome(enum.Enum):
    """What a verdict says; UNKNOWN is neither: the facts are missing, or closer than the log can tell apart."""

    OK = "ok"
    VIOLATION = "violation"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"


@frozen(kw_only=True)
class Verdict:
    """One answer of a rule, about one run, container, pod or Job (`subject`) of a pod (empty for what is no pod's).

    `text` says what was seen, `rule` what should have been. `margin` is by how many seconds the rule was kept, negative
    where it was broken; None where no time decided.
    """

    outcome: Outcome
    subject: str
    text: str
    rule: str = ""
    pod: str = ""
    moments: tuple[Interval, ...] = ()
    margin: float | None = None


@frozen(kw_only=True)
class Terms:
    """By which kubelet a log is judged. `configuration` is None where nobody told it."""

    minor: int = NEWEST_MINOR
    gates: FeatureGates = field(factory=FeatureGates)
    configuration: KubeletConfiguration | None = None


@frozen(kw_only=True)
class Case:
    """What is judged: a log's histories, and by which terms."""

    history: LogHistory
    terms: Terms = field(factory=Terms)


@frozen(kw_only=True)
class Rule:
    """One rule. `since` is the minor version (1.N) from which kubelets keep it.

    With `needs_kinds` it is unknown for a pod of whose containers the log doesn't tell what they are.
    """

    code: str
    title: str
    source: str
    judge: Callable[[Case], Iterable[Verdict]]
    since: int = 0
    needs_kinds: bool = False


def each_pod(judge: Callable[[PodHistory, Terms], Iterable[Verdict]]) -> Callable[[Case], Iterator[Verdict]]:
    """Return a rule about one pod as a rule about a case."""

    def judge_all(case: Case) -> Iterator[Verdict]:
        for pod in case.history.pods:
            for verdict in judge(pod, case.terms):
                yield evolve(verdict, pod=pod.name)

    return judge_all
