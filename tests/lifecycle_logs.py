"""Logs for tests: the recorded traces with their manifests, the slides' output, and records written by hand."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.log import LifecycleLog, Source, SourceFormat
from kubelet_emu.lifecycle.reading import read_logs
from kubelet_emu.lifecycle.reading.objects import objects_of
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.lifecycle.trace import Trace
from kubelet_emu.manifests.loading import load, load_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.lifecycle.history import LogHistory

FIXTURES = Path(__file__).parent.parent / "fixtures"
SCENARIOS = FIXTURES / "scenarios"
TRACES = sorted(SCENARIOS.glob("*/trace*.jsonl"))


def a_log(records: Iterable[Mapping[str, object]], manifest: str = "", *, resolution: float = 0.0) -> LifecycleLog:
    """Return a log of records written by hand."""
    manifests = [loaded.object for loaded in load_text(manifest).objects] if manifest else []
    return _log("log", records, manifests, resolution=resolution)


@cache
def manifests_of(folder: Path) -> tuple[APIObject, ...]:
    """Return the objects of a scenario's folder."""
    files = [str(path) for path in sorted(folder.glob("*.yaml")) if path.name != "scenario.yaml"]
    return tuple(loaded.object for loaded in load(files).objects)


def records_of(trace: Path) -> list[dict[str, object]]:
    """Return the records of a trace."""
    return [json.loads(line) for line in trace.read_text().splitlines() if line.strip()]


def recorded(trace: Path, records: Iterable[Mapping[str, object]] | None = None) -> LifecycleLog:
    """Return a recorded trace with the manifests of its folder; `records` stand in for those of the file."""
    return _log(str(trace), records_of(trace) if records is None else records, manifests_of(trace.parent))


def _log(
    name: str, records: Iterable[Mapping[str, object]], manifests: Iterable[APIObject], *, resolution: float = 0.0
) -> LifecycleLog:
    trace = Trace.of(records)
    return LifecycleLog(
        trace=trace,
        objects=objects_of(manifests),
        sources=(Source(file=name, format=SourceFormat.TRACE, records=0, resolution_seconds=resolution),),
    )


def slide(number: int, manifest: str = "") -> LifecycleLog:
    """Return a slide's output, with a manifest of the slides' folder or without one."""
    slides = FIXTURES / "slides"
    manifests = [loaded.object for loaded in load([str(slides / manifest)]).objects] if manifest else []
    return read_logs([slides / f"slide-{number}.log"], manifests=manifests)


def history_of(scenario: str, trace: str = "trace.jsonl") -> LogHistory:
    """Return the history of a recorded scenario."""
    return recount(recorded(SCENARIOS / scenario / trace))
