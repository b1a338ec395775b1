"""What the rules of a pod's stop say of small logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lifecycle_logs import a_log
from verification_makers import (
    BROKEN,
    NOTHING,
    OK,
    PLAIN,
    UNKNOWN,
    Records,
    a_pod,
    deleted,
    event,
    finding_of,
    killing,
    line,
    ran,
    sidecar,
    status,
    stopped,
)

from kubelet_emu.config.features import gates_for
from kubelet_emu.lifecycle.verification import Terms, verify

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.verification import Outcome

TWO_SIDECARS = a_pod(init=[sidecar("s"), sidecar("t")])
DELETED = deleted(10) + killing("a", 10.1) + killing("s", 10.1) + killing("t", 10.1) + stopped("a", 10.1, 30)


def ends(s: float, t: float, a: float) -> Records:
    return ran("s", 1, s) + ran("t", 2, t) + ran("a", 3, a)


ORDER = [
    ("main, then t, then s", "KE205", ends(16, 14, 12) + DELETED + stopped("t", 12.1) + stopped("s", 14.1), OK),
    ("s before t has ended", "KE205", ends(16, 15, 12) + DELETED + stopped("t", 12.1) + stopped("s", 13), BROKEN),
    ("t with the main", "KE205", ends(16, 11, 12) + DELETED + stopped("t", 10.2) + stopped("s", 14.1), BROKEN),
    (
        "all when the grace is spent",
        "KE205",
        ends(16, 16, 15.9)
        + deleted(10, 4)
        + killing("a", 10.1)
        + stopped("a", 10.1, 4)
        + stopped("t", 14.1)
        + stopped("s", 14.1),
        OK,
    ),
    (
        "all at once where a kubelet that was restarted finds a pod that is gone",
        "KE205",
        ends(12.2, 12.2, 12.2)
        + [{"t": 5.0, "kind": "deleted", "pod": "p"}, {"t": 9.0, "kind": "step", "what": "kubelet start"}]
        + [r for name in "ast" for r in killing(name, 10.1) + stopped(name, 10.1, 2)],
        NOTHING,
    ),
    (
        "as soon as the grace is spent, by a runtime that is slow to signal",
        "KE206",
        ends(20, 20, 19)
        + deleted(10, 4)
        + killing("a", 10.1)
        + stopped("a", 10.1, 4)
        + [stopped("t", 14.1, 2)[0], stopped("s", 14.1, 2)[0]]
        + stopped("t", 18.1)
        + stopped("s", 18.1),
        OK,
    ),
    ("a sidecar that ended by itself", "KE205", ends(16, 11, 12) + DELETED + stopped("s", 14.1), UNKNOWN),
    (
        "a main that never ended",
        "KE205",
        ran("s", 1, 20) + ran("a", 3) + deleted(10) + killing("s", 10.1) + stopped("s", 12),
        BROKEN,
    ),
    (
        "a later sidecar isn't waited for when the next one doesn't run",
        "KE205",
        ran("s", 1, 20) + ran("t", 2, 5) + ran("a", 3, 12) + DELETED + stopped("s", 12.1),
        OK,
    ),
    (
        "an eviction's grace may have been spent",
        "KE205",
        ends(12, 12, 13)
        + event(10, "Evicted")
        + killing("a", 10.1)
        + stopped("a", 10.1)
        + stopped("s", 11.5)
        + stopped("t", 11.5),
        UNKNOWN,
    ),
    (
        "what still waits gets its signal when the grace is spent",
        "KE206",
        ends(19, 15.9, 15.9)
        + deleted(10, 4)
        + killing("a", 10.1)
        + stopped("a", 14.1, 2)
        + stopped("t", 14.1)
        + stopped("s", 14.1),
        OK,
    ),
    (
        "it goes on waiting",
        "KE206",
        ends(19, 16.5, 15.9)
        + deleted(10, 4)
        + killing("a", 10.1)
        + stopped("a", 14.1, 2)
        + stopped("t", 14.1)
        + stopped("s", 16.6),
        BROKEN,
    ),
    ("nobody waits any more", "KE206", ends(14, 13, 12) + DELETED + stopped("t", 12.1) + stopped("s", 13.1), NOTHING),
    (
        "sidecars of a pod that ended after its main",
        "KE207",
        ends(16, 14, 12) + stopped("t", 12.3) + stopped("s", 14.1),
        OK,
    ),
    (
        "a sidecar stopped while the main works",
        "KE207",
        ends(16, 11, 12) + stopped("t", 10.5) + stopped("s", 14.1),
        BROKEN,
    ),
    ("a pod that was deleted is another rule's", "KE207", ends(16, 14, 12) + DELETED + stopped("t", 10.2), NOTHING),
    ("mains that were stopped too", "KE207", ends(16, 11, 12) + stopped("a", 10) + stopped("t", 10), NOTHING),
]


@pytest.mark.parametrize(("code", "records", "expected"), [r[1:] for r in ORDER], ids=[r[0] for r in ORDER])
def test_stop_order(code: str, records: Records, expected: Outcome) -> None:
    assert finding_of(code, TWO_SIDECARS, records).outcome is expected


def test_the_order_of_stops_came_with_1_29() -> None:
    wrong = ends(16, 11, 12) + DELETED + stopped("t", 10.2)
    found = finding_of("KE205", TWO_SIDECARS, wrong, Terms(minor=28, gates=gates_for("1.28")))
    assert (found.outcome, found.why_not) == (NOTHING, "kubelets do this since 1.29")


TWO = a_pod({"name": "a"}, {"name": "b"})
GONE = deleted(10) + killing("a", 10.6) + stopped("a", 10.6, 30)
ENDING = [
    ("everything started before", ran("a", 1, 12) + ran("b", 2, 12) + GONE, OK, ""),
    (
        "the sync that already ran goes on",
        ran("a", 1, 12) + ran("b", 10.3, 12) + GONE,
        OK,
        "by the sync that already ran",
    ),
    ("a start when the stop had begun", ran("a", 1, 12) + ran("b", 11.5, 12) + GONE, BROKEN, ""),
    ("a restart in the stop", ran("a", 1, 11) + ran("a", 11.2, 12, n=2) + GONE, BROKEN, ""),
    (
        "a restart after an exit that came after the deletion",
        ran("a", 1, 12) + ran("a", 12.2, 30, n=2) + deleted(10) + event(40, "x"),
        BROKEN,
        "",
    ),
    (
        "a restart by a sync that waited for its relist when the pod was deleted",
        ran("a", 1, 10.4) + ran("a", 10.8, 30, n=2) + killing("a", 11.7) + deleted(10) + event(40, "x"),
        OK,
        "",
    ),
    ("a first start, and nothing tells of a stop", ran("a", 12, 30) + deleted(10), UNKNOWN, ""),
    ("a start after the phase was terminal", ran("a", 1, 3) + status(5, "Succeeded") + ran("b", 7), BROKEN, ""),
    (
        "another pod of that name",
        ran("a", 1, 12)
        + GONE
        + [{"t": 13.0, "kind": "deleted", "pod": "p"}]
        + status(14, "Pending")
        + ran("a", 15, n=2),
        OK,
        "",
    ),
    (
        "a first line after the stop is no start after it",
        line(11, "b", "bye") + deleted(10) + killing("b", 10.6),
        UNKNOWN,
        "",
    ),
    ("a pod that lives", ran("a", 1, 12), NOTHING, ""),
]


@pytest.mark.parametrize(("records", "expected", "text"), [r[1:] for r in ENDING], ids=[r[0] for r in ENDING])
def test_nothing_starts(records: Records, expected: Outcome, text: str) -> None:
    found = finding_of("KE208", TWO, records)
    assert found.outcome is expected
    assert any(text in verdict.text for verdict in found.verdicts) or not found.verdicts


def test_staying_ready_is_a_fact_and_no_fault() -> None:
    ready = [{**r, "conditions": {"Ready": "True"}} for r in status(5, a={})]
    over = [{**r, "conditions": {"Ready": "False"}} for r in status(14, "Succeeded", a={})]
    log = a_log(sorted([*ran("a", 1, 12), *ready, *GONE, *over], key=lambda r: float(str(r["t"]))), PLAIN)
    report = verify(log)
    assert report.facts == ("p stayed Ready for 4.00 s after its deletion, as it does on every node",)
    assert report.is_clean
