"""The decision tables fail what they don't understand, and count what they checked, in one process and in several."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

GOOD = '{"id": "R1", "podPolicy": "Always", "containerPolicy": "", "exit": 0, "rules": [], "restart": true}'
FILES = {
    "A-some.yaml": f"""
should_restart:
  - {GOOD}
  - {GOOD.replace("R1", "WRONG").replace('"exit": 0', '"exit": 0, "colour": "red"')}
  - {GOOD.replace("R1", "VALUE").replace('"Always"', '"Sometimes"')}
  - {GOOD.replace("R1", "FLAG").replace("true", '"yes"')}
  - {GOOD.replace("R1", "OUT").replace("true", "false")}
  - {GOOD.replace('"id": "R1", ', "")}
  - {GOOD.replace("R1", "MISSING").replace('"exit": 0, ', "")}
  - {GOOD.replace("R1", "RESIZE").replace('"exit"', '"about": "resize: x", "exit"')}
nobody_knows:
  - {{"id": "N1", "in": {{}}, "out": {{}}}}
empty: []
""",
    "B-some.yaml": """
tables:
  should_restart: {rows: [], colour: red}
more: 1
""",
    "broken.yaml": "a: [",
    "scalar.yml": "3",
}
FAILED = {
    "should_restart/WRONG",
    "should_restart/VALUE",
    "should_restart/FLAG",
    "should_restart/OUT",
    "should_restart/#5",
    "should_restart/MISSING",
    "should_restart/table",
    "nobody_knows/N1",
    "empty/table",
    "more/file",
    "broken/file",
    "scalar/file",
}


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "tests/tables", f"--tables={folder}", "-q", "-p", "no:cacheprovider"]
    return subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_what_is_not_understood_fails_and_is_counted(tables: Path, options: tuple[str, ...]) -> None:
    result = run(tables, "--skip-resize", *options)
    assert result.returncode == 1, result.stderr
    assert set(re.findall(r"^FAILED [^\[]*\[(.*?)\]", result.stdout, re.MULTILINE)) == FAILED
    lines = result.stdout.splitlines()
    assert "table should_restart: 1 passed, 7 failed" in lines
    assert "table nobody_knows: 0 passed, 1 failed" in lines
    assert "1 rows about resize skipped" in lines


def test_a_folder_without_tables_fails(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.returncode == 1
    assert "no table in" in result.stdout
