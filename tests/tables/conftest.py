"""Options, rows and closing lines of the decision tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from table_rows import load_rows

if TYPE_CHECKING:
    import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tables"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("decision tables")
    group.addoption("--tables", metavar="DIR", help="folder of the tables to check (default: fixtures/tables)")
    group.addoption("--skip-resize", action="store_true", help="skip rows about in-place resize, and say how many")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "row" in metafunc.fixturenames:
        folder = metafunc.config.getoption("--tables", default=None)
        rows = load_rows(Path(folder) if folder else FIXTURES)
        metafunc.parametrize("row", rows, ids=[f"{row.table}/{row.id}" for row in rows])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # Reports, not state of this process: with xdist the rows ran elsewhere.
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            table = dict(getattr(report, "user_properties", ())).get("table")
            if table is not None:
                counts.setdefault(table, Counter())["failed" if outcome == "error" else outcome] += 1
    for table, count in counts.items():
        terminalreporter.write_line(f"table {table}: {count['passed']} passed, {count['failed']} failed")
    if skipped := sum(count["skipped"] for count in counts.values()):
        terminalreporter.write_line(f"{skipped} rows about resize skipped")
