"""Scheduling fields: read and checked, not acted on. Source: kubernetes v1.36 ValidateTolerations, validateAffinity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, duplicate, forbidden, invalid, required, unsupported
from kubelet_emu.manifests.validation.metadata import validate_labels, validate_selector
from kubelet_emu.manifests.validation.names import label_value_errors, qualified_name_errors, subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_scheduling import (
        Affinity,
        NodeAffinity,
        NodeSelectorRequirement,
        NodeSelectorTerm,
        PodAffinity,
        PodAffinityTerm,
        PodAntiAffinity,
        Toleration,
        TopologySpreadConstraint,
    )
    from kubelet_emu.manifests.validation.context import Context

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_INTEGER = re.compile(r"-?\d+")


def validate_scheduling(path: str, context: Context) -> Iterator[Fault]:
    """Check node selector, tolerations, affinity, spread and scheduling gates."""
    spec = context.spec
    yield from validate_labels(spec.node_selector, f"{path}.nodeSelector")
    for index, toleration in enumerate(spec.tolerations):
        yield from _validate_toleration(toleration, f"{path}.tolerations[{index}]", context)
    if spec.affinity is not None:
        yield from _validate_affinity(spec.affinity, f"{path}.affinity")
    yield from _validate_spread(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    seen: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        at = f"{path}.schedulingGates[{index}]"
        for text in qualified_name_errors(gate.name):
            yield invalid(at, gate.name, text)
        if gate.name in seen:
            yield duplicate(at, gate.name)
        seen.add(gate.name)


def _validate_toleration(toleration: Toleration, path: str, context: Context) -> Iterator[Fault]:
    operator = toleration.operator or ""
    if toleration.key:
        for text in qualified_name_errors(toleration.key):
            yield invalid(f"{path}.key", toleration.key, text)
    elif operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, text)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", toleration.effect or "", text)
    yield from _validate_toleration_value(operator, toleration.value or "", path, context)
    if toleration.effect and toleration.effect not in _EFFECTS:
        yield unsupported(f"{path}.effect", toleration.effect, _EFFECTS)


def _validate_toleration_value(operator: str, value: str, path: str, context: Context) -> Iterator[Fault]:
    has_comparison = context.gates.enabled("TaintTolerationComparisonOperators")
    at = f"{path}.operator"
    match operator:
        case "" | "Equal":
            for text in label_value_errors(value):
                yield invalid(at, value, text)
        case "Exists":
            if value:
                yield invalid(at, value, "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt":
            if not has_comparison:
                yield unsupported(at, operator, ("Equal", "Exists", "Lt", "Gt"))
            elif not _INTEGER.fullmatch(value):
                yield invalid(f"{path}.value", value, "must be a valid integer")
        case _:
            allowed = ("Equal", "Exists", "Lt", "Gt") if has_comparison else ("Equal", "Exists")
            yield unsupported(at, operator, allowed)


def _validate_affinity(affinity: Affinity, path: str) -> Iterator[Fault]:
    if affinity.node_affinity is not None:
        yield from _validate_node_affinity(affinity.node_affinity, f"{path}.nodeAffinity")
    for name, given in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if given is not None:
            yield from _validate_pod_affinity(given, f"{path}.{name}")


def _validate_node_affinity(affinity: NodeAffinity, path: str) -> Iterator[Fault]:
    wanted = affinity.required_during_scheduling_ignored_during_execution
    if wanted is not None:
        at = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not wanted.node_selector_terms:
            yield required(at, "must have at least one node selector term")
        for index, term in enumerate(wanted.node_selector_terms):
            yield from _validate_term(term, f"{at}[{index}]")
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        at = f"{path}.{_PREFERRED}[{index}]"
        yield from _validate_weight(preferred.weight, at)
        if preferred.preference is not None:
            yield from _validate_term(preferred.preference, f"{at}.preference")


def _validate_weight(weight: int, path: str) -> Iterator[Fault]:
    if not 1 <= weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _validate_term(term: NodeSelectorTerm, path: str) -> Iterator[Fault]:
    for index, requirement in enumerate(term.match_expressions):
        yield from _validate_requirement(requirement, f"{path}.matchExpressions[{index}]")
    for index, requirement in enumerate(term.match_fields):
        at = f"{path}.matchFields[{index}]"
        if requirement.key != "metadata.name":
            yield invalid(f"{at}.key", requirement.key, "not a valid field selector key")
        if requirement.operator not in ("In", "NotIn"):
            yield invalid(f"{at}.operator", requirement.operator, "not a valid selector operator")
        elif len(requirement.values) != 1:
            text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            yield required(f"{at}.values", text)


def _validate_requirement(requirement: NodeSelectorRequirement, path: str) -> Iterator[Fault]:
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if requirement.values:
                yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        case "Gt" | "Lt":
            if len(requirement.values) != 1:
                yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            yield invalid(f"{path}.operator", requirement.operator, "not a valid selector operator")
    for text in qualified_name_errors(requirement.key):
        yield invalid(f"{path}.key", requirement.key, text)
    for index, value in enumerate(requirement.values):
        for text in label_value_errors(value):
            yield invalid(f"{path}.values[{index}]", value, text)


def _validate_pod_affinity(affinity: PodAffinity | PodAntiAffinity, path: str) -> Iterator[Fault]:
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _validate_pod_term(term, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        at = f"{path}.{_PREFERRED}[{index}]"
        yield from _validate_weight(weighted.weight, at)
        if weighted.pod_affinity_term is not None:
            yield from _validate_pod_term(weighted.pod_affinity_term, f"{at}.podAffinityTerm")


def _validate_pod_term(term: PodAffinityTerm, path: str) -> Iterator[Fault]:
    if term.label_selector is not None:
        yield from validate_selector(term.label_selector, f"{path}.labelSelector")
    if term.namespace_selector is not None:
        yield from validate_selector(term.namespace_selector, f"{path}.namespaceSelector")
    for name in term.namespaces:
        for text in subdomain_errors(name):
            yield invalid(f"{path}.namespace", name, text)
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    for text in qualified_name_errors(term.topology_key):
        yield invalid(f"{path}.topologyKey", term.topology_key, text)


def _validate_spread(constraints: tuple[TopologySpreadConstraint, ...], path: str) -> Iterator[Fault]:
    seen: set[tuple[str, str]] = set()
    for index, each in enumerate(constraints):
        at = f"{path}[{index}]"
        if each.max_skew <= 0:
            yield invalid(f"{at}.maxSkew", each.max_skew, "must be greater than zero")
        if not each.topology_key:
            yield required(f"{at}.topologyKey", "can not be empty")
        else:
            for text in qualified_name_errors(each.topology_key):
                yield invalid(f"{at}.topologyKey", each.topology_key, text)
        if each.when_unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
            yield unsupported(f"{at}.whenUnsatisfiable", each.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway"))
        pair = (each.topology_key, each.when_unsatisfiable)
        if pair in seen:
            first = next(
                n for n, other in enumerate(constraints) if (other.topology_key, other.when_unsatisfiable) == pair
            )
            shown = f"{path}[{first}].{{topologyKey, whenUnsatisfiable}}"
            yield duplicate(shown, f"{{{pair[0]}, {pair[1]}}}", at=at)
        seen.add(pair)
        if each.min_domains is not None and each.min_domains <= 0:
            yield invalid(f"{at}.minDomains", each.min_domains, "must be greater than zero")
        if each.label_selector is not None:
            yield from validate_selector(each.label_selector, f"{at}.labelSelector")
