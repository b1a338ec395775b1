"""What became of scenarios. Values only; results_text, results_json and results_junit show them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.scenarios.comparison import Comparison
    from kubelet_emu.scenarios.runner import Outcome
    from kubelet_emu.scenarios.scenario_file import Scenario

RECORDED_NODE = "real v1.36.2 node, recorded"


class Status(enum.Enum):
    """How a scenario went. EXCLUDED is known not to hold, UNEXPECTED holds although it is excluded."""

    PASSED = "passed"
    FAILED = "failed"
    UNEXPECTED = "unexpected"
    INVALID = "invalid"
    EXCLUDED = "excluded"
    SKIPPED = "skipped"


@frozen(kw_only=True)
class Check:
    """One expectation, the line of its file, and what decided it, a fact a line."""

    expectation: str
    line: int
    holds: bool
    because: str


@frozen(kw_only=True)
class Result:
    """How one scenario went.

    `problems` say why it can't be read (`sources`: the texts they point into), `error` why it could not be driven,
    `excluded` why it is known not to hold here, `unlike` why it is known not to go as recorded, `skipped` why it wasn't
    tried; `note` is worth knowing besides. `seconds` are the machine's, `pod_seconds` the pods'.
    """

    name: str
    file: str
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(factory=dict, repr=False)
    error: str = ""
    error_line: int = 0
    note: str = ""
    excluded: str = ""
    unlike: str = ""
    skipped: str = ""
    seconds: float = 0.0
    pod_seconds: float = 0.0
    comparison: Comparison | None = None

    @property
    def status(self) -> Status:
        """Return how it went."""
        if self.problems:
            return Status.INVALID
        if self.skipped:
            return Status.SKIPPED
        failed = bool(self.error) or not all(check.holds for check in self.checks)
        if self.excluded:
            return Status.EXCLUDED if failed else Status.UNEXPECTED
        if failed or (self.differs and not self.unlike):
            return Status.FAILED
        return Status.UNEXPECTED if self.comparison is not None and self.unlike and not self.differs else Status.PASSED

    @property
    def differs(self) -> bool:
        """Tell whether it didn't go as recorded."""
        return self.comparison is not None and bool(self.comparison.differences)


@frozen(kw_only=True)
class Known:
    """Why a scenario is known not to hold on this runtime, and why it is known not to go as recorded."""

    excluded: str = ""
    unlike: str = ""


def result_of(scenario: Scenario, outcome: Outcome, known: Known, comparison: Comparison | None) -> Result:
    """Return the result of a scenario that ran."""
    return Result(
        name=scenario.name,
        file=str(scenario.path),
        checks=tuple(
            Check(expectation=verdict.expectation, line=line, holds=verdict.holds, because=verdict.because)
            for verdict, line in zip(outcome.verdicts, scenario.expect_lines, strict=False)
        ),
        error=outcome.error,
        error_line=outcome.error_line,
        note=outcome.note,
        excluded=known.excluded,
        unlike=known.unlike,
        skipped=outcome.skipped,
        seconds=outcome.seconds,
        pod_seconds=outcome.virtual_seconds,
        comparison=comparison,
    )


def unreadable(name: str, path: Path, problems: tuple[Problem, ...], sources: Mapping[str, str]) -> Result:
    """Return the result of a scenario that can't be read."""
    return Result(name=name, file=str(path), problems=problems, sources=sources)


def exit_status(results: Sequence[Result]) -> int:
    """Return 2 when a file can't be read, 1 when a scenario does not hold, else 0."""
    statuses = {result.status for result in results}
    if Status.INVALID in statuses:
        return 2
    return 1 if statuses & {Status.FAILED, Status.UNEXPECTED} else 0
