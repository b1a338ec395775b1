"""What identifies the journal of a scenario in virtual time; as a program it prints one digest a line."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.journal.encode import Entry, to_line
from kubelet_emu.scenarios.scenario_file import load_scenario
from kubelet_emu.simulator.opening import EPOCH


def journal_digest(path: Path) -> str:
    """Run a scenario and return the digest of its journal's lines."""
    digest = hashlib.sha256()

    def take(entry: Entry) -> None:
        digest.update(to_line(entry, EPOCH).encode())

    run_simulated(load_scenario(path), SimulatedWorld(sinks=(take,)))
    return digest.hexdigest()


if __name__ == "__main__":
    for word in sys.argv[1:]:
        sys.stdout.write(f"{journal_digest(Path(word))}\n")
