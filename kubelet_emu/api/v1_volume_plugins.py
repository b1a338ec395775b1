"""Volume sources that need a storage driver (core/v1); read and checked, never mounted.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import LocalObjectReference


@frozen(kw_only=True)
class AWSElasticBlockStoreVolumeSource:
    """`AWSElasticBlockStoreVolumeSource` of core.v1."""

    fs_type: str | None = None
    partition: int | None = None
    read_only: bool | None = None
    volume_id: str = ""


@frozen(kw_only=True)
class AzureDiskVolumeSource:
    """`AzureDiskVolumeSource` of core.v1."""

    kind: str | None = None
    caching_mode: str | None = None
    disk_name: str = ""
    disk_uri: str = ""
    fs_type: str | None = None
    read_only: bool | None = None


@frozen(kw_only=True)
class AzureFileVolumeSource:
    """`AzureFileVolumeSource` of core.v1."""

    read_only: bool | None = None
    secret_name: str = ""
    share_name: str = ""


@frozen(kw_only=True)
class CSIVolumeSource:
    """`CSIVolumeSource` of core.v1."""

    driver: str = ""
    fs_type: str | None = None
    node_publish_secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None
    volume_attributes: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class CephFSVolumeSource:
    """`CephFSVolumeSource` of core.v1."""

    monitors: tuple[str, ...] = ()
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


@frozen(kw_only=True)
class CinderVolumeSource:
    """`CinderVolumeSource` of core.v1."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_id: str = ""


@frozen(kw_only=True)
class FCVolumeSource:
    """`FCVolumeSource` of core.v1."""

    fs_type: str | None = None
    lun: int | None = None
    read_only: bool | None = None
    target_wwns: tuple[str, ...] = field(default=(), metadata={"json": "targetWWNs"})
    wwids: tuple[str, ...] = ()


@frozen(kw_only=True)
class FlexVolumeSource:
    """`FlexVolumeSource` of core.v1."""

    driver: str = ""
    fs_type: str | None = None
    options: Mapping[str, str] = field(factory=dict)
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None


@frozen(kw_only=True)
class FlockerVolumeSource:
    """`FlockerVolumeSource` of core.v1."""

    dataset_name: str | None = None
    dataset_uuid: str | None = field(default=None, metadata={"json": "datasetUUID"})


@frozen(kw_only=True)
class GCEPersistentDiskVolumeSource:
    """`GCEPersistentDiskVolumeSource` of core.v1."""

    fs_type: str | None = None
    partition: int | None = None
    pd_name: str = ""
    read_only: bool | None = None


@frozen(kw_only=True)
class GitRepoVolumeSource:
    """`GitRepoVolumeSource` of core.v1."""

    directory: str | None = None
    repository: str = ""
    revision: str | None = None


@frozen(kw_only=True)
class GlusterfsVolumeSource:
    """`GlusterfsVolumeSource` of core.v1."""

    endpoints: str = ""
    path: str = ""
    read_only: bool | None = None


@frozen(kw_only=True)
class ISCSIVolumeSource:
    """`ISCSIVolumeSource` of core.v1."""

    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = ""
    iscsi_interface: str | None = None
    lun: int = 0
    portals: tuple[str, ...] = ()
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    target_portal: str = ""


@frozen(kw_only=True)
class NFSVolumeSource:
    """`NFSVolumeSource` of core.v1."""

    path: str = ""
    read_only: bool | None = None
    server: str = ""


@frozen(kw_only=True)
class PhotonPersistentDiskVolumeSource:
    """`PhotonPersistentDiskVolumeSource` of core.v1."""

    fs_type: str | None = None
    pd_id: str = ""


@frozen(kw_only=True)
class PortworxVolumeSource:
    """`PortworxVolumeSource` of core.v1."""

    fs_type: str | None = None
    read_only: bool | None = None
    volume_id: str = ""


@frozen(kw_only=True)
class QuobyteVolumeSource:
    """`QuobyteVolumeSource` of core.v1."""

    group: str | None = None
    read_only: bool | None = None
    registry: str = ""
    tenant: str | None = None
    user: str | None = None
    volume: str = ""


@frozen(kw_only=True)
class RBDVolumeSource:
    """`RBDVolumeSource` of core.v1."""

    fs_type: str | None = None
    image: str = ""
    keyring: str | None = None
    monitors: tuple[str, ...] = ()
    pool: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


@frozen(kw_only=True)
class ScaleIOVolumeSource:
    """`ScaleIOVolumeSource` of core.v1."""

    fs_type: str | None = None
    gateway: str = ""
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    ssl_enabled: bool | None = None
    storage_mode: str | None = None
    storage_pool: str | None = None
    system: str = ""
    volume_name: str | None = None


@frozen(kw_only=True)
class StorageOSVolumeSource:
    """`StorageOSVolumeSource` of core.v1."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


@frozen(kw_only=True)
class VsphereVirtualDiskVolumeSource:
    """`VsphereVirtualDiskVolumeSource` of core.v1."""

    fs_type: str | None = None
    storage_policy_id: str | None = None
    storage_policy_name: str | None = None
    volume_path: str = ""
