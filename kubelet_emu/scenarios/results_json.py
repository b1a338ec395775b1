"""Results of scenarios as one JSON object. docs/SCENARIOS.md describes it; fields are added, never changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubelet_emu.scenarios.results import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.scenarios.comparison import Comparison
    from kubelet_emu.scenarios.results import Result


def as_json(results: Sequence[Result], seconds: float) -> str:
    """Return everything as one JSON object."""
    counts = {status.value: sum(result.status is status for result in results) for status in Status}
    body = {"seconds": round(seconds, 3), "counts": counts, "scenarios": [_result(result) for result in results]}
    return json.dumps(body, indent=2)


def _result(result: Result) -> dict[str, object]:
    body: dict[str, object] = {
        "name": result.name,
        "file": result.file,
        "status": result.status.value,
        "seconds": round(result.seconds, 3),
        "podSeconds": round(result.pod_seconds, 3),
        "checks": [
            {"expectation": c.expectation, "line": c.line, "holds": c.holds, "because": c.because.splitlines()}
            for c in result.checks
        ],
    }
    optional = {
        "error": result.error,
        "errorLine": result.error_line,
        "note": result.note,
        "excluded": result.excluded,
        "unlike": result.unlike,
        "skipped": result.skipped,
        "problems": [
            {"file": p.file, "line": p.line, "column": p.column, "path": p.path, "text": p.text}
            for p in result.problems
        ],
    }
    body |= {key: value for key, value in optional.items() if value}
    return body if result.comparison is None else {**body, "comparison": _comparison(result.comparison)}


def _comparison(comparison: Comparison) -> dict[str, object]:
    differences = [
        {"where": d.where, "missing": d.missing, "extra": d.extra, "swapped": d.swapped} for d in comparison.differences
    ]
    return {"moments": comparison.moments, "same": comparison.same, "differences": differences}
