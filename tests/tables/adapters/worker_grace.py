"""Layer 1: the grace the pod worker passes down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.rules.termination import effective_grace_period

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    decision = effective_grace_period(
        given.take("prev", 0), given.take("dgps", None), given.take("override", None), given.take("tgps", None)
    )
    row.part("out").check({"grace": decision.grace, "shortened": decision.shortened})
