"""From a pod spec to what a container is made from.

Pure: what had to be looked up or written comes in as values. Every refusal is a CreateContainerConfigError.
Source: kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go generateContainerConfig.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.labels import container_annotations, container_labels
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.expansion import expand
from kubelet_emu.rules.observed import StartFailure
from kubelet_emu.rules.qos import compute_pod_qos
from kubelet_emu.rules.resources import container_resources
from kubelet_emu.rules.security import SeccompOfNode, SecurityError, check_run_as_non_root, container_security
from runtime.api import ContainerConfig, ContainerMetadata

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.images.outcome import ImageOutcome
    from kubelet_emu.rules.resources import NodeResources
    from runtime.api import ContainerID, Mount


@frozen(kw_only=True)
class ContainerInput:
    """All that a container's config is made from.

    `mounts` are the volume mounts in spec order, then /etc/hosts, then the termination log. `target_id` is the
    container whose processes an ephemeral one shares.
    """

    pod: Pod
    container: AnyContainer
    attempt: int
    image: ImageOutcome
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    node: NodeResources
    features: FeatureGates = field(factory=FeatureGates)
    target_id: ContainerID | None = None
    seccomp: SeccompOfNode = field(factory=SeccompOfNode)


def generate_container_config(given: ContainerInput) -> ContainerConfig | StartFailure:
    """Return what to create, or the CreateContainerConfigError that refuses it.

    `image` has been found: an outcome without an image is a bug of the caller.
    """
    pod, container, image = given.pod, given.container, given.image
    if image.image_id is None:
        raise ValueError(f"container {container.name!r} has no image to run")
    try:
        check_run_as_non_root(pod, container, image.image)
        security = container_security(pod, container, image.image, target_id=given.target_id, seccomp=given.seccomp)
    except SecurityError as error:
        return StartFailure(reason=reasons_creation.CREATE_CONTAINER_CONFIG_ERROR, message=str(error))
    command, args = command_and_args(container, given.environment)
    return ContainerConfig(
        metadata=ContainerMetadata(name=container.name, attempt=given.attempt),
        image=image.image_id,
        image_name=container.image or "",
        image_ref=image.image_ref,
        command=command,
        args=args,
        working_dir=container.working_dir or None,
        envs=given.environment,
        mounts=given.mounts,
        labels=container_labels(pod, container),
        annotations=container_annotations(pod, container, given.attempt),
        stdin=bool(container.stdin),
        stdin_once=bool(container.stdin_once),
        tty=bool(container.tty),
        resources=container_resources(pod, container, given.node, qos_class(pod, given.features)),
        security=security,
        stop_signal=stop_signal(container, given.features),
    )


def command_and_args(
    container: AnyContainer, environment: Mapping[str, str]
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return entrypoint and command with their variables; None leaves the image's own.

    A command without args drops the image's command, so args are then empty instead of None.
    Source: kubelet v1.36 ExpandContainerCommandAndArgs; the CRI's rule for command and args.
    """
    command = tuple(expand(part, environment) for part in container.command)
    args = tuple(expand(part, environment) for part in container.args)
    return command or None, args or (() if command else None)


def stop_signal(container: AnyContainer, features: FeatureGates) -> str | None:
    """Return the stop signal that a container asks for, None for the image's (KEP-4960, ContainerStopSignals)."""
    if container.lifecycle is None or not features.enabled("ContainerStopSignals"):
        return None
    return container.lifecycle.stop_signal


def qos_class(pod: Pod, features: FeatureGates) -> str:
    """Return a pod's class as the API server stored it, else as its spec gives it (kubelet GetPodQOS)."""
    return pod.status.qos_class or compute_pod_qos(pod, features)
