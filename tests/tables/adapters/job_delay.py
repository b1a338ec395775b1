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
        _failures(given),
        NOW - timedelta(seconds=given.take("seconds_since_last_failure")),
        given.take("base", POD_FAILURE_BACKOFF_SECONDS),
        given.take("cap", MAX_POD_FAILURE_BACKOFF_SECONDS),
    )
    wait = 0.0 if until is None else max(0.0, (until - NOW).total_seconds())
    row.part("out").check({"wait": wait})


def _failures(given: Fields) -> int:
    """Return the failures that the delay counts; with a limit per index the one to be replaced comes on top."""
    earlier = [given.take(key, None) for key in ("counted", "ignored")]
    given.flag("per_index", default=True)
    if earlier == [None, None]:
        return int(given.take("failures_since_success"))
    return sum(count or 0 for count in earlier) + 1
