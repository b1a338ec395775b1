"""How long a replacement waits after failures."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from job_inputs import NOW

from kubelet_emu.jobs.rules.backoff import (
    MAX_POD_FAILURE_BACKOFF_SECONDS,
    POD_FAILURE_BACKOFF_SECONDS,
    backoff_until,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    until = backoff_until(
        given.take("failures_since_success"),
        NOW - timedelta(seconds=given.take("seconds_since_last_failure")),
        given.take("base", POD_FAILURE_BACKOFF_SECONDS),
        given.take("cap", MAX_POD_FAILURE_BACKOFF_SECONDS),
    )
    wait = 0.0 if until is None else max(0.0, (until - NOW).total_seconds())
    row.part("out").check({"wait": wait})
