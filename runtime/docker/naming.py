"""Names and labels of what this runtime makes, both ways (cri-dockerd's scheme).

A container is `k8s_<container>_<pod>_<namespace>_<uid>_<attempt>`, a sandbox the same with `POD` for the container.
A seventh part, the instance, is added only where the plain name is taken by another instance. Annotations are labels
with the prefix `annotation.`; a few internal labels are hidden again when read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from runtime.api import ContainerMetadata, PodSandboxMetadata

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "k8s"
SANDBOX_NAME = "POD"
ANNOTATION_PREFIX = "annotation."

TYPE_LABEL = "io.kubernetes.docker.type"
SANDBOX_ID_LABEL = "io.kubernetes.sandbox.id"
CONTAINER_NAME_LABEL = "io.kubernetes.container.name"
POD_UID_LABEL = "io.kubernetes.pod.uid"

INSTANCE_LABEL = "kubelet-emu/instance"
HOST_LABEL = "kubelet-emu/host"
BOOT_LABEL = "kubelet-emu/boot"
PID_LABEL = "kubelet-emu/pid"
PID_START_LABEL = "kubelet-emu/pid-start"
KEEP_LABEL = "kubelet-emu/keep"
ROOT_LABEL = "kubelet-emu/root"
"""Where the instance keeps its state: who owns it now is written there."""
IMAGE_NAME_LABEL = "kubelet-emu/image"
IMAGE_REF_LABEL = "kubelet-emu/image-ref"
VOLUME_LABEL = "kubelet-emu/volume"
POD_CGROUP_LABEL = "kubelet-emu/pod-cgroup"
START_FAILURE_LABEL = "kubelet-emu/start-failure"
"""What a container says when it is started that could only be made so that it can't be."""

SANDBOX_TYPE = "podsandbox"
CONTAINER_TYPE = "container"
HELPER_TYPE = "helper"

OWNER_LABELS = frozenset({HOST_LABEL, BOOT_LABEL, PID_LABEL, PID_START_LABEL, KEEP_LABEL, ROOT_LABEL})
_INTERNAL_LABELS = OWNER_LABELS | frozenset(
    {
        TYPE_LABEL,
        SANDBOX_ID_LABEL,
        INSTANCE_LABEL,
        IMAGE_NAME_LABEL,
        IMAGE_REF_LABEL,
        VOLUME_LABEL,
        POD_CGROUP_LABEL,
        START_FAILURE_LABEL,
        "kubelet-emu/helper",
    }
)


@frozen(kw_only=True)
class ParsedName:
    """What a container's name says."""

    container: str
    pod: PodSandboxMetadata

    @property
    def is_sandbox(self) -> bool:
        """Tell whether this is a sandbox's name."""
        return self.container == SANDBOX_NAME

    @property
    def metadata(self) -> ContainerMetadata:
        """Return the container's identity; its attempt stands where a sandbox has its own."""
        return ContainerMetadata(name=self.container, attempt=self.pod.attempt)


def sandbox_name(metadata: PodSandboxMetadata, suffix: str = "") -> str:
    """Return the name of a sandbox's container (cri-dockerd makeSandboxName)."""
    return _joined(SANDBOX_NAME, metadata, metadata.attempt, suffix)


def container_name(pod: PodSandboxMetadata, metadata: ContainerMetadata, suffix: str = "") -> str:
    """Return the name of a container (cri-dockerd makeContainerName)."""
    return _joined(metadata.name, pod, metadata.attempt, suffix)


def _joined(first: str, pod: PodSandboxMetadata, attempt: int, suffix: str) -> str:
    parts = [PREFIX, first, pod.name, pod.namespace, pod.uid, str(attempt)]
    return "_".join([*parts, suffix] if suffix else parts)


def parse_name(name: str) -> ParsedName | None:
    """Return what a name of six or seven parts says, None for any other name (cri-dockerd parseContainerName)."""
    parts = name.removeprefix("/").split("_")
    if len(parts) not in {6, 7} or parts[0] != PREFIX or not parts[5].isdecimal():
        return None
    _, container, pod, namespace, uid, attempt = parts[:6]
    return ParsedName(
        container=container,
        pod=PodSandboxMetadata(name=pod, namespace=namespace, uid=uid, attempt=int(attempt)),
    )


def merged_labels(labels: Mapping[str, str], annotations: Mapping[str, str], **own: str) -> dict[str, str]:
    """Return labels and annotations as the engine's labels (cri-dockerd makeLabels)."""
    return {**labels, **{ANNOTATION_PREFIX + key: value for key, value in annotations.items()}, **own}


def split_labels(stored: Mapping[str, str], *, is_sandbox: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Return labels and annotations as they were given, internal ones left out (cri-dockerd extractLabels)."""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for key, value in stored.items():
        if key in _INTERNAL_LABELS or (is_sandbox and key == CONTAINER_NAME_LABEL):
            continue
        if key.startswith(ANNOTATION_PREFIX):
            annotations[key.removeprefix(ANNOTATION_PREFIX)] = value
        else:
            labels[key] = value
    return labels, annotations
