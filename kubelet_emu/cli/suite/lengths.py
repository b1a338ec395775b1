"""How long a scenario will take in real time: the long ones start first, so that none is waited for alone."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.scenarios.scenario_file import Scenario

RECORDING = "trace.jsonl"


def longest_first(scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
    """Return scenarios by their expected lengths, those of one length in the order given."""
    return tuple(sorted(scenarios, key=expected_seconds, reverse=True))


def expected_seconds(scenario: Scenario) -> float:
    """Return the length of the recording beside a scenario; without one what its end says, else its time-out."""
    recorded = _recorded_seconds(scenario) if scenario.path.name == "scenario.yaml" else 0.0
    return max(recorded or scenario.end.seconds or scenario.timeout_seconds, scenario.linger_seconds)


def _recorded_seconds(scenario: Scenario) -> float:
    """Return when the last record of a recording was made; 0 without a readable one."""
    try:
        lines = (scenario.folder / RECORDING).read_text(encoding="utf-8").splitlines()
        seconds = max((float(json.loads(line)["t"]) for line in lines if line.strip()), default=0.0)
    except (OSError, ValueError, TypeError, KeyError):
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0
