"""Volumes. Source: kubernetes v1.36 ValidateVolumes and validateVolumeSource."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.api.schema import fields_of
from kubelet_emu.manifests.validation.faults import (
    Fault,
    duplicate,
    forbidden,
    invalid,
    required,
    unsupported,
    validate_required,
)
from kubelet_emu.manifests.validation.names import backstep_errors, label_errors, subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubelet_emu.api.v1_volumes import (
        ConfigMapVolumeSource,
        DownwardAPIVolumeSource,
        EmptyDirVolumeSource,
        EphemeralVolumeSource,
        HostPathVolumeSource,
        ImageVolumeSource,
        PersistentVolumeClaimVolumeSource,
        ProjectedVolumeSource,
        SecretVolumeSource,
        Volume,
    )

Checked = tuple[tuple[Fault, ...], "Mapping[str, Volume]"]

_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_LONGEST_ISCSI_NAME = 64

# The order in which the server looks at the sources: a second one is forbidden where it is seen.
_ORDER = """emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker
    persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume
    photonPersistentDisk portworxVolume azureDisk storageos projected scaleIO csi ephemeral image"""

# Sources that the server calls by another name where it forbids them.
_FORBIDDEN_NAMES = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}


def validate_volumes(volumes: tuple[Volume, ...], path: str, pod_name: str) -> Checked:
    """Check the volumes of a pod; returns the faults, and by name the volumes that have none.

    `pod_name` is empty for a template: claims of ephemeral volumes are named after the pod (KEP-1698).
    """
    faults: list[Fault] = []
    fine: dict[str, Volume] = {}
    made = {f"{pod_name}-{volume.name}" for volume in volumes if pod_name and volume.ephemeral is not None}
    for index, volume in enumerate(volumes):
        at = f"{path}[{index}]"
        own = list(_validate_volume(volume, at, pod_name))
        if volume.name in fine:
            own.append(duplicate(f"{at}.name", volume.name))
        elif not own:
            fine[volume.name] = volume
        faults += own
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in made:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            faults.append(invalid(f"{at}.persistentVolumeClaim.claimName", claim.claim_name, text))
    return tuple(faults), fine


def _validate_volume(volume: Volume, path: str, pod_name: str) -> Iterator[Fault]:
    yield from _validate_sources(volume, path, pod_name)
    yield from validate_required(volume.name, f"{path}.name", label_errors)


def _validate_sources(volume: Volume, path: str, pod_name: str) -> Iterator[Fault]:
    shapes = fields_of(type(volume))
    count = 0
    for name in _ORDER.split():
        source = getattr(volume, shapes[name].attribute)
        if source is None:
            continue
        count += 1
        at = f"{path}.{name}"
        if count > 1:
            yield forbidden(
                f"{path}.{_FORBIDDEN_NAMES.get(name, name)}", "may not specify more than 1 volume type", at=at
            )
        else:
            yield from _validate_source(name, source, at)
        if name == "iscsi":
            yield from _validate_iscsi_name(volume, path)
        elif name == "ephemeral" and count == 1 and pod_name and volume.name:
            claim = f"{pod_name}-{volume.name}"
            for text in subdomain_errors(claim):
                yield invalid(f"{path}.name", volume.name, f"PVC name {quote(claim)}: {text}")
    if count == 0:
        yield required(path, "must specify a volume type")


def _validate_source(name: str, source: object, path: str) -> Iterator[Fault]:
    if (check := _CHECKS.get(name)) is not None:
        yield from check(source, path)
        return
    from kubelet_emu.manifests.validation.volume_plugins import validate_plugin  # noqa: PLC0415 - a rare source

    yield from validate_plugin(name, source, path)


def _validate_iscsi_name(volume: Volume, path: str) -> Iterator[Fault]:
    iscsi = volume.iscsi
    if iscsi is None or iscsi.initiator_name is None:
        return
    if len(f"{volume.name}:{iscsi.target_portal}".encode()) > _LONGEST_ISCSI_NAME:
        text = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
            "if iscsi.initiatorName is specified."
        )
        yield invalid(f"{path}.name", volume.name, text)


def _validate_empty_dir(source: object, path: str) -> Iterator[Fault]:
    limit = cast("EmptyDirVolumeSource", source).size_limit
    if limit is not None and parse_quantity(limit) < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _validate_host_path(source: object, path: str) -> Iterator[Fault]:
    host_path = cast("HostPathVolumeSource", source)
    if not host_path.path:
        yield required(f"{path}.path")
        return
    for text in backstep_errors(host_path.path):
        yield invalid(f"{path}.path", host_path.path, text)
    if host_path.type is not None and host_path.type not in _HOST_PATH_TYPES:
        yield unsupported(f"{path}.type", host_path.type, _HOST_PATH_TYPES)


def _validate_secret(source: object, path: str) -> Iterator[Fault]:
    from kubelet_emu.manifests.validation.projected import validate_items, validate_mode  # noqa: PLC0415 - on use

    secret = cast("SecretVolumeSource", source)
    if not secret.secret_name:
        yield required(f"{path}.secretName")
    yield from validate_mode(secret.default_mode, f"{path}.defaultMode")
    yield from validate_items(secret.items, f"{path}.items")


def _validate_config_map(source: object, path: str) -> Iterator[Fault]:
    from kubelet_emu.manifests.validation.projected import validate_items, validate_mode  # noqa: PLC0415 - on use

    config_map = cast("ConfigMapVolumeSource", source)
    if not config_map.name:
        yield required(f"{path}.name")
    yield from validate_mode(config_map.default_mode, f"{path}.defaultMode")
    yield from validate_items(config_map.items, f"{path}.items")


def _validate_claim(source: object, path: str) -> Iterator[Fault]:
    if not cast("PersistentVolumeClaimVolumeSource", source).claim_name:
        yield required(f"{path}.claimName")


def _validate_downward_api(source: object, path: str) -> Iterator[Fault]:
    from kubelet_emu.manifests.validation.projected import validate_downward_files, validate_mode  # noqa: PLC0415

    downward_api = cast("DownwardAPIVolumeSource", source)
    yield from validate_mode(downward_api.default_mode, f"{path}.defaultMode")
    yield from validate_downward_files(downward_api.items, path)


def _validate_projected(source: object, path: str) -> Iterator[Fault]:
    from kubelet_emu.manifests.validation.projected import validate_projected  # noqa: PLC0415 - on use

    yield from validate_projected(cast("ProjectedVolumeSource", source), path)


def _validate_ephemeral(source: object, path: str) -> Iterator[Fault]:
    from kubelet_emu.manifests.validation.claims import validate_claim_template  # noqa: PLC0415 - on use

    template = cast("EphemeralVolumeSource", source).volume_claim_template
    at = f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(at)
    else:
        yield from validate_claim_template(template, at)


def _validate_image(source: object, path: str) -> Iterator[Fault]:
    image = cast("ImageVolumeSource", source)
    if not image.reference:
        yield required(f"{path}.reference")
    if image.pull_policy not in _PULL_POLICIES:
        yield unsupported(f"{path}.pullPolicy", image.pull_policy or "", _PULL_POLICIES)


_CHECKS: dict[str, Callable[[object, str], Iterator[Fault]]] = {
    "emptyDir": _validate_empty_dir,
    "hostPath": _validate_host_path,
    "secret": _validate_secret,
    "configMap": _validate_config_map,
    "persistentVolumeClaim": _validate_claim,
    "downwardAPI": _validate_downward_api,
    "projected": _validate_projected,
    "ephemeral": _validate_ephemeral,
    "image": _validate_image,
}
