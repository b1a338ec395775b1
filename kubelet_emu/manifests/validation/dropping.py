"""Fields that a server drops silently because their feature gate is off.

Source: kubernetes v1.36 DropDisabledPodFields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Container, PodSpec
    from kubelet_emu.api.v1_volumes import Volume
    from kubelet_emu.manifests.validation.context import Gates


def drop_disabled_fields(spec: PodSpec, gates: Gates) -> PodSpec:
    """Return a pod spec without what its server doesn't know or has switched off."""
    return evolve(
        spec,
        containers=tuple(_drop_from_container(each, gates) for each in spec.containers),
        init_containers=tuple(_drop_from_init(each, gates) for each in spec.init_containers),
        volumes=tuple(_drop_from_volume(each, gates) for each in spec.volumes),
        resources=spec.resources if gates.enabled("PodLevelResources") else None,
        hostname_override=spec.hostname_override if gates.enabled("HostnameOverride") else None,
        scheduling_group=spec.scheduling_group if gates.enabled("GenericWorkload") else None,
    )


def _drop_common(container: Container, gates: Gates) -> Container:
    lifecycle = container.lifecycle
    if lifecycle is not None and not gates.enabled("ContainerStopSignals"):
        lifecycle = evolve(lifecycle, stop_signal=None)
    env = container.env
    if not gates.enabled("EnvFiles"):
        env = tuple(
            each if each.value_from is None else evolve(each, value_from=evolve(each.value_from, file_key_ref=None))
            for each in env
        )
    return evolve(container, lifecycle=lifecycle, env=env)


def _drop_from_container(container: Container, gates: Gates) -> Container:
    kept = _drop_common(container, gates)
    if gates.enabled("ContainerRestartRules"):
        return kept
    return evolve(kept, restart_policy=None, restart_policy_rules=())


def _drop_from_init(container: Container, gates: Gates) -> Container:
    kept = _drop_common(container, gates)
    policy = kept.restart_policy
    if not gates.enabled("SidecarContainers"):
        policy = None
    if gates.enabled("ContainerRestartRules"):
        return evolve(kept, restart_policy=policy)
    return evolve(kept, restart_policy=policy if policy == "Always" else None, restart_policy_rules=())


def _drop_from_volume(volume: Volume, gates: Gates) -> Volume:
    kept = volume
    if volume.projected is not None:
        sources = tuple(
            evolve(
                each,
                cluster_trust_bundle=each.cluster_trust_bundle
                if gates.enabled("ClusterTrustBundleProjection")
                else None,
                pod_certificate=each.pod_certificate if gates.enabled("PodCertificateRequest") else None,
            )
            for each in volume.projected.sources
        )
        kept = evolve(kept, projected=evolve(volume.projected, sources=sources))
    if volume.image is not None and not gates.enabled("ImageVolume"):
        kept = evolve(kept, image=None)
    return kept
