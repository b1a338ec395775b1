"""Resources of containers and pods. Source: kubernetes v1.36 ValidateResourceRequirements, validatePodResources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import canonical_quantity, parse_quantity
from kubelet_emu.manifests.aggregates import aggregate_requests, is_pod_level_resource
from kubelet_emu.manifests.validation.faults import (
    NOT_NEGATIVE,
    Fault,
    duplicate,
    each_of,
    forbidden,
    invalid,
    not_found,
    required,
    unsupported,
)
from kubelet_emu.manifests.validation.names import qualified_name_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import Container, ContainerResizePolicy, PodSpec, ResourceRequirements
    from kubelet_emu.manifests.validation.context import Context

_CONTAINER_NAMES = frozenset({"cpu", "memory", "ephemeral-storage"})
_QUOTA_NAMES = """pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims
    services.nodeports services.loadbalancers"""
_QUOTA_INTEGERS = frozenset(_QUOTA_NAMES.split())
_AMOUNT_NAMES = """cpu memory ephemeral-storage storage requests.cpu requests.memory requests.storage
    requests.ephemeral-storage
    limits.cpu limits.memory limits.ephemeral-storage"""
_STANDARD_NAMES = _QUOTA_INTEGERS | frozenset(_AMOUNT_NAMES.split())
_HUGE = "hugepages-"


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    return not _is_native(name) and not name.startswith("requests.") and not qualified_name_errors(f"requests.{name}")


def _name_errors(name: str) -> list[str]:
    errors = qualified_name_errors(name)
    is_standard = name in _STANDARD_NAMES or name.startswith((_HUGE, f"requests.{_HUGE}"))
    if not errors and "/" not in name and not is_standard:
        errors.append("must be a standard resource type or fully qualified")
    return errors


def _container_name_errors(name: str) -> list[str]:
    errors = _name_errors(name)
    if "/" not in name:
        if name not in _CONTAINER_NAMES and not name.startswith(_HUGE):
            errors.append("must be a standard resource for containers")
    elif not _is_native(name) and not _is_extended(name):
        errors.append("doesn't follow extended resource name standard")
    return errors


def validate_resources(container: Container, path: str, context: Context) -> Iterator[Fault]:
    """Check what a container asks for."""
    resources = container.resources
    if resources is None:
        return
    yield from _validate_claims(resources, f"{path}.claims", context)
    for kind, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name, text in each_of(amounts):
            at = f"{path}.{kind}[{name}]"
            for error in _container_name_errors(name):
                yield invalid(at, name, error)
            yield from _validate_amount(name, text, at)
    yield from _compare(resources, path)
    names = {*resources.limits, *resources.requests}
    if any(name.startswith(_HUGE) for name in names) and not names & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")


def _validate_amount(name: str, text: str, path: str) -> Iterator[Fault]:
    value = parse_quantity(text)
    shown = canonical_quantity(text)
    if value < 0:
        yield invalid(path, shown, NOT_NEGATIVE)
    if (name in _QUOTA_INTEGERS or _is_extended(name)) and value != value.to_integral_value():
        yield invalid(path, shown, "must be an integer")
    if name.startswith(_HUGE) and (size := _page_size(name)) and (value % size or value < 0):
        yield invalid(path, shown, f"{shown} is not positive integer multiple of {name}")


def _page_size(name: str) -> int:
    try:
        return int(parse_quantity(name.removeprefix(_HUGE)))
    except ValueError:
        return 0


def _compare(resources: ResourceRequirements, path: str) -> Iterator[Fault]:
    """Compare requests with limits; the server's path has no key."""
    for name, text in each_of(resources.requests):
        may_overcommit = _is_native(name) and not name.startswith(_HUGE)
        limit = resources.limits.get(name)
        at = f"{path}.requests[{name}]"
        if limit is None:
            if not may_overcommit:
                yield required(f"{path}.limits", "Limit must be set for non overcommitable resources", at=at)
            continue
        request, most = parse_quantity(text), parse_quantity(limit)
        if not may_overcommit and request != most:
            yield invalid(f"{path}.requests", _shown(text), f"must be equal to {name} limit of {_shown(limit)}", at=at)
        elif may_overcommit and request > most:
            detail = f"must be less than or equal to {name} limit of {_shown(limit)}"
            yield invalid(f"{path}.requests", _shown(text), detail, at=at)


def _shown(text: str) -> str:
    return canonical_quantity(text)


