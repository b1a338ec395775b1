"""How many failures there were since the last success."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from job_inputs import LONG_AGO, NOW

from kubelet_emu.jobs.rules.backoff import BackoffRecord, new_backoff_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    stored = given.take("stored")
    record = new_backoff_record(
        BackoffRecord(failures_after_last_success=stored, last_failure_at=LONG_AGO if stored else None),
        [NOW + timedelta(milliseconds=offset) for offset in given.take("succeeded", [])],
        [NOW + timedelta(milliseconds=offset) for offset in given.take("failed", [])],
    )
    last = record.last_failure_at
    row.part("out").check(
        {
            "failures": record.failures_after_last_success,
            "last_failure": None if last is None else (last - NOW) // timedelta(milliseconds=1),
        }
    )
