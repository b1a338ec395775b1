"""All rules of advice with their codes, and how they are switched off.

A code never gets another meaning; those from KE101 to KE499 are the rules of `verify`. Each has a section in
docs/ADVICE.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.advice import ending, needs, probing, starting, stopping
from kubelet_emu.advice.advices import Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubelet_emu.advice.advices import Advice
    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.manifests.problems import Problem

IGNORE_ANNOTATION = "advice.kubelet-emu/ignore"

RULES: tuple[Rule, ...] = (
    Rule(code="KE501", title="a sidecar that others need has no gate", find=starting.without_gate),
    Rule(code="KE502", title="an init container waits for what starts after it", find=starting.init_waits),
    Rule(code="KE503", title="a hook or startup probe waits for what it holds back", find=starting.gate_waits),
    Rule(code="KE504", title="a plain init container doesn't end", find=starting.init_never_ends),
    Rule(code="KE601", title="a helper keeps the pod from ending", find=ending.keeps_running),
    Rule(code="KE602", title="restartPolicy: Always on an ordinary container", find=ending.always_again),
    Rule(code="KE603", title="restarts of helpers count against backoffLimit", find=ending.counts_restarts),
    Rule(code="KE604", title="the work of a Job never ends", find=ending.work_never_ends),
    Rule(code="KE701", title="process 1 doesn't react to SIGTERM", find=stopping.ignores_term),
    Rule(code="KE702", title="preStop uses up the grace period", find=stopping.hook_takes_grace),
    Rule(code="KE703", title="preStop stops a sidecar before the mains", find=stopping.hook_stops_early),
    Rule(code="KE704", title="a hook with tcpSocket always fails", find=stopping.hook_without_effect),
    Rule(code="KE801", title="a probe's timeout is longer than its period", find=probing.timeout_over_period),
    Rule(code="KE802", title="more exec probes than an engine can run", find=probing.too_many_execs),
    Rule(code="KE803", title="a probe names a port that isn't there", find=probing.unknown_port),
    Rule(code="KE901", title="a ConfigMap, Secret or key is missing", find=needs.missing),
    Rule(code="KE902", title="a variable is used before it is defined", find=needs.defined_later),
)
CODES = frozenset(rule.code for rule in RULES)


def advise(subject: Subject, ignored: Collection[str] = ()) -> tuple[Advice, ...]:
    """Return all advice about a pod but that which is switched off, here or by an annotation of its pod or workload."""
    off = frozenset(ignored) | frozenset(_ignored_by_annotation(subject))
    return tuple(advice for rule in RULES if rule.code not in off for advice in rule.find(subject))


def problems_of(subjects: Iterable[Subject], ignored: Collection[str] = ()) -> Iterator[Problem]:
    """Yield all advice about pods as warnings, and the codes of annotations that are none."""
    for subject in subjects:
        for advice in advise(subject, ignored):
            yield subject.problem(advice.path, advice.code, advice.text, advice.hint)
        if strange := sorted(set(_ignored_by_annotation(subject)) - CODES):
            text = f"the annotation {IGNORE_ANNOTATION} names {', '.join(strange)}, which is no code of advice"
            yield subject.problem("", "Unknown code", text, "docs/ADVICE.md has them all")


def read_codes(texts: Iterable[str]) -> frozenset[str]:
    """Return the codes of texts such as `KE701,KE702`; ValueError for one that is none."""
    codes = frozenset(code for text in texts for code in _split(text))
    if strange := sorted(codes - CODES):
        raise ValueError(f"{', '.join(strange)}: no code of advice; there are {', '.join(sorted(CODES))}")
    return codes


def _ignored_by_annotation(subject: Subject) -> tuple[str, ...]:
    return _split(subject.pod.metadata.annotations.get(IGNORE_ANNOTATION, ""))


def _split(text: str) -> tuple[str, ...]:
    return tuple(code.upper() for code in re.split(r"[\s,]+", text) if code)
