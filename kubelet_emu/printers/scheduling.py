"""Where a pod may run, in `describe`: node selector, tolerations, spread; and selectors as text.

Source: kubectl v1.36 printPodTolerationsMultiline, describeTopologySpreadConstraints; meta/v1 FormatLabelSelector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubelet_emu.api.meta import LabelSelector, LabelSelectorRequirement
    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_scheduling import Toleration, TopologySpreadConstraint
    from kubelet_emu.printers.page import Page

_OPERATORS = {"In": "in", "NotIn": "notin"}


def describe_scheduling(page: Page, spec: PodSpec) -> None:
    """Add node selectors and tolerations."""
    page.labels("Node-Selectors", spec.node_selector)
    page.listed("Tolerations", _tolerations(spec))


def describe_spread(page: Page, spec: PodSpec, indent: str = "") -> None:
    """Add the topology spread constraints, if there are any."""
    ordered = sorted(spec.topology_spread_constraints, key=lambda each: each.topology_key)
    if ordered:
        page.listed(f"{indent}Topology Spread Constraints", map(_spread, ordered))


def describe_template_scheduling(page: Page, spec: PodSpec) -> None:
    """Add the same of a pod template, indented."""
    page.labels("  Node-Selectors", spec.node_selector)
    page.listed("  Tolerations", _tolerations(spec))


def format_selector(selector: LabelSelector | None) -> str:
    """Return a selector as text: `<none>` for one that selects nothing, empty for one that selects all."""
    if selector is None:
        return "<none>"
    texts = [(key, f"{key}={value}") for key, value in selector.match_labels.items()]
    texts += [(wanted.key, _requirement(wanted)) for wanted in selector.match_expressions]
    return ",".join(text for _, text in sorted(texts, key=lambda each: each[0])) or "<none>"


def _requirement(wanted: LabelSelectorRequirement) -> str:
    match wanted.operator:
        case "Exists":
            return wanted.key
        case "DoesNotExist":
            return f"!{wanted.key}"
        case other:
            return f"{wanted.key} {_OPERATORS.get(other, other)} ({','.join(sorted(wanted.values))})"


def _tolerations(spec: PodSpec) -> list[str]:
    return [_toleration(each) for each in sorted(spec.tolerations, key=lambda each: each.key or "")]


def _toleration(toleration: Toleration) -> str:
    text = toleration.key or ""
    text += f"={toleration.value}" if toleration.value else ""
    text += f":{toleration.effect}" if toleration.effect else ""
    if toleration.operator == "Exists" and not toleration.value:
        text += " op=Exists" if text else "op=Exists"
    seconds = toleration.toleration_seconds
    return text if seconds is None else f"{text} for {seconds}s"


def _spread(constraint: TopologySpreadConstraint) -> str:
    text = f"{constraint.topology_key}:{constraint.when_unsatisfiable} when max skew {constraint.max_skew} is exceeded"
    selector = constraint.label_selector
    return text if selector is None else f"{text} for selector {format_selector(selector)}"
