"""What is told of a runtime that is lost, comes back, or comes and goes."""

from __future__ import annotations

import pytest

from kubelet_emu.journal.records import NoteRecord, Record
from kubelet_emu.kubelet.runtime_state import RuntimeState
from runtime.api import CRIError, RuntimeUnavailableError

GONE = RuntimeUnavailableError("the engine does not answer")
LOST = "the engine does not answer; pods stay as they are until it is back"

# (began, ended, error) of relists in order, and what is told at which moment.
RELISTS: dict[str, tuple[list[tuple[float, float, CRIError | None]], list[str]]] = {
    "nothing while all goes well": ([(0, 0, None), (1, 1, None)], []),
    "a single failure is nobody's business": ([(0, 0, GONE), (1, 1, None), (2, 2, GONE), (3, 3, None)], []),
    "lost and back, once each": (
        [(0, 0, GONE), (1, 1, GONE), (2, 2, GONE), (3, 3, None), (4, 4, None)],
        [f"1 {LOST}", "3 the runtime is back after 3 s"],
    ),
    "one that hangs is told of when the first call gives up": (
        [(0, 15, GONE), (16, 31, GONE), (32, 32, None)],
        [f"15 {LOST}", "32 the runtime is back after 32 s"],
    ),
    "one that comes and goes is told of rarely": (
        [(float(t), float(t), GONE if t % 3 else None) for t in range(1, 15)],
        [f"2 {LOST}", "3 the runtime is back after 2 s", f"14 {LOST}"],
    ),
    "one that refuses says why": (
        [(0, 0, CRIError("disk is full")), (1, 1, CRIError("disk is full"))],
        ["1 the runtime can't tell what runs: disk is full"],
    ),
}


@pytest.mark.parametrize(("relists", "expected"), RELISTS.values(), ids=RELISTS.keys())
def test_what_is_told(relists: list[tuple[float, float, CRIError | None]], expected: list[str]) -> None:
    told: list[str] = []
    now = 0.0

    def emit(record: Record) -> None:
        assert isinstance(record, NoteRecord)
        told.append(f"{now:g} {record.text}")

    state = RuntimeState(emit)
    for began_at, ended_at, error in relists:
        now = ended_at
        if error is None:
            state.answered(now)
        else:
            state.failed(error, began_at, now)
    assert told == expected
