"""What the rules of one container's stop say of small logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from verification_makers import (
    BROKEN,
    HOOK,
    NOTHING,
    OK,
    PLAIN,
    SLEEP,
    UNKNOWN,
    Records,
    a_pod,
    deleted,
    event,
    finding_of,
    killing,
    line,
    ran,
    status,
    stopped,
    with_hook,
)

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.verification import Outcome

PRE_STOP = a_pod(with_hook("a", "preStop", HOOK))
PRE_SLEEP = a_pod(with_hook("a", "preStop", SLEEP))
SHOWN_HOOK = line(10.1, "a", "Hook") + line(13.1, "a", "Hooked")
BEFORE = ran("a", 1, 20) + line(1, "a", "hello") + deleted(10) + killing("a", 10.1)

HOOKS = [
    ("the signal after the hook", PRE_STOP, BEFORE + SHOWN_HOOK + stopped("a", 13.2, 27), OK),
    ("the signal while it runs", PRE_STOP, BEFORE + SHOWN_HOOK + stopped("a", 11, 30), BROKEN),
    ("the signal before it", PRE_STOP, BEFORE + SHOWN_HOOK + stopped("a", 10.05, 30), BROKEN),
    ("the signal without it", PRE_STOP, BEFORE + stopped("a", 10.2, 30), BROKEN),
    ("a hook that failed", PRE_STOP, BEFORE + event(10.3, "FailedPreStopHook", "", "a") + stopped("a", 10.2, 30), OK),
    (
        "a hook that is cut off when the grace is over",
        PRE_STOP,
        ran("a", 1, 20) + deleted(10, 4) + killing("a", 10.1) + line(10.1, "a", "Hook") + stopped("a", 14.1, 2, 16.1),
        OK,
    ),
    ("nothing would show this hook", PRE_STOP, ran("a", 1, 20) + deleted(10) + stopped("a", 10.2, 30), UNKNOWN),
    (
        "a hook of which only the beginning shows",
        PRE_STOP,
        BEFORE + line(10.1, "a", "Hook") + stopped("a", 12, 28),
        UNKNOWN,
    ),
    (
        "no one knows the grace that cut the hook off",
        PRE_STOP,
        ran("a", 1, 20) + event(9.9, "Evicted") + killing("a", 10.1) + line(10.2, "a", "Hook") + stopped("a", 11, 2),
        UNKNOWN,
    ),
    ("a sleep is slept", PRE_SLEEP, ran("a", 1, 20) + deleted(10) + killing("a", 10.1) + stopped("a", 15.1, 25), OK),
    (
        "a sleep is cut short",
        PRE_SLEEP,
        ran("a", 1, 20) + deleted(10) + killing("a", 10.1) + stopped("a", 12, 28),
        BROKEN,
    ),
    (
        "a sleep lasts as long as the grace",
        PRE_SLEEP,
        ran("a", 1, 20) + deleted(10, 2) + killing("a", 10.1) + stopped("a", 12.1, 2),
        OK,
    ),
    (
        "nobody says which grace a sleep had",
        PRE_SLEEP,
        ran("a", 1, 20) + deleted(10, None) + killing("a", 10.1) + stopped("a", 11, 2),
        UNKNOWN,
    ),
    (
        "an eviction's grace isn't known",
        PRE_SLEEP,
        ran("a", 1, 20) + event(9.9, "Evicted") + killing("a", 10.1) + stopped("a", 11, 2),
        UNKNOWN,
    ),
    (
        "a restart of all runs no hooks",
        PRE_STOP,
        ran("a", 1, 20) + event(10, "Killing", "killing", "a") + stopped("a", 10.1, 2),
        NOTHING,
    ),
    ("it ended by itself", PRE_STOP, ran("a", 1, 20), NOTHING),
]


@pytest.mark.parametrize(("manifest", "records", "expected"), [r[1:] for r in HOOKS], ids=[r[0] for r in HOOKS])
def test_pre_stop_first(manifest: str, records: Records, expected: Outcome) -> None:
    assert finding_of("KE201", manifest, records).outcome is expected


KUBELET_RESTART: Records = [{"t": 9.0, "kind": "step", "do": {"kubelet": "restart"}}]
STOPPED = ran("a", 1, 40.2, 137) + deleted(10) + killing("a", 10.1)
ZERO = a_pod({"name": "a", "lifecycle": {"stopSignal": "SIGKILL"}})

KILLS = [
    ("at the end of the grace", "KE202", PLAIN, STOPPED + stopped("a", 10.1, 30, 40.1), OK),
    ("two seconds before it", "KE202", PLAIN, STOPPED + stopped("a", 10.1, 30, 38), BROKEN),
    ("within two seconds of the signal", "KE202", PLAIN, ran("a", 1, 40) + stopped("a", 30, None, 31), BROKEN),
    (
        "SIGKILL is the stop signal",
        "KE202",
        ZERO,
        ran("a", 1, 10.2) + deleted(10) + stopped("a", 10.1, 30, 10.2)[::2],
        NOTHING,
    ),
    (
        "an exit with 137 and no signals told",
        "KE202",
        PLAIN,
        ran("a", 1, 12, 137) + deleted(10) + killing("a", 10.1),
        UNKNOWN,
    ),
    (
        "an exit with 137 when the grace is over",
        "KE202",
        PLAIN,
        ran("a", 1, 41, 137) + deleted(10) + killing("a", 10.1),
        OK,
    ),
    ("in time", "KE203", PLAIN, STOPPED + stopped("a", 10.1, 30, 40.1), OK),
    (
        "three seconds late",
        "KE203",
        PLAIN,
        ran("a", 1, 44) + deleted(10) + killing("a", 10.1) + stopped("a", 10.1, 30, 43.9),
        BROKEN,
    ),
    (
        "never, and it still runs",
        "KE203",
        PLAIN,
        ran("a", 1) + deleted(10) + stopped("a", 10.1, 30) + event(60, "x"),
        BROKEN,
    ),
    ("not yet at the end of the log", "KE203", PLAIN, ran("a", 1) + deleted(10) + stopped("a", 10.1, 30), NOTHING),
    ("nothing tells the end", "KE203", PLAIN, status(1, a={}) + deleted(10) + killing("a", 10.1), UNKNOWN),
    ("the whole grace", "KE204", PLAIN, STOPPED + stopped("a", 10.1, 30), OK),
    ("less than the grace", "KE204", PLAIN, STOPPED + stopped("a", 10.1, 20), BROKEN),
    ("more than the grace", "KE204", PLAIN, STOPPED + stopped("a", 10.1, 40), BROKEN),
    (
        "never less than two seconds",
        "KE204",
        PLAIN,
        ran("a", 1, 12) + deleted(10, 0) + killing("a", 10.1) + stopped("a", 10.1, 2),
        OK,
    ),
    ("a hook costs whole seconds", "KE204", PRE_STOP, BEFORE + SHOWN_HOOK + stopped("a", 13.2, 27), OK),
    ("a hook costs nothing", "KE204", PRE_STOP, BEFORE + SHOWN_HOOK + stopped("a", 13.2, 30), BROKEN),
    (
        "an eviction's grace isn't told",
        "KE204",
        PLAIN,
        ran("a", 1, 12) + event(10, "Evicted") + killing("a", 10.1) + stopped("a", 10.1, 2),
        UNKNOWN,
    ),
    (
        "a kubelet that was restarted may know no spec",
        "KE204",
        PLAIN,
        ran("a", 1, 12) + KUBELET_RESTART + deleted(10) + killing("a", 10.1) + stopped("a", 10.1, 2),
        UNKNOWN,
    ),
]


def called(at: float, timeout: float, term: float | None = None, kill: float | None = None) -> Records:
    """Return a stop call of a's first run, and the signals that a slow runtime sent only later."""
    sent = [] if term is None else stopped("a", term, None, kill)
    return [stopped("a", at, timeout)[0], *sent]


