"""Volumes of drivers that left Kubernetes, in `describe`: no node mounts them, kubectl still shows them.

A row gives the field of a volume, its type in words, and its lines: title and field.
Source: kubectl v1.36 describeVolumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.printers.page import go_bool

if TYPE_CHECKING:
    from kubelet_emu.api.v1_volumes import Volume
    from kubelet_emu.printers.page import Page

_FS, _READ_ONLY, _SECRET = "FSType fs_type", "ReadOnly read_only", "SecretRef secret_ref"
_ON_HOST = "mount on the host that shares a pod's lifetime"
_AZURE_HOST = "mount on the host and bind mount to the pod"
_TABLE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "gce_persistent_disk",
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        ("PDName pd_name", _FS, "Partition partition", _READ_ONLY),
    ),
    (
        "aws_elastic_block_store",
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        ("VolumeID volume_id", _FS, "Partition partition", _READ_ONLY),
    ),
    (
        "git_repo",
        "GitRepo (a volume that is pulled from git when the pod is created)",
        ("Repository repository", "Revision revision"),
    ),
    ("glusterfs", f"Glusterfs (a Glusterfs {_ON_HOST})", ("EndpointsName endpoints", "Path path", _READ_ONLY)),
    (
        "rbd",
        f"RBD (a Rados Block Device {_ON_HOST})",
        (
            "CephMonitors monitors",
            "RBDImage image",
            _FS,
            "RBDPool pool",
            "RadosUser user",
            "Keyring keyring",
            _SECRET,
            _READ_ONLY,
        ),
    ),
    ("quobyte", f"Quobyte (a Quobyte {_ON_HOST})", ("Registry registry", "Volume volume", _READ_ONLY)),
    (
        "azure_disk",
        f"AzureDisk (an Azure Data Disk {_AZURE_HOST})",
        ("DiskName disk_name", "DiskURI disk_uri", "Kind kind", _FS, "CachingMode caching_mode", _READ_ONLY),
    ),
    (
        "azure_file",
        f"AzureFile (an Azure File Service {_AZURE_HOST})",
        ("SecretName secret_name", "ShareName share_name", _READ_ONLY),
    ),
    (
        "vsphere_volume",
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        ("VolumePath volume_path", _FS, "StoragePolicyName storage_policy_name"),
    ),
    (
        "cinder",
        "Cinder (a Persistent Disk resource in OpenStack)",
        ("VolumeID volume_id", _FS, _READ_ONLY, _SECRET),
    ),
    (
        "photon_persistent_disk",
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        ("PdID pd_id", _FS),
    ),
    ("portworx_volume", "PortworxVolume (a Portworx Volume resource)", ("VolumeID volume_id",)),
    (
        "scale_io",
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        (
            "Gateway gateway",
            "System system",
            "Protection Domain protection_domain",
            "Storage Pool storage_pool",
            "Storage Mode storage_mode",
            "VolumeName volume_name",
            _FS,
            _READ_ONLY,
        ),
    ),
    (
        "cephfs",
        f"CephFS (a CephFS {_ON_HOST})",
        ("Monitors monitors", "Path path", "User user", "SecretFile secret_file", _SECRET, _READ_ONLY),
    ),
    (
        "storageos",
        "StorageOS (a StorageOS Persistent Disk resource)",
        ("VolumeName volume_name", "VolumeNamespace volume_namespace", _FS, _READ_ONLY),
    ),
    (
        "flocker",
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        ("DatasetName dataset_name", "DatasetUUID dataset_uuid"),
    ),
    (
        "flex_volume",
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        ("Driver driver", _FS, _SECRET, _READ_ONLY, "Options options"),
    ),
)


def describe_old_storage(page: Page, volume: Volume) -> bool:
    """Add a volume of such a driver; tells whether it is one."""
    for field, kind, lines in _TABLE:
        source = getattr(volume, field)
        if source is not None:
            page.line(2, f"Type:\t{kind}")
            for line in lines:
                title, _, name = line.rpartition(" ")
                page.line(2, f"{title}:\t{_shown(name, getattr(source, name))}")
            return True
    return False


def secret_reference(reference: object) -> str:
    """Return a reference to a Secret as Go prints the pointer to it."""
    return "nil" if reference is None else f"&LocalObjectReference{{Name:{getattr(reference, 'name', None) or ''},}}"


def _shown(name: str, value: object) -> str:
    """Return a field as Go prints it; its zero value where there is none."""
    if name == "secret_ref":
        return secret_reference(value)
    if name == "read_only":
        return go_bool(bool(value))
    if name == "partition":
        return str(value or 0)
    if isinstance(value, tuple):
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{value[key]}' for key in sorted(value))}]"
    return str(value or "")
