"""Table `expansion`: $(VAR) in commands, arguments and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from table_rows import TableError

from kubelet_emu.rules.expansion import expand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    if set(shared) != {"env", "svc"}:
        raise TableError(f"expected env and svc beside the cases, got {sorted(shared)}")
    assert expand(row.take("in"), shared["env"], shared["svc"]) == row.take("out")
