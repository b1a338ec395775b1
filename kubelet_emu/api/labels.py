"""Identity of pods and containers in labels and annotations, as the kubelet writes and reads them.

What must survive a restart of the kubelet travels on the runtime's objects: who a container is (labels), and its hash,
restart count, grace periods, hook and ports (annotations). Source: kubelet v1.36 pkg/kubelet/kuberuntime/labels.go,
pkg/kubelet/types, pkg/kubelet/container HashContainer.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.codec import decode_mapping, encode
from kubelet_emu.api.v1 import ContainerPort
from kubelet_emu.api.v1_handlers import LifecycleHandler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod

# --- keys

POD_NAME_LABEL = "io.kubernetes.pod.name"
POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace"
POD_UID_LABEL = "io.kubernetes.pod.uid"
CONTAINER_NAME_LABEL = "io.kubernetes.container.name"

CONTAINER_HASH_ANNOTATION = "io.kubernetes.container.hash"
RESTART_COUNT_ANNOTATION = "io.kubernetes.container.restartCount"
TERMINATION_MESSAGE_PATH_ANNOTATION = "io.kubernetes.container.terminationMessagePath"
TERMINATION_MESSAGE_POLICY_ANNOTATION = "io.kubernetes.container.terminationMessagePolicy"
PRE_STOP_HANDLER_ANNOTATION = "io.kubernetes.container.preStopHandler"
PORTS_ANNOTATION = "io.kubernetes.container.ports"
POD_TERMINATION_GRACE_PERIOD_ANNOTATION = "io.kubernetes.pod.terminationGracePeriod"
POD_DELETION_GRACE_PERIOD_ANNOTATION = "io.kubernetes.pod.deletionGracePeriod"

CONFIG_SOURCE_ANNOTATION = "kubernetes.io/config.source"
CONFIG_HASH_ANNOTATION = "kubernetes.io/config.hash"
CONFIG_SEEN_ANNOTATION = "kubernetes.io/config.seen"
CONFIG_MIRROR_ANNOTATION = "kubernetes.io/config.mirror"

OS_LABEL = "kubernetes.io/os"
HOSTNAME_LABEL = "kubernetes.io/hostname"


@frozen(kw_only=True)
class ContainerIdentity:
    """Whose container it is, from its labels."""

    pod_name: str
    pod_namespace: str
    pod_uid: str
    container_name: str


@frozen(kw_only=True)
class ContainerFacts:
    """What a container's annotations keep of the spec it was made from; None where nothing is kept."""

    hash: int = 0
    restart_count: int = 0
    termination_message_path: str = ""
    termination_message_policy: str = ""
    termination_grace_period_seconds: int | None = None
    deletion_grace_period_seconds: int | None = None
    pre_stop: LifecycleHandler | None = None
    ports: tuple[ContainerPort, ...] = ()


def pod_full_name(pod: Pod) -> str:
    """Return NAME_NAMESPACE (kubelet GetPodFullName)."""
    return f"{pod.metadata.name}_{pod.metadata.namespace}"


def format_pod(pod: Pod) -> str:
    """Return NAME_NAMESPACE(UID), as messages name a pod (kubelet format.Pod)."""
    return f"{pod_full_name(pod)}({pod.metadata.uid})"


def hash_container(container: Container | EphemeralContainer) -> int:
    """Return the FNV-32a hash of name and image: all of a spec that restarts a running container (HashContainer)."""
    return _hash(container.name, container.image or "")


@lru_cache(maxsize=4096)
def _hash(name: str, image: str) -> int:
    value = 0x811C9DC5
    for byte in _json({"image": image, "name": name}).encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def pod_sandbox_labels(pod: Pod) -> dict[str, str]:
    """Return a sandbox's labels: the pod's own and its identity (newPodLabels)."""
    return {
        **pod.metadata.labels,
        POD_NAME_LABEL: pod.metadata.name or "",
        POD_NAMESPACE_LABEL: pod.metadata.namespace or "",
        POD_UID_LABEL: pod.metadata.uid or "",
    }


