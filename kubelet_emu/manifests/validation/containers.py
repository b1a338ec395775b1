"""Containers, init containers and ephemeral containers.

Source: kubernetes v1.36 validateContainers, validateInitContainers, validateEphemeralContainers; KEP-753, KEP-5307.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.environment import validate_env, validate_env_from
from kubelet_emu.manifests.validation.faults import (
    Fault,
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
    too_many,
    unsupported,
    validate_required,
)
from kubelet_emu.manifests.validation.mounts import validate_devices, validate_mounts
from kubelet_emu.manifests.validation.names import label_errors, port_name_errors, port_number_errors
from kubelet_emu.manifests.validation.probes import validate_probes
from kubelet_emu.manifests.validation.resources import validate_resize_policies, validate_resources
from kubelet_emu.manifests.validation.security import validate_security_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import AnyContainer, Container, ContainerPort, ContainerRestartRule, EphemeralContainer
    from kubelet_emu.manifests.validation.context import Context

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MOST_RULES = 20
_MOST_EXIT_CODES = 255
_INIT_ONLY = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"


def validate_containers(path: str, context: Context) -> Iterator[Fault]:
    """Check all containers of a pod spec; `path` is that of the spec."""
    spec = context.spec
    yield from _validate_regular(spec.containers, f"{path}.containers", context)
    names = {container.name for container in spec.containers}
    for index, container in enumerate(spec.init_containers):
        yield from _validate_init(container, f"{path}.initContainers", index, names, context)
        if container.name:
            names.add(container.name)
    names = {container.name for container in (*spec.containers, *spec.init_containers)}
    for index, ephemeral in enumerate(spec.ephemeral_containers):
        at = f"{path}.ephemeralContainers[{index}]"
        yield from _validate_ephemeral(ephemeral, at, names, context)
        names.add(ephemeral.name)


def _validate_regular(containers: tuple[Container, ...], path: str, context: Context) -> Iterator[Fault]:
    if not containers:
        yield required(path)
        return
    names: set[str] = set()
    for index, container in enumerate(containers):
        at = f"{path}[{index}]"
        yield from _validate_common(container, at, context)
        yield from _validate_unique(container.name, names, at)
        names.add(container.name)
        yield from validate_probes(container, at, context)
        yield from _validate_restart_rules(container, at, context)
    yield from _validate_host_ports(containers, path)


def _validate_unique(name: str, names: set[str], path: str) -> Iterator[Fault]:
    if name in names:
        yield duplicate(f"{path}.name", name)


def _validate_common(container: AnyContainer, path: str, context: Context) -> Iterator[Fault]:
    yield from validate_required(container.name, f"{path}.name", label_errors)
    if not container.image:
        yield required(f"{path}.image")
    if container.termination_message_policy not in _MESSAGE_POLICIES:
        given = container.termination_message_policy or ""
        likely = "FallbackToLogsOnError" if given.lower().startswith("fallback") else ""
        hint = f"did you mean {likely}?" if likely else ""
        yield unsupported(f"{path}.terminationMessagePolicy", given, _MESSAGE_POLICIES, hint=hint)
    yield from _validate_ports(container.ports, f"{path}.ports")
    yield from validate_env(container.env, f"{path}.env", context)
    yield from validate_env_from(container.env_from, f"{path}.envFrom", context)
    yield from validate_mounts(container, f"{path}.volumeMounts", context)
    yield from validate_devices(container, f"{path}.volumeDevices", context)
    if container.image_pull_policy not in _PULL_POLICIES:
        yield unsupported(f"{path}.imagePullPolicy", container.image_pull_policy or "", _PULL_POLICIES)
    yield from validate_resources(container, f"{path}.resources", context)
    yield from validate_resize_policies(container.resize_policy, f"{path}.resizePolicy", context)
    if container.security_context is not None:
        yield from validate_security_context(container.security_context, f"{path}.securityContext", context)


def validate_image_padding(container: AnyContainer, path: str) -> Iterator[Fault]:
    """Check what is asked of an image in a Pod and not in a template."""
    if container.image and container.image != container.image.strip():
        yield invalid(f"{path}.image", container.image, "must not have leading or trailing whitespace")


def _validate_ports(ports: tuple[ContainerPort, ...], path: str) -> Iterator[Fault]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        at = f"{path}[{index}]"
        if port.name:
            errors = port_name_errors(port.name)
            for text in errors:
                yield invalid(f"{at}.name", port.name, text)
            if not errors and port.name in names:
                yield duplicate(f"{at}.name", port.name)
            names.add(port.name)
        if port.container_port == 0:
            yield required(f"{at}.containerPort")
        else:
            for text in port_number_errors(port.container_port):
                yield invalid(f"{at}.containerPort", port.container_port, text)
        if port.host_port:
            for text in port_number_errors(port.host_port):
                yield invalid(f"{at}.hostPort", port.host_port, text)
        if port.protocol not in _PROTOCOLS:
            yield unsupported(f"{at}.protocol", port.protocol or "", _PROTOCOLS)


def _validate_host_ports(
    containers: tuple[Container, ...], path: str, *, real_index: int | None = None
) -> Iterator[Fault]:
    """Check that no host port stands twice.

    Init containers are checked one by one, each as index 0 (the server's quirk); `real_index` is where it stands.
    """
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.ports):
            if not port.host_port:
                continue
            key = f"{port.protocol}/{port.host_ip or ''}/{port.host_port}"
            if key in seen:
                where = index if real_index is None else real_index
                at = f"{path}[{where}].ports[{number}].hostPort"
                yield duplicate(f"{path}[{index}].ports[{number}].hostPort", key, at=at)
            seen.add(key)


def _validate_init(container: Container, path: str, index: int, names: set[str], context: Context) -> Iterator[Fault]:
    at = f"{path}[{index}]"
    yield from _validate_common(container, at, context)
    yield from _validate_restart_rules(container, at, context, is_init=True)
    yield from _validate_unique(container.name, names, at)
    yield from _validate_host_ports((container,), path, real_index=index)
    if container.restart_policy == "Always":
        yield from validate_probes(container, at, context)
        return
    for name, value in (
        ("lifecycle", container.lifecycle),
        ("livenessProbe", container.liveness_probe),
        ("readinessProbe", container.readiness_probe),
        ("startupProbe", container.startup_probe),
    ):
        if value is not None:
            hint = f"a sidecar has restartPolicy: Always: was {container.name!r} meant to be one?"
            yield forbidden(f"{at}.{name}", _INIT_ONLY, hint=hint)
    for number, policy in enumerate(container.resize_policy):
        if policy.restart_policy == "RestartContainer":
            text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield invalid(f"{at}.resizePolicy[{number}].restartPolicy", policy.restart_policy, text)


def _validate_restart_rules(
    container: Container, path: str, context: Context, *, is_init: bool = False
) -> Iterator[Fault]:
    """Check a container's own restart policy and its rules (KEP-5307, KEP-5532)."""
    policy, rules = container.restart_policy, container.restart_policy_rules
    may_restart_all = context.gates.enabled("RestartAllContainersOnContainerExits")
    if policy is None and rules:
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    elif policy is not None and policy not in _RESTART_POLICIES:
        yield unsupported(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    if is_init and policy is None:
        return
    if is_init and policy == "Always" and not may_restart_all:
        if rules:
            text = "restartPolicyRules are not allowed for init containers with restart policy Always"
            yield forbidden(f"{path}.restartPolicyRules", text)
        return
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.restartPolicyRules", len(rules), _MOST_RULES)
    actions = ("Restart", "RestartAllContainers") if may_restart_all else ("Restart",)
    for index, rule in enumerate(rules):
        yield from _validate_rule(rule, f"{path}.restartPolicyRules[{index}]", actions)


def _validate_rule(rule: ContainerRestartRule, path: str, actions: tuple[str, ...]) -> Iterator[Fault]:
    if rule.action not in actions:
        yield unsupported(f"{path}.action", rule.action, actions)
    if rule.exit_codes is None:
        yield required(f"{path}.exitCodes", "must be specified")
        return
    if rule.exit_codes.operator not in ("In", "NotIn"):
        yield unsupported(f"{path}.exitCodes.operator", rule.exit_codes.operator, ("In", "NotIn"))
    if len(rule.exit_codes.values) > _MOST_EXIT_CODES:
        yield too_many(f"{path}.exitCodes.values", len(rule.exit_codes.values), _MOST_EXIT_CODES)


def _validate_ephemeral(container: EphemeralContainer, path: str, names: set[str], context: Context) -> Iterator[Fault]:
    yield from _validate_common(container, path, context)
    yield from validate_image_padding(container, path)
    yield from _validate_unique(container.name, names, path)
    target = container.target_container_name
    known = {each.name for each in (*context.spec.containers, *context.spec.init_containers)}
    if target and target not in known:
        yield not_found(f"{path}.targetContainerName", target)
    for name, is_said in (
        ("ports", bool(container.ports)),
        ("resources", _is_asked(container)),
        ("resizePolicy", bool(container.resize_policy)),
        ("restartPolicy", container.restart_policy is not None),
        ("restartPolicyRules", bool(container.restart_policy_rules)),
        ("livenessProbe", container.liveness_probe is not None),
        ("readinessProbe", container.readiness_probe is not None),
        ("startupProbe", container.startup_probe is not None),
        ("lifecycle", container.lifecycle is not None),
    ):
        if is_said:
            yield forbidden(f"{path}.{name}", _NOT_EPHEMERAL)
    for index, mount in enumerate(container.volume_mounts):
        for name, value in (("subPath", mount.sub_path), ("subPathExpr", mount.sub_path_expr)):
            if value:
                yield forbidden(f"{path}.volumeMounts[{index}].{name}", _NOT_EPHEMERAL)


def _is_asked(container: EphemeralContainer) -> bool:
    resources = container.resources
    return resources is not None and bool(resources.limits or resources.requests or resources.claims)
