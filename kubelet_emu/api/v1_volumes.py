"""Volumes and their sources (core/v1); loaded when a pod has a volume.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_claims import PersistentVolumeClaimTemplate
    from kubelet_emu.api.v1_environment import ObjectFieldSelector, ResourceFieldSelector
    from kubelet_emu.api.v1_volume_plugins import (
        AWSElasticBlockStoreVolumeSource,
        AzureDiskVolumeSource,
        AzureFileVolumeSource,
        CephFSVolumeSource,
        CinderVolumeSource,
        CSIVolumeSource,
        FCVolumeSource,
        FlexVolumeSource,
        FlockerVolumeSource,
        GCEPersistentDiskVolumeSource,
        GitRepoVolumeSource,
        GlusterfsVolumeSource,
        ISCSIVolumeSource,
        NFSVolumeSource,
        PhotonPersistentDiskVolumeSource,
        PortworxVolumeSource,
        QuobyteVolumeSource,
        RBDVolumeSource,
        ScaleIOVolumeSource,
        StorageOSVolumeSource,
        VsphereVirtualDiskVolumeSource,
    )


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
class HostPathVolumeSource:
    """`HostPathVolumeSource` of core.v1."""

    path: str = ""
    type: str | None = None


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
class PersistentVolumeClaimVolumeSource:
    """`PersistentVolumeClaimVolumeSource` of core.v1."""

    claim_name: str = ""
    read_only: bool | None = None


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
class ProjectedVolumeSource:
    """`ProjectedVolumeSource` of core.v1."""

    default_mode: int | None = None
    sources: tuple[VolumeProjection, ...] = ()


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
