"""What became of scenarios, and how it is shown: as text, JSON or JUnit's XML. Values only."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.scenarios.comparison import Comparison

RECORDED_NODE = "real v1.36.2 node, recorded"


class Status(enum.Enum):
    """How a scenario went. EXCLUDED is known not to hold, UNEXPECTED holds although it is excluded."""

    PASSED = "passed"
    FAILED = "failed"
    EXCLUDED = "excluded"
    UNEXPECTED = "unexpected"
    INVALID = "invalid"


@frozen(kw_only=True)
class Check:
    """One expectation, the line of its file, and the moments or values that decided it."""

    expectation: str
    line: int
    holds: bool
    because: str


@frozen(kw_only=True)
class Result:
    """How one scenario went. `error` says why it could not be driven to its end, `problems` why it can't be read."""

    name: str
    file: str
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: str = ""
    excluded: str = ""
    seconds: float = 0.0
    pod_seconds: float = 0.0
    comparison: Comparison | None = None

    @property
    def status(self) -> Status:
        """Return how it went."""
        if self.problems:
            return Status.INVALID
        differs = self.comparison is not None and bool(self.comparison.differences)
        failed = bool(self.error) or differs or not all(check.holds for check in self.checks)
        if self.excluded:
            return Status.EXCLUDED if failed else Status.UNEXPECTED
        return Status.FAILED if failed else Status.PASSED


def exit_status(results: Sequence[Result]) -> int:
    """Return 2 when a file can't be read, 1 when a scenario does not hold, else 0."""
    statuses = {result.status for result in results}
    if Status.INVALID in statuses or not results:
        return 2
    return 1 if statuses & {Status.FAILED, Status.UNEXPECTED} else 0


def as_text(result: Result) -> tuple[str, ...]:
    """Return the lines about one scenario; none when it holds."""
    match result.status:
        case Status.PASSED | Status.EXCLUDED:
            return ()
        case Status.INVALID:
            return tuple(f"{p.file}:{p.line}:{p.column}: {p.path}: {p.text}" for p in result.problems)
        case Status.UNEXPECTED:
            return (f"HOLDS {result.name}", f"  it is excluded, but nothing fails: {result.excluded}")
        case Status.FAILED:
            return (f"FAIL {result.name}", *(f"  {line}" for line in _reasons(result)))


def _reasons(result: Result) -> Iterator[str]:
    if result.error:
        yield f"{result.file}: {result.error}"
    for check in result.checks:
        if not check.holds:
            yield f"{result.file}:{check.line}: {check.expectation}"
            yield from (f"    {line}" for line in check.because.splitlines())
    if result.comparison is not None and result.comparison.differences:
        yield f"{result.file}: not as recorded (- the node's, + ours, ~ the other way round)"
        for difference in result.comparison.differences:
            yield from (f"    {line}" for line in difference.lines())


def summary(results: Sequence[Result], seconds: float) -> tuple[str, ...]:
    """Return the last lines: counts, and with recordings how many moments are as recorded."""
    counts = {status: sum(result.status is status for result in results) for status in Status}
    shown = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    life = sum(result.pod_seconds for result in results)
    lines = [f"{len(results)} scenarios: {shown or 'none'} ({life:.0f} s of pod life in {seconds:.1f} s)"]
    compared = [result.comparison for result in results if result.comparison is not None]
    if compared:
        same, moments = sum(each.same for each in compared), sum(each.moments for each in compared)
        lines.append(f"{RECORDED_NODE}: {same} of {moments} moments in the same order")
    return tuple(lines)


def as_json(results: Sequence[Result], seconds: float) -> str:
    """Return everything as one JSON object."""
    return json.dumps({"seconds": round(seconds, 3), "scenarios": [_json_of(result) for result in results]}, indent=2)


def _json_of(result: Result) -> dict[str, object]:
    body: dict[str, object] = {
        "name": result.name,
        "file": result.file,
        "status": result.status.value,
        "seconds": round(result.seconds, 3),
        "podSeconds": round(result.pod_seconds, 3),
        "checks": [
            {"expectation": c.expectation, "line": c.line, "holds": c.holds, "because": c.because}
            for c in result.checks
        ],
    }
    if result.error:
        body["error"] = result.error
    if result.excluded:
        body["excluded"] = result.excluded
    if result.problems:
        body["problems"] = [
            {"line": p.line, "column": p.column, "path": p.path, "text": p.text} for p in result.problems
        ]
    if result.comparison is not None:
        differences = [list(each.lines()) for each in result.comparison.differences]
        counts = {"moments": result.comparison.moments, "same": result.comparison.same}
        body["comparison"] = {**counts, "differences": differences}
    return body


def as_junit(results: Sequence[Result], seconds: float) -> str:
    """Return JUnit's XML: one test case a scenario."""
    bad = {Status.FAILED: "failure", Status.UNEXPECTED: "failure", Status.INVALID: "error"}
    suite = ET.Element("testsuite", name="kubelet-emu", tests=str(len(results)), time=f"{seconds:.3f}")
    for result in results:
        case = ET.SubElement(
            suite, "testcase", classname="scenarios", name=result.name, file=result.file, time=f"{result.seconds:.3f}"
        )
        if result.status in bad:
            lines = as_text(result)
            ET.SubElement(case, bad[result.status], message=lines[0]).text = "\\n".join(lines)
        elif result.status is Status.EXCLUDED:
            ET.SubElement(case, "skipped", message=result.excluded)
    for kind in ("failure", "error", "skipped"):
        suite.set({"failure": "failures", "error": "errors"}.get(kind, kind), str(len(suite.findall(f".//{kind}"))))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)
