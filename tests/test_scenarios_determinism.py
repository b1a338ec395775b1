"""A scenario has one journal, whatever order Trio runs tasks in and however Python hashes strings.

Trio shuffles the tasks that are ready on every tick, so a second run is a run under another schedule. The suite looks
at a sample; `make determinism` looks at every scenario, and several times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scenario_digests import journal_digest

from kubelet_emu.scenarios.scenario_file import find_scenarios

ROOT = Path(__file__).parent.parent
SCENARIOS = find_scenarios(ROOT / "fixtures" / "scenarios")
COLLIDING = frozenset({"delete-with-missing-secret", "pull-parallel-unlimited"})
"""Here tasks that nothing but a turn keeps apart do something at one instant."""
SAMPLE = [path for n, path in enumerate(SCENARIOS) if n % 18 == 0 or path.parent.name in COLLIDING]
LOOKS_AT_ALL = "KUBELET_EMU_ALL_SCENARIOS" in os.environ
CHOSEN = SCENARIOS if LOOKS_AT_ALL else SAMPLE
RUNS = 4 if LOOKS_AT_ALL else 1
AT_ONCE = 7
CHUNKS = [CHOSEN[n : n + AT_ONCE] for n in range(0, len(CHOSEN), AT_ONCE)]


def digests_elsewhere(paths: list[Path], hash_seed: str) -> list[str]:
    """Return the digests that a process with another hash seed finds."""
    command = [sys.executable, "-m", "tests.scenario_digests", *map(str, paths)]
    environ = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("paths", CHUNKS, ids=[f"{chunk[0].parent.name} and on" for chunk in CHUNKS])
def test_scenarios_have_one_journal_under_every_schedule_and_hash_seed(paths: list[Path]) -> None:
    runs = [[journal_digest(path) for path in paths] for _ in range(RUNS)]
    runs += [digests_elsewhere(paths, hash_seed) for hash_seed in ("1", "2")[: 1 + LOOKS_AT_ALL]]
    names = [path.parent.name for path in paths]
    found = [set(digests) for digests in zip(*runs, strict=True)]
    assert [name for name, digests in zip(names, found, strict=True) if len(digests) > 1] == []
