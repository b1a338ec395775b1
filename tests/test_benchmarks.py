"""The pure parts of the benchmarks: what is made, what a log says, the table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.marks import Marks, Measured, Row, format_table, read_marks, rows_of
from benchmarks.shapes import FULL, QUICK, Shape
from kubelet_emu import manifests
from kubelet_emu.journal.encode import Entry
from kubelet_emu.journal.records import EndRecord, EventRecord, ObjectRef, Record, RunRecord

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
A, B = (ObjectRef(namespace="default", name=name, uid=name) for name in "ab")


def at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def started(seconds: float, ref: ObjectRef = A) -> Record:
    return EventRecord(at=at(seconds), ref=ref, type="Normal", reason="Started", message="Container started")


def run(seconds: float, container: str, what: str, ref: ObjectRef = A) -> Record:
    return RunRecord(at=at(seconds), ref=ref, container=container, run=1, what=what)


def marks(*records: Record, starts: int) -> Marks:
    return read_marks([Entry(n=1, record=record) for record in records], starts)


@pytest.mark.parametrize("shape", [*FULL, *QUICK], ids=lambda shape: shape.name)
def test_a_shape_is_a_valid_manifest_with_all_its_containers(shape: Shape) -> None:
    result = manifests.load_text(shape.manifest())
    assert result.problems == ()
    specs = [loaded.object.spec for loaded in result.objects]  # type: ignore[union-attr]
    assert len(specs) == shape.pods
    assert sum(len(spec.init_containers) + len(spec.containers) for spec in specs) == shape.starts


def test_the_start_is_over_with_the_last_container_that_is_awaited() -> None:
    records = (started(1), started(2, B), EndRecord(at=at(5)), started(9))
    assert marks(*records, starts=2) == Marks(all_started_at=at(2), ended_at=at(5), gaps=())


def test_a_log_without_enough_starts_has_no_such_moment() -> None:
    assert marks(started(1), starts=2) == Marks(all_started_at=None, ended_at=None, gaps=())


def test_a_gap_reaches_from_an_init_containers_exit_to_the_next_start_in_its_pod() -> None:
    records = (
        run(1, "init-1", "exit"),
        run(1.25, "main-1", "start", B),
        run(3, "main-1", "start"),
        run(1.5, "init-2", "start"),
        run(2, "init-2", "exit"),
        run(4, "main-1", "exit"),
        run(5, "main-2", "start"),
    )
    assert marks(*records, starts=1).gaps == (0.5, 1.0)


def test_ratios_are_those_of_medians() -> None:
    assert Row("x", (1.0, 8.0, 3.0), (1.0, 2.0)).ratio == 2.0


@pytest.mark.parametrize(("ours", "theirs"), [((), (1.0,)), ((1.0,), ()), ((1.0,), (0.0,))])
def test_nothing_to_compare_gives_no_ratio(ours: tuple[float, ...], theirs: tuple[float, ...]) -> None:
    assert Row("x", ours, theirs).ratio is None


def test_a_shape_gives_a_row_for_each_measure_and_one_for_gaps_where_there_are_any() -> None:
    plain = Measured(start=4, stop=3, clean_up=2, cpu=1)
    with_gaps = Measured(start=2, stop=1, clean_up=1, cpu=1, gaps=(0.5,))
    rows = rows_of("2 pods", 2, [plain], [with_gaps])
    assert [(row.what, row.ratio) for row in rows] == [
        ("2 pods: to all containers started", 2.0),
        ("2 pods: Ctrl-C to prompt", 3.0),
        ("2 pods: clean-up", 2.0),
        ("2 pods: CPU of the process a pod", 1.0),
        ("2 pods: init exit to next start", None),
    ]
    assert len(rows_of("1 pod", 1, [plain], [plain])) == 4


def test_the_table_lines_up() -> None:
    text = format_table([Row("start", (1.5,), (0.5,)), Row("a longer name", (), ())])
    assert text.splitlines() == [
        "what              ours     bare  ratio",
        "--------------------------------------",
        "start          1.500 s  0.500 s   3.00",
        "a longer name        -        -      -",
    ]
