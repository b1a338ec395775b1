"""docs/LIFECYCLE-LOG.md: its lines can be read, and it names every record with every key."""

from __future__ import annotations

import re
import typing
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from kubelet_emu.api.kinds import json_name
from kubelet_emu.journal.encode import SCHEMA, to_line
from kubelet_emu.journal.read import read_lines
from kubelet_emu.journal.records import Record

TEXT = (Path(__file__).parent.parent / "docs" / "LIFECYCLE-LOG.md").read_text()
LINES = [line for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
ROWS = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \|([^|]*)\| [^|]+ \|$", TEXT, re.MULTILINE)}
NOT_ON_THE_WIRE = {"at", "ref"}
RENAMED = {"sync": {"n": "sync"}, "step": {"n": "step"}}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("line", LINES, ids=[f"line {n}" for n in range(1, len(LINES) + 1)])
def test_an_example_reads_and_writes_to_the_same_line(line: str) -> None:
    log = read_lines([f"{line}\n".encode()])
    assert log.problems == ()
    assert to_line(log.entries[0], EPOCH) == f"{line}\n"


@pytest.mark.parametrize("record", typing.get_args(Record), ids=lambda record: record.kind)
def test_every_record_has_a_row_with_its_keys(record: type[Record]) -> None:
    names = RENAMED.get(record.kind, {})
    keys = [names.get(key, key) for key in map(json_name, attrs.fields(record)) if key not in NOT_ON_THE_WIRE]
    assert sorted(re.findall(r"`(\w+)`", ROWS[record.kind])) == sorted(keys)


def test_the_schema_is_the_one_that_is_written() -> None:
    assert f"The log is schema {SCHEMA}." in TEXT
