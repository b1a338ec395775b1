"""Ephemeral containers (core/v1); loaded when a pod has any.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import EnvVar
    from kubelet_emu.api.v1_containers import (
        ContainerPort,
        ContainerResizePolicy,
        ContainerRestartRule,
        ResourceRequirements,
        VolumeDevice,
        VolumeMount,
    )
    from kubelet_emu.api.v1_environment import EnvFromSource
    from kubelet_emu.api.v1_handlers import Lifecycle, Probe
    from kubelet_emu.api.v1_security import SecurityContext


@frozen(kw_only=True)
class EphemeralContainer:
    """`EphemeralContainer` of core.v1."""

    name: str = ""
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    ports: tuple[ContainerPort, ...] = ()
    readiness_probe: Probe | None = None
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    target_container_name: str | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: tuple[VolumeDevice, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    working_dir: str | None = None
