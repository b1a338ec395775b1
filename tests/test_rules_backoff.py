"""Crash-loop back-off: keys, decay, configuration (kubelet v1.36 doBackOff, KEP-4603)."""

from __future__ import annotations

import pytest
from attrs import evolve
from pod_makers import NOW, a_container, a_pod, gates, later, requesting

from kubelet_emu.api import reasons
from kubelet_emu.rules.backoff import Backoff, backoff_key, crash_loop_backoff


def test_a_first_restart_is_not_refused_and_makes_an_entry() -> None:
    backoff = Backoff()
    assert backoff.refused_until("k", NOW, NOW) is None
    assert backoff.delay("k") == 0
    assert backoff.next("k", NOW, NOW).delay("k") == 10


def test_a_delay_is_counted_from_the_finish_and_ends_at_its_very_end() -> None:
    backoff = Backoff().next("k", NOW, NOW)
    assert backoff.refused_until("k", later(1), later(10.9)) == later(11)
    assert backoff.refused_until("k", later(1), later(11)) is None


def test_keys_are_independent() -> None:
    assert Backoff().next("k", NOW, NOW).refused_until("other", NOW, NOW) is None


def test_a_finish_more_than_ten_minutes_after_the_start_begins_a_new_series_whatever_the_maximum() -> None:
    backoff = Backoff(max_seconds=20).next("k", NOW, NOW).next("k", NOW, NOW)
    assert backoff.delay("k") == 20
    assert backoff.next("k", later(600), later(600)).delay("k") == 20
    assert backoff.next("k", later(601), later(601)).delay("k") == 10
    assert backoff.refused_until("k", later(601), later(601)) is None


def test_housekeeping_forgets_entries_that_were_not_touched_for_ten_minutes() -> None:
    backoff = Backoff().next("old", NOW, NOW).next("new", NOW, later(1))
    assert set(backoff.collect_garbage(later(600.5)).entries) == {"new"}


@pytest.mark.parametrize(
    ("why", "on", "period", "initial", "maximum"),
    [
        ("by default", {}, None, 10, 300),
        ("with a shorter maximum", {}, 60, 10, 60),
        ("with a maximum below the initial delay", {}, 4, 4, 4),
        ("without the gate for the maximum", {"KubeletCrashLoopBackOffMax": False}, 4, 10, 300),
        ("with the reduced decay", {"ReduceDefaultCrashLoopBackOffDecay": True}, None, 1, 60),
        ("with the reduced decay and a maximum", {"ReduceDefaultCrashLoopBackOffDecay": True}, 120, 1, 120),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_configured_delays(why: str, on: dict[str, bool], period: float | None, initial: int, maximum: int) -> None:
    backoff = crash_loop_backoff(gates(**on), period)
    assert (backoff.initial_seconds, backoff.max_seconds) == (initial, maximum), why


def test_a_new_image_or_new_resources_have_a_key_of_their_own() -> None:
    pod, container = a_pod(a_container("m")), a_container("m")
    others = (
        evolve(container, image="image:2"),
        evolve(container, resources=requesting({"cpu": "1"})),
        a_container("n"),
    )
    assert len({backoff_key(pod, each) for each in (container, *others)}) == 4
    assert backoff_key(pod, container) == backoff_key(pod, evolve(container, command=("other",)))
    assert backoff_key(pod, container) != backoff_key(a_pod(metadata={"uid": "other"}), container)


@pytest.mark.parametrize(("seconds", "text"), [(10, "10s"), (80, "1m20s"), (160, "2m40s"), (300, "5m0s")])
def test_the_waiting_message_has_the_delay_as_go_prints_it(seconds: float, text: str) -> None:
    message = reasons.back_off_waiting(seconds, "c", "p_ns(uid)")
    assert message == f"back-off {text} restarting failed container=c pod=p_ns(uid)"
