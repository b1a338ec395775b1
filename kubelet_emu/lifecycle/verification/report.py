"""A log judged by the rules: what each said, and what is worth knowing besides."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.lifecycle.verification.catalogue import RULES
from kubelet_emu.lifecycle.verification.comparing import seconds, unknown
from kubelet_emu.lifecycle.verification.verdicts import Case, Outcome, Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from kubelet_emu.lifecycle.history import PodHistory
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.lifecycle.verification.verdicts import Rule, Verdict


@frozen(kw_only=True)
class Finding:
    """What one rule said, its violations first."""

    rule: Rule
    verdicts: tuple[Verdict, ...] = ()
    why_not: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return the worst that it said."""
        said = {verdict.outcome for verdict in self.verdicts}
        return next((each for each in (Outcome.VIOLATION, Outcome.UNKNOWN, Outcome.OK) if each in said), _NONE)

    def of(self, outcome: Outcome) -> tuple[Verdict, ...]:
        """Return the verdicts of an outcome."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is outcome)


_NONE = Outcome.NOT_APPLICABLE


@frozen(kw_only=True)
class Report:
    """All findings; `facts` are worth knowing and no faults. `epoch` is what seconds count from, if that is known."""

    findings: tuple[Finding, ...]
    facts: tuple[str, ...] = ()
    minor: int
    epoch: datetime | None = None

    def of(self, outcome: Outcome) -> tuple[Finding, ...]:
        """Return the findings of an outcome."""
        return tuple(finding for finding in self.findings if finding.outcome is outcome)

    @property
    def began(self) -> str:
        """Return the epoch as RFC 3339, empty where it isn't known."""
        return "" if self.epoch is None else self.epoch.astimezone(UTC).isoformat().replace("+00:00", "Z")

    @property
    def is_clean(self) -> bool:
        """Tell whether no rule was broken."""
        return not self.of(Outcome.VIOLATION)


def verify(log: LifecycleLog, terms: Terms | None = None, rules: Sequence[Rule] = RULES) -> Report:
    """Judge a log."""
    return evolve(judge(Case(history=recount(log), terms=terms or Terms()), rules), epoch=log.epoch)


def judge(case: Case, rules: Iterable[Rule] = RULES) -> Report:
    """Judge histories."""
    return Report(
        findings=tuple(_find(rule, case) for rule in rules),
        facts=tuple(fact for pod in case.history.pods for fact in _facts(pod)),
        minor=case.terms.minor,
    )


def _find(rule: Rule, case: Case) -> Finding:
    if case.terms.minor < rule.since:
        return Finding(rule=rule, why_not=f"kubelets do this since 1.{rule.since}")
    judged, left_out = _with_kinds(case) if rule.needs_kinds else (case, [])
    verdicts = [*rule.judge(judged), *left_out]
    return Finding(rule=rule, verdicts=tuple(sorted(verdicts, key=lambda verdict: _RANK[verdict.outcome])))


_RANK = {outcome: rank for rank, outcome in enumerate((Outcome.VIOLATION, Outcome.UNKNOWN, Outcome.OK))}


def _with_kinds(case: Case) -> tuple[Case, list[Verdict]]:
    """Return the case with the pods of whose containers the kinds are known, and that the others are unknown."""
    strange = [pod for pod in case.history.pods if pod.containers and not pod.has_kinds]
    if not strange:
        return case, []
    text = "nothing tells which containers are init containers, sidecars or mains: give the manifest (-f)"
    verdicts = [evolve(unknown(pod.name, text), pod=pod.name) for pod in strange]
    known = tuple(pod for pod in case.history.pods if pod not in strange)
    jobs = tuple(job for job in case.history.jobs if not any(pod.name in job.pods for pod in strange))
    return evolve(case, history=evolve(case.history, pods=known, jobs=jobs)), verdicts


def _facts(pod: PodHistory) -> Iterator[str]:
    """Yield what surprises people although it is right: a pod stays Ready while it is being stopped."""
    since = pod.terminating
    if since is None:
        return
    ready = [c for c in pod.conditions if c.type == "Ready"]
    before = [c for c in ready if c.at.high <= since.high]
    after = [c for c in ready if c.at.high > since.high and c.status != "True"]
    if before and before[-1].status == "True":
        until = after[0].at.high if after else pod.ended_at
        yield f"{pod.name} stayed Ready for {seconds(until - since.high)} after its deletion, as it does on every node"
