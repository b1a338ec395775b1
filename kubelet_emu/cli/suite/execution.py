"""A set of scenarios as a whole: read, run, compare, write what was recorded, report, choose the exit status."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, TextIO

from attrs import define, field, frozen

from kubelet_emu.cli.exit_status import INTERRUPTED
from kubelet_emu.cli.failures import InputError, explain
from kubelet_emu.cli.suite.lengths import longest_first
from kubelet_emu.cli.suite.places import shared_world
from kubelet_emu.cli.suite.progress import Progress
from kubelet_emu.cli.suite.reading import read_all
from kubelet_emu.cli.suite.selection import read_filter
from kubelet_emu.journal.outlet import write_private
from kubelet_emu.journal.trace import to_line
from kubelet_emu.scenarios.comparison import compare
from kubelet_emu.scenarios.recordings import read_recordings
from kubelet_emu.scenarios.results import exit_status, result_of, unreadable
from kubelet_emu.scenarios.results_json import as_json
from kubelet_emu.scenarios.results_junit import as_junit
from kubelet_emu.scenarios.results_text import report, summary
from kubelet_emu.scenarios.scenario_file import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kubelet_emu.cli.suite.options import SuiteOptions
    from kubelet_emu.cli.suite.places import Place
    from kubelet_emu.cli.suite.reading import Found
    from kubelet_emu.cli.suite.selection import Wanted
    from kubelet_emu.scenarios.comparison import Comparison
    from kubelet_emu.scenarios.results import Result
    from kubelet_emu.scenarios.runner import Outcome
    from kubelet_emu.scenarios.scenario_file import Scenario


@frozen(kw_only=True)
class Streams:
    """Where the command writes: results to `out`, progress and errors to `err`."""

    out: TextIO = field(factory=lambda: sys.stdout)
    err: TextIO = field(factory=lambda: sys.stderr)


def execute(options: SuiteOptions, streams: Streams) -> int:
    """Run the scenarios that are asked for and return the exit status; every error ends here as text."""
    began_at = time.perf_counter()
    results: list[Result] = []
    try:
        status = _run(options, streams, results)
    except BaseException as error:  # noqa: BLE001 - the edge of the program
        failure = explain(error)
        if failure.status != INTERRUPTED:
            print(failure.text, file=streams.err)
            return failure.status
        print("interrupted: what is told is of the scenarios that had ended", file=streams.err)
        status = INTERRUPTED
    _write(options, streams, results, time.perf_counter() - began_at)
    return status


def _run(options: SuiteOptions, streams: Streams, results: list[Result]) -> int:
    """Run the scenarios; `results` grows as they end, and is in the order of their files when all have."""
    found = read_all(options.paths, _filter(options), options.runtime)
    results += found.bad
    suite = _Suite(options=options, found=found, results=results, progress=_progress(len(found.scenarios), streams))
    if options.trace_dir is not None:
        _make_folder(options)
    try:
        _place_for(options)(longest_first(found.scenarios), options.jobs, suite)
    finally:
        suite.progress.close()
        results.sort(key=lambda result: result.file)
    return exit_status(results)


def _place_for(options: SuiteOptions) -> Place:
    """Return the place that the options name; nothing is opened yet."""
    if options.is_simulated:
        from kubelet_emu.cli.suite.simulated import simulated_place

        return simulated_place(options)
    from kubelet_emu.cli.suite.docker import open_docker_world

    return shared_world(lambda: open_docker_world(options))


def _filter(options: SuiteOptions) -> Wanted:
    try:
        return read_filter(options.wanted)
    except ValueError as error:
        raise InputError(f"-k: {error}") from error


def _make_folder(options: SuiteOptions) -> None:
    try:
        if options.trace_dir is not None:
            options.trace_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--trace-dir: {error.filename}: {error.strerror}") from error


def _progress(total: int, streams: Streams) -> Progress:
    return Progress(
        out=streams.err,
        total=total,
        is_terminal=streams.err.isatty(),
        width=shutil.get_terminal_size((80, 24)).columns,
    )


@define(eq=False, kw_only=True)
class _Suite:
    """Hears of scenarios, and makes results of what it hears."""

    options: SuiteOptions
    found: Found
    results: list[Result]
    progress: Progress

    def began(self, scenario: Scenario) -> None:
        """Show that a scenario runs."""
        self.progress.began(scenario)

    def ended(self, scenario: Scenario, outcome: Outcome) -> None:
        """Keep what became of a scenario, and write what was recorded of it."""
        if self.options.trace_dir is not None and outcome.records:
            _record(self.options.trace_dir / f"{scenario.name}.jsonl", outcome)
        try:
            result = result_of(scenario, outcome, self.found.known[scenario.path], self._compared(scenario, outcome))
        except ScenarioError as error:
            result = unreadable(scenario.name, scenario.path, error.problems, error.sources)
        self.results.append(result)
        self.progress.ended(result)

    def _compared(self, scenario: Scenario, outcome: Outcome) -> Comparison | None:
        """Compare with the recordings beside a scenario, if there are any and it ran."""
        if not self.options.compare or not outcome.records:
            return None
        recordings = read_recordings(scenario.path)
        return compare(outcome.records, recordings, scenario) if recordings else None


def _record(file: Path, outcome: Outcome) -> None:
    try:
        write_private(file, "".join(map(to_line, outcome.records)))
    except OSError as error:
        raise InputError(f"--trace-dir: {file}: {error.strerror}") from error


def _write(options: SuiteOptions, streams: Streams, results: Sequence[Result], seconds: float) -> None:
    match options.output:
        case "json":
            print(as_json(results, seconds), file=streams.out)
        case "junit":
            print(as_junit(results, seconds), file=streams.out)
        case "text":
            for line in (*report(results), *summary(results, seconds, is_compared=options.compare)):
                print(line, file=streams.out)
