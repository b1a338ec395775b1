"""Looking up what the configs of sandboxes and containers are made from.

The configs themselves are pure (`sandbox_config`, `container_config`); here are the look-ups in the API server, the
mounted volumes and the kubelet's own files. Source: kubelet v1.36 GenerateRunContainerOptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import define, evolve

from kubelet_emu.api import labels, reasons, reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.api.root_ca import ROOT_CA_CONFIG_MAP, stand_in_root_ca
from kubelet_emu.api.v1 import ConfigMap, EphemeralContainer, Secret
from kubelet_emu.kubelet.container_config import ContainerInput, generate_container_config, qos_class
from kubelet_emu.kubelet.sandbox_config import generate_pod_sandbox_config
from kubelet_emu.rules.dns import pod_dns
from kubelet_emu.rules.downward_api import FieldError, RuntimeFacts
from kubelet_emu.rules.environment import (
    ContainerEnvironmentError,
    EnvironmentSources,
    VolumeFiles,
    make_environment,
)
from kubelet_emu.rules.hosts import needs_hosts_file
from kubelet_emu.rules.observed import StartFailure
from kubelet_emu.rules.resources import container_resources, resource_config_for_pod
from kubelet_emu.rules.service_links import linked_services
from kubelet_emu.rules.service_names import uses_cluster_names
from kubelet_emu.rules.termination_message import log_tail, termination_message, wants_log
from kubelet_emu.volumes.mounted import MountConfigError, make_mounts
from runtime.api import CRIError, NamespaceMode, SubPathError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.images.outcome import ImageOutcome
    from kubelet_emu.kubelet.container_manager import StartedSandbox
    from kubelet_emu.kubelet.hosts_files import HostsFiles
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.node_files import NodeFiles
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.rules.service_links import ServiceFacts
    from kubelet_emu.volumes.kubelet_files import KubeletFiles
    from kubelet_emu.volumes.manager import VolumeManager
    from runtime.api import (
        ContainerConfig,
        ContainerID,
        ContainerStatus,
        DNSConfig,
        LinuxContainerResources,
        Mount,
        PodSandboxConfig,
        Runtime,
    )

MAX_ENV_FILE_BYTES = 1 << 20
LOG_TAIL_LINES = 80


@define(eq=False, kw_only=True)
class NodeConfigMaker:
    """Makes configs for the pods of one node."""

    runtime: Runtime
    api: APIServer
    node: Node
    features: FeatureGates
    volumes: VolumeManager
    files: KubeletFiles
    hosts: HostsFiles
    node_files: NodeFiles
    recorder: Recorder
    publish_address: str

    async def pod_sandbox_config(self, pod: Pod, attempt: int) -> PodSandboxConfig:
        """Return the config of a sandbox; ConfigError, CRIError. What DNS had to leave out is told by events."""
        return generate_pod_sandbox_config(
            pod,
            attempt,
            dns=await self._dns(pod),
            cluster_domain=self.node_files.cluster_domain,
            resources=self.pod_resources(pod),
            publish_address=self.publish_address,
        )

    async def _dns(self, pod: Pod) -> DNSConfig | None:
        """Return what a pod's resolv.conf says; None leaves it to the runtime, which takes the node's.

        Differs: without a cluster DNS a ClusterFirst pod gets the runtime's own resolver, without the warning
        MissingClusterDNS on each sync: nobody has a cluster DNS here.
        """
        asks_cluster = uses_cluster_names(pod) and bool(self.node_files.cluster_dns)
        if not asks_cluster and pod.spec.dns_config is None and pod.spec.dns_policy != "None":
            return None
        network = NamespaceMode.NODE if pod.spec.host_network else NamespaceMode.POD
        dns = pod_dns(pod, await self.node_files.dns(network))
        for reason, message in dns.warnings:
            if reason != reasons_creation.MISSING_CLUSTER_DNS:
                self.recorder.event(pod, None, reasons.WARNING, reason, message)
        return dns.config

    async def container_config(
        self, pod: Pod, container: AnyContainer, *, attempt: int, image: ImageOutcome, sandbox: StartedSandbox
    ) -> ContainerConfig | StartFailure:
        """Return the config of a container, or the CreateContainerConfigError that refuses it."""
        try:
            environment = make_environment(pod, container, await self._sources(pod, container, sandbox.ips))
            mounts = make_mounts(container, self.volumes.mounted(pod), environment)
            await self._prepare_sub_paths(container, mounts)
            own_mounts = await self._own_mounts(pod, container, attempt, sandbox.ips)
            target_id = self._target(container, sandbox)
        except (ContainerEnvironmentError, MountConfigError, FieldError, CRIError, LookupError) as error:
            message = str(error.args[0]) if error.args else str(error)
            return StartFailure(reason=reasons_creation.CREATE_CONTAINER_CONFIG_ERROR, message=message)
        return generate_container_config(
            ContainerInput(
                pod=pod,
                container=container,
                attempt=attempt,
                image=image,
                environment=environment,
                mounts=(*mounts, *own_mounts),
                node=self.node.resources(),
                features=self.features,
                target_id=target_id,
                seccomp=self.node.seccomp,
            )
        )

    def pod_resources(self, pod: Pod) -> LinuxContainerResources | None:
        """Return what the cgroup of a whole pod gets, None for a pod that needs none."""
        return resource_config_for_pod(pod, self.node.resources(), qos_class(pod, self.features))

    def container_resources(self, pod: Pod, container: AnyContainer) -> LinuxContainerResources:
        """Return what a container's cgroup gets."""
        return container_resources(pod, container, self.node.resources(), qos_class(pod, self.features))

    async def read_termination_message(self, status: ContainerStatus) -> str:
        """Return the message of a container that ended: the runtime's text, then its file or the end of its log."""
        facts = labels.parse_container_annotations(status.annotations)
        uid = labels.parse_container_labels(status.labels).pod_uid
        content = b""
        try:
            if facts.termination_message_path:
                content = await self.files.read_termination_message(uid, status.metadata.name, status.metadata.attempt)
            if wants_log(facts.termination_message_policy, content, status):
                content = log_tail(await self._last_lines(status.id))
        except CRIError as error:
            content = reasons_creation.ERROR_READING_LOGS.format(error=error).encode()
        return termination_message(status.message, content)

    async def _last_lines(self, container_id: ContainerID) -> list[bytes]:
        async with self.runtime.container_logs(container_id, tail=LOG_TAIL_LINES) as lines:
            return [line.line async for line in lines]

    async def _sources(self, pod: Pod, container: AnyContainer, pod_ips: tuple[str, ...]) -> EnvironmentSources:
        namespace = pod.metadata.namespace or ""
        config_maps = (c for c in self.api.list("ConfigMap", namespace) if isinstance(c, ConfigMap))
        secrets = (s for s in self.api.list("Secret", namespace) if isinstance(s, Secret))
        return EnvironmentSources(
            config_maps={
                ROOT_CA_CONFIG_MAP: stand_in_root_ca(namespace),
                **{c.metadata.name or "": c for c in config_maps},
            },
            secrets={s.metadata.name or "": s for s in secrets},
            facts=RuntimeFacts(
                node_name=self.node.name,
                pod_ips=self.node.host_ips if pod.spec.host_network else pod_ips,
                host_ips=self.node.host_ips,
            ),
            allocatable=self.node.allocatable(),
            services=self._services(pod),
            volumes=await self._env_files(pod, container),
        )

    def _services(self, pod: Pod) -> tuple[ServiceFacts, ...]:
        services = cast("tuple[Service, ...]", self.api.list("Service"))
        if not services:
            return ()
        return linked_services(pod, services, self.api.list("Pod"), self.node_files.cluster_domain)

    async def _env_files(self, pod: Pod, container: AnyContainer) -> Mapping[str, VolumeFiles]:
        """Read the files that fileKeyRef entries name (KEP-3721)."""
        mounted, found = self.volumes.mounted(pod), dict[str, VolumeFiles]()
        for entry in container.env:
            selector = entry.value_from.file_key_ref if entry.value_from else None
            volume = mounted.get(selector.volume_name) if selector else None
            if selector is None or volume is None or volume.handle is None:
                continue
            content = await self.runtime.read_volume(volume.handle, selector.path, last_bytes=MAX_ENV_FILE_BYTES)
            known = found.get(volume.name, VolumeFiles(path=volume.node_path))
            files = {**known.files, selector.path: content.decode(errors="replace")} if content else known.files
            found[volume.name] = evolve(known, files=files)
        return found

    async def _prepare_sub_paths(self, container: AnyContainer, mounts: tuple[Mount, ...]) -> None:
        """Have what sub paths name made; MountConfigError without a detail, which could tell of the host's files."""
        for asked, mount in zip(container.volume_mounts, mounts, strict=True):
            if not mount.sub_path:
                continue
            try:
                await self.runtime.prepare_sub_path(mount)
            except SubPathError as error:
                words = reasons_creation
                text = words.SUB_PATH_NOT_MADE if error.is_missing else words.SUB_PATH_NOT_PREPARED
                names = {"volume": quote(asked.name), "container": quote(container.name)}
                raise MountConfigError(text.format(**names)) from error

    async def _own_mounts(
        self, pod: Pod, container: AnyContainer, attempt: int, pod_ips: tuple[str, ...]
    ) -> tuple[Mount, ...]:
        mounts = []
        if needs_hosts_file(pod, container, pod_ips):
            mounts.append(await self.hosts.mount(pod, pod_ips))
        message = await self.files.termination_log(pod, container, attempt)
        return (*mounts, message) if message is not None else tuple(mounts)

    def _target(self, container: AnyContainer, sandbox: StartedSandbox) -> ContainerID | None:
        """Return the container whose processes an ephemeral one shares; LookupError when it doesn't run."""
        if not isinstance(container, EphemeralContainer) or not container.target_container_name:
            return None
        target = sandbox.observed.find(container.target_container_name)
        if target is None:
            raise LookupError(reasons.no_target_container(container.target_container_name))
        return target.id
