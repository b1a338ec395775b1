"""Deployments, ReplicaSets, StatefulSets and DaemonSets.

Source: kubernetes v1.36 ValidateDeployment, ValidateReplicaSet, ValidateStatefulSet, ValidateDaemonSet.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.validation.faults import (
    Fault,
    forbidden,
    invalid,
    required,
    unsupported,
    validate_not_negative,
)
from kubelet_emu.manifests.validation.metadata import selector_matches, validate_metadata, validate_selector
from kubelet_emu.manifests.validation.pod import validate_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.apps_v1 import DaemonSet, Deployment, DeploymentSpec, ReplicaSet, StatefulSet, StatefulSetSpec
    from kubelet_emu.api.quantity import IntOrString
    from kubelet_emu.api.v1 import PodTemplateSpec
    from kubelet_emu.manifests.validation.context import Gates

    Workload = Deployment | ReplicaSet | StatefulSet | DaemonSet

_NUMBERS = (
    ("replicas", "replicas"),
    ("minReadySeconds", "min_ready_seconds"),
    ("revisionHistoryLimit", "revision_history_limit"),
)
_PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def validate_workload(workload: Workload, gates: Gates) -> Iterator[Fault]:
    """Check what makes pods of a template, with its defaults set."""
    yield from validate_metadata(workload.metadata)
    spec = workload.spec
    numbers = [(name, getattr(spec, attribute, None)) for name, attribute in _NUMBERS]
    yield from validate_not_negative(numbers, "spec")
    if workload.kind == "Deployment":
        yield from _validate_deployment(cast("DeploymentSpec", spec))
    elif workload.kind == "StatefulSet":
        yield from _validate_stateful_set(cast("StatefulSetSpec", spec))
    yield from _validate_selector(workload)
    template = _with_claims(workload)
    yield from validate_template(template, "spec.template", gates)
    at = "spec.template.spec"
    policy = template.spec.restart_policy
    if policy != "Always":
        hint = "" if policy not in ("OnFailure", "Never") else f"pods of a {workload.kind} run for ever: use a Job"
        yield unsupported(f"{at}.restartPolicy", policy, ("Always",), hint=hint)
    if template.spec.active_deadline_seconds is not None:
        owner = "ReplicaSet" if workload.kind == "Deployment" else workload.kind
        yield forbidden(f"{at}.activeDeadlineSeconds", f"activeDeadlineSeconds in {owner} is not Supported")


def _validate_selector(workload: Workload) -> Iterator[Fault]:
    """Check the selector. Differs: one that is empty is taken as one that isn't there."""
    selector, labels = workload.spec.selector, workload.spec.template.metadata.labels
    is_missing = not selector.match_labels and not selector.match_expressions
    if is_missing:
        yield required("spec.selector", hint="write selector.matchLabels with labels that spec.template.metadata has")
    yield from validate_selector(selector, "spec.selector")
    if is_missing or not selector_matches(selector, labels):
        text, wanted = "`selector` does not match template `labels`", selector.match_labels
        missing = ", ".join(f"{key}: {value}" for key, value in wanted.items() if labels.get(key) != value)
        hint = f"the selector wants {missing}" if missing else ""
        yield invalid("spec.template.metadata.labels", dict(labels), text, hint=hint)


def _validate_deployment(spec: DeploymentSpec) -> Iterator[Fault]:
    deadline, ready = spec.progress_deadline_seconds, spec.min_ready_seconds or 0
    yield from validate_not_negative((("progressDeadlineSeconds", deadline),), "spec")
    if deadline is not None and deadline <= ready:
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    strategy = spec.strategy
    if strategy is None:
        return
    rolling = strategy.rolling_update
    match strategy.type or "RollingUpdate":
        case "Recreate":
            if rolling is not None:
                text = "may not be specified when strategy `type` is 'Recreate'"
                yield forbidden("spec.strategy.rollingUpdate", text)
        case "RollingUpdate":
            if rolling is not None:
                yield from _validate_rolling(rolling.max_unavailable, rolling.max_surge)
        case unknown:
            yield unsupported("spec.strategy", unknown, ("Recreate", "RollingUpdate"), at="spec.strategy.type")


def _validate_rolling(unavailable: IntOrString | None, surge: IntOrString | None) -> Iterator[Fault]:
    at = "spec.strategy.rollingUpdate"
    for name, value in (("maxUnavailable", unavailable), ("maxSurge", surge)):
        if isinstance(value, str) and not re.fullmatch("[0-9]+%", value):
            yield invalid(f"{at}.{name}", value, _PERCENT_RULE)
        elif isinstance(value, int):
            yield from validate_not_negative(((name, value),), at)
    if _is_zero(unavailable) and _is_zero(surge):
        yield invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    if isinstance(unavailable, str) and re.fullmatch("[0-9]+%", unavailable) and int(unavailable[:-1]) > 100:
        yield invalid(f"{at}.maxUnavailable", unavailable, "must not be greater than 100%")


def _is_zero(value: IntOrString | None) -> bool:
    return value == 0 or (isinstance(value, str) and bool(re.fullmatch("0+%", value)))


def _validate_stateful_set(spec: StatefulSetSpec) -> Iterator[Fault]:
    policy = spec.pod_management_policy
    if policy not in (None, "OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    kind = spec.update_strategy.type if spec.update_strategy is not None else None
    if kind not in (None, "RollingUpdate", "OnDelete"):
        yield invalid(
            "spec.updateStrategy", kind, "must be 'RollingUpdate' or 'OnDelete'", at="spec.updateStrategy.type"
        )
    start = spec.ordinals.start if spec.ordinals is not None else None
    yield from validate_not_negative((("start", start),), "spec.ordinals")


def _with_claims(workload: Workload) -> PodTemplateSpec:
    """Return the template with a volume for each claim that a StatefulSet makes.

    Differs: a server doesn't check a StatefulSet's pod spec at all; its pods are refused later.
    """
    template = workload.spec.template
    claims = getattr(workload.spec, "volume_claim_templates", ())
    if not claims:
        return template
    source = api_type("PersistentVolumeClaimVolumeSource")
    volumes = [
        api_type("Volume")(name=each.metadata.name, persistent_volume_claim=source(claim_name=each.metadata.name))
        for each in claims
        if each.metadata is not None and each.metadata.name
    ]
    made = {volume.name for volume in volumes}
    own = [volume for volume in template.spec.volumes if volume.name not in made]
    return evolve(template, spec=evolve(template.spec, volumes=(*own, *volumes)))
