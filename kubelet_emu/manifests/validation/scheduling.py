"""Tolerations, affinity and scheduling gates. Source: kubernetes v1.36 ValidateTolerations, validateAffinity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.validation.faults import Fault, duplicate, forbidden, invalid, required, unsupported
from kubelet_emu.manifests.validation.metadata import validate_selector
from kubelet_emu.manifests.validation.names import (
    label_errors,
    label_value_errors,
    qualified_name_errors,
    subdomain_errors,
)
from kubelet_emu.manifests.validation.topology import validate_label_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1_scheduling import (
        Affinity,
        NodeAffinity,
        NodeSelectorRequirement,
        NodeSelectorTerm,
        PodAffinity,
        PodAffinityTerm,
        PodAntiAffinity,
        PodSchedulingGate,
        Toleration,
    )
    from kubelet_emu.manifests.validation.context import Context

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_INTEGER = r"0|-?[1-9][0-9]*"


def validate_scheduling_gates(gates: tuple[PodSchedulingGate, ...], path: str) -> Iterator[Fault]:
    """Check what keeps a pod from being scheduled (KEP-3521)."""
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        at = f"{path}[{index}]"
        for text in qualified_name_errors(gate.name):
            yield invalid(at, gate.name, text)
        if gate.name in seen:
            yield duplicate(at, gate.name)
        seen.add(gate.name)


def validate_tolerations(tolerations: tuple[Toleration, ...], path: str, context: Context) -> Iterator[Fault]:
    """Check tolerations."""
    for index, toleration in enumerate(tolerations):
        yield from _validate_toleration(toleration, f"{path}[{index}]", context)


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
            if errors := label_value_errors(value):
                yield invalid(at, value, ";".join(errors))
        case "Exists":
            if value:
                yield invalid(at, value, "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt":
            if not has_comparison:
                yield unsupported(at, operator, ("Equal", "Exists", "Lt", "Gt"))
            elif not re.fullmatch(_INTEGER, value):
                yield invalid(f"{path}.value", value, "must be a valid integer")
        case _:
            allowed = ("Equal", "Exists", "Lt", "Gt") if has_comparison else ("Equal", "Exists")
            yield unsupported(at, operator, allowed)


def validate_affinity(affinity: Affinity, path: str, metadata: ObjectMeta) -> Iterator[Fault]:
    """Check where a pod wants to be; `metadata` is that of the pod, empty for a template."""
    if affinity.node_affinity is not None:
        yield from _validate_node_affinity(affinity.node_affinity, f"{path}.nodeAffinity")
    for name, given in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if given is not None:
            yield from _validate_pod_affinity(given, f"{path}.{name}", metadata)


def _validate_node_affinity(affinity: NodeAffinity, path: str) -> Iterator[Fault]:
    wanted = affinity.required_during_scheduling_ignored_during_execution
    if wanted is not None:
        at = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not wanted.node_selector_terms:
            yield required(at, "must have at least one node selector term")
        for index, term in enumerate(wanted.node_selector_terms):
            yield from _validate_term(term, f"{at}[{index}]", with_values=True)
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        at = f"{path}.{_PREFERRED}[{index}]"
        yield from _validate_weight(preferred.weight, at)
        if preferred.preference is not None:
            yield from _validate_term(preferred.preference, f"{at}.preference", with_values=False)


def _validate_weight(weight: int, path: str) -> Iterator[Fault]:
    if not 1 <= weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _validate_term(term: NodeSelectorTerm, path: str, *, with_values: bool) -> Iterator[Fault]:
    """Check one alternative; the values of one that is only preferred may be no label values (the server's rule)."""
    for index, requirement in enumerate(term.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        yield from _validate_requirement(requirement, at)
        for number, value in enumerate(requirement.values if with_values else ()):
            for text in label_value_errors(value):
                yield invalid(f"{at}.values[{number}]", value, text)
    for index, requirement in enumerate(term.match_fields):
        yield from _validate_field_requirement(requirement, f"{path}.matchFields[{index}]")


def _validate_field_requirement(requirement: NodeSelectorRequirement, path: str) -> Iterator[Fault]:
    if requirement.operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", requirement.operator, "not a valid selector operator")
    elif len(requirement.values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", text)
    if requirement.key != "metadata.name":
        yield invalid(f"{path}.key", requirement.key, "not a valid field selector key")
        return
    for index, value in enumerate(requirement.values):
        for text in subdomain_errors(value):
            yield invalid(f"{path}.values[{index}]", value, text)


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
        case operator:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    for text in qualified_name_errors(requirement.key):
        yield invalid(f"{path}.key", requirement.key, text)


def _validate_pod_affinity(affinity: PodAffinity | PodAntiAffinity, path: str, metadata: ObjectMeta) -> Iterator[Fault]:
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _validate_pod_term(term, f"{path}.{_REQUIRED}[{index}]", metadata)
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        at = f"{path}.{_PREFERRED}[{index}]"
        yield from _validate_weight(weighted.weight, at)
        term = weighted.pod_affinity_term or api_type("PodAffinityTerm")()
        yield from _validate_pod_term(term, f"{at}.podAffinityTerm", metadata)


def _validate_pod_term(term: PodAffinityTerm, path: str, metadata: ObjectMeta) -> Iterator[Fault]:
    if term.label_selector is not None:
        yield from validate_selector(term.label_selector, f"{path}.labelSelector")
    if term.namespace_selector is not None:
        yield from validate_selector(term.namespace_selector, f"{path}.namespaceSelector")
    for index, name in enumerate(term.namespaces):
        for text in label_errors(name):
            yield invalid(f"{path}.namespace", name, text, at=f"{path}.namespaces[{index}]")
    keys = (term.match_label_keys, term.mismatch_label_keys)
    yield from validate_label_keys(path, keys, term.label_selector, metadata)
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    for text in qualified_name_errors(term.topology_key):
        yield invalid(f"{path}.topologyKey", term.topology_key, text)
