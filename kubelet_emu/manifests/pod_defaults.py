"""Defaults as the API server sets them on Pods and on pod templates; some are for Pods alone.

Source: kubernetes v1.36 SetDefaults_Pod, SetDefaults_PodSpec and those of what is inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from attrs import evolve

from kubelet_emu.api.image_names import default_pull_policy
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.quantity import Quantity
from kubelet_emu.manifests.aggregates import aggregate_requests, is_pod_level_resource
from kubelet_emu.manifests.volume_defaults import default_volume, round_up

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import (
        Container,
        ContainerPort,
        EphemeralContainer,
        Pod,
        PodSpec,
        ResourceRequirements,
    )
    from kubelet_emu.api.v1_environment import EnvVar
    from kubelet_emu.api.v1_handlers import HTTPGetAction, Lifecycle, LifecycleHandler, Probe

T = TypeVar("T")
AnyContainer = TypeVar("AnyContainer", "Container", "EphemeralContainer")

_OVERCOMMITTED = ("cpu", "memory")


def default_pod(pod: Pod) -> Pod:
    """Return a Pod with defaults, also those that a template doesn't get (SetDefaults_Pod)."""
    return evolve(pod, spec=_default_pod_only(default_pod_spec(pod.spec)))


def default_pod_spec(spec: PodSpec) -> PodSpec:
    """Return a PodSpec with the defaults that Pods and templates share (SetDefaults_PodSpec and below)."""
    return evolve(
        spec,
        containers=tuple(_default_container(each) for each in spec.containers),
        init_containers=tuple(_default_container(each) for each in spec.init_containers),
        ephemeral_containers=tuple(_default_container(each) for each in spec.ephemeral_containers),
        volumes=tuple(default_volume(each) for each in spec.volumes),
        resources=_round_resources(spec.resources),
        overhead=round_up(spec.overhead),
        dns_policy=spec.dns_policy or "ClusterFirst",
        restart_policy=spec.restart_policy or "Always",
        security_context=_or(spec.security_context, api_type("PodSecurityContext")()),
        termination_grace_period_seconds=_or(spec.termination_grace_period_seconds, 30),
        scheduler_name=spec.scheduler_name or "default-scheduler",
        service_account=spec.service_account_name or spec.service_account,
        service_account_name=spec.service_account_name or spec.service_account,
    )


def _or(value: T | None, default: T) -> T:
    return default if value is None else value


def _default_container(container: AnyContainer) -> AnyContainer:
    return evolve(
        container,
        image_pull_policy=container.image_pull_policy or default_pull_policy(container.image or ""),
        termination_message_path=container.termination_message_path or "/dev/termination-log",
        termination_message_policy=container.termination_message_policy or "File",
        ports=tuple(evolve(each, protocol=each.protocol or "TCP") for each in container.ports),
        env=tuple(_default_env(each) for each in container.env),
        liveness_probe=_default_probe(container.liveness_probe),
        readiness_probe=_default_probe(container.readiness_probe),
        startup_probe=_default_probe(container.startup_probe),
        lifecycle=_default_lifecycle(container.lifecycle),
        resources=_round_resources(container.resources),
    )


def _default_env(variable: EnvVar) -> EnvVar:
    source = variable.value_from
    if source is None:
        return variable
    if source.field_ref is not None:
        source = evolve(source, field_ref=evolve(source.field_ref, api_version=source.field_ref.api_version or "v1"))
    if source.resource_field_ref is not None and source.resource_field_ref.divisor is None:
        source = evolve(source, resource_field_ref=evolve(source.resource_field_ref, divisor=Quantity("0")))
    if source.file_key_ref is not None and source.file_key_ref.optional is None:
        source = evolve(source, file_key_ref=evolve(source.file_key_ref, optional=False))
    return evolve(variable, value_from=source)


def _default_probe(probe: Probe | None) -> Probe | None:
    if probe is None:
        return None
    return evolve(
        probe,
        timeout_seconds=probe.timeout_seconds or 1,
        period_seconds=probe.period_seconds or 10,
        success_threshold=probe.success_threshold or 1,
        failure_threshold=probe.failure_threshold or 3,
        http_get=_default_http_get(probe.http_get),
        grpc=None if probe.grpc is None else evolve(probe.grpc, service=probe.grpc.service or ""),
    )


def _default_http_get(action: HTTPGetAction | None) -> HTTPGetAction | None:
    return None if action is None else evolve(action, path=action.path or "/", scheme=action.scheme or "HTTP")


def _default_lifecycle(lifecycle: Lifecycle | None) -> Lifecycle | None:
    if lifecycle is None:
        return None
    return evolve(
        lifecycle,
        post_start=_default_handler(lifecycle.post_start),
        pre_stop=_default_handler(lifecycle.pre_stop),
    )


def _default_handler(handler: LifecycleHandler | None) -> LifecycleHandler | None:
    return None if handler is None else evolve(handler, http_get=_default_http_get(handler.http_get))


def _round_resources(resources: ResourceRequirements | None) -> ResourceRequirements | None:
    if resources is None:
        return None
    return evolve(resources, limits=round_up(resources.limits), requests=round_up(resources.requests))


def _default_pod_only(spec: PodSpec) -> PodSpec:
    """Add what only a Pod gets, not a template (SetDefaults_Pod)."""
    defaulted = evolve(
        spec,
        containers=tuple(_default_requests(each) for each in spec.containers),
        init_containers=tuple(_default_requests(each) for each in spec.init_containers),
        enable_service_links=_or(spec.enable_service_links, default=True),
    )
    if spec.host_network:
        defaulted = evolve(
            defaulted,
            containers=tuple(_default_host_ports(each) for each in defaulted.containers),
            init_containers=tuple(_default_host_ports(each) for each in defaulted.init_containers),
        )
    return evolve(defaulted, resources=_default_pod_resources(defaulted))


def _default_requests(container: Container) -> Container:
    resources = container.resources
    if resources is None or not resources.limits:
        return container
    return evolve(container, resources=evolve(resources, requests={**resources.limits, **resources.requests}))


def _default_host_ports(container: Container) -> Container:
    return evolve(container, ports=tuple(_default_host_port(each) for each in container.ports))


def _default_host_port(port: ContainerPort) -> ContainerPort:
    return evolve(port, host_port=port.host_port or port.container_port)


def _default_pod_resources(spec: PodSpec) -> ResourceRequirements | None:
    """Fill in pod-level resources from the containers and the limits (KEP-2837)."""
    resources = spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return resources
    limits = dict(resources.limits)
    totals = aggregate_requests(spec, limits=True)
    for name, total in totals.items():
        if name.startswith("hugepages-") and name not in resources.requests and name not in limits:
            limits[name] = total
    requests = dict(resources.requests)
    wanted = {name: total for name, total in aggregate_requests(spec).items() if name in _OVERCOMMITTED}
    for name, amount in (*wanted.items(), *limits.items()) if limits else ():
        if is_pod_level_resource(name):
            requests.setdefault(name, amount)
    return evolve(resources, limits=limits, requests=requests)
