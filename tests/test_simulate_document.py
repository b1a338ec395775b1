"""docs/SIMULATE.md: every example is read without a complaint and does what the document shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.simulation.fields import BEHAVIOUR, DOCUMENT, FAULT, IMAGE, NODE

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT_TEXT = (Path(__file__).parent.parent / "docs" / "SIMULATE.md").read_text()
BLOCK = re.compile(r"^```(\S*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """Return language, file name and text of the fenced blocks."""
    return [(match[1], match[2] or "", match[3]) for match in BLOCK.finditer(DOCUMENT_TEXT)]


def examples() -> Iterator[tuple[str, list[str]]]:
    """Yield each simulate.yaml with the lines that the document shows of its run."""
    found = [(language, text) for language, name, text in blocks() if not name and language != "console"]
    for (language, text), (shown_language, shown) in zip(found[::2], found[1::2], strict=True):
        assert (language, shown_language) == ("yaml", "")
        yield text, shown.splitlines()


@pytest.mark.parametrize(
    ("text", "shown"), [pytest.param(*each, id=f"example {n}") for n, each in enumerate(examples())]
)
def test_an_example_does_what_the_document_shows(tmp_path: Path, text: str, shown: list[str]) -> None:
    manifest = tmp_path / "shop.yaml"
    manifest.write_text(next(text for _, name, text in blocks() if name == "shop.yaml"))
    (tmp_path / "simulate.yaml").write_text(text)
    words = ["run", "--runtime", "simulated", "--seed", "1", "--delete-when", "20", str(manifest)]
    result = CliRunner().invoke(main, words)
    printed = (result.stdout + result.stderr).splitlines()
    assert [line for line in shown if line not in printed] == []
    assert [line for line in printed if ": warning:" in line or line.startswith("error:")] == []


def test_the_document_names_every_field() -> None:
    faults = {field for record in FAULT.records.values() for field in record.members} | set(FAULT.records)
    fields = {*DOCUMENT.members, *BEHAVIOUR.members, *IMAGE.members, *NODE.members, *faults, "do"}
    words = " ".join([*re.findall(r"`([^`\n]+)`", DOCUMENT_TEXT), *(text for _, _, text in blocks())])
    named = set(re.findall(r"[A-Za-z]+", words))
    assert fields - named == set()
