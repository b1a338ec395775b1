"""Table `should_restart`: whether an exited container runs again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pod_inputs import CONTAINER_POLICIES, POD_POLICIES, a_pod, restart_rules

from kubelet_emu.api.v1 import Container
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.restart_policy import container_should_restart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    container = Container(
        name="c",
        restart_policy=row.choice("containerPolicy", CONTAINER_POLICIES),
        restart_policy_rules=restart_rules(row),
    )
    pod = a_pod(row.choice("podPolicy", POD_POLICIES), [("main", container)])
    actual = container_should_restart(container, pod, row.take("exit"), FeatureGates())
    assert actual == row.flag("restart")
