"""Volumes. Source: kubernetes v1.36 ValidateVolumes and validateVolumeSource."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

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
from kubelet_emu.manifests.validation.names import backstep_errors, label_errors, path_errors
from kubelet_emu.manifests.validation.projected import (
    validate_downward_files,
    validate_items,
    validate_mode,
    validate_projected,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1_volume_plugins import GitRepoVolumeSource, NFSVolumeSource
    from kubelet_emu.api.v1_volumes import (
        ConfigMapVolumeSource,
        DownwardAPIVolumeSource,
        EmptyDirVolumeSource,
        EphemeralVolumeSource,
        HostPathVolumeSource,
        ImageVolumeSource,
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
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")

# The order in which the server looks at the sources: a second one is forbidden where it is seen.
_ORDER = """emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker
    persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume
    photonPersistentDisk portworxVolume azureDisk storageos scaleIO projected csi ephemeral image"""

# What sources that nothing is emulated of must have.
_NEEDED = {
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "iscsi": ("targetPortal", "iqn"),
    "glusterfs": ("endpoints", "path"),
    "rbd": ("monitors", "image"),
    "cinder": ("volumeID",),
    "cephfs": ("monitors",),
    "quobyte": ("registry", "volume"),
    "flexVolume": ("driver",),
    "azureFile": ("secretName", "shareName"),
    "vsphereVolume": ("volumePath",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "storageos": ("volumeName",),
    "scaleIO": ("gateway", "system", "volumeName"),
    "csi": ("driver",),
    "persistentVolumeClaim": ("claimName",),
}


def validate_volumes(volumes: tuple[Volume, ...], path: str, metadata: ObjectMeta) -> Checked:
    """Check the volumes of a pod; returns the faults, and by name the volumes that have none."""
    faults: list[Fault] = []
    fine: dict[str, Volume] = {}
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        own = list(_validate_volume(volume, f"{path}[{index}]"))
        if volume.name in names:
            own.append(duplicate(f"{path}[{index}].name", volume.name))
        elif not own:
            fine[volume.name] = volume
        names.add(volume.name)
        faults += own
    faults += _validate_ephemeral_claims(volumes, path, metadata)
    return tuple(faults), fine


def _validate_volume(volume: Volume, path: str) -> Iterator[Fault]:
    yield from _validate_sources(volume, path)
    yield from validate_required(volume.name, f"{path}.name", label_errors)


def _validate_sources(volume: Volume, path: str) -> Iterator[Fault]:
    shapes = fields_of(type(volume))
    count = 0
    for name in _ORDER.split():
        source = getattr(volume, shapes[name].attribute)
        if source is None:
            continue
        count += 1
        at = f"{path}.{name}"
        if count > 1:
            yield forbidden(at, "may not specify more than 1 volume type")
        elif name in _CHECKS:
            yield from _CHECKS[name](source, at)
        else:
            yield from _validate_needed(source, at, _NEEDED.get(name, ()))
    if count == 0:
        yield required(path, "must specify a volume type")


def _validate_needed(source: object, path: str, names: tuple[str, ...]) -> Iterator[Fault]:
    shapes = fields_of(type(source))
    for name in names:
        if not getattr(source, shapes[name].attribute):
            yield required(f"{path}.{name}")


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


def _validate_git_repo(source: object, path: str) -> Iterator[Fault]:
    repository = cast("GitRepoVolumeSource", source)
    if not repository.repository:
        yield required(f"{path}.repository")
    for text in path_errors(repository.directory or ""):
        yield invalid(f"{path}.directory", repository.directory, text)


def _validate_secret(source: object, path: str) -> Iterator[Fault]:
    secret = cast("SecretVolumeSource", source)
    if not secret.secret_name:
        yield required(f"{path}.secretName")
    yield from validate_mode(secret.default_mode, f"{path}.defaultMode")
    yield from validate_items(secret.items, f"{path}.items")


def _validate_config_map(source: object, path: str) -> Iterator[Fault]:
    config_map = cast("ConfigMapVolumeSource", source)
    if not config_map.name:
        yield required(f"{path}.name")
    yield from validate_mode(config_map.default_mode, f"{path}.defaultMode")
    yield from validate_items(config_map.items, f"{path}.items")


def _validate_nfs(source: object, path: str) -> Iterator[Fault]:
    nfs = cast("NFSVolumeSource", source)
    if not nfs.server:
        yield required(f"{path}.server")
    if not nfs.path:
        yield required(f"{path}.path")
    elif not nfs.path.startswith("/"):
        yield invalid(f"{path}.path", nfs.path, "must be an absolute path")


def _validate_downward_api(source: object, path: str) -> Iterator[Fault]:
    downward_api = cast("DownwardAPIVolumeSource", source)
    yield from validate_mode(downward_api.default_mode, f"{path}.defaultMode")
    yield from validate_downward_files(downward_api.items, path)


def _validate_projected(source: object, path: str) -> Iterator[Fault]:
    yield from validate_projected(cast("ProjectedVolumeSource", source), path)


def _validate_ephemeral(source: object, path: str) -> Iterator[Fault]:
    template = cast("EphemeralVolumeSource", source).volume_claim_template
    at = f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(at)
        return
    spec = template.spec
    modes = spec.access_modes if spec is not None else ()
    if not modes:
        yield required(f"{at}.spec.accessModes", "at least 1 access mode is required")
    for mode in modes:
        if mode not in _ACCESS_MODES:
            yield unsupported(f"{at}.spec.accessModes", mode, _ACCESS_MODES)
    requests = spec.resources.requests if spec is not None and spec.resources is not None else {}
    if "storage" not in requests:
        yield required(f"{at}.spec.resources[storage]", at=f"{at}.spec.resources.requests")
    elif parse_quantity(requests["storage"]) <= 0:
        yield invalid(f"{at}.spec.resources[storage]", requests["storage"], "must be greater than zero")


def _validate_image(source: object, path: str) -> Iterator[Fault]:
    image = cast("ImageVolumeSource", source)
    if not image.reference:
        yield required(f"{path}.reference")
    if image.pull_policy not in _PULL_POLICIES:
        yield unsupported(f"{path}.pullPolicy", image.pull_policy or "", _PULL_POLICIES)


_CHECKS: dict[str, Callable[[object, str], Iterator[Fault]]] = {
    "emptyDir": _validate_empty_dir,
    "hostPath": _validate_host_path,
    "gitRepo": _validate_git_repo,
    "secret": _validate_secret,
    "configMap": _validate_config_map,
    "nfs": _validate_nfs,
    "downwardAPI": _validate_downward_api,
    "projected": _validate_projected,
    "ephemeral": _validate_ephemeral,
    "image": _validate_image,
}


def _validate_ephemeral_claims(volumes: tuple[Volume, ...], path: str, metadata: ObjectMeta) -> Iterator[Fault]:
    """Check that no claim has the name of one that an ephemeral volume gets (KEP-1698)."""
    if not metadata.name:
        return
    made = {f"{metadata.name}-{volume.name}" for volume in volumes if volume.ephemeral is not None}
    for index, volume in enumerate(volumes):
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in made:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{path}[{index}].persistentVolumeClaim.claimName", claim.claim_name, text)
