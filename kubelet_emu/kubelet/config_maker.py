"""Gathering what configs are made from: objects, volumes, files, the pod's addresses.

Looks up and writes, and leaves every decision to `sandbox_config` and `container_config`.
Source: kubelet v1.36 GenerateRunContainerOptions, generatePodSandboxConfig.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from attrs import define, field

from kubelet_emu.api import reasons
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.kubelet.container_config import ContainerInput, generate_container_config
from kubelet_emu.kubelet.sandbox_config import LOOPBACK, generate_pod_sandbox_config
from kubelet_emu.rules.dns import NodeDNS, pod_dns
from kubelet_emu.rules.downward_api import RuntimeFacts
from kubelet_emu.rules.environment import (
    ContainerEnvironmentError,
    EnvironmentSources,
    VolumeFiles,
    make_environment,
)
from kubelet_emu.rules.hostname import pod_hostname
from kubelet_emu.rules.hosts import managed_hosts, needs_hosts_file
from kubelet_emu.rules.observed import StartFailure
from kubelet_emu.volumes.mounted import MountConfigError, make_mounts
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.api.v1 import ConfigMap, Container, EphemeralContainer, Pod, Secret
    from kubelet_emu.images.outcome import ImageOutcome
    from kubelet_emu.rules.environment import ServiceFacts
    from kubelet_emu.rules.observed import ObservedPod
    from kubelet_emu.rules.resources import NodeResources
    from kubelet_emu.volumes.manager import VolumeManager
    from kubelet_emu.volumes.mounted import MountedVolume
    from runtime.api import ContainerConfig, ContainerID, Mount, PodSandboxConfig

    AnyContainer = Container | EphemeralContainer


ObjectT = TypeVar("ObjectT")


class SandboxFacts(Protocol):
    """What is known of the sandbox that a container is made for."""

    @property
    def ips(self) -> tuple[str, ...]:
        """Return the pod's addresses, empty with the node's network."""

    @property
    def observed(self) -> ObservedPod:
        """Return the pod as this sync saw it."""


@define(eq=False, kw_only=True)
class PodConfigMaker:
    """Makes the configs of one node's sandboxes and containers.

    Objects are looked up by namespace and name. `node_hosts` is the node's /etc/hosts, shown to pods with the node's
    network.
    """

    volumes: VolumeManager
    event: Callable[[Pod, str | None, str, str, str], None]
    config_map: Callable[[str, str], ConfigMap | None]
    secret: Callable[[str, str], Secret | None]
    host_ips: Callable[[], tuple[str, ...]]
    node: NodeResources
    node_name: str
    dns: NodeDNS = field(factory=NodeDNS)
    features: FeatureGates = field(factory=FeatureGates)
    publish_address: str = LOOPBACK
    node_hosts: str = ""
    services: Callable[[Pod], tuple[ServiceFacts, ...]] = lambda _pod: ()
    localhost_profile: Callable[[str], str | None] = lambda _path: None

    async def pod_sandbox_config(self, pod: Pod, attempt: int) -> PodSandboxConfig:
        """Return a sandbox's config, telling what its DNS had to drop; ConfigError."""
        dns = pod_dns(pod, self.dns)
        for reason, message in dns.warnings:
            # Differs: most machines have no cluster DNS, which is no news here.
            if reason != reasons.MISSING_CLUSTER_DNS:
                self.event(pod, None, reasons.WARNING, reason, message)
        return generate_pod_sandbox_config(
            pod,
            attempt,
            dns=dns.config if dns.config.servers or pod.spec.dns_policy == "None" else None,
            cluster_domain=self.dns.cluster_domain,
            publish_address=self.publish_address,
        )

    async def container_config(
        self, pod: Pod, container: AnyContainer, *, attempt: int, image: ImageOutcome, sandbox: SandboxFacts
    ) -> ContainerConfig | StartFailure:
        """Return a container's config, or the CreateContainerConfigError that refuses it.

        Writes the hosts file and the message file of the instance. Cancellation leaves these behind.
        """
        try:
            target_id = _target(container, sandbox.observed)
            mounted = self.volumes.mounted(pod)
            environment = make_environment(pod, container, await self._sources(pod, container, mounted, sandbox))
            mounts = make_mounts(container, mounted, environment)
            own_files = await self._kubelet_files(pod, container, attempt, sandbox)
        except (LookupError, ContainerEnvironmentError, MountConfigError, CRIError) as error:
            return StartFailure(reason=reasons.CREATE_CONTAINER_CONFIG_ERROR, message=str(error))
        return generate_container_config(
            ContainerInput(
                pod=pod,
                container=container,
                attempt=attempt,
                image=image,
                environment=environment,
                mounts=(*mounts, *own_files),
                node=self.node,
                features=self.features,
                target_id=target_id,
                localhost_profile=self.localhost_profile,
            )
        )

    async def _kubelet_files(
        self, pod: Pod, container: AnyContainer, attempt: int, sandbox: SandboxFacts
    ) -> tuple[Mount, ...]:
        mounts = []
        if needs_hosts_file(pod, container, sandbox.ips):
            hostname = pod_hostname(pod, self.dns.cluster_domain)
            content = managed_hosts(pod, sandbox.ips, hostname, self.node_hosts)
            mounts.append(await self.volumes.files.hosts(pod, content))
        if (log := await self.volumes.files.termination_log(pod, container, attempt)) is not None:
            mounts.append(log)
        return tuple(mounts)

    async def _sources(
        self, pod: Pod, container: AnyContainer, mounted: Mapping[str, MountedVolume], sandbox: SandboxFacts
    ) -> EnvironmentSources:
        namespace = pod.metadata.namespace or ""
        config_maps, secrets = referenced_objects(container)
        host_ips = self.host_ips()
        return EnvironmentSources(
            config_maps=_present(config_maps, partial(self.config_map, namespace)),
            secrets=_present(secrets, partial(self.secret, namespace)),
            facts=RuntimeFacts(
                node_name=self.node_name,
                pod_ips=host_ips if pod.spec.host_network else sandbox.ips,
                host_ips=host_ips,
            ),
            allocatable=self.node.allocatable,
            services=self.services(pod),
            volumes=await self._env_files(container, mounted),
        )

    async def _env_files(
        self, container: AnyContainer, mounted: Mapping[str, MountedVolume]
    ) -> Mapping[str, VolumeFiles]:
        """Read the files that fileKeyRef entries name; a file that is missing or empty is left out."""
        wanted: dict[str, set[str]] = {}
        for entry in container.env:
            if entry.value_from is not None and (selector := entry.value_from.file_key_ref) is not None:
                wanted.setdefault(selector.volume_name, set()).add(selector.path)
        return {
            name: VolumeFiles(
                path=mounted[name].node_path,
                files={
                    path: text for path in sorted(paths) if (text := await self.volumes.read_text(mounted[name], path))
                },
            )
            for name, paths in wanted.items()
            if name in mounted
        }


def referenced_objects(container: AnyContainer) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the ConfigMaps and Secrets that a container's environment refers to."""
    config_maps: set[str | None] = set()
    secrets: set[str | None] = set()
    for source in container.env_from:
        config_maps |= {source.config_map_ref.name} if source.config_map_ref else set()
        secrets |= {source.secret_ref.name} if source.secret_ref else set()
    for entry in container.env:
        if (value := entry.value_from) is not None:
            config_maps |= {value.config_map_key_ref.name} if value.config_map_key_ref else set()
            secrets |= {value.secret_key_ref.name} if value.secret_key_ref else set()
    return frozenset(filter(None, config_maps)), frozenset(filter(None, secrets))


def _present(names: frozenset[str], look_up: Callable[[str], ObjectT | None]) -> dict[str, ObjectT]:
    found = {name: look_up(name) for name in sorted(names)}
    return {name: value for name, value in found.items() if value is not None}


def _target(container: AnyContainer, observed: ObservedPod) -> ContainerID | None:
    """Return the container whose processes an ephemeral one shares; LookupError when it isn't there."""
    name = getattr(container, "target_container_name", None)
    if not name:
        return None
    found = observed.find(name)
    if found is None:
        raise LookupError(reasons.no_target_container(name))
    return found.id
