"""Table `backoff`: delays before the starts that follow runs of given lengths."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pod_inputs import NOW

from kubelet_emu.rules.backoff import Backoff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    backoff = Backoff(initial_seconds=row.take("initial"), max_seconds=row.take("max"))
    started_at, waits = NOW, []
    for seconds in row.take("runSeconds"):
        finished_at = started_at + timedelta(seconds=seconds)
        started_at = backoff.refused_until("key", finished_at, finished_at) or finished_at
        assert backoff.refused_until("key", finished_at, started_at) is None
        waits.append((started_at - finished_at).total_seconds())
        backoff = backoff.next("key", finished_at, started_at)
    assert waits == row.take("waitSeconds")
