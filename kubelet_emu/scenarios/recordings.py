"""Recordings of a real node beside a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubelet_emu.manifests.problems import Problem
from kubelet_emu.scenarios.scenario_file import ScenarioError, name_of

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.lifecycle.raw_records import RawRecord

FILES = ("trace.jsonl", "trace-2.jsonl")


def read_recordings(path: Path) -> tuple[tuple[RawRecord, ...], ...]:
    """Return the recordings beside a scenario file, none, one or two; ScenarioError for one that can't be read.

    Those of a file NAME.scenario.yaml are called NAME.trace.jsonl and NAME.trace-2.jsonl.
    """
    prefix = "" if path.name == "scenario.yaml" else f"{name_of(path)}."
    files = (path.parent / f"{prefix}{name}" for name in FILES)
    return tuple(_read(file) for file in files if file.is_file())


def _read(file: Path) -> tuple[RawRecord, ...]:
    records: list[RawRecord] = []
    for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ScenarioError((_fault(file, n, error.colno, error.msg),)) from error
        if not isinstance(record, dict) or "t" not in record or "kind" not in record:
            raise ScenarioError((_fault(file, n, 1, "a record is an object with t and kind"),))
        records.append(record)
    return tuple(records)


def _fault(file: Path, line: int, column: int, text: str) -> Problem:
    return Problem(file=str(file), line=line, column=column, path="", type="Invalid", text=text)
