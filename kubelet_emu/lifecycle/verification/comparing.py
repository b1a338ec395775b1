"""Which of two moments came first, how sure that is, and the verdicts that follow.

Moments are intervals: an order is certain only when they don't overlap. What overlaps is UNKNOWN, never a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.raw_records import Interval

# Log lines, the runtime's records and the kubelet's are stamped by different writers on one machine.
CLOCK_SLACK_SECONDS = 0.001


def order(first: Interval, then: Interval) -> tuple[Outcome, float]:
    """Return whether `then` did not come before `first`, and the margin: how much later it surely came."""
    if then.low >= first.high - CLOCK_SLACK_SECONDS:
        return Outcome.OK, then.low - first.high
    if then.high < first.low - CLOCK_SLACK_SECONDS:
        return Outcome.VIOLATION, then.high - first.low
    return Outcome.UNKNOWN, then.low - first.high


def not_before(at: Interval, bound: tuple[float, float], slack: float) -> tuple[Outcome, float]:
    """Return whether a moment was not earlier than a bound that is itself known only between two times."""
    if at.low >= bound[1] - slack:
        return Outcome.OK, at.low - bound[1]
    if at.high < bound[0] - slack:
        return Outcome.VIOLATION, at.high - bound[0]
    return Outcome.UNKNOWN, at.low - bound[1]


def ordered(subject: str, first: Interval, then: Interval, rule: str, *, is_sure: bool = True) -> Verdict:
    """Return the verdict that one moment must not come before another; `rule` says why.

    With `is_sure` false a moment is only assumed from what a container wrote: then a wrong order proves nothing.
    """
    outcome, margin = order(first, then)
    if outcome is Outcome.VIOLATION and not is_sure:
        return unknown(subject, f"{shown(then)}, and {shown(first)} as far as its lines tell", first, then)
    match outcome:
        case Outcome.OK:
            text = f"{shown(then)}, {seconds(margin)} after {shown(first)}"
        case Outcome.VIOLATION:
            text = f"{shown(then)}, {seconds(-margin)} before {shown(first)}"
        case _:
            text = f"{shown(then)} and {shown(first)} are too close to tell which came first"
    return Verdict(outcome=outcome, subject=subject, text=text, rule=rule, moments=(first, then), margin=margin)


def kept(subject: str, text: str, *moments: Interval, margin: float | None = None) -> Verdict:
    """Return that a rule was kept."""
    return Verdict(outcome=Outcome.OK, subject=subject, text=text, moments=moments, margin=margin)


def broken(subject: str, text: str, rule: str, *moments: Interval, margin: float | None = None) -> Verdict:
    """Return that a rule was broken."""
    return Verdict(outcome=Outcome.VIOLATION, subject=subject, text=text, rule=rule, moments=moments, margin=margin)


def unknown(subject: str, text: str, *moments: Interval) -> Verdict:
    """Return that the log doesn't tell whether a rule was kept."""
    return Verdict(outcome=Outcome.UNKNOWN, subject=subject, text=text, moments=moments)


def shown(at: Interval) -> str:
    """Return a moment for people: its label and its time, or the two times between which it lies."""
    if at.high - at.low < 0.0005:
        return f"{at.label} at {at.high:.3f}"
    return f"{at.label} between {at.low:.3f} and {at.high:.3f}"


def seconds(length: float) -> str:
    """Return a length for people, as fine as it is short."""
    return f"{length:.6f} s" if 0 < abs(length) < 0.001 else f"{length:.3f} s" if abs(length) < 1 else f"{length:.2f} s"
