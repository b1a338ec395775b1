"""A report for machines: JSON (docs/VERIFY.md), JUnit's XML, SARIF 2.1.0."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from kubelet_emu.lifecycle.verification.places import Places
from kubelet_emu.lifecycle.verification.verdicts import Outcome
from kubelet_emu.markup import sarif
from kubelet_emu.markup.junit import Case, Remark, as_suite, as_xml
from kubelet_emu.markup.sarif import Descriptor, Level, Place, location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.lifecycle.raw_records import Interval
    from kubelet_emu.lifecycle.verification.report import Finding, Report
    from kubelet_emu.lifecycle.verification.verdicts import Rule, Verdict

SCHEMA = 1
_LEVELS: dict[Outcome, tuple[str, Level]] = {
    Outcome.VIOLATION: ("fail", "error"),
    Outcome.UNKNOWN: ("review", "none"),
}


def as_json(report: Report, files: Sequence[str]) -> str:
    """Return everything as one JSON object."""
    body = {
        "schema": SCHEMA,
        "logs": list(files),
        "kubernetes": f"1.{report.minor}",
        "epoch": report.began or None,
        "clean": report.is_clean,
        "counts": {outcome.value: len(report.of(outcome)) for outcome in Outcome},
        "rules": [_rule(finding) for finding in report.findings],
        "facts": list(report.facts),
    }
    return json.dumps(body, indent=2)


def _rule(finding: Finding) -> dict[str, object]:
    rule = finding.rule
    body: dict[str, object] = {
        "code": rule.code,
        "title": rule.title,
        "source": rule.source,
        "outcome": finding.outcome.value,
        "verdicts": [_verdict(verdict) for verdict in finding.verdicts],
    }
    return body | ({"why": finding.why_not} if finding.why_not else {})


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "outcome": verdict.outcome.value,
        "pod": verdict.pod,
        "subject": verdict.subject,
        "text": verdict.text,
        "rule": verdict.rule,
        "marginSeconds": None if verdict.margin is None else _seconds(verdict.margin),
        "moments": [_moment(moment) for moment in verdict.moments],
    }


def _moment(at: Interval) -> dict[str, object]:
    return {"what": at.label, "earliest": _seconds(at.low), "latest": _seconds(at.high)}


def _seconds(value: float) -> float | None:
    """Return seconds with all that a log's clock can tell; JSON has no infinity."""
    return round(value, 9) if abs(value) != float("inf") else None


def as_junit(report: Report, files: Sequence[str]) -> str:
    """Return JUnit's XML: one test case a rule; unknown and not applicable ones are skipped, with the reason."""
    cases = [
        Case(name=f"{finding.rule.code} {finding.rule.title}", classname=", ".join(files), remark=_remark(finding))
        for finding in report.findings
    ]
    return as_xml(as_suite("kubelet-emu verify", cases))


def _remark(finding: Finding) -> Remark | None:
    texts = [_line(verdict) for verdict in finding.of(finding.outcome)]
    match finding.outcome:
        case Outcome.VIOLATION:
            return Remark(tag="failure", message=texts[0], text="\n".join(texts))
        case Outcome.UNKNOWN:
            return Remark(tag="skipped", message=f"unknown: {texts[0]}")
        case Outcome.NOT_APPLICABLE:
            return Remark(tag="skipped", message=finding.why_not or "not applicable")
        case Outcome.OK:
            return None
        case _:
            assert_never(finding.outcome)


def _line(verdict: Verdict) -> str:
    whose = f"{verdict.pod}: " if verdict.pod else ""
    return f"{whose}{verdict.text}" + (f" ({verdict.rule})" if verdict.rule else "")


def as_sarif(report: Report, log: LifecycleLog, version: str) -> str:
    """Return a SARIF 2.1.0 log: violations are errors, unknowns ask for a review.

    A result is where the moment that decided it is told; the other moments are related locations.
    """
    places = Places.of(log.places)
    file = log.sources[0].file if log.sources else ""
    rules = [
        Descriptor(id=rule.code, title=rule.title, text=f"{rule.title} ({rule.source})")
        for rule in (finding.rule for finding in report.findings)
    ]
    results = [
        _result(finding.rule, verdict, _locations(verdict, places, file))
        for finding in report.findings
        for verdict in finding.verdicts
        if verdict.outcome in _LEVELS
    ]
    return sarif.as_sarif(version, rules, results)


def _result(rule: Rule, verdict: Verdict, places: list[Place]) -> dict[str, object]:
    kind, level = _LEVELS[verdict.outcome]
    name = "/".join(part for part in (verdict.pod, verdict.subject) if part)
    first, *others = places
    locations = [location(first, name), *(location(each) for each in others)]
    return {"kind": kind, **sarif.result(rule.code, level, _line(verdict), locations)}


def _locations(verdict: Verdict, places: Places, file: str) -> list[Place]:
    """Return where the moments of a verdict are told, its subject's first; the beginning of a file without any."""
    moments = sorted(verdict.moments, key=lambda moment: not moment.label.startswith(verdict.subject))
    found = [(moment.label, places.of_moment(verdict.pod, moment)) for moment in moments]
    told = [Place(uri=each.file, line=each.line, label=label) for label, each in found if each is not None]
    return told or [Place(uri=file, line=1)]
