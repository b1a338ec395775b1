"""Resources of containers and pods. Source: kubernetes v1.36 ValidateResourceRequirements, validatePodResources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import canonical_quantity, parse_quantity, quantity_value
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
from kubelet_emu.manifests.validation.names import label_errors, qualified_name_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubelet_emu.api.v1 import AnyContainer, ContainerResizePolicy, PodSpec, ResourceClaim, ResourceRequirements
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
    if errors := qualified_name_errors(name):
        return errors
    is_standard = name in _STANDARD_NAMES or name.startswith((_HUGE, f"requests.{_HUGE}"))
    return [] if "/" in name or is_standard else ["must be a standard resource type or fully qualified"]


def _container_name_errors(name: str, path: str) -> Iterator[Fault]:
    for text in _name_errors(name):
        yield invalid(path, name, text)
    if "/" not in name:
        if name not in _CONTAINER_NAMES and not name.startswith(_HUGE):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not _is_native(name) and not _is_extended(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def _pod_name_errors(name: str, path: str) -> Iterator[Fault]:
    errors = _name_errors(name)
    for text in errors:
        yield invalid(path, name, text)
    if not errors and not is_pod_level_resource(name):
        yield unsupported(path, name, ("cpu", _HUGE, "memory"))


def validate_resources(container: AnyContainer, path: str, context: Context) -> Iterator[Fault]:
    """Check what a container asks for."""
    if container.resources is not None:
        yield from _validate_requirements(container.resources, path, _container_name_errors, context)


def _validate_requirements(
    resources: ResourceRequirements, path: str, name_errors: Callable[[str, str], Iterator[Fault]], context: Context
) -> Iterator[Fault]:
    for name, text in each_of(resources.limits):
        yield from name_errors(name, f"{path}.limits[{name}]")
        yield from _validate_amount(name, text, f"{path}.limits[{name}]")
    for name, text in each_of(resources.requests):
        yield from name_errors(name, f"{path}.requests[{name}]")
        yield from _validate_quantity(name, text, f"{path}.requests[{name}]")
        yield from _compare(name, text, resources.limits.get(name), path)
        yield from _validate_pages(name, text, f"{path}.requests[{name}]")
    names = {*resources.limits, *resources.requests}
    if any(name.startswith(_HUGE) for name in names) and not names & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
    yield from _validate_claims(resources, f"{path}.claims", context)


def _validate_amount(name: str, text: str, path: str) -> Iterator[Fault]:
    yield from _validate_quantity(name, text, path)
    yield from _validate_pages(name, text, path)


def _validate_quantity(name: str, text: str, path: str) -> Iterator[Fault]:
    value = parse_quantity(text)
    if value < 0:
        yield invalid(path, _shown(text), NOT_NEGATIVE)
    if (name in _QUOTA_INTEGERS or _is_extended(name)) and value != value.to_integral_value():
        yield invalid(path, _shown(text), "must be an integer")


def _validate_pages(name: str, text: str, path: str) -> Iterator[Fault]:
    """Check that an amount of huge pages is whole pages."""
    if not name.startswith(_HUGE):
        return
    size = _page_size(name)
    if not size or quantity_value(text) % size:
        yield invalid(path, _shown(text), f"{_shown(text)} is not positive integer multiple of {name}")


def _page_size(name: str) -> int:
    """Return the bytes of a page; 0 for a name that says no whole number of them."""
    try:
        size = parse_quantity(name.removeprefix(_HUGE))
    except ValueError:
        return 0
    return int(size) if size > 0 and size == size.to_integral_value() else 0


def _compare(name: str, text: str, limit: str | None, path: str) -> Iterator[Fault]:
    """Compare a request with its limit; the server's path has no key."""
    may_overcommit = _is_native(name) and not name.startswith(_HUGE)
    at = f"{path}.requests[{name}]"
    if limit is None:
        if not may_overcommit:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources", at=at)
        return
    request, most = parse_quantity(text), parse_quantity(limit)
    if request != most and not may_overcommit:
        yield invalid(f"{path}.requests", _shown(text), f"must be equal to {name} limit of {_shown(limit)}", at=at)
    elif request > most:
        detail = f"must be less than or equal to {name} limit of {_shown(limit)}"
        yield invalid(f"{path}.requests", _shown(text), detail, at=at)


