"""Affinity, tolerations and other scheduling fields (core/v1); read, not acted on.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.api.meta import LabelSelector


@frozen(kw_only=True)
class Affinity:
    """`Affinity` of core.v1."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


@frozen(kw_only=True)
class NodeAffinity:
    """`NodeAffinity` of core.v1."""

    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


@frozen(kw_only=True)
class NodeSelector:
    """`NodeSelector` of core.v1."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


@frozen(kw_only=True)
class NodeSelectorRequirement:
    """`NodeSelectorRequirement` of core.v1."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


@frozen(kw_only=True)
class NodeSelectorTerm:
    """`NodeSelectorTerm` of core.v1."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


@frozen(kw_only=True)
class PodAffinity:
    """`PodAffinity` of core.v1."""

    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()


@frozen(kw_only=True)
class PodAffinityTerm:
    """`PodAffinityTerm` of core.v1."""

    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""


@frozen(kw_only=True)
class PodAntiAffinity:
    """`PodAntiAffinity` of core.v1."""

    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()


@frozen(kw_only=True)
class PodResourceClaim:
    """`PodResourceClaim` of core.v1."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


@frozen(kw_only=True)
class PodSchedulingGate:
    """`PodSchedulingGate` of core.v1."""

    name: str = ""


@frozen(kw_only=True)
class PodSchedulingGroup:
    """`PodSchedulingGroup` of core.v1."""

    pod_group_name: str | None = None


@frozen(kw_only=True)
class PreferredSchedulingTerm:
    """`PreferredSchedulingTerm` of core.v1."""

    preference: NodeSelectorTerm | None = None
    weight: int = 0


@frozen(kw_only=True)
class Toleration:
    """`Toleration` of core.v1."""

    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: int | None = None
    value: str | None = None


@frozen(kw_only=True)
class TopologySpreadConstraint:
    """`TopologySpreadConstraint` of core.v1."""

    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    max_skew: int = 0
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    topology_key: str = ""
    when_unsatisfiable: str = ""


@frozen(kw_only=True)
class WeightedPodAffinityTerm:
    """`WeightedPodAffinityTerm` of core.v1."""

    pod_affinity_term: PodAffinityTerm | None = None
    weight: int = 0
