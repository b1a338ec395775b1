"""Volumes and their sources (core/v1); loaded when a pod has a volume.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.meta import LabelSelector, ObjectMeta
    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import LocalObjectReference, ObjectFieldSelector, ResourceFieldSelector
    from kubelet_emu.api.v1_status import PersistentVolumeClaimStatus


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
class ClusterTrustBundleProjection:
    """`ClusterTrustBundleProjection` of core.v1."""

    name: str | None = None
    label_selector: LabelSelector | None = None
    optional: bool | None = None
    path: str = ""
    signer_name: str | None = None


@frozen(kw_only=True)
class ConfigMapProjection:
    """`ConfigMapProjection` of core.v1."""

    name: str | None = None
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


@frozen(kw_only=True)
class ConfigMapVolumeSource:
    """`ConfigMapVolumeSource` of core.v1."""

    name: str | None = None
    default_mode: int | None = None
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


@frozen(kw_only=True)
class DownwardAPIProjection:
    """`DownwardAPIProjection` of core.v1."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()


@frozen(kw_only=True)
class DownwardAPIVolumeFile:
    """`DownwardAPIVolumeFile` of core.v1."""

    field_ref: ObjectFieldSelector | None = None
    mode: int | None = None
    path: str = ""
    resource_field_ref: ResourceFieldSelector | None = None


@frozen(kw_only=True)
class DownwardAPIVolumeSource:
    """`DownwardAPIVolumeSource` of core.v1."""

    default_mode: int | None = None
    items: tuple[DownwardAPIVolumeFile, ...] = ()


@frozen(kw_only=True)
class EmptyDirVolumeSource:
    """`EmptyDirVolumeSource` of core.v1."""

    medium: str | None = None
    size_limit: Quantity | None = None


@frozen(kw_only=True)
class EphemeralVolumeSource:
    """`EphemeralVolumeSource` of core.v1."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


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
class HostPathVolumeSource:
    """`HostPathVolumeSource` of core.v1."""

    path: str = ""
    type: str | None = None


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
class ImageVolumeSource:
    """`ImageVolumeSource` of core.v1."""

    pull_policy: str | None = None
    reference: str | None = None


@frozen(kw_only=True)
class KeyToPath:
    """`KeyToPath` of core.v1."""

    key: str = ""
    mode: int | None = None
    path: str = ""


@frozen(kw_only=True)
class NFSVolumeSource:
    """`NFSVolumeSource` of core.v1."""

    path: str = ""
    read_only: bool | None = None
    server: str = ""


@frozen(kw_only=True)
class PersistentVolumeClaim:
    """`PersistentVolumeClaim` of core.v1."""

    api_version: str = "v1"
    kind: str = "PersistentVolumeClaim"
    metadata: ObjectMeta | None = None
    spec: PersistentVolumeClaimSpec | None = None
    status: PersistentVolumeClaimStatus | None = None


@frozen(kw_only=True)
class PersistentVolumeClaimCondition:
    """`PersistentVolumeClaimCondition` of core.v1."""

    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class PersistentVolumeClaimSpec:
    """`PersistentVolumeClaimSpec` of core.v1."""

    access_modes: tuple[str, ...] = ()
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements | None = None
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None


@frozen(kw_only=True)
class PersistentVolumeClaimTemplate:
    """`PersistentVolumeClaimTemplate` of core.v1."""

    metadata: ObjectMeta | None = None
    spec: PersistentVolumeClaimSpec | None = None


@frozen(kw_only=True)
class PersistentVolumeClaimVolumeSource:
    """`PersistentVolumeClaimVolumeSource` of core.v1."""

    claim_name: str = ""
    read_only: bool | None = None


@frozen(kw_only=True)
class PhotonPersistentDiskVolumeSource:
    """`PhotonPersistentDiskVolumeSource` of core.v1."""

    fs_type: str | None = None
    pd_id: str = ""


@frozen(kw_only=True)
class PodCertificateProjection:
    """`PodCertificateProjection` of core.v1."""

    certificate_chain_path: str | None = None
    credential_bundle_path: str | None = None
    key_path: str | None = None
    key_type: str = ""
    max_expiration_seconds: int | None = None
    signer_name: str = ""
    user_annotations: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class PortworxVolumeSource:
    """`PortworxVolumeSource` of core.v1."""

    fs_type: str | None = None
    read_only: bool | None = None
    volume_id: str = ""


@frozen(kw_only=True)
class ProjectedVolumeSource:
    """`ProjectedVolumeSource` of core.v1."""

    default_mode: int | None = None
    sources: tuple[VolumeProjection, ...] = ()


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
class SecretProjection:
    """`SecretProjection` of core.v1."""

    name: str | None = None
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


@frozen(kw_only=True)
class SecretVolumeSource:
    """`SecretVolumeSource` of core.v1."""

    default_mode: int | None = None
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None
    secret_name: str | None = None


@frozen(kw_only=True)
class ServiceAccountTokenProjection:
    """`ServiceAccountTokenProjection` of core.v1."""

    audience: str | None = None
    expiration_seconds: int | None = None
    path: str = ""


@frozen(kw_only=True)
class StorageOSVolumeSource:
    """`StorageOSVolumeSource` of core.v1."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


@frozen(kw_only=True)
class TypedLocalObjectReference:
    """`TypedLocalObjectReference` of core.v1."""

    kind: str = ""
    name: str = ""
    api_group: str | None = None


@frozen(kw_only=True)
class TypedObjectReference:
    """`TypedObjectReference` of core.v1."""

    kind: str = ""
    name: str = ""
    api_group: str | None = None
    namespace: str | None = None


@frozen(kw_only=True)
class Volume:
    """`Volume` of core.v1."""

    name: str = ""
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    image: ImageVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(default=None, metadata={"json": "scaleIO"})
    secret: SecretVolumeSource | None = None
    storageos: StorageOSVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


@frozen(kw_only=True)
class VolumeProjection:
    """`VolumeProjection` of core.v1."""

    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = None
    pod_certificate: PodCertificateProjection | None = None
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


@frozen(kw_only=True)
class VolumeResourceRequirements:
    """`VolumeResourceRequirements` of core.v1."""

    limits: Mapping[str, Quantity] = field(factory=dict)
    requests: Mapping[str, Quantity] = field(factory=dict)


@frozen(kw_only=True)
class VsphereVirtualDiskVolumeSource:
    """`VsphereVirtualDiskVolumeSource` of core.v1."""

    fs_type: str | None = None
    storage_policy_id: str | None = None
    storage_policy_name: str | None = None
    volume_path: str = ""
