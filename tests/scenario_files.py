"""Scenario files that many tests look at: each is read once by a process, for what comes of it is a value."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kubelet_emu.scenarios.scenario_file import load_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.scenarios.scenario_file import Scenario


@cache
def given(path: Path) -> Scenario:
    """Return a scenario of a file that no test changes."""
    return load_scenario(path)


def has_no_steps(path: Path) -> bool:
    """Tell whether a scenario has none, by a look at its file: to read all of them takes its time."""
    return "\nsteps: []\n" in path.read_text()
