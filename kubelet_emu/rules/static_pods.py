"""Static pods: what a kubelet makes of a manifest file, and the mirror that stands for it in the API."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.codec import encode
from kubelet_emu.api.labels import (
    CONFIG_HASH_ANNOTATION,
    CONFIG_MIRROR_ANNOTATION,
    CONFIG_SEEN_ANNOTATION,
    CONFIG_SOURCE_ANNOTATION,
)
from kubelet_emu.api.v1_scheduling import Toleration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_volumes import Volume

FILE_SOURCE = "file"
_FNV_OFFSET = 0x6C62272E07BB014262B821756295C58D
_FNV_PRIME = 0x0000000001000000000000000000013B


def static_pod(pod: Pod, *, path: str, node_name: str, seen_at: datetime) -> Pod:
    """Return the pod that a file means on a node. Any edit of the file makes another uid, unless the file gives one.

    Source: kubelet v1.36 pkg/kubelet/config applyDefaults.
    """
    metadata = pod.metadata
    uid = metadata.uid or _hash(pod, node_name, path)
    annotations = {
        **metadata.annotations,
        CONFIG_HASH_ANNOTATION: uid,
        CONFIG_SOURCE_ANNOTATION: FILE_SOURCE,
        CONFIG_SEEN_ANNOTATION: rfc3339_nano(seen_at),
    }
    toleration = Toleration(operator="Exists", effect="NoExecute")
    return evolve(
        pod,
        metadata=evolve(
            metadata,
            name=f"{metadata.name}-{node_name.lower()}",
            namespace=metadata.namespace or "default",
            uid=uid,
            annotations=annotations,
        ),
        spec=evolve(pod.spec, node_name=node_name, tolerations=(*pod.spec.tolerations, toleration)),
    )


def as_first_seen(before: Pod, pod: Pod) -> Pod:
    """Return a pod that was read again, seen when it was first (kubelet v1.36 checkAndUpdatePod)."""
    seen = {CONFIG_SEEN_ANNOTATION: before.metadata.annotations[CONFIG_SEEN_ANNOTATION]}
    return evolve(pod, metadata=evolve(pod.metadata, annotations={**pod.metadata.annotations, **seen}))


def rfc3339_nano(moment: datetime) -> str:
    """Return a time as Go's RFC3339Nano has it, of which fractions end with their last digit that counts."""
    text = moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    return (text.rstrip("0") if "." in text else text) + "Z"


def mirror_pod(pod: Pod) -> Pod:
    """Return the copy of a static pod that the kubelet creates in the API (kubelet v1.36 CreateMirrorPod)."""
    # Differs: the mirror has the static pod's uid, so that what is told of either is told of one pod.
    mark = {CONFIG_MIRROR_ANNOTATION: pod.metadata.annotations[CONFIG_HASH_ANNOTATION]}
    return evolve(pod, metadata=evolve(pod.metadata, annotations={**pod.metadata.annotations, **mark}))


def is_mirror_pod(pod: Pod) -> bool:
    """Tell whether a pod of the API is only a mirror (kubelet v1.36 IsMirrorPod)."""
    return CONFIG_MIRROR_ANNOTATION in pod.metadata.annotations


def is_mirror_of(mirror: Pod, pod: Pod) -> bool:
    """Tell whether a mirror may stay for a static pod: of the same content, and not being deleted.

    Source: kubelet v1.36 tryReconcileMirrorPods, IsMirrorPodOf.
    """
    wanted = pod.metadata.annotations[CONFIG_HASH_ANNOTATION]
    is_same = mirror.metadata.annotations.get(CONFIG_MIRROR_ANNOTATION) == wanted
    return is_same and mirror.metadata.deletion_timestamp is None


def api_references(pod: Pod) -> tuple[str, ...]:
    """Return what a pod's spec names in the API, which a static pod may not (PreventStaticPodAPIReferences).

    Source: kubelet v1.36 pkg/kubelet/config, pod/util HasAPIObjectReference.
    """
    return tuple(dict.fromkeys(_references(pod)))


def _references(pod: Pod) -> Iterator[str]:
    if pod.spec.service_account_name:
        yield "serviceaccounts"
    if pod.spec.image_pull_secrets:
        yield "secrets"
    if pod.spec.resource_claims:
        yield "resourceclaims"
    for volume in pod.spec.volumes:
        yield from _volume_references(volume)
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        for source in container.env_from:
            yield from _resources((source.config_map_ref, source.secret_ref), ("configmaps", "secrets"))
        for value in (variable.value_from for variable in container.env if variable.value_from is not None):
            yield from _resources((value.config_map_key_ref, value.secret_key_ref), ("configmaps", "secrets"))


def _volume_references(volume: Volume) -> Iterator[str]:
    """Yield what a volume names in the API; other storage than the node's own may need a secret for it."""
    yield from _resources(
        (volume.secret, volume.config_map, volume.persistent_volume_claim, volume.ephemeral, volume.csi),
        ("secrets", "configmaps", "persistentvolumeclaims", "persistentvolumeclaims", "csidrivers"),
    )
    yield from _resources((volume.glusterfs, volume.azure_file), ("endpoints", "secrets"))
    remote = (volume.cephfs, volume.cinder, volume.flex_volume, volume.iscsi, volume.rbd, volume.scale_io)
    if any(each is not None and each.secret_ref is not None for each in (*remote, volume.storageos)):
        yield "secrets"
    for source in volume.projected.sources if volume.projected is not None else ():
        yield from _resources(
            (source.secret, source.config_map, source.service_account_token),
            ("secrets", "configmaps", "serviceaccounts"),
        )
        yield from _resources(
            (source.cluster_trust_bundle, source.pod_certificate), ("clustertrustbundles", "podcertificates")
        )


def _resources(references: tuple[object, ...], resources: tuple[str, ...]) -> Iterator[str]:
    """Yield the resources of those references that are given."""
    return (resource for given, resource in zip(references, resources, strict=True) if given is not None)


def _hash(pod: Pod, node_name: str, path: str) -> str:
    """Return the FNV-128a hash of all that makes a static pod this one, in hex."""
    value = _FNV_OFFSET
    for byte in json.dumps([encode(pod), node_name, path], sort_keys=True).encode():
        value = (value ^ byte) * _FNV_PRIME & ((1 << 128) - 1)
    return f"{value:032x}"
