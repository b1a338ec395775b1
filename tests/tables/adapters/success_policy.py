"""Whether a success policy is met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.api.batch_v1 import SuccessPolicy, SuccessPolicyRule
from kubelet_emu.jobs.rules.indexes import parse_indexes
from kubelet_emu.jobs.rules.success_policy import match_success_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    completions = given.take("completions")
    policy = None if given.take("rules") is None else SuccessPolicy(rules=tuple(map(_a_rule, given.parts("rules"))))
    succeeded = parse_indexes(given.take("succeeded", None) or "", completions)
    message = match_success_policy(policy, completions, succeeded)
    row.part("out").check({"met": message is not None, "message": message})


def _a_rule(rule: Fields) -> SuccessPolicyRule:
    return SuccessPolicyRule(succeeded_indexes=rule.take("indexes", None), succeeded_count=rule.take("count", None))
