"""A report for people: what is wrong first, what can't be told, and one line that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.journal.text import harmless
from kubelet_emu.lifecycle.verification.verdicts import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubelet_emu.lifecycle.verification.report import Finding, Report
    from kubelet_emu.lifecycle.verification.verdicts import Rule, Verdict

    Style = Callable[[str, str], str]

_MOST_SHOWN = 5


def plain(text: str, _colour: str) -> str:
    """Return a text without colour."""
    return text


def report_lines(report: Report, style: Style = plain, *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of a report; `verbose` also has what was found right, each with its moments."""
    for finding in report.of(Outcome.VIOLATION):
        yield from _broken(finding, style)
    yield from _unknown(report, style)
    if verbose:
        yield from _kept(report, style)
    for fact in report.facts:
        yield f"{style('note', 'blue')}    {harmless(fact)}"
    yield _count(report, style)


def _broken(finding: Finding, style: Style) -> Iterator[str]:
    yield f"{style('broken', 'red')}  {finding.rule.code} {finding.rule.title} ({finding.rule.source})"
    verdicts = finding.of(Outcome.VIOLATION)
    for verdict in verdicts[:_MOST_SHOWN]:
        yield f"        {_whose(verdict)}{harmless(verdict.text)}"
        if verdict.rule:
            yield f"        {' ' * len(_whose(verdict))}{harmless(verdict.rule)}"
    if len(verdicts) > _MOST_SHOWN:
        yield f"        and {len(verdicts) - _MOST_SHOWN} more (-o json has all)"
    yield ""


def _whose(verdict: Verdict) -> str:
    return f"{harmless(verdict.pod)}: " if verdict.pod else ""


def _unknown(report: Report, style: Style) -> Iterator[str]:
    """Yield why rules are unknown, each reason once with the rules that it holds for."""
    reasons: dict[str, list[str]] = {}
    for finding in report.of(Outcome.UNKNOWN):
        verdicts = finding.of(Outcome.UNKNOWN)
        more = f" (and {len(verdicts) - 1} more)" if len(verdicts) > 1 else ""
        reasons.setdefault(f"{_whose(verdicts[0])}{harmless(verdicts[0].text)}{more}", []).append(finding.rule.code)
    for reason, codes in reasons.items():
        yield f"{style('unknown', 'yellow')} {_codes(codes)}"
        yield f"        {reason}"


def _kept(report: Report, style: Style) -> Iterator[str]:
    for finding in report.findings:
        for verdict in finding.of(Outcome.OK):
            yield f"{style('ok', 'green')}      {finding.rule.code} {_whose(verdict)}{harmless(verdict.text)}"


def _codes(codes: Sequence[str]) -> str:
    """Return codes in their order; of many only the first, for the last line has all."""
    if len(codes) > 3:
        return f"{', '.join(codes[:2])} and {len(codes) - 2} more"
    return ", ".join(codes)


def _count(report: Report, style: Style) -> str:
    counts = []
    for outcome, colour in ((Outcome.VIOLATION, "red"), (Outcome.OK, "green"), (Outcome.UNKNOWN, "yellow")):
        found = report.of(outcome)
        word = "broken" if outcome is Outcome.VIOLATION else outcome.value
        if outcome is Outcome.OK:
            counts.append(style(f"{len(found)} {'rule' if len(found) == 1 else 'rules'} ok", colour))
        elif found:
            codes = ", ".join(finding.rule.code for finding in found)
            counts.append(f"{style(f'{len(found)} {word}', colour)} ({codes})")
    counts.append(f"{len(report.of(Outcome.NOT_APPLICABLE))} not applicable")
    since = f", times in seconds from {report.began}" if report.began else ""
    return f"{', '.join(counts)}; by Kubernetes 1.{report.minor}{since}"


def rule_lines(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield the table of rules."""
    width = max(len(rule.title) for rule in rules)
    for rule in rules:
        since = f", since 1.{rule.since}" if rule.since else ""
        yield f"{rule.code}  {rule.title:<{width}}  {rule.source}{since}"


def rule_table(rules: Sequence[Rule]) -> str:
    """Return the table of rules in Markdown."""
    rows = ["| code | rule | source | needs the manifest |", "|---|---|---|---|"]
    for rule in rules:
        since = f", since 1.{rule.since}" if rule.since else ""
        rows.append(f"| {rule.code} | {rule.title} | {rule.source}{since} | {'yes' if rule.needs_kinds else 'no'} |")
    return "\n".join(rows) + "\n"
