"""Spread over a topology, and the label keys that a pod brings into its own selectors.

Source: kubernetes v1.36 validateTopologySpreadConstraints, ValidateMatchLabelKeysAndMismatchLabelKeys; KEP-3243,
KEP-3633.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, duplicate, forbidden, invalid, required, unsupported
from kubelet_emu.manifests.validation.metadata import validate_selector
from kubelet_emu.manifests.validation.names import qualified_name_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.meta import LabelSelector, ObjectMeta
    from kubelet_emu.api.v1_scheduling import TopologySpreadConstraint

LabelKeys = tuple[tuple[str, ...], tuple[str, ...]]
"""matchLabelKeys and mismatchLabelKeys."""

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_NODE_POLICIES = ("Honor", "Ignore")


def validate_spread(
    constraints: tuple[TopologySpreadConstraint, ...], path: str, metadata: ObjectMeta
) -> Iterator[Fault]:
    """Check how pods are spread; `metadata` is that of the pod, empty for a template."""
    for index, each in enumerate(constraints):
        at = f"{path}[{index}]"
        if each.max_skew <= 0:
            yield invalid(f"{at}.maxSkew", each.max_skew, "must be greater than zero")
        if not each.topology_key:
            yield required(f"{at}.topologyKey", "can not be empty")
        if each.when_unsatisfiable not in _ACTIONS:
            yield unsupported(f"{at}.whenUnsatisfiable", each.when_unsatisfiable, _ACTIONS)
        pair = (each.topology_key, each.when_unsatisfiable)
        if any((other.topology_key, other.when_unsatisfiable) == pair for other in constraints[index + 1 :]):
            shown = f"{at}.{{topologyKey, whenUnsatisfiable}}"
            yield duplicate(shown, f"{{{pair[0]}, {pair[1]}}}", at=at)
        yield from _validate_domains(each, at)
        for name, policy in (
            ("nodeAffinityPolicy", each.node_affinity_policy),
            ("nodeTaintsPolicy", each.node_taints_policy),
        ):
            if policy is not None and policy not in _NODE_POLICIES:
                yield unsupported(f"{at}.{name}", policy, _NODE_POLICIES)
        yield from validate_label_keys(at, (each.match_label_keys, ()), each.label_selector, metadata)
        if each.label_selector is not None:
            yield from validate_selector(each.label_selector, f"{at}.labelSelector")


def _validate_domains(constraint: TopologySpreadConstraint, path: str) -> Iterator[Fault]:
    number, action = constraint.min_domains, constraint.when_unsatisfiable
    if number is None:
        return
    if number <= 0:
        yield invalid(f"{path}.minDomains", number, "must be greater than zero")
    if action != "DoNotSchedule":
        text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid(f"{path}.minDomains", number, text)


def validate_label_keys(
    path: str, keys: LabelKeys, selector: LabelSelector | None, metadata: ObjectMeta
) -> Iterator[Fault]:
    """Check which of a pod's labels go into a selector.

    The server adds them to the selector of a Pod before it looks for keys that stand there already.
    """
    match, mismatch = keys
    for name, given in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if given and selector is None:
            yield forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
            continue
        for index, key in enumerate(given):
            for text in qualified_name_errors(key):
                yield invalid(f"{path}.{name}[{index}]", key, text)
    if selector is not None:
        yield from _validate_not_selected(path, match, selector, metadata)
    for index, key in enumerate(match):
        if key in mismatch:
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def _validate_not_selected(
    path: str, match: tuple[str, ...], selector: LabelSelector, metadata: ObjectMeta
) -> Iterator[Fault]:
    """Check that no key is selected twice; the server's path has the key's index at the constraint itself."""
    added = [key for key in match if key in metadata.labels]
    seen = set(selector.match_labels)
    for key in (*(each.key for each in selector.match_expressions), *added):
        if key in match and key in seen:
            index = len(match) - 1 - match[::-1].index(key)
            text = "exists in both matchLabelKeys and labelSelector"
            yield invalid(f"{path}[{index}]", key, text, at=f"{path}.matchLabelKeys[{index}]")
        seen.add(key)
