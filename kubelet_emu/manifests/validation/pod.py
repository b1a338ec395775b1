"""Pods and pod templates. Source: kubernetes v1.36 ValidatePodSpec, ValidatePodCreate, ValidatePodTemplateSpec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.validation.annotations import MIRROR, validate_matching_fields, validate_pod_annotations
from kubelet_emu.manifests.validation.containers import validate_containers, validate_image_padding
from kubelet_emu.manifests.validation.context import Context, Gates
from kubelet_emu.manifests.validation.environment import validate_file_volumes
from kubelet_emu.manifests.validation.faults import (
    Fault,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
    unsupported,
)
from kubelet_emu.manifests.validation.metadata import validate_annotations, validate_labels, validate_metadata
from kubelet_emu.manifests.validation.name_service import validate_dns, validate_host_aliases
from kubelet_emu.manifests.validation.names import label_errors, qualified_name_errors, subdomain_errors
from kubelet_emu.manifests.validation.operating_system import validate_os
from kubelet_emu.manifests.validation.resources import validate_overhead, validate_pod_resources
from kubelet_emu.manifests.validation.scheduling import (
    validate_affinity,
    validate_scheduling_gates,
    validate_tolerations,
)
from kubelet_emu.manifests.validation.security import validate_host_users, validate_pod_security
from kubelet_emu.manifests.validation.topology import validate_spread
from kubelet_emu.manifests.validation.volumes import validate_volumes
from kubelet_emu.manifests.validation.windows import validate_host_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Pod, PodSpec, PodTemplateSpec
    from kubelet_emu.api.v1_scheduling import PodResourceClaim

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_LARGEST_INT32 = 2**31 - 1
_LONGEST_HOSTNAME_OVERRIDE = 64


def validate_pod(pod: Pod, gates: Gates) -> Iterator[Fault]:
    """Check a Pod that is created, with its defaults set."""
    yield from validate_pod_content(pod, gates)
    if pod.spec.ephemeral_containers:
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if pod.spec.node_name and pod.spec.scheduling_gates:
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from validate_matching_fields(pod.metadata.annotations, pod.spec, "spec")


def validate_pod_content(pod: Pod, gates: Gates) -> Iterator[Fault]:
    """Check what a created and a changed Pod must both be (validatePodMetadataAndSpec)."""
    yield from validate_metadata(pod.metadata)
    yield from validate_pod_annotations(pod.metadata.annotations, pod.spec, "metadata.annotations")
    yield from validate_pod_spec("spec", Context(spec=pod.spec, metadata=pod.metadata, gates=gates))
    yield from _validate_tokens(pod.spec, "spec.volumes")
    for field, containers in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        for index, container in enumerate(containers):
            yield from validate_image_padding(container, f"spec.{field}[{index}]")


def validate_template(template: PodTemplateSpec, path: str, gates: Gates) -> Iterator[Fault]:
    """Check the pod template of a controller; labels and annotations stand at `<template>` itself (server's path)."""
    for name, faults in (
        ("labels", validate_labels(template.metadata.labels, f"{path}.labels")),
        ("annotations", _template_annotations(template, f"{path}.annotations")),
    ):
        for fault in faults:
            at = (fault.at or fault.path).replace(f"{path}.{name}", f"{path}.metadata.{name}", 1)
            yield fault._replace(at=at)
    own = f"{path}.spec"
    context = Context(spec=template.spec, metadata=template.metadata, gates=gates, is_template=True)
    yield from validate_pod_spec(own, context)
    yield from validate_matching_fields(template.metadata.annotations, template.spec, own)
    if template.spec.ephemeral_containers:
        yield forbidden(f"{own}.ephemeralContainers", "ephemeral containers not allowed in pod template")


def _template_annotations(template: PodTemplateSpec, path: str) -> Iterator[Fault]:
    yield from validate_annotations(template.metadata.annotations, path)
    yield from validate_pod_annotations(template.metadata.annotations, template.spec, path)


def validate_pod_spec(path: str, context: Context) -> Iterator[Fault]:
    """Check a pod spec, in the order of the server."""
    spec = context.spec
    pod_name = "" if context.is_template else context.metadata.name or ""
    faults, volumes = validate_volumes(spec.volumes, f"{path}.volumes", pod_name)
    yield from faults
    checked = evolve(context, volumes=volumes)
    yield from _validate_claims(checked, f"{path}.resourceClaims")
    yield from validate_containers(path, checked)
    yield from validate_pod_resources(spec, f"{path}.resources", checked)
    yield from _validate_host_network(checked, path)
    yield from _validate_choice(spec.restart_policy or "", _RESTART_POLICIES, f"{path}.restartPolicy")
    yield from _validate_choice(spec.dns_policy or "", _DNS_POLICIES, f"{path}.dnsPolicy")
    yield from validate_labels(spec.node_selector, f"{path}.nodeSelector")
    yield from validate_pod_security(f"{path}.securityContext", checked)
    yield from _validate_placement(checked, path)
    yield from validate_host_process(spec, path)
    yield from validate_host_users(path, checked)
    yield from _validate_override(spec, path)
    yield from _validate_names(checked, path)
    yield from validate_overhead(spec.overhead, f"{path}.overhead")
    yield from validate_os(spec, path)
    yield from _validate_scheduling_group(spec, f"{path}.schedulingGroup")
    yield from validate_file_volumes(spec, path)


def _validate_choice(value: str, allowed: tuple[str, ...], path: str) -> Iterator[Fault]:
    if not value:
        yield required(path)
    elif value not in allowed:
        yield unsupported(path, value, allowed)


def _validate_placement(context: Context, path: str) -> Iterator[Fault]:
    """Check affinity, DNS, gates and spread: they stand beside each other in the server's order."""
    spec = context.spec
    own = api_type("ObjectMeta")() if context.is_template else context.metadata
    if spec.affinity is not None:
        yield from validate_affinity(spec.affinity, f"{path}.affinity", own)
    yield from validate_dns(context, f"{path}.dnsConfig")
    for index, gate in enumerate(spec.readiness_gates):
        for text in qualified_name_errors(gate.condition_type):
            yield invalid(f"{path}.readinessGates[{index}].conditionType", gate.condition_type, text)
    yield from validate_scheduling_gates(spec.scheduling_gates, f"{path}.schedulingGates")
    yield from validate_spread(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints", own)


def _validate_host_network(context: Context, path: str) -> Iterator[Fault]:
    """Check ports on the node's network; those of init containers are not looked at (the server's rule)."""
    if not context.spec.host_network:
        return
    for index, container in enumerate(context.spec.containers):
        for number, port in enumerate(container.ports):
            host_port = port.host_port or 0
            if host_port != port.container_port and (host_port or not context.is_template):
                at = f"{path}.containers[{index}].ports[{number}].hostPort"
                yield invalid(at, host_port, "must match `containerPort` when `hostNetwork` is true")


def _validate_claims(context: Context, path: str) -> Iterator[Fault]:
    """Check which devices a pod asks for; a static pod may ask for none."""
    seen: set[str] = set()
    is_mirror = not context.is_template and MIRROR in context.metadata.annotations
    for index, claim in enumerate(context.spec.resource_claims):
        if is_mirror:
            yield forbidden("[]", "static pods do not support resource claims", at=f"{path}[{index}]")
        else:
            yield from _validate_claim(claim, f"{path}[{index}]", seen)


def _validate_claim(claim: PodResourceClaim, path: str, seen: set[str]) -> Iterator[Fault]:
    if not claim.name:
        yield required(f"{path}.name")
    elif claim.name in seen:
        yield duplicate(f"{path}.name", claim.name)
    else:
        for text in label_errors(claim.name):
            yield invalid(f"{path}.name", claim.name, text)
        seen.add(claim.name)
    named, templated = claim.resource_claim_name, claim.resource_claim_template_name
    if named is not None and templated is not None:
        text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        yield invalid(path, claim, text)
    if named is None and templated is None:
        yield invalid(path, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    for name, value in (("resourceClaimName", named), ("resourceClaimTemplateName", templated)):
        for text in subdomain_errors(value) if value is not None else ():
            yield invalid(f"{path}.{name}", value, text)


def _validate_override(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check a hostname of any form (KEP-4762)."""
    override = spec.hostname_override
    if override is None:
        return
    at = f"{path}.hostnameOverride"
    if spec.set_hostname_as_fqdn:
        yield forbidden(at, "may not be specified when setHostnameAsFQDN is true")
    if spec.host_network:
        yield forbidden(at, "may not be specified when hostNetwork is true")
    if len(override.encode()) > _LONGEST_HOSTNAME_OVERRIDE:
        yield too_long(at, _LONGEST_HOSTNAME_OVERRIDE)
    for text in subdomain_errors(override):
        yield invalid(at, override, text)


def _validate_names(context: Context, path: str) -> Iterator[Fault]:
    """Check what the pod, its node and its classes are called, and how long it may live."""
    spec = context.spec
    for name, value in (("serviceAccountName", spec.service_account_name), ("nodeName", spec.node_name)):
        for text in subdomain_errors(value) if value else ():
            yield invalid(f"{path}.{name}", value, text)
    deadline = spec.active_deadline_seconds
    if deadline is not None and not 1 <= deadline <= _LARGEST_INT32:
        yield invalid(f"{path}.activeDeadlineSeconds", deadline, f"must be between 1 and {_LARGEST_INT32}, inclusive")
    for name, value in (("hostname", spec.hostname), ("subdomain", spec.subdomain)):
        for text in label_errors(value) if value else ():
            yield invalid(f"{path}.{name}", value, text)
    yield from validate_tolerations(spec.tolerations, f"{path}.tolerations", context)
    yield from validate_host_aliases(context, f"{path}.hostAliases")
    for text in subdomain_errors(spec.priority_class_name) if spec.priority_class_name else ():
        yield invalid(f"{path}.priorityClassName", spec.priority_class_name, text)
    for text in subdomain_errors(spec.runtime_class_name) if spec.runtime_class_name is not None else ():
        yield invalid(f"{path}.runtimeClassName", spec.runtime_class_name, text)
    if spec.preemption_policy is not None:
        yield from _validate_choice(spec.preemption_policy, _PREEMPTION_POLICIES, f"{path}.preemptionPolicy")


def _validate_scheduling_group(spec: PodSpec, path: str) -> Iterator[Fault]:
    if spec.scheduling_group is None:
        return
    name = spec.scheduling_group.pod_group_name
    if name is None:
        yield invalid(f"{path}.podGroupName", None, "must specify one of: `podGroupName`", at=path)
        return
    for text in subdomain_errors(name):
        yield invalid(f"{path}.podGroupName", name, text)


def _validate_tokens(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check that a pod that asks for a token has an account."""
    if spec.service_account_name:
        return
    for index, volume in enumerate(spec.volumes):
        for number, source in enumerate(volume.projected.sources if volume.projected is not None else ()):
            if source.service_account_token is not None:
                at = f"{path}[{index}].projected.sources[{number}].serviceAccountToken"
                yield forbidden(at, "must not be specified when serviceAccountName is not set")
