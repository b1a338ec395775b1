"""Layer 2: the grace of one container before any override."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.api.v1_handlers import Probe
from kubelet_emu.rules.termination import ContainerKillReason, container_grace_period

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

OTHERS = ("delete", "deletion", "eviction", "shutdown", "definition", "definition changed", "readiness", "preStop")
REASONS = {
    **dict.fromkeys(OTHERS, ContainerKillReason.NONE),
    "other": ContainerKillReason.UNKNOWN,
    "unknown": ContainerKillReason.UNKNOWN,
    "liveness": ContainerKillReason.LIVENESS_PROBE,
    "startup": ContainerKillReason.STARTUP_PROBE,
    "postStart": ContainerKillReason.POST_START_HOOK,
}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    container = Container(
        name="main",
        liveness_probe=Probe(termination_grace_period_seconds=given.take("liveness", None)),
        startup_probe=Probe(termination_grace_period_seconds=given.take("startup", None)),
    )
    pod = Pod(
        metadata=ObjectMeta(deletion_grace_period_seconds=given.take("dgps", None)),
        spec=PodSpec(containers=(container,), termination_grace_period_seconds=given.take("tgps", None)),
    )
    base = container_grace_period(pod, container, given.choice("reason", REASONS))
    row.part("out").check({"base": base})
