"""Which scenario starts first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubelet_emu.cli.suite.lengths import expected_seconds, longest_first
from kubelet_emu.scenarios.scenario_file import End, Scenario

if TYPE_CHECKING:
    from pathlib import Path

LENGTHS = [
    ("the end of its recording", '{"t": 3.5}\n\n{"t": 12}\n{"t": 2}\n', End(seconds=5), 12.0),
    ("without one, its end", None, End(seconds=5), 5.0),
    ("without both, its time-out", None, End(condition="pod terminal"), 90.0),
    ("a recording that can't be read is none", '{"t": ', End(seconds=5), 5.0),
    ("nor one without times", "[1]\n", End(seconds=5), 5.0),
    ("nor an empty one", "", End(seconds=5), 5.0),
    ("nor one that never ends", '{"t": Infinity}\n', End(seconds=5), 5.0),
]


@pytest.mark.parametrize(("recording", "end", "wanted"), [row[1:] for row in LENGTHS], ids=[row[0] for row in LENGTHS])
def test_how_long_a_scenario_takes(tmp_path: Path, recording: str | None, end: End, wanted: float) -> None:
    if recording is not None:
        (tmp_path / "trace.jsonl").write_text(recording)
    scenario = Scenario(name="s", path=tmp_path / "scenario.yaml", end=end, timeout_seconds=90)
    assert expected_seconds(scenario) == wanted


def test_a_recording_may_be_shorter_than_the_wait_behind_the_end(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text('{"t": 6}\n')
    scenario = Scenario(name="s", path=tmp_path / "scenario.yaml", linger_seconds=40)
    assert expected_seconds(scenario) == 40


def test_the_long_ones_start_first(tmp_path: Path) -> None:
    lengths = {"a": 3.0, "b": 7.0, "c": 3.0}
    scenarios = [Scenario(name=n, path=tmp_path / f"{n}.scenario.yaml", end=End(seconds=s)) for n, s in lengths.items()]
    assert [scenario.name for scenario in longest_first(scenarios)] == ["b", "a", "c"]
