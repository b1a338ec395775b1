"""Scenario files as tests: each runs in virtual time and fails with the expectations that don't hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.scenarios.results import Known, Status, result_of, unreadable
from kubelet_emu.scenarios.results_text import as_text
from kubelet_emu.scenarios.scenario_file import ScenarioError, load_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest._code.code import ExceptionInfo, TerminalRepr


class ScenarioFailure(Exception):  # noqa: N818 - a test's outcome, not an error of ours
    """A scenario does not hold; the text says what and why."""


class ScenarioFile(pytest.File):
    """A file with one scenario."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its one test, named as the scenario."""
        name = self.path.name.removesuffix(".yaml").removesuffix(".scenario")
        name = self.path.parent.name if name == "scenario" else name
        item: ScenarioItem = ScenarioItem.from_parent(self, name=name)
        yield item


class ScenarioItem(pytest.Item):
    """One scenario."""

    obj = None
    """No function: pytest-trio in its trio_mode asks every item for one."""

    def runtest(self) -> None:
        """Run it; ScenarioFailure."""
        scenario = load_scenario(self.path)
        result = result_of(scenario, run_simulated(scenario, SimulatedWorld()), Known(), None)
        if result.status is Status.SKIPPED:
            pytest.skip(result.skipped)
        if result.status is not Status.PASSED:
            raise ScenarioFailure("\n".join(as_text(result)))

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], style: None = None) -> str | TerminalRepr:  # type: ignore[override]  # no styles here
        """Tell what does not hold, without a traceback."""
        match excinfo.value:
            case ScenarioFailure() as failure:
                return str(failure)
            case ScenarioError(problems=problems, sources=sources):
                return "\n".join(as_text(unreadable(self.name, self.path, problems, sources)))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where it is."""
        return self.path, None, f"scenario {self.name}"
