"""Whether a success policy is met (KEP-3998)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.jobs.rules.indexes import parse_indexes
from kubelet_emu.jobs.rules.words import matched_success_rule

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from kubelet_emu.api.batch_v1 import SuccessPolicy, SuccessPolicyRule


def match_success_policy(policy: SuccessPolicy | None, completions: int, succeeded: AbstractSet[int]) -> str | None:
    """Return the message of the first rule that is met, or None; nothing is met before anything succeeded.

    Source: pkg/controller/job matchSuccessPolicy.
    """
    if policy is None or not succeeded:
        return None
    for index, rule in enumerate(policy.rules):
        if _is_met(rule, completions, succeeded):
            return matched_success_rule(index)
    return None


def _is_met(rule: SuccessPolicyRule, completions: int, succeeded: AbstractSet[int]) -> bool:
    """Tell whether one rule is met (matchSucceededIndexesRule); indexes beyond the completions don't exist."""
    if rule.succeeded_indexes is None:
        return rule.succeeded_count is not None and len(succeeded) >= rule.succeeded_count
    wanted = parse_indexes(rule.succeeded_indexes, completions)
    if not wanted:
        return False
    have = len(wanted & succeeded)
    return have == len(wanted) or (rule.succeeded_count is not None and have >= rule.succeeded_count)
