"""Makers for the tests of the statuses that one pass makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pod_makers import NOW, a_container, a_sync

from kubelet_emu.api.v1 import ContainerRestartRule, ContainerRestartRuleOnExitCodes
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    PodCondition,
    PodStatus,
)
from kubelet_emu.rules.conditions import find_condition
from kubelet_emu.rules.statuses import generate_api_pod_status

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.rules.observed import ObservedPod

WAS_RUNNING = ContainerState(running=ContainerStateRunning(started_at=NOW))
WAS_WAITING = ContainerState(waiting=ContainerStateWaiting(reason="ContainerCreating"))
RESTARTER = a_container(
    "m",
    restart_policy="Never",
    restart_policy_rules=(
        ContainerRestartRule(
            action="RestartAllContainers",
            exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,)),
        ),
    ),
)


def made(pod: Pod, observed: ObservedPod | None = None, **facts: object) -> PodStatus:
    """Return the status of a pod that is not at its end."""
    return generate_api_pod_status(a_sync(pod, observed, **facts), pod_is_terminal=False)


def ended(code: int, reason: str = "Error") -> ContainerState:
    """Return the state of a container that has ended."""
    return ContainerState(terminated=ContainerStateTerminated(exit_code=code, reason=reason))


def condition(status: PodStatus, condition_type: str) -> PodCondition:
    """Return a condition that must be there."""
    found = find_condition(status.conditions, condition_type)
    assert found is not None
    return found
