"""A Job's pod failure policy (KEP-3329) and success policy (KEP-3998). Source: kubernetes v1.36 batch validation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote, quote_list
from kubelet_emu.manifests.validation.faults import (
    NOT_NEGATIVE,
    Fault,
    duplicate,
    go_value,
    invalid,
    required,
    too_long,
    too_many,
    unsupported,
)
from kubelet_emu.manifests.validation.names import qualified_name_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.batch_v1 import (
        JobSpec,
        PodFailurePolicyOnExitCodesRequirement,
        PodFailurePolicyOnPodConditionsPattern,
        PodFailurePolicyRule,
        SuccessPolicyRule,
    )

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES = 20
_MOST_VALUES = 255
_LONGEST_INDEXES = 64 * 1024


def _listed(names: tuple[str, ...]) -> str:
    return quote_list(tuple(quote(name) for name in names))


def validate_failure_policy(spec: JobSpec, path: str) -> Iterator[Fault]:
    """Check `podFailurePolicy`."""
    policy = spec.pod_failure_policy
    if policy is None:
        return
    at = f"{path}.podFailurePolicy.rules"
    if len(policy.rules) > _MOST_RULES:
        yield too_many(at, len(policy.rules), _MOST_RULES)
    pod = spec.template.spec
    names = {container.name for container in (*pod.containers, *pod.init_containers)}
    for index, rule in enumerate(policy.rules):
        yield from _validate_rule(rule, f"{at}[{index}]", spec, names)


def _validate_rule(rule: PodFailurePolicyRule, path: str, spec: JobSpec, names: set[str]) -> Iterator[Fault]:
    if not rule.action:
        yield required(f"{path}.action", f"valid values: {_listed(_ACTIONS)}")
    elif rule.action == "FailIndex" and spec.backoff_limit_per_index is None:
        yield invalid(f"{path}.action", rule.action, "requires the backoffLimitPerIndex to be set")
    elif rule.action not in _ACTIONS:
        yield unsupported(f"{path}.action", rule.action, _ACTIONS)
    if rule.on_exit_codes is not None:
        yield from _validate_exit_codes(rule.on_exit_codes, f"{path}.onExitCodes", names)
    if len(rule.on_pod_conditions) > _MOST_RULES:
        yield too_many(f"{path}.onPodConditions", len(rule.on_pod_conditions), _MOST_RULES)
    for index, pattern in enumerate(rule.on_pod_conditions):
        yield from _validate_pattern(pattern, f"{path}.onPodConditions[{index}]")
    if rule.on_exit_codes is not None and rule.on_pod_conditions:
        yield Fault(path, "Invalid value", "specifying both OnExitCodes and OnPodConditions is not supported")
    elif rule.on_exit_codes is None and not rule.on_pod_conditions:
        yield Fault(path, "Invalid value", "specifying one of OnExitCodes and OnPodConditions is required")


def _validate_pattern(pattern: PodFailurePolicyOnPodConditionsPattern, path: str) -> Iterator[Fault]:
    for text in qualified_name_errors(pattern.type):
        yield invalid(f"{path}.type", pattern.type, text)
    if not pattern.status:
        yield required(f"{path}.status", f"valid values: {_listed(_STATUSES)}")
    elif pattern.status not in _STATUSES:
        yield unsupported(f"{path}.status", pattern.status, _STATUSES)


def _validate_exit_codes(given: PodFailurePolicyOnExitCodesRequirement, path: str, names: set[str]) -> Iterator[Fault]:
    if not given.operator:
        yield required(f"{path}.operator", f"valid values: {_listed(_OPERATORS)}")
    elif given.operator not in _OPERATORS:
        yield unsupported(f"{path}.operator", given.operator, _OPERATORS)
    if given.container_name is not None and given.container_name not in names:
        text = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", given.container_name, text)
    at = f"{path}.values"
    if not given.values:
        yield Fault(at, "Invalid value", "[]: at least one value is required")
    elif len(given.values) > _MOST_VALUES:
        yield too_many(at, len(given.values), _MOST_VALUES)
    seen: set[int] = set()
    for index, value in enumerate(given.values):
        if given.operator == "In" and value == 0:
            yield invalid(f"{at}[{index}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(f"{at}[{index}]", value)
        seen.add(value)
    if list(given.values) != sorted(given.values):
        yield invalid(at, given.values, "must be ordered")


def validate_success_policy(spec: JobSpec, path: str) -> Iterator[Fault]:
    """Check `successPolicy`."""
    policy = spec.success_policy
    if policy is None:
        return
    at = f"{path}.successPolicy"
    if spec.completion_mode != "Indexed":
        rules = [(each.succeeded_indexes, each.succeeded_count) for each in policy.rules]
        printed = (f'{{"SucceededIndexes":{go_value(one)},"SucceededCount":{go_value(two)}}}' for one, two in rules)
        shown = f'{{"Rules":[{",".join(printed)}]}}'
        yield Fault(at, "Invalid value", f"{shown}: requires indexed completion mode")
        return
    if not policy.rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{at}.rules", text)
    if len(policy.rules) > _MOST_RULES:
        yield too_many(f"{at}.rules", len(policy.rules), _MOST_RULES)
    for index, rule in enumerate(policy.rules):
        yield from _validate_success_rule(rule, f"{at}.rules[{index}]", spec.completions or 0)


def _validate_success_rule(rule: SuccessPolicyRule, path: str, completions: int) -> Iterator[Fault]:
    count, indexes = rule.succeeded_count, rule.succeeded_indexes
    if count is None and indexes is None:
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified")
        return
    total = 0
    if indexes is not None:
        at = f"{path}.succeededIndexes"
        if len(indexes) > _LONGEST_INDEXES:
            yield too_long(at, _LONGEST_INDEXES)
        try:
            total = count_indexes(indexes, completions)
        except ValueError as error:
            yield invalid(at, indexes, f"error parsing succeededIndexes: {error}")
    if count is None:
        return
    if count < 0:
        yield invalid(f"{path}.succeededCount", count, NOT_NEGATIVE)
    if count > completions:
        text = f"must be less than or equal to {completions} (the number of specified completions)"
        yield invalid(f"{path}.succeededCount", count, text)
    if indexes is not None and count > total:
        text = f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        yield invalid(f"{path}.succeededCount", count, text)


def count_indexes(text: str, completions: int) -> int:
    """Count the indexes of a list such as `0,2-4`; ValueError for one that isn't increasing or goes too far."""
    total = 0
    last: int | None = None
    for part in text.split(",") if text else ():
        first, end = _interval(part, completions)
        if last is not None and last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total += end - first + 1
        last = end
    return total


def _interval(text: str, completions: int) -> tuple[int, int]:
    limits = text.split("-")
    if len(limits) > 2:
        rule = "an index interval can have at most two parts separated by '-'"
        raise ValueError(f"the fragment {quote(text)} violates the requirement that {rule}")
    numbers = []
    for each in limits:
        numbers.append(_index(each))
        if numbers[-1] >= completions:
            raise ValueError(f"too large index: {quote(each)}")
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise ValueError(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]


def _index(text: str) -> int:
    if not re.fullmatch("[-+]?[0-9]{1,19}", text):
        raise ValueError(f"cannot convert string to integer for index: {quote(text)}")
    return int(text)