# What a runtime that fails or is slow makes of a stop; `GOES_ON` is past all that a kubelet allows.
GOES_ON = event(90, "x")
TWICE = deleted(10) + killing("a", 10.1) + killing("a", 22)
SLOW = [
    ("a slow runtime's SIGKILL counts from its signal", "KE203", called(10.1, 30, 15, 45) + ran("a", 1, 45.1, 137), OK),
    ("and may not come later than that", "KE203", called(10.1, 30, 15, 49) + ran("a", 1, 49.1, 137), BROKEN),
    ("nor earlier", "KE202", called(10.1, 30, 15, 30) + ran("a", 1, 30.1, 137), BROKEN),
    ("a call that sent no signal proves nothing", "KE203", called(10.1, 30) + ran("a", 1, 80) + GOES_ON, NOTHING),
    (
        "a stop that failed is begun anew",
        "KE203",
        TWICE + called(10.1, 30) + called(22, 30, 22, 52) + ran("a", 1, 52.1),
        OK,
    ),
    (
        "and is late by its last call",
        "KE203",
        TWICE + called(10.1, 30) + called(22, 30, 22, 56) + ran("a", 1, 56.1),
        BROKEN,
    ),
    ("and not early by its first", "KE202", TWICE + called(10.1, 30) + called(22, 30, 22, 52) + ran("a", 1, 52.1), OK),
    ("but early by its last", "KE202", TWICE + called(10.1, 30) + called(22, 30, 22, 23) + ran("a", 1, 23.1), BROKEN),
]


@pytest.mark.parametrize(("code", "records", "expected"), [r[1:] for r in SLOW], ids=[r[0] for r in SLOW])
def test_a_runtime_that_is_slow_or_fails(code: str, records: Records, expected: Outcome) -> None:
    told = [] if any(r.get("reason") == "Killing" for r in records) else deleted(10) + killing("a", 10.1)
    assert finding_of(code, PLAIN, told + records).outcome is expected


@pytest.mark.parametrize(("code", "manifest", "records", "expected"), [r[1:] for r in KILLS], ids=[r[0] for r in KILLS])
def test_signals(code: str, manifest: str, records: Records, expected: Outcome) -> None:
    assert finding_of(code, manifest, records).outcome is expected
