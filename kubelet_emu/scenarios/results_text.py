"""Results of scenarios as text: what failed, with the facts that decided it, and the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests import format_problem
from kubelet_emu.scenarios.results import RECORDED_NODE, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.scenarios.results import Result

FEW = 20
_WORDS = {
    Status.PASSED: "ok",
    Status.FAILED: "FAIL",
    Status.UNEXPECTED: "HOLDS",
    Status.INVALID: "BAD",
    Status.EXCLUDED: "excluded",
    Status.SKIPPED: "skipped",
}


def as_line(result: Result) -> str:
    """Return one line about a scenario."""
    word = _WORDS[result.status]
    match result.status:
        case Status.PASSED:
            checks = _counted(len(result.checks), "check")
            return f"{word:5} {result.name}  {checks}, {result.pod_seconds:.1f} s of pod life"
        case Status.EXCLUDED:
            return f"{word} {result.name}: {result.excluded}"
        case Status.SKIPPED:
            return f"{word} {result.name}: {result.skipped}"
        case Status.FAILED if broken := sum(not check.holds for check in result.checks):
            return f"{word:5} {result.name}  {broken} of {_counted(len(result.checks), 'check')}"
        case _:
            return f"{word:5} {result.name}"


def as_text(result: Result) -> tuple[str, ...]:
    """Return all that is to be said of one scenario: a line, and below it what failed."""
    return (as_line(result), *(f"  {line}".rstrip() for line in _reasons(result)))


def _reasons(result: Result) -> Iterator[str]:
    match result.status:
        case Status.INVALID:
            for problem in result.problems:
                yield from format_problem(problem, result.sources.get(problem.file, "")).splitlines()
        case Status.UNEXPECTED:
            if result.excluded:
                yield f"it is excluded, but nothing fails: {result.excluded}"
            else:
                yield f"it is known not to go as recorded, but it does: {result.unlike}"
        case Status.FAILED:
            yield from _failures(result)
        case Status.PASSED:
            if result.note:
                yield f"note: {result.note}"
            if result.differs:
                yield f"note: not as recorded, {result.unlike}"


def _failures(result: Result) -> Iterator[str]:
    if result.error:
        place = f"{result.file}:{result.error_line}" if result.error_line else result.file
        first, *more = result.error.splitlines()
        yield f"{place}: {first}"
        yield from (f"    {line}" for line in more)
    for check in result.checks:
        if not check.holds:
            yield f"{result.file}:{check.line}: {check.expectation}"
            yield from (f"    {line}" for line in check.because.splitlines())
    if result.note:
        yield f"note: {result.note}"
    if result.comparison is not None and result.differs and not result.unlike:
        yield f"{result.file}: not as recorded (- only the node, + only here, ~ the other way round)"
        for difference in result.comparison.differences:
            yield from (f"    {line}" for line in difference.lines())


def report(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines about many scenarios: of a few each, of many those that didn't simply pass."""
    for result in results:
        if len(results) <= FEW or result.status is not Status.PASSED or result.note or result.differs:
            yield from as_text(result)


def summary(results: Sequence[Result], seconds: float, *, is_compared: bool = False) -> tuple[str, ...]:
    """Return the last lines: counts, and if they were compared, how many moments are as recorded."""
    counts = {status: sum(result.status is status for result in results) for status in Status}
    shown = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    life = sum(result.pod_seconds for result in results)
    lines = [
        f"{_counted(len(results), 'scenario')}: {shown or 'none ran'} ({length(life)} of pod life in {seconds:.1f} s)"
    ]
    compared = [result.comparison for result in results if result.comparison is not None]
    if is_compared:
        without = [result.name for result in results if result.comparison is None and not result.problems]
        if without:
            names = ", ".join(without)
            lines.append(f"{_counted(len(without), 'scenario')} without a recording (trace.jsonl): {names}")
    if compared:
        same, moments = sum(each.same for each in compared), sum(each.moments for each in compared)
        lines.append(f"{RECORDED_NODE}: {same} of {moments} moments in the same order")
    return tuple(lines)


def length(seconds: float) -> str:
    """Return a length of time in hours and minutes, or seconds when it is short."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
