"""Correlation of events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.rules import events
from kubelet_emu.rules.events import CorrelatorState, Emission, Event, correlate

if TYPE_CHECKING:
    import pytest

START = datetime(2026, 1, 1, tzinfo=UTC)
PULLED = Event(namespace="n", name="p", uid="u", type="Normal", reason="Pulled", message="pulled")


def run(*steps: tuple[float, Event]) -> list[Emission | None]:
    state, emissions = CorrelatorState(), []
    for seconds, event in steps:
        state, emission = correlate(state, event, START + timedelta(seconds=seconds))
        emissions.append(emission)
    return emissions


def counts(emissions: list[Emission | None]) -> list[int | None]:
    return [emission and emission.count for emission in emissions]


def messages(emissions: list[Emission | None]) -> list[str]:
    return [emission.event.message if emission else "" for emission in emissions]


def different(n: int) -> Event:
    return evolve(PULLED, message=f"text {n}")


def test_a_repeat_raises_the_count_and_keeps_name_and_first_time() -> None:
    first, second = run((0, PULLED), (5, PULLED))
    assert first == Emission(
        event=PULLED,
        event_name="p.18867251edfa0000",
        count=1,
        first_timestamp=START,
        last_timestamp=START,
        created=True,
    )
    assert second == evolve(first, count=2, last_timestamp=START + timedelta(seconds=5), created=False)


def test_another_container_is_another_event() -> None:
    assert counts(run((0, evolve(PULLED, field_path="spec.containers{a}")), (0, PULLED))) == [1, 1]


def test_events_of_one_instant_have_different_names() -> None:
    names = {emission.event_name for emission in run((0, PULLED), (0, different(1))) if emission}
    assert len(names) == 2


def test_the_tenth_different_text_is_combined() -> None:
    emissions = run(*((n, different(n)) for n in range(1, 13)))
    assert messages(emissions)[8:] == [
        "text 9",
        "(combined from similar events): text 10",
        "(combined from similar events): text 11",
        "(combined from similar events): text 12",
    ]
    assert counts(emissions)[9:] == [1, 2, 3]


def test_the_first_nine_texts_stay_themselves() -> None:
    emissions = run(*((n, different(n)) for n in range(1, 11)), (20, different(3)), (21, different(10)))
    assert messages(emissions)[10:] == ["text 3", "(combined from similar events): text 10"]


def test_containers_are_combined_together() -> None:
    steps = ((n, evolve(different(n), field_path=f"spec.containers{{c{n}}}")) for n in range(1, 11))
    assert messages(run(*steps))[-1] == "(combined from similar events): text 10"


def test_ten_minutes_of_silence_start_anew() -> None:
    emissions = run(*((n, different(n)) for n in range(1, 10)), (609, different(10)), (1210, different(11)))
    assert messages(emissions)[9:] == ["(combined from similar events): text 10", "text 11"]


def test_twenty_five_events_of_a_type_get_through() -> None:
    emissions = run(*((n, PULLED) for n in range(30)))
    assert counts(emissions) == [*range(1, 26), None, None, None, None, None]


def test_warnings_have_a_bucket_of_their_own() -> None:
    emissions = run(*((n, PULLED) for n in range(26)), (26, evolve(PULLED, type="Warning", reason="Failed")))
    assert counts(emissions)[-2:] == [None, 1]


def test_one_more_gets_through_every_five_minutes_and_dropped_ones_were_counted() -> None:
    emissions = run(*((0, PULLED) for n in range(27)), (299, PULLED), (300, PULLED), (301, PULLED))
    assert counts(emissions)[25:] == [None, None, None, 29, None]


def test_the_bucket_holds_no_more_than_the_burst() -> None:
    emissions = run((0, PULLED), *((100_000, PULLED) for n in range(26)))
    assert counts(emissions)[-2:] == [26, None]


def test_the_oldest_entry_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_CACHE_ENTRIES", 2)
    emissions = run((0, different(1)), (1, different(2)), (2, different(1)), (3, different(3)), (4, different(2)))
    assert counts(emissions) == [1, 1, 2, 1, 1]
