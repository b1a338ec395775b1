"""What restart policies and rules say of a container that ended, whatever else is known of its pod.

Owns the policy of pods and containers and their rules (KEP-5307), and who may ask for a restart of the whole pod
(KEP-5532). What was seen of the containers is `rules.restart`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import AnyContainer, ContainerRestartRule, Pod
    from kubelet_emu.config.features import FeatureGates

RestartPolicy = Literal["Always", "OnFailure", "Never"]

ALWAYS: RestartPolicy = "Always"
ON_FAILURE: RestartPolicy = "OnFailure"
NEVER: RestartPolicy = "Never"
RESTART = "Restart"
RESTART_ALL_CONTAINERS = "RestartAllContainers"


def is_restartable_init_container(container: AnyContainer) -> bool:
    """Tell whether an entry of spec.initContainers is a sidecar (kubelet v1.36 IsRestartableInitContainer, KEP-753)."""
    return container.restart_policy == ALWAYS


def find_matching_container_restart_rule(container: AnyContainer, exit_code: int) -> ContainerRestartRule | None:
    """Return the first rule whose exit codes match.

    Source: kubelet v1.36 FindMatchingContainerRestartRule (KEP-5307).
    """
    for rule in container.restart_policy_rules:
        if rule.exit_codes is None:
            continue
        is_listed = exit_code in rule.exit_codes.values
        if (rule.exit_codes.operator, is_listed) in {("In", True), ("NotIn", False)}:
            return rule
    return None


def container_should_restart(container: AnyContainer, pod: Pod, exit_code: int, features: FeatureGates) -> bool:
    """Tell whether a container that exited with `exit_code` is started again.

    Source: kubelet v1.36 podutil.ContainerShouldRestart (KEP-5307, KEP-5532).
    """
    if features.enabled("ContainerRestartRules") and container.restart_policy:
        rule = find_matching_container_restart_rule(container, exit_code)
        if rule is not None and rule.action in _restarting_actions(features):
            return True
    match effective_restart_policy(container, pod, features):
        case "OnFailure":
            return exit_code != 0
        case "Never":
            return False
        case _:
            return True


def _restarting_actions(features: FeatureGates) -> set[str]:
    if features.enabled("RestartAllContainersOnContainerExits"):
        return {RESTART, RESTART_ALL_CONTAINERS}
    return {RESTART}


def effective_restart_policy(container: AnyContainer, pod: Pod, features: FeatureGates) -> str:
    """Return the container's own policy, or else the pod's (kubelet v1.36 podutil, KEP-5307)."""
    if features.enabled("ContainerRestartRules") and container.restart_policy:
        return container.restart_policy
    return pod.spec.restart_policy or ALWAYS


def is_container_restartable(container: AnyContainer, pod: Pod, features: FeatureGates) -> bool:
    """Tell whether the policy lets a container run again at all; rules are not evaluated, there is no exit code.

    Source: kubelet v1.36 podutil.IsContainerRestartable.
    """
    return effective_restart_policy(container, pod, features) != NEVER


def all_containers_could_restart(pod: Pod, features: FeatureGates) -> bool:
    """Tell whether a rule of the pod asks for a restart of all containers.

    Source: kubelet v1.36 podutil.AllContainersCouldRestart (KEP-5532).
    """
    if not features.enabled("ContainerRestartRules") or not features.enabled("RestartAllContainersOnContainerExits"):
        return False
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return any(rule.action == RESTART_ALL_CONTAINERS for c in containers for rule in c.restart_policy_rules)
