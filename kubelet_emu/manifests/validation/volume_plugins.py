"""Volume sources of which nothing is emulated: what they must have, and what in them must fit together.

Source: kubernetes v1.36 validateISCSIVolumeSource and its neighbours, one for each source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from kubelet_emu.api.schema import fields_of
from kubelet_emu.manifests.validation.faults import Fault, invalid, required, too_long, unsupported
from kubelet_emu.manifests.validation.names import label_errors, path_errors, subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.api.v1_volume_plugins import (
        AWSElasticBlockStoreVolumeSource,
        AzureDiskVolumeSource,
        CinderVolumeSource,
        CSIVolumeSource,
        FCVolumeSource,
        FlexVolumeSource,
        FlockerVolumeSource,
        GCEPersistentDiskVolumeSource,
        GitRepoVolumeSource,
        ISCSIVolumeSource,
        NFSVolumeSource,
        QuobyteVolumeSource,
        StorageOSVolumeSource,
    )

_BYTE_RULE = "must be between {} and 255, inclusive"
_PAIRS_RULE = "must be a host:port pair or multiple pairs separated by commas"
_IQN = r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+"
_INITIATORS = {"iqn": _IQN, "eui": r"eui.[A-Za-z0-9]{16}", "naa": r"naa.[A-Za-z0-9]{32}"}
_LONGEST_DRIVER = 63
_LONGEST_TENANT = 64
_CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_URI = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
    "/subscriptions/",
)
_BLOB_URI = ("https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", "https://")

# What a source must have, beside what its own check asks for.
_NEEDED = {
    "azureFile": ("secretName", "shareName"),
    "cephfs": ("monitors",),
    "glusterfs": ("endpoints", "path"),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "rbd": ("monitors", "image"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "vsphereVolume": ("volumePath",),
}


def validate_plugin(name: str, source: object, path: str) -> Iterator[Fault]:
    """Check a source by its name in the API."""
    shapes = fields_of(type(source))
    for needed in _NEEDED.get(name, ()):
        if not getattr(source, shapes[needed].attribute):
            yield required(f"{path}.{needed}")
    if (check := _CHECKS.get(name)) is not None:
        yield from check(source, path)


def _validate_git_repo(source: object, path: str) -> Iterator[Fault]:
    repository = cast("GitRepoVolumeSource", source)
    if not repository.repository:
        yield required(f"{path}.repository")
    for text in path_errors(repository.directory or ""):
        yield invalid(f"{path}.directory", repository.directory, text)


def _validate_partition(partition: int | None, path: str) -> Iterator[Fault]:
    if not 0 <= (partition or 0) <= 255:
        yield invalid(f"{path}.partition", partition, _BYTE_RULE.format(1))


def _validate_gce_disk(source: object, path: str) -> Iterator[Fault]:
    """Check a GCE disk; the server's path has another name for it."""
    disk = cast("GCEPersistentDiskVolumeSource", source)
    own = f"{path.rpartition('.')[0]}.persistentDisk"
    if not disk.pd_name:
        yield required(f"{own}.pdName", at=f"{path}.pdName")
    for fault in _validate_partition(disk.partition, own):
        yield Fault(fault.path, fault.type, fault.detail, f"{path}.partition")


def _validate_aws_disk(source: object, path: str) -> Iterator[Fault]:
    disk = cast("AWSElasticBlockStoreVolumeSource", source)
    if not disk.volume_id:
        yield required(f"{path}.volumeID")
    yield from _validate_partition(disk.partition, path)


def _validate_nfs(source: object, path: str) -> Iterator[Fault]:
    nfs = cast("NFSVolumeSource", source)
    if not nfs.server:
        yield required(f"{path}.server")
    if not nfs.path:
        yield required(f"{path}.path")
    if not nfs.path.startswith("/"):
        yield invalid(f"{path}.path", nfs.path, "must be an absolute path")


def _initiator_errors(name: str) -> list[str]:
    pattern = _INITIATORS.get(name[:3])
    if pattern is None:
        return ["must be valid format starting with iqn, eui, or naa"]
    fits = re.search(f"{pattern}$", name) if name.startswith("iqn") else re.fullmatch(pattern, name)
    return [] if fits else ["must be valid format"]


def _validate_iscsi(source: object, path: str) -> Iterator[Fault]:
    iscsi = cast("ISCSIVolumeSource", source)
    if not iscsi.target_portal:
        yield required(f"{path}.targetPortal")
    if not iscsi.iqn:
        yield required(f"{path}.iqn")
    for text in _initiator_errors(iscsi.iqn) if iscsi.iqn else ():
        yield invalid(f"{path}.iqn", iscsi.iqn, text)
    if not 0 <= iscsi.lun <= 255:
        yield invalid(f"{path}.lun", iscsi.lun, _BYTE_RULE.format(0))
    if (iscsi.chap_auth_discovery or iscsi.chap_auth_session) and iscsi.secret_ref is None:
        yield required(f"{path}.secretRef")
    for text in _initiator_errors(iscsi.initiator_name) if iscsi.initiator_name is not None else ():
        yield invalid(f"{path}.initiatorname", iscsi.initiator_name, text, at=f"{path}.initiatorName")


