"""What a pod failure policy says of one failed pod (KEP-3329)."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.jobs.rules import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.batch_v1 import (
        PodFailurePolicy,
        PodFailurePolicyOnExitCodesRequirement,
        PodFailurePolicyOnPodConditionsPattern,
        PodFailurePolicyRule,
    )
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import ContainerStatus


class PodFailurePolicyAction(enum.Enum):
    """What a rule does with the pods that it matches."""

    FAIL_JOB = "FailJob"
    FAIL_INDEX = "FailIndex"
    IGNORE = "Ignore"
    COUNT = "Count"


@frozen(kw_only=True)
class PodFailurePolicyMatch:
    """The first rule that matched, if any.

    `counted`: the failure counts towards backoffLimit; `fail_job_message` is set when the Job fails by it.
    """

    action: PodFailurePolicyAction | None = None
    counted: bool = True
    fail_job_message: str | None = None


_ACTIONS = {action.value: action for action in PodFailurePolicyAction}
_NO_MATCH = PodFailurePolicyMatch()


def match_pod_failure_policy(policy: PodFailurePolicy | None, pod: Pod) -> PodFailurePolicyMatch:
    """Return what the policy says of a failed pod; the first match ends the search, unknown actions match nothing.

    Source: pkg/controller/job matchPodFailurePolicy.
    """
    if policy is None:
        return _NO_MATCH
    for index, rule in enumerate(policy.rules):
        action = _ACTIONS.get(rule.action)
        message = None if action is None else _matching_message(rule, pod, index)
        if message is not None:
            return PodFailurePolicyMatch(
                action=action,
                counted=action is not PodFailurePolicyAction.IGNORE,
                fail_job_message=message if action is PodFailurePolicyAction.FAIL_JOB else None,
            )
    return _NO_MATCH


def _matching_message(rule: PodFailurePolicyRule, pod: Pod, index: int) -> str | None:
    """Return the text of a match of one rule, None without one (matchPodFailurePolicy)."""
    pod_name = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.on_exit_codes is not None:
        status = match_on_exit_codes(pod, rule.on_exit_codes)
        if status is None:
            return None
        return words.failed_by_exit_code(status.name, pod_name, _exit_code(status), index)
    condition = match_on_pod_conditions(pod, rule.on_pod_conditions)
    return None if condition is None else words.failed_by_condition(pod_name, condition, index)


def match_on_exit_codes(pod: Pod, requirement: PodFailurePolicyOnExitCodesRequirement) -> ContainerStatus | None:
    """Return the first container that meets the requirement: regular ones first, then init ones and sidecars.

    Source: pkg/controller/job matchOnExitCodes. Only the present state counts, and only an exit code other than 0.
    """
    statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    return next((status for status in statuses if _meets(status, requirement)), None)


def _meets(status: ContainerStatus, requirement: PodFailurePolicyOnExitCodesRequirement) -> bool:
    """Tell whether one container meets the requirement (getMatchingContainerFromList)."""
    if status.state.terminated is None or requirement.container_name not in (None, status.name):
        return False
    exit_code = _exit_code(status)
    match requirement.operator:
        case "In":
            return exit_code != 0 and exit_code in requirement.values
        case "NotIn":
            return exit_code != 0 and exit_code not in requirement.values
        case _:
            return False


def _exit_code(status: ContainerStatus) -> int:
    """Return a terminated container's exit code (isOnExitCodesOperatorMatching)."""
    return status.state.terminated.exit_code if status.state.terminated else 0


def match_on_pod_conditions(pod: Pod, patterns: Iterable[PodFailurePolicyOnPodConditionsPattern]) -> str | None:
    """Return the type of the first pod condition that equals a pattern (matchOnPodConditions)."""
    wanted = {(pattern.type, pattern.status or "True") for pattern in patterns}
    return next((have.type for have in pod.status.conditions if (have.type, have.status) in wanted), None)
