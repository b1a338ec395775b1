"""docs/SCENARIOS.md: its examples run as it shows them, and it names every word that a scenario may use."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.cli.test import command
from kubelet_emu.scenarios.expectation_faults import FUNCTIONS
from kubelet_emu.scenarios.expectations import CONTAINER_VERBS, JOB_VERBS, LINES, POD_VERBS
from kubelet_emu.scenarios.needs import DRIVER_NEEDS
from kubelet_emu.scenarios.results import Status
from kubelet_emu.scenarios.scenario_file import KEYS
from kubelet_emu.scenarios.step_shapes import KUBELET_WORDS, SHAPES

TEXT = (Path(__file__).parent.parent / "docs" / "SCENARIOS.md").read_text()
BLOCK = re.compile(r"^```(\w*)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN_VALUES = ("phase", "podreason", "podmessage", "qos", "ip", "generation", "observedgeneration", "pods")
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in [lo, hi]", "~ X +- Y", "contains", "lacks", "matches")


def test_every_example_does_what_the_document_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for language, title, text in BLOCK.findall(TEXT):
        if title:
            (tmp_path / title).write_text(text)
        if language == "console":
            call, *shown = text.splitlines()
            program, *words = shlex.split(call.removeprefix("$ "))
            assert program == "kubelet-emu"
            printed = CliRunner().invoke(main, words).stdout.splitlines()
            assert len(printed) >= len(shown)
            for line in shown:
                pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
                assert any(pattern.fullmatch(each) for each in printed), (line, printed)
            ran += 1
    assert ran == 5


WORDS = [
    *KEYS,
    *SHAPES,
    *(word for shape in SHAPES.values() for word in (*shape.needed, *shape.known, *shape.choice)),
    *KUBELET_WORDS,
    *(verb for verb in (*CONTAINER_VERBS, *POD_VERBS, *JOB_VERBS, *LINES) if verb != "line"),
    'line:"TEXT"',
    *FUNCTIONS,
    *PLAIN_VALUES,
    *OPERATORS,
    *DRIVER_NEEDS,
    *(status.value for status in Status),
]


@pytest.mark.parametrize("word", sorted(set(WORDS)))
def test_the_document_names(word: str) -> None:
    assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", TEXT)


@pytest.mark.parametrize("option", [name for option in command.params for name in option.opts if name.startswith("-")])
def test_the_document_names_the_option(option: str) -> None:
    assert option in TEXT or option in {"--root-dir", "--output"}


def test_the_document_names_every_field_of_the_results(tmp_path: Path) -> None:
    example = next(text for _, title, text in BLOCK.findall(TEXT) if title == "wrong.scenario.yaml")
    (tmp_path / "one.scenario.yaml").write_text(example)
    body = json.loads(CliRunner().invoke(main, ["test", "-o", "json", str(tmp_path)]).stdout)
    (scenario,) = body["scenarios"]
    fields = {*body, *scenario, *scenario["checks"][0]}
    assert [field for field in sorted(fields) if f"`{field}`" not in TEXT] == []
