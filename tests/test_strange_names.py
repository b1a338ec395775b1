"""Logs are foreign text: what their names hold neither moves a cursor nor breaks a document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

POD, CONTAINER = "p\ud800\x1b[31m", "m\udc00\x00\u202e"
RECORDS: list[dict[str, object]] = [
    {"t": 0.0, "kind": "status", "pod": POD, "phase": "Pending", "conditions": {}, "containers": {}},
    {"t": 1.0, "kind": "run", "pod": POD, "container": CONTAINER, "run": 1, "what": "start"},
    {"t": 2.0, "kind": "run", "pod": POD, "container": CONTAINER, "run": 2, "what": "start"},
    {"t": 3.0, "kind": "run", "pod": POD, "container": CONTAINER, "run": 1, "what": "exit", "code": 1},
]
TEXTS = [("why",), ("verify",), ("verify", "-v"), ("timeline",), ("timeline", "--width", "80")]
DOCUMENTS = [("why", "json"), ("verify", "json"), ("verify", "sarif"), ("timeline", "json")]


@pytest.mark.parametrize("words", TEXTS, ids=[" ".join(words) for words in TEXTS])
def test_text_for_people_is_harmless(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "trace").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    shown = CliRunner().invoke(main, [words[0], str(tmp_path / "trace"), *words[1:]], color=True).stdout
    assert "p\\ud800\\e[31m" in shown
    assert "m\\udc00\\x00\\u202e" in shown
    assert not {"\x00", "\u202e"} & set(shown)
    assert "\x1b[31m" not in shown.replace("\x1b[31mbroken", "").replace("\x1b[31m1 broken", "")


@pytest.mark.parametrize(("command", "output"), DOCUMENTS, ids=[" ".join(words) for words in DOCUMENTS])
def test_json_has_names_as_they_are(tmp_path: Path, command: str, output: str) -> None:
    (tmp_path / "trace").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    ran = CliRunner().invoke(main, [command, str(tmp_path / "trace"), "-o", output])
    assert "p\\ud800\\u001b[31m" in ran.stdout
    assert ran.stdout.isascii()
