"""Every row of every decision table, each by the adapter named like its table."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_rows import Row

ADAPTERS = Path(__file__).parent / "adapters"


def test_row(row: Row, record_property: Callable[[str, object], None], request: pytest.FixtureRequest) -> None:
    record_property("table", row.table)
    if row.fault:
        pytest.fail(row.fault)
    if row.is_resize and request.config.getoption("--skip-resize", default=False):
        pytest.skip("about resize")
    if not (ADAPTERS / f"{row.table}.py").is_file():
        pytest.fail(f"no adapter for table {row.table!r}")
    fields = row.fields()
    import_module(f"adapters.{row.table}").check(fields, row.shared)
    fields.done()
