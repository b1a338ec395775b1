"""EXCLUDED.yaml beside a set of scenarios: which of them are known not to hold on a runtime, and why.

A row of the runtime `compare` names a scenario that holds, but does not go as it was recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.manifests.problems import Problem
from kubelet_emu.scenarios.scenario_file import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = "EXCLUDED.yaml"
COMPARISON = "compare"
_KEYS = frozenset({"scenario", "runtime", "waits_for", "reason"})


def read_exclusions(folder: Path, runtime: str) -> Mapping[str, str]:
    """Return the reasons by scenario name for one runtime; empty without the file, ScenarioError for a bad one."""
    path = folder / FILE
    if not path.is_file():
        return {}
    data = path.read_bytes()
    documents, problems = read_plain(str(path), data)
    sources = {str(path): data.decode("utf-8-sig", "replace")}
    if problems:
        raise ScenarioError(problems, sources)
    content = documents[0].value if documents else []
    rows: list[dict[str, object]] = content if isinstance(content, list) else [{}]
    faults = tuple(
        Problem(
            file=str(path),
            line=documents[0].positions.find(f"[{i}]")[0],
            column=documents[0].positions.find(f"[{i}]")[1],
            path=f"[{i}]",
            type="Invalid",
            text=f"a row has the keys {', '.join(sorted(_KEYS))}",
        )
        for i, row in enumerate(rows)
        if not isinstance(row, dict) or set(row) != _KEYS
    )
    if faults:
        raise ScenarioError(faults, sources)
    return {str(row["scenario"]): _told(row) for row in rows if row["runtime"] == runtime}


def _told(row: Mapping[str, object]) -> str:
    """Return a row's reason; `waits_for: nothing` is a difference that stays."""
    waits_for, reason = row["waits_for"], str(row["reason"])
    return reason if waits_for == "nothing" else f"waits for {waits_for}: {reason}"
