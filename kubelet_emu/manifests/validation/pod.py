"""Pods and pod templates. Source: kubernetes v1.36 ValidatePodSpec, ValidatePodCreate, ValidatePodTemplateSpec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.manifests.validation.annotations import validate_pod_annotations
from kubelet_emu.manifests.validation.containers import validate_containers
from kubelet_emu.manifests.validation.context import Context, Gates
from kubelet_emu.manifests.validation.faults import (
    Fault,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
    unsupported,
)
from kubelet_emu.manifests.validation.metadata import validate_labels, validate_metadata
from kubelet_emu.manifests.validation.names import (
    ip_errors,
    label_errors,
    qualified_name_errors,
    relaxed_subdomain_errors,
    subdomain_errors,
)
from kubelet_emu.manifests.validation.operating_system import validate_os
from kubelet_emu.manifests.validation.resources import validate_overhead, validate_pod_resources
from kubelet_emu.manifests.validation.scheduling import validate_scheduling
from kubelet_emu.manifests.validation.security import validate_pod_security
from kubelet_emu.manifests.validation.volumes import validate_volumes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Pod, PodDNSConfig, PodSpec, PodTemplateSpec
    from kubelet_emu.api.v1_scheduling import PodResourceClaim

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_LARGEST_INT32 = 2**31 - 1
_LONGEST_HOSTNAME_OVERRIDE = 64
_MOST_NAMESERVERS = 3
_MOST_SEARCHES = 32
_LONGEST_SEARCHES = 2048


def validate_pod(pod: Pod, gates: Gates) -> Iterator[Fault]:
    """Check a Pod that is created, with its defaults set."""
    yield from validate_metadata(pod.metadata)
    yield from validate_pod_annotations(pod.metadata.annotations, pod.spec, "metadata.annotations")
    context = Context(spec=pod.spec, metadata=pod.metadata, gates=gates)
    yield from validate_pod_spec("spec", context)
    yield from _validate_pod_only(pod, "spec")
    if pod.spec.ephemeral_containers:
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")


def validate_template(template: PodTemplateSpec, path: str, gates: Gates) -> Iterator[Fault]:
    """Check the pod template of a controller; label faults stand at `<template>.labels` (server's path)."""
    for fault in validate_labels(template.metadata.labels, f"{path}.labels"):
        at = (fault.at or fault.path).replace(f"{path}.labels", f"{path}.metadata.labels")
        yield evolve(fault, at=at)
    yield from validate_pod_annotations(template.metadata.annotations, template.spec, f"{path}.annotations")
    context = Context(spec=template.spec, metadata=template.metadata, gates=gates, is_template=True)
    yield from validate_pod_spec(f"{path}.spec", context)
    if template.spec.ephemeral_containers:
        yield forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def validate_pod_spec(path: str, context: Context) -> Iterator[Fault]:
    """Check a pod spec, in the order of the server."""
    spec = context.spec
    faults, volumes = validate_volumes(spec.volumes, f"{path}.volumes", context.metadata)
    yield from faults
    checked = evolve(context, volumes=volumes)
    yield from _validate_claims(spec.resource_claims, f"{path}.resourceClaims")
    yield from validate_containers(path, checked)
    yield from validate_pod_resources(spec, f"{path}.resources", checked)
    yield from _validate_host_network(spec, path)
    if spec.restart_policy not in _RESTART_POLICIES:
        yield unsupported(f"{path}.restartPolicy", spec.restart_policy or "", _RESTART_POLICIES)
    yield from _validate_dns(spec, path)
    yield from validate_pod_security(f"{path}.securityContext", checked)
    yield from validate_scheduling(path, checked)
    yield from _validate_names(spec, path)
    yield from _validate_deadline(spec, path)
    yield from _validate_hostnames(spec, path)
    for index, gate in enumerate(spec.readiness_gates):
        for text in qualified_name_errors(gate.condition_type):
            yield invalid(f"{path}.readinessGates[{index}].conditionType", gate.condition_type, text)
    if spec.preemption_policy is not None and spec.preemption_policy not in _PREEMPTION_POLICIES:
        yield unsupported(f"{path}.preemptionPolicy", spec.preemption_policy, _PREEMPTION_POLICIES)
    yield from validate_overhead(spec.overhead, f"{path}.overhead")
    yield from validate_os(spec, path)


def _validate_host_network(spec: PodSpec, path: str) -> Iterator[Fault]:
    if not spec.host_network:
        return
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            for number, port in enumerate(container.ports):
                if port.host_port and port.host_port != port.container_port:
                    at = f"{path}.{field}[{index}].ports[{number}].hostPort"
                    yield invalid(at, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _validate_claims(claims: tuple[PodResourceClaim, ...], path: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        at = f"{path}[{index}]"
        if not claim.name:
            yield required(f"{at}.name")
        elif claim.name in seen:
            yield duplicate(f"{at}.name", claim.name)
        else:
            for text in label_errors(claim.name):
                yield invalid(f"{at}.name", claim.name, text)
        seen.add(claim.name)
        named, templated = claim.resource_claim_name, claim.resource_claim_template_name
        if named is None and templated is None:
            yield invalid(at, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        if named is not None and templated is not None:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(at, claim, text)
        for name, value in (("resourceClaimName", named), ("resourceClaimTemplateName", templated)):
            for text in subdomain_errors(value) if value is not None else ():
                yield invalid(f"{at}.{name}", value, text)


def _validate_dns(spec: PodSpec, path: str) -> Iterator[Fault]:
    if spec.dns_policy not in _DNS_POLICIES:
        yield unsupported(f"{path}.dnsPolicy", spec.dns_policy or "", _DNS_POLICIES)
    at = f"{path}.dnsConfig"
    if spec.dns_policy == "None":
        if spec.dns_config is None:
            yield required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not spec.dns_config.nameservers:
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{at}.nameservers", text)
    if spec.dns_config is not None:
        yield from _validate_dns_config(spec.dns_config, at)


def _validate_dns_config(config: PodDNSConfig, path: str) -> Iterator[Fault]:
    if len(config.nameservers) > _MOST_NAMESERVERS:
        text = f"must not have more than {_MOST_NAMESERVERS} nameservers"
        yield invalid(f"{path}.nameservers", config.nameservers, text)
    for index, server in enumerate(config.nameservers):
        for text in ip_errors(server):
            yield invalid(f"{path}.nameservers[{index}]", server, text)
    if len(config.searches) > _MOST_SEARCHES:
        text = f"must not have more than {_MOST_SEARCHES} search paths"
        yield invalid(f"{path}.searches", config.searches, text)
    if len(" ".join(config.searches)) > _LONGEST_SEARCHES:
        text = f"must not have more than {_LONGEST_SEARCHES} characters (including spaces) in the search list"
        yield invalid(f"{path}.searches", config.searches, text)
    for index, search in enumerate(config.searches):
        if search != ".":
            for text in relaxed_subdomain_errors(search.removesuffix(".")):
                yield invalid(f"{path}.searches[{index}]", search, text)
    for index, option in enumerate(config.options):
        if not option.name:
            yield required(f"{path}.options[{index}]", "must not be empty")


def _validate_names(spec: PodSpec, path: str) -> Iterator[Fault]:
    names = (
        ("serviceAccountName", spec.service_account_name),
        ("nodeName", spec.node_name),
        ("priorityClassName", spec.priority_class_name),
        ("runtimeClassName", spec.runtime_class_name),
    )
    for name, value in names:
        for text in subdomain_errors(value) if value else ():
            yield invalid(f"{path}.{name}", value, text)
    for index, alias in enumerate(spec.host_aliases):
        at = f"{path}.hostAliases[{index}]"
        for text in ip_errors(alias.ip):
            yield invalid(f"{at}.ip", alias.ip, text)
        for number, hostname in enumerate(alias.hostnames):
            for text in subdomain_errors(hostname):
                yield invalid(f"{at}.hostnames[{number}]", hostname, text)


def _validate_deadline(spec: PodSpec, path: str) -> Iterator[Fault]:
    deadline = spec.active_deadline_seconds
    if deadline is not None and not 1 <= deadline <= _LARGEST_INT32:
        yield invalid(f"{path}.activeDeadlineSeconds", deadline, f"must be between 1 and {_LARGEST_INT32}, inclusive")


def _validate_hostnames(spec: PodSpec, path: str) -> Iterator[Fault]:
    for name, value in (("hostname", spec.hostname), ("subdomain", spec.subdomain)):
        for text in _hostname_errors(name, value) if value else ():
            yield invalid(f"{path}.{name}", value, text)
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


def _hostname_errors(name: str, value: str) -> list[str]:
    if name == "hostname" and "." in value:
        return ["must not contain dots"]
    return label_errors(value)


def _validate_pod_only(pod: Pod, path: str) -> Iterator[Fault]:
    """Check what only Pods are checked for, not templates."""
    spec = pod.spec
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            if container.image and container.image != container.image.strip():
                text = "must not have leading or trailing whitespace"
                yield invalid(f"{path}.{field}[{index}].image", container.image, text)
    if not spec.service_account_name:
        for index, volume in enumerate(spec.volumes):
            for number, source in enumerate(volume.projected.sources if volume.projected is not None else ()):
                if source.service_account_token is not None:
                    at = f"{path}.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                    yield forbidden(at, "must not be specified when serviceAccountName is not set")
    if spec.node_name and spec.scheduling_gates:
        yield forbidden(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared")
