"""What the API server warns of in the choice of a node.

Source: kubernetes v1.36 pod.warningsForPodSpecAndMeta, warningsForPodAffinityTerms,
node.GetWarningsForNodeSelectorTerm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault
from kubelet_emu.manifests.validation.names import label_value_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_scheduling import NodeAffinity, NodeSelectorTerm, PodAffinity, PodAntiAffinity

_OLD_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}
_MATCHES_NOTHING = "a null labelSelector results in matching no pod"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def scheduling_warnings(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Return warnings for old labels of nodes and selectors that match nothing."""
    for key in spec.node_selector:
        if key in _OLD_LABELS:
            yield Fault(f"{path}.nodeSelector[{key}]", "Warning", _OLD_LABELS[key])
    affinity = spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        yield from _node_warnings(affinity.node_affinity, f"{path}.affinity.nodeAffinity")
    for index, constraint in enumerate(spec.topology_spread_constraints):
        at = f"{path}.topologySpreadConstraints[{index}]"
        if constraint.topology_key in _OLD_LABELS:
            text = f"{constraint.topology_key} is {_OLD_LABELS[constraint.topology_key]}"
            yield Fault(f"{at}.topologyKey", "Warning", text)
        yield from _null_selector(constraint.label_selector, at)
    if affinity is not None and affinity.pod_affinity is not None:
        yield from _pod_warnings(affinity.pod_affinity, f"{path}.affinity.podAffinity")
    if affinity is not None and affinity.pod_anti_affinity is not None:
        yield from _pod_warnings(affinity.pod_anti_affinity, f"{path}.affinity.podAntiAffinity")


def _node_warnings(affinity: NodeAffinity, path: str) -> Iterator[Fault]:
    required = affinity.required_during_scheduling_ignored_during_execution
    for index, term in enumerate(required.node_selector_terms if required is not None else ()):
        yield from _term_warnings(term, f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        if preferred.preference is not None:
            yield from _term_warnings(preferred.preference, f"{path}.{_PREFERRED}[{index}].preference")


def _term_warnings(term: NodeSelectorTerm, path: str) -> Iterator[Fault]:
    for index, requirement in enumerate(term.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        if requirement.key in _OLD_LABELS:
            yield Fault(f"{at}.key", "Warning", f"{requirement.key} is {_OLD_LABELS[requirement.key]}")
        for number, value in enumerate(requirement.values):
            for text in label_value_errors(value):
                yield Fault(f"{at}.values[{number}]", "Warning", f"{value} is invalid, {text}")


def _pod_warnings(affinity: PodAffinity | PodAntiAffinity, path: str) -> Iterator[Fault]:
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _null_selector(term.label_selector, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        wished = weighted.pod_affinity_term
        selector = wished.label_selector if wished is not None else None
        yield from _null_selector(selector, f"{path}.{_PREFERRED}[{index}].podAffinityTerm")


def _null_selector(selector: LabelSelector | None, path: str) -> Iterator[Fault]:
    if selector is None:
        yield Fault(f"{path}.labelSelector", "Warning", _MATCHES_NOTHING)