def _validate_claims(resources: ResourceRequirements, path: str, context: Context) -> Iterator[Fault]:
    known = [each.name for each in context.spec.resource_claims]
    seen: set[str] = set()
    for index, claim in enumerate(resources.claims):
        at = f"{path}[{index}]"
        if not claim.name:
            yield required(at)
            continue
        whole, part = claim.name, f"{claim.name}/{claim.request}"
        used = part if claim.request else whole
        overlaps = whole in seen or (not claim.request and any(each.startswith(f"{whole}/") for each in seen))
        if used in seen or overlaps:
            yield duplicate(at, used)
        else:
            seen.add(used)
        if claim.name not in known:
            listed = f": {', '.join(known)}" if known else " which is empty"
            yield not_found(at, claim.name, f"must be one of the names in pod.spec.resourceClaims{listed}")


def validate_resize_policies(
    policies: tuple[ContainerResizePolicy, ...], path: str, context: Context
) -> Iterator[Fault]:
    """Check how a container may be resized (KEP-1287)."""
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        at = f"{path}[{index}]"
        if policy.resource_name in seen:
            yield duplicate(at, policy.resource_name)
        seen.add(policy.resource_name)
        if policy.resource_name not in ("cpu", "memory"):
            named = (
                required(path)
                if not policy.resource_name
                else unsupported(path, policy.resource_name, ("cpu", "memory"))
            )
            yield named
        if not policy.restart_policy:
            yield required(path)
        elif policy.restart_policy not in ("NotRequired", "RestartContainer"):
            yield unsupported(path, policy.restart_policy, ("NotRequired", "RestartContainer"), at=at)
        if context.spec.restart_policy == "Never" and policy.restart_policy not in ("", "NotRequired"):
            text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield invalid(path, policy.restart_policy, text, at=at)


def validate_pod_resources(spec: PodSpec, path: str, context: Context) -> Iterator[Fault]:
    """Check what a whole pod asks for (KEP-2837)."""
    resources = spec.resources
    if resources is None or not context.gates.enabled("PodLevelResources"):
        return
    if spec.os is not None and spec.os.name == "windows":
        yield forbidden(path, "may not be set for a windows pod")
    if resources.claims:
        yield forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
        yield from _validate_claims(resources, f"{path}.claims", context)
    for kind, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name, text in each_of(amounts):
            at = f"{path}.{kind}[{name}]"
            errors = _name_errors(name)
            for error in errors:
                yield invalid(at, name, error)
            if not errors and not is_pod_level_resource(name):
                yield unsupported(at, name, ("cpu", _HUGE, "memory"))
            yield from _validate_amount(name, text, at)
    yield from _compare(resources, path)
    yield from _validate_aggregates(spec, resources, path)


def _validate_aggregates(spec: PodSpec, resources: ResourceRequirements, path: str) -> Iterator[Fault]:
    yield from _compare_aggregate(resources.requests, aggregate_requests(spec), f"{path}.requests", "requests")
    huge = {name: text for name, text in resources.limits.items() if name.startswith(_HUGE)}
    yield from _compare_aggregate(huge, aggregate_requests(spec, limits=True), f"{path}.limits", "limits")
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            limits = container.resources.limits if container.resources is not None else {}
            for name, text in each_of(limits):
                most = resources.limits.get(name)
                if most is None or parse_quantity(text) <= parse_quantity(most):
                    continue
                at = f"{path.rpartition('.')[0]}.{field}[{index}].resources.limits[{name}]"
                detail = f"must be less than or equal to pod limits of {_shown(most)}"
                yield invalid(f"{path}.{field}[{index}][{name}].limits", _shown(text), detail, at=at)


def _compare_aggregate(given: Mapping[str, str], wanted: Mapping[str, str], path: str, kind: str) -> Iterator[Fault]:
    for name, text in each_of(given):
        total = wanted.get(name)
        if is_pod_level_resource(name) and total is not None and parse_quantity(total) > parse_quantity(text):
            detail = f"must be greater than or equal to aggregate container {kind} of {total}"
            yield invalid(f"{path}[{name}]", _shown(text), detail)


def validate_overhead(overhead: Mapping[str, str], path: str) -> Iterator[Fault]:
    """Check a pod's overhead (KEP-688); the server's path goes over `limits`."""
    for name, text in each_of(overhead):
        at = f"{path}.limits[{name}]"
        for error in _container_name_errors(name):
            yield invalid(at, name, error, at=f"{path}[{name}]")
        for fault in _validate_amount(name, text, at):
            yield Fault(fault.path, fault.type, fault.detail, f"{path}[{name}]")
