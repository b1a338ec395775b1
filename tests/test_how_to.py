"""The how-tos of the docs work as they are written: files are made, commands run, their output compared."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IS_INSTALLED = any(point.value == "kubelet_emu.pytest_plugin" for point in entry_points(group="pytest11"))


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a console block, each with the lines that it must print; `…` stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def output_of(command: str) -> str:
    """Run a command of a page in the present folder and return what it prints."""
    program, *words = shlex.split(command.replace("FIXTURES", str(ROOT / "fixtures")))
    if program == "kubelet-emu":
        return CliRunner().invoke(main, words).output
    plugin = () if IS_INSTALLED else ("-p", "kubelet_emu.pytest_plugin")
    words = [sys.executable, "-m", program, "-p", "no:cacheprovider", *plugin, *words]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def shows(output: str, expected: list[str]) -> None:
    """Assert that every line of a page is a line of the output."""
    lines = [line.rstrip() for line in output.splitlines()]
    for line in expected:
        pattern = re.compile(".*".join(map(re.escape, line.rstrip().split("…"))))
        assert any(pattern.fullmatch(each) for each in lines), f"{line!r} is not in\n{output}"


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_how_to_works_as_it_is_written(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    ran = 0
    for language, name, text in BLOCK.findall(page.read_text()):
        if name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        if language == "console":
            for command, expected in commands(text):
                shows(output_of(command), expected)
                ran += 1
    assert ran


def test_there_are_five() -> None:
    assert len(PAGES) == 5