def _shown(text: str) -> str:
    return canonical_quantity(text)


def _validate_claims(resources: ResourceRequirements, path: str, context: Context) -> Iterator[Fault]:
    known = sorted({each.name for each in context.spec.resource_claims if each.name})
    seen: set[str] = set()
    for index, claim in enumerate(resources.claims):
        at = f"{path}[{index}]"
        if not claim.name:
            yield required(at)
            continue
        yield from _validate_use(claim, at, seen)
        if claim.name not in known:
            listed = f": {', '.join(known)}" if known else " which is empty"
            yield not_found(at, claim.name, f"must be one of the names in pod.spec.resourceClaims{listed}")


def _validate_use(claim: ResourceClaim, path: str, seen: set[str]) -> Iterator[Fault]:
    """Check that no claim is used twice, as a whole or a request of it; `seen` are the uses so far."""
    if claim.name in seen:
        yield duplicate(path, claim.name)
        return
    use = claim.name
    if claim.request:
        for text in label_errors(claim.request):
            yield invalid(f"{path}.request", claim.request, text)
        use = f"{claim.name}/{claim.request}"
    if use in seen:
        yield duplicate(path, use)
    elif not claim.request:
        for other in seen:
            if other.startswith(f"{claim.name}/"):
                yield duplicate(path, claim.name)
    seen.add(use)


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
        if context.spec.restart_policy == "Never" and policy.restart_policy != "NotRequired":
            text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield invalid(path, policy.restart_policy, text, at=at)


def validate_pod_resources(spec: PodSpec, path: str, context: Context) -> Iterator[Fault]:
    """Check what a whole pod asks for (KEP-2837)."""
    resources = spec.resources
    if resources is None or not context.gates.enabled("PodLevelResources"):
        return
    if spec.os is not None and spec.os.name == "windows":
        yield forbidden(path, "may not be set for a windows pod")
        return
    if resources.claims:
        yield forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    yield from _validate_requirements(resources, path, _pod_name_errors, context)
    yield from _validate_consistency(spec, resources, path)


def _validate_consistency(spec: PodSpec, resources: ResourceRequirements, path: str) -> Iterator[Fault]:
    """Check that the containers fit into the pod (validatePodResourceConsistency)."""
    yield from _compare_aggregate(resources.requests, aggregate_requests(spec), f"{path}.requests", "requests")
    huge = {name: text for name, text in resources.limits.items() if name.startswith(_HUGE)}
    yield from _compare_aggregate(huge, aggregate_requests(spec, limits=True), f"{path}.limits", "limits")
    for index, container in enumerate(spec.containers):
        limits = container.resources.limits if container.resources is not None else {}
        for name, text in each_of(limits):
            most = resources.limits.get(name)
            if most is None or parse_quantity(text) <= parse_quantity(most):
                continue
            at = f"{path.rpartition('.')[0]}.containers[{index}].resources.limits[{name}]"
            detail = f"must be less than or equal to pod limits of {_shown(most)}"
            yield invalid(f"{path}.containers[{index}][{name}].limits", _shown(text), detail, at=at)


def _compare_aggregate(given: Mapping[str, str], wanted: Mapping[str, str], path: str, kind: str) -> Iterator[Fault]:
    for name, text in each_of(given):
        total = wanted.get(name)
        if total is not None and parse_quantity(total) > parse_quantity(text):
            detail = f"must be greater than or equal to aggregate container {kind} of {total}"
            yield invalid(f"{path}[{name}]", _shown(text), detail)


def validate_overhead(overhead: Mapping[str, str], path: str) -> Iterator[Fault]:
    """Check a pod's overhead (KEP-688); the server's path goes over `limits`."""
    for name, text in each_of(overhead):
        where = f"{path}.limits[{name}]"
        for fault in (*_container_name_errors(name, where), *_validate_amount(name, text, where)):
            yield Fault(fault.path, fault.type, fault.detail, f"{path}[{name}]")
    if any(name.startswith(_HUGE) for name in overhead) and not {*overhead} & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
