"""The advice about a pod, without what is switched off.

Start-up is felt first: the rules of a subject are imported for a pod that has what they are about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubelet_emu.advice.advices import Advice, Rule
    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.api.v1 import Container, EphemeralContainer
    from kubelet_emu.manifests.problems import Problem

IGNORE_ANNOTATION = "advice.kubelet-emu/ignore"


def advise(subject: Subject, ignored: Collection[str] = ()) -> tuple[Advice, ...]:
    """Return all advice about a pod but that which is switched off, here or by an annotation of its pod or workload."""
    off = frozenset(ignored) | _ignored_by_annotation(subject)
    rules = (rule for topic in _topics(subject) for rule in topic if rule.code not in off)
    return tuple(advice for rule in rules for advice in rule.find(subject))


def _topics(subject: Subject) -> Iterator[tuple[Rule, ...]]:
    """Yield the rules that may have something to say about a pod, in the order of their codes."""
    containers = [part.container for part in subject.parts]
    has_hooks = any(each.lifecycle is not None for each in containers)
    if subject.spec.init_containers or has_hooks:
        from kubelet_emu.advice import starting

        yield starting.RULES
    if subject.is_to_end:
        from kubelet_emu.advice import ending

        yield ending.RULES
    if has_hooks or any(part.program.deafness is not None for part in subject.parts):
        from kubelet_emu.advice import stopping

        yield stopping.RULES
    if any(each.startup_probe or each.liveness_probe or each.readiness_probe for each in containers):
        from kubelet_emu.advice import probing

        yield probing.RULES
    has_references = any("$(" in (variable.value or "") for each in containers for variable in each.env)
    if subject.needs or has_references or any(map(_has_many_cpus, containers)):
        from kubelet_emu.advice import needs

        yield needs.RULES


def _has_many_cpus(container: Container | EphemeralContainer) -> bool:
    resources = container.resources
    amounts = () if resources is None else (resources.limits.get("cpu", ""), resources.requests.get("cpu", ""))
    return any(amount.isdecimal() and len(amount) > 2 for amount in amounts)


def problems_of(subjects: Iterable[Subject], ignored: Collection[str] = ()) -> Iterator[Problem]:
    """Yield all advice about pods as warnings, and the codes of annotations that are none."""
    for subject in subjects:
        for advice in advise(subject, ignored):
            yield subject.problem(advice.path, advice.code, advice.text, advice.hint)
        if strange := _strange(_ignored_by_annotation(subject)):
            text = f"the annotation {IGNORE_ANNOTATION} names {', '.join(strange)}, which is no code of advice"
            yield subject.problem("", "Unknown code", text, "docs/ADVICE.md has them all")


def _ignored_by_annotation(subject: Subject) -> frozenset[str]:
    text = subject.pod.metadata.annotations.get(IGNORE_ANNOTATION, "")
    if not text:
        return frozenset()
    from kubelet_emu.advice.catalogue import codes_of

    return codes_of(text)


def _strange(codes: frozenset[str]) -> list[str]:
    if not codes:
        return []
    from kubelet_emu.advice.catalogue import CODES

    return sorted(codes - CODES)
