"""One container's stop: when the signal goes, and the timeout of the stop call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.rules.termination import ContainerStop, plan_stop_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    stop = ContainerStop(name="main", pre_stop=given.take("prestop", None))
    call = plan_stop_call(given.take("G"), stop, given.take("wait", None))
    row.part("out").check(
        {"prestop_runs": call.pre_stop_runs, "signal_at": round(call.signal_at, 6), "timeout": call.timeout}
    )