def container_labels(pod: Pod, container: Container | EphemeralContainer) -> dict[str, str]:
    """Return a container's labels (newContainerLabels)."""
    return {
        POD_NAME_LABEL: pod.metadata.name or "",
        POD_NAMESPACE_LABEL: pod.metadata.namespace or "",
        POD_UID_LABEL: pod.metadata.uid or "",
        CONTAINER_NAME_LABEL: container.name,
    }


def container_annotations(pod: Pod, container: Container | EphemeralContainer, restart_count: int) -> dict[str, str]:
    """Return a container's annotations (newContainerAnnotations)."""
    annotations = {
        CONTAINER_HASH_ANNOTATION: f"{hash_container(container):x}",
        RESTART_COUNT_ANNOTATION: str(restart_count),
        TERMINATION_MESSAGE_PATH_ANNOTATION: container.termination_message_path or "",
        TERMINATION_MESSAGE_POLICY_ANNOTATION: container.termination_message_policy or "",
    }
    if pod.metadata.deletion_grace_period_seconds is not None:
        annotations[POD_DELETION_GRACE_PERIOD_ANNOTATION] = str(pod.metadata.deletion_grace_period_seconds)
    if pod.spec.termination_grace_period_seconds is not None:
        annotations[POD_TERMINATION_GRACE_PERIOD_ANNOTATION] = str(pod.spec.termination_grace_period_seconds)
    if container.lifecycle is not None and container.lifecycle.pre_stop is not None:
        annotations[PRE_STOP_HANDLER_ANNOTATION] = _json(encode(container.lifecycle.pre_stop))
    if container.ports:
        annotations[PORTS_ANNOTATION] = _json([encode(port) for port in container.ports])
    return annotations


def parse_container_labels(labels: Mapping[str, str]) -> ContainerIdentity:
    """Return the identity in a container's labels; a missing one is empty (getContainerInfoFromLabels)."""
    return ContainerIdentity(
        pod_name=labels.get(POD_NAME_LABEL, ""),
        pod_namespace=labels.get(POD_NAMESPACE_LABEL, ""),
        pod_uid=labels.get(POD_UID_LABEL, ""),
        container_name=labels.get(CONTAINER_NAME_LABEL, ""),
    )


def parse_container_annotations(annotations: Mapping[str, str]) -> ContainerFacts:
    """Return what a container's annotations keep (getContainerInfoFromAnnotations).

    What can't be read counts as absent, as in the kubelet: a container that somebody else made is still listed.
    """
    return ContainerFacts(
        hash=annotated_hash(annotations),
        restart_count=annotated_restart_count(annotations) or 0,
        termination_message_path=annotations.get(TERMINATION_MESSAGE_PATH_ANNOTATION, ""),
        termination_message_policy=annotations.get(TERMINATION_MESSAGE_POLICY_ANNOTATION, ""),
        termination_grace_period_seconds=_parse_int(annotations.get(POD_TERMINATION_GRACE_PERIOD_ANNOTATION, "")),
        deletion_grace_period_seconds=_parse_int(annotations.get(POD_DELETION_GRACE_PERIOD_ANNOTATION, "")),
        pre_stop=_parse_pre_stop(annotations.get(PRE_STOP_HANDLER_ANNOTATION, "")),
        ports=_parse_ports(annotations.get(PORTS_ANNOTATION, "")),
    )


def annotated_hash(annotations: Mapping[str, str]) -> int:
    """Return the hash that a container was made with, 0 when it is not known."""
    return _parse_int(annotations.get(CONTAINER_HASH_ANNOTATION, ""), base=16) or 0


def annotated_restart_count(annotations: Mapping[str, str]) -> int | None:
    """Return the restart count that was written on a container, None when it is not known."""
    return _parse_int(annotations.get(RESTART_COUNT_ANNOTATION, ""))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _parse_int(text: str, *, base: int = 10) -> int | None:
    try:
        return int(text, base)
    except ValueError:
        return None


def _parse_pre_stop(text: str) -> LifecycleHandler | None:
    try:
        return decode_mapping(LifecycleHandler, json.loads(text)) if text else None
    except (ValueError, AttributeError):
        return None


def _parse_ports(text: str) -> tuple[ContainerPort, ...]:
    try:
        return tuple(decode_mapping(ContainerPort, port) for port in json.loads(text)) if text else ()
    except (ValueError, AttributeError, TypeError):
        return ()
