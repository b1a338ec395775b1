"""What a scenario needs of the kubelet: feature gates and configuration fields."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.config.features import DEFAULTS_V1_36, FeatureGates
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration, load_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CGROUP_V2 = "cgroup-v2"
APP_ARMOR = "apparmor"
DRIVER_NEEDS = frozenset(
    {
        "kubelet-restart",
        "static-pods",
        "node-shutdown",
        "node-label",
        "stop-sandbox",
        "nodeName",
        "NODE_ALLOCATABLE",
        "images-absent",
    }
)
_GATE = re.compile(r"[A-Z][A-Za-z0-9]+")


@frozen(kw_only=True)
class Needs:
    """A scenario's needs, sorted: what to set, and what only some places have."""

    configuration: KubeletConfiguration
    features: FeatureGates
    places: tuple[str, ...] = ()


def read_needs(needs: Sequence[str]) -> Needs:
    """Return what the `needs` of a scenario mean; ConfigurationError for a bad field."""
    gates: dict[str, bool] = {}
    fields: list[str] = []
    places: list[str] = []
    for need in needs:
        name, equals, value = need.partition("=")
        if name in DEFAULTS_V1_36:
            gates[name] = value.lower() != "false"
        elif equals:
            fields.append(f"{name.removeprefix('kubelet.')}={value}")
        elif need not in DRIVER_NEEDS:
            places.append(CGROUP_V2 if need == "cgroup v2" else need)
    if "node-shutdown" in needs and not any(field.startswith("shutdown") for field in fields):
        fields += ["shutdownGracePeriod=20s", "shutdownGracePeriodCriticalPods=10s"]
    configuration = _configuration(fields)
    features = FeatureGates({**configuration.feature_gates.overrides, **gates})
    return Needs(configuration=evolve(configuration, feature_gates=features), features=features, places=tuple(places))


def unknown_needs(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the needs that look like the name of a feature gate and are none."""
    known = (*DEFAULTS_V1_36, *DRIVER_NEEDS)
    return tuple(need for need in needs if _GATE.fullmatch(need) and need not in known)


def _configuration(fields: Iterable[str]) -> KubeletConfiguration:
    """Return the configuration file that says FIELD=VALUE for each field; a dot goes one level down."""
    content: dict[str, object] = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    for text in fields:
        path, _, value = text.partition("=")
        level = content
        *parents, last = path.split(".")
        for parent in parents:
            child = level.setdefault(parent, {})
            level = child if isinstance(child, dict) else {}
        level[last] = _value(value)
    return load_text(json.dumps(content), file="needs")


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
