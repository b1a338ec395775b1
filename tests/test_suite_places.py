"""Where scenarios run: so many at a time, in the order given, and one that breaks doesn't stop the others."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attrs import define, field

from kubelet_emu.cli.suite.options import SuiteOptions
from kubelet_emu.cli.suite.places import shared_world
from kubelet_emu.kubelet.timing import FAST, KUBELET
from kubelet_emu.scenarios.runner import Outcome
from kubelet_emu.scenarios.scenario_file import Scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.suite.places import RunScenario


@define
class Heard:
    """A listener that keeps what it hears."""

    words: list[str] = field(factory=list)

    def began(self, scenario: Scenario) -> None:
        self.words.append(f"began {scenario.name}")

    def ended(self, scenario: Scenario, outcome: Outcome) -> None:
        self.words.append(f"ended {scenario.name}{f': {outcome.error}' if outcome.error else ''}")


def scenarios(*names: str) -> tuple[Scenario, ...]:
    return tuple(Scenario(name=name, path=Path(name)) for name in names)


@define
class _Machine:
    """What scenarios share in a test: how many run now, and what was the most."""

    running: int = 0
    most: int = 0
    is_open: bool = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[RunScenario]:
        self.is_open = True
        try:
            yield self.run
        finally:
            self.is_open = False

    async def run(self, scenario: Scenario) -> Outcome:
        assert self.is_open
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await trio.testing.wait_all_tasks_blocked()
            if scenario.name == "broken":
                raise ValueError("a bug")
            if scenario.name == "interrupted":
                raise KeyboardInterrupt
        finally:
            self.running -= 1
        return Outcome(name=scenario.name)


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_a_shared_world_runs_so_many_at_a_time(jobs: int) -> None:
    machine, heard = _Machine(), Heard()
    shared_world(machine.open)(scenarios("a", "b", "c", "d"), jobs, heard)
    assert machine.most == min(jobs, 4)
    assert [word for word in heard.words if word.startswith("began")] == ["began a", "began b", "began c", "began d"]
    assert sorted(word for word in heard.words if word.startswith("ended")) == [f"ended {name}" for name in "abcd"]
    assert not machine.is_open


def test_a_bug_in_one_scenario_is_its_outcome() -> None:
    heard = Heard()
    shared_world(_Machine().open)(scenarios("broken", "b"), 1, heard)
    assert heard.words[1].startswith("ended broken: Traceback")
    assert "ValueError: a bug" in heard.words[1]
    assert heard.words[2:] == ["began b", "ended b"]


def test_an_interrupt_closes_the_world() -> None:
    machine = _Machine()
    with pytest.raises(BaseExceptionGroup) as caught:
        shared_world(machine.open)(scenarios("interrupted"), 1, Heard())
    assert caught.value.split(KeyboardInterrupt)[1] is None
    assert not machine.is_open


@pytest.mark.parametrize(
    ("options", "timing"),
    [
        (SuiteOptions(paths=()), KUBELET),
        (SuiteOptions(paths=(), runtime="docker"), KUBELET),
        (SuiteOptions(paths=(), timing_name="fast"), FAST),
        (SuiteOptions(paths=(), runtime="docker", timing_name="fast"), FAST),
        (SuiteOptions(paths=(), timing_name="fast", compare=True), KUBELET),
    ],
    ids=[
        "a scenario tells what a kubelet does",
        "on an engine, too",
        "unless it is told otherwise",
        "also on an engine",
        "but a comparison is always with a node's delays",
    ],
)
def test_timing(options: SuiteOptions, timing: object) -> None:
    assert options.timing is timing
