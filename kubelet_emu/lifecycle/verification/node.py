"""Rules about a node as a whole: how many images are pulled at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.raw_records import EVENT_SLACK_SECONDS
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.lifecycle.history import Pull
    from kubelet_emu.lifecycle.verification.verdicts import Case, Terms

    Span = tuple[float, float]


def parallel_pulls(case: Case) -> Iterator[Verdict]:
    """Judge that no more images are pulled at a time than the kubelet is configured to.

    The kubelet's words tell how long a pull took without the time it waited for its turn.
    Source: kubelet v1.36 image_puller.go; serializeImagePulls, maxParallelImagePulls.
    """
    pulls = [[pull for pull in pod.pulls if pull.seconds is not None and pull.ended] for pod in case.history.pods]
    if not any(pulls):
        return
    surely = _most_at_once(_surely(pull) for of_pod in pulls for pull in of_pod)
    perhaps = max(surely, _most_at_once(span for of_pod in pulls for span in _joined(map(_perhaps, of_pod))))
    bound = _bound(case.terms)
    if bound is None:
        outcome = Outcome.OK if perhaps <= 1 else Outcome.UNKNOWN
        text = f"{perhaps} pulls at a time, and nothing tells how the kubelet is configured (--config FILE)"
    else:
        outcome = Outcome.VIOLATION if surely > bound else Outcome.OK if perhaps <= bound else Outcome.UNKNOWN
        text = f"{max(surely, 1)} pulls at a time, the kubelet's bound is {bound:g}"
    rule = "the kubelet pulls as many images at a time as serializeImagePulls and maxParallelImagePulls say"
    yield Verdict(outcome=outcome, subject="node", text=text, rule=rule)


def _bound(terms: Terms) -> float | None:
    if terms.configuration is None:
        return None
    if terms.configuration.serialize_image_pulls:
        return 1.0
    most = terms.configuration.max_parallel_image_pulls
    return float("inf") if most is None else float(most)


def _surely(pull: Pull) -> Span:
    end, length = pull.ended.high if pull.ended is not None else 0.0, pull.seconds or 0.0
    return end - length, end - EVENT_SLACK_SECONDS


def _perhaps(pull: Pull) -> Span:
    end, length = pull.ended.high if pull.ended is not None else 0.0, pull.seconds or 0.0
    return end - length - EVENT_SLACK_SECONDS, end


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans of one pod, whose worker pulls one image after another, without their uncertain overlaps."""
    joined: list[Span] = []
    for low, high in sorted(spans):
        if joined and low < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def _most_at_once(spans: Iterable[Span]) -> int:
    """Return how many spans lie over each other at most; those that only touch don't."""
    changes = [(at, step) for low, high in spans if low < high for at, step in ((low, 1), (high, -1))]
    most = now = 0
    for _, step in sorted(changes):
        now += step
        most = max(most, now)
    return most
