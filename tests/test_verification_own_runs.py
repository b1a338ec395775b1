"""What our own kubelet does breaks no rule, whatever the pod is and whatever goes wrong on its node.

A sample by default; KUBELET_EMU_ALL_MUTATIONS=1 (`make mutations`) takes many more.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from random_pods import write_scenario
from verification_makers import terms_of

from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.kubelet.timing import FAST, KUBELET
from kubelet_emu.lifecycle.reading.logs import log_of_entries
from kubelet_emu.lifecycle.verification import Outcome, verify
from kubelet_emu.scenarios.scenario_file import load_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.journal.encode import Entry

SEEDS = range(1000 if os.environ.get("KUBELET_EMU_ALL_MUTATIONS") == "1" else 24)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_at_random_breaks_no_rule(seed: int, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, seed)
    entries: list[Entry] = []
    world = SimulatedWorld(sinks=(entries.append,), timing=FAST if seed % 4 == 0 else KUBELET)
    outcome = run_simulated(load_scenario(path), world)
    assert outcome.records
    report = verify(log_of_entries(entries, "run"), terms_of(path))
    assert [(f.rule.code, v.text) for f in report.findings for v in f.of(Outcome.VIOLATION)] == []