def _validate_flocker(source: object, path: str) -> Iterator[Fault]:
    flocker = cast("FlockerVolumeSource", source)
    if not flocker.dataset_name and not flocker.dataset_uuid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if flocker.dataset_name and flocker.dataset_uuid:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in (flocker.dataset_name or ""):
        yield invalid(f"{path}.datasetName", flocker.dataset_name, "must not contain '/'")


def _validate_cinder(source: object, path: str) -> Iterator[Fault]:
    cinder = cast("CinderVolumeSource", source)
    if not cinder.volume_id:
        yield required(f"{path}.volumeID")
    if cinder.secret_ref is not None and not cinder.secret_ref.name:
        yield required(f"{path}.secretRef.name")


def _validate_quobyte(source: object, path: str) -> Iterator[Fault]:
    quobyte = cast("QuobyteVolumeSource", source)
    if not quobyte.registry:
        yield required(f"{path}.registry", _PAIRS_RULE)
    elif len((quobyte.tenant or "").encode()) > _LONGEST_TENANT:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in quobyte.registry.split(","):
            if not re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*", pair):
                yield invalid(f"{path}.registry", quobyte.registry, _PAIRS_RULE)
    if not quobyte.volume:
        yield required(f"{path}.volume")


def _validate_fc(source: object, path: str) -> Iterator[Fault]:
    fc = cast("FCVolumeSource", source)
    at = f"{path}.targetWWNs"
    if not fc.target_wwns and not fc.wwids:
        yield required(at, "must specify either targetWWNs or wwids, but not both")
    if fc.target_wwns and fc.wwids:
        yield invalid(at, fc.target_wwns, "targetWWNs and wwids can not be specified simultaneously")
    if fc.target_wwns and fc.lun is None:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif fc.target_wwns and not 0 <= (fc.lun or 0) <= 255:
        yield invalid(f"{path}.lun", fc.lun, _BYTE_RULE.format(0))


def _validate_flex(source: object, path: str) -> Iterator[Fault]:
    flex = cast("FlexVolumeSource", source)
    if not flex.driver:
        yield required(f"{path}.driver")
    for key in flex.options:
        namespace = f".{key.partition('/')[0].lower()}"
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}.options[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved")


def _validate_azure_disk(source: object, path: str) -> Iterator[Fault]:
    disk = cast("AzureDiskVolumeSource", source)
    if not disk.disk_name:
        yield required(f"{path}.diskName")
    if not disk.disk_uri:
        yield required(f"{path}.diskURI")
    if disk.caching_mode is not None and disk.caching_mode not in _CACHING_MODES:
        yield unsupported(f"{path}.cachingMode", disk.caching_mode, _CACHING_MODES)
    if disk.kind is not None and disk.kind not in _DISK_KINDS:
        yield unsupported(f"{path}.kind", disk.kind, _DISK_KINDS)
    if disk.kind is not None:
        form, start = _MANAGED_URI if disk.kind == "Managed" else _BLOB_URI
        if not disk.disk_uri.startswith(start):
            yield unsupported(f"{path}.diskURI", disk.disk_uri, (form,))


def _validate_storage_os(source: object, path: str) -> Iterator[Fault]:
    storage_os = cast("StorageOSVolumeSource", source)
    if not storage_os.volume_name:
        yield required(f"{path}.volumeName")
    for name, value in (("volumeName", storage_os.volume_name), ("volumeNamespace", storage_os.volume_namespace)):
        for text in label_errors(value) if value else ():
            yield invalid(f"{path}.{name}", value, text)
    if storage_os.secret_ref is not None and not storage_os.secret_ref.name:
        yield required(f"{path}.secretRef.name")


def _validate_csi(source: object, path: str) -> Iterator[Fault]:
    csi = cast("CSIVolumeSource", source)
    at = f"{path}.driver"
    if not csi.driver:
        yield required(at)
    else:
        if len(csi.driver.encode()) > _LONGEST_DRIVER:
            yield too_long(at, _LONGEST_DRIVER)
        for text in subdomain_errors(csi.driver.lower()):
            yield invalid(at, csi.driver, text)
    secret = csi.node_publish_secret_ref
    if secret is not None and not secret.name:
        yield required(f"{path}.nodePublishSecretRef.name")
    elif secret is not None:
        for text in subdomain_errors(secret.name or ""):
            yield invalid(f"{path}.name", secret.name, text, at=f"{path}.nodePublishSecretRef.name")


_CHECKS: dict[str, Callable[[object, str], Iterator[Fault]]] = {
    "awsElasticBlockStore": _validate_aws_disk,
    "azureDisk": _validate_azure_disk,
    "cinder": _validate_cinder,
    "csi": _validate_csi,
    "fc": _validate_fc,
    "flexVolume": _validate_flex,
    "flocker": _validate_flocker,
    "gcePersistentDisk": _validate_gce_disk,
    "gitRepo": _validate_git_repo,
    "iscsi": _validate_iscsi,
    "nfs": _validate_nfs,
    "quobyte": _validate_quobyte,
    "storageos": _validate_storage_os,
}
