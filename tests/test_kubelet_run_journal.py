"""Starts and ends of runs, each told once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kubelet_emu.journal.records import ObjectRef, RunRecord
from kubelet_emu.kubelet.run_journal import RunJournal
from runtime.api import ContainerID, ContainerMetadata, ContainerState, ContainerStatus, ImageID, SandboxID

if TYPE_CHECKING:
    from kubelet_emu.journal.records import Record

T = datetime(2026, 12, 2, tzinfo=UTC)
REF = ObjectRef(kind="Pod", namespace="default", name="p", uid="u")


def a_status(*, finished_after: float | None = None, **changes: object) -> ContainerStatus:
    finished_at = None if finished_after is None else T + timedelta(seconds=finished_after)
    values: dict[str, object] = {
        "id": ContainerID("c1"),
        "sandbox_id": SandboxID("s1"),
        "metadata": ContainerMetadata(name="c", attempt=1),
        "state": ContainerState.RUNNING if finished_at is None else ContainerState.EXITED,
        "created_at": T,
        "started_at": T,
        "finished_at": finished_at,
        "exit_code": None if finished_at is None else 3,
        "reason": "" if finished_at is None else "Error",
        "image_id": ImageID("i"),
        "image_name": "i",
        "image_ref": "i",
    }
    return ContainerStatus(**values | changes)  # type: ignore[arg-type]


def told(*statuses: ContainerStatus) -> list[tuple[str, int, float, int | None]]:
    """Return what is told of a container's statuses, one after another, with seconds from T."""
    seen: list[Record] = []
    journal = RunJournal(seen.append)
    for status in statuses:
        journal.record(REF, status)
    runs = [record for record in seen if isinstance(record, RunRecord)]
    assert len(runs) == len(seen)
    return [(run.what, run.run, (run.at - T).total_seconds(), run.code) for run in runs if run.at is not None]


def test_each_start_and_end_is_told_once() -> None:
    running, ended = a_status(), a_status(finished_after=2)
    assert told(running, running, ended, ended) == [("start", 2, 0, None), ("exit", 2, 2, 3)]


def test_both_are_told_of_a_run_that_was_never_seen_running() -> None:
    assert told(a_status(finished_after=2)) == [("start", 2, 0, None), ("exit", 2, 2, 3)]


def test_an_end_that_the_engine_dates_before_the_start_is_put_there() -> None:
    assert told(a_status(), a_status(finished_after=-0.01)) == [("start", 2, 0, None), ("exit", 2, 0, 3)]


def test_a_process_that_never_was_has_no_run() -> None:
    assert told(a_status(finished_after=0, reason="StartError")) == []
    assert told(a_status(started_at=None)) == []


def test_what_is_gone_is_forgotten() -> None:
    seen: list[Record] = []
    journal = RunJournal(seen.append)
    for _ in range(2):
        journal.record(REF, a_status(finished_after=2))
        journal.forget(ContainerID("c1"))
    assert len(seen) == 4
