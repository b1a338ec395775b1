"""Volumes that need a storage driver, in `describe`: they are shown though they are never mounted.

Source: kubectl v1.36 describeVolumes and what it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.object_meta import ObjectMeta
from kubelet_emu.api.v1_claims import PersistentVolumeClaimSpec
from kubelet_emu.printers.old_storage import describe_old_storage, secret_reference
from kubelet_emu.printers.page import go_bool

if TYPE_CHECKING:
    from kubelet_emu.api.v1_claims import PersistentVolumeClaimTemplate
    from kubelet_emu.api.v1_volume_plugins import CSIVolumeSource, FCVolumeSource, ISCSIVolumeSource, NFSVolumeSource
    from kubelet_emu.api.v1_volumes import PersistentVolumeClaimVolumeSource, Volume
    from kubelet_emu.printers.page import Page

_INNER = "\t    "


def describe_storage(page: Page, volume: Volume) -> None:
    """Add one volume; one without any source is `<unknown>`."""
    if volume.persistent_volume_claim is not None:
        _describe_claim(page, volume.persistent_volume_claim)
    elif volume.ephemeral is not None:
        _describe_ephemeral(page, volume.ephemeral.volume_claim_template)
    elif volume.nfs is not None:
        _describe_nfs(page, volume.nfs)
    elif volume.iscsi is not None:
        _describe_iscsi(page, volume.iscsi)
    elif volume.csi is not None:
        _describe_csi(page, volume.csi)
    elif volume.fc is not None:
        _describe_fc(page, volume.fc)
    elif not describe_old_storage(page, volume):
        page.line(2, "<unknown>")


def _describe_claim(page: Page, claim: PersistentVolumeClaimVolumeSource) -> None:
    page.line(2, "Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)")
    page.line(2, f"ClaimName:\t{claim.claim_name}")
    page.line(2, f"ReadOnly:\t{go_bool(claim.read_only)}")


def _describe_ephemeral(page: Page, template: PersistentVolumeClaimTemplate | None) -> None:
    page.line(
        2, "Type:\tEphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"
    )
    spec = (template.spec if template is not None else None) or PersistentVolumeClaimSpec()
    metadata = (template.metadata if template is not None else None) or ObjectMeta()
    page.line(2, f"StorageClass:\t{spec.storage_class_name or ''}")
    page.line(2, f"Volume:\t{spec.volume_name or ''}")
    page.labels("    Labels", metadata.labels, _INNER)
    page.annotations("    Annotations", metadata.annotations, _INNER)
    page.line(2, f"Capacity:\t{'0' if spec.volume_name else ''}")
    page.line(2, "Access Modes:\t")
    if spec.volume_mode is not None:
        page.line(2, f"VolumeMode:\t{spec.volume_mode}")
    if (source := spec.data_source) is not None:
        page.line(2, "DataSource:")
        if source.api_group is not None:
            page.line(3, f"APIGroup:\t{source.api_group}")
        page.line(3, f"Kind:\t{source.kind}")
        page.line(3, f"Name:\t{source.name}")


def _describe_nfs(page: Page, nfs: NFSVolumeSource) -> None:
    page.line(2, "Type:\tNFS (an NFS mount that lasts the lifetime of a pod)")
    page.line(2, f"Server:\t{nfs.server}")
    page.line(2, f"Path:\t{nfs.path}")
    page.line(2, f"ReadOnly:\t{go_bool(nfs.read_only)}")


def _describe_iscsi(page: Page, iscsi: ISCSIVolumeSource) -> None:
    told = "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)"
    secret = secret_reference(iscsi.secret_ref)
    page.line(2, f"Type:\t{told}")
    page.line(2, f"TargetPortal:\t{iscsi.target_portal}")
    page.line(2, f"IQN:\t{iscsi.iqn}")
    page.line(2, f"Lun:\t{iscsi.lun}")
    page.line(2, f"ISCSIInterface\t{iscsi.iscsi_interface or ''}")
    page.line(2, f"FSType:\t{iscsi.fs_type or ''}")
    page.line(2, f"ReadOnly:\t{go_bool(iscsi.read_only)}")
    page.line(2, f"Portals:\t[{' '.join(iscsi.portals)}]")
    page.line(2, f"DiscoveryCHAPAuth:\t{go_bool(iscsi.chap_auth_discovery)}")
    page.line(2, f"SessionCHAPAuth:\t{go_bool(iscsi.chap_auth_session)}")
    page.line(2, f"SecretRef:\t{secret}")
    page.line(2, f"InitiatorName:\t{'<none>' if iscsi.initiator_name is None else iscsi.initiator_name}")


def _describe_csi(page: Page, csi: CSIVolumeSource) -> None:
    page.line(2, "Type:\tCSI (a Container Storage Interface (CSI) volume source)")
    page.line(2, f"Driver:\t{csi.driver}")
    page.line(2, f"FSType:\t{csi.fs_type or ''}")
    page.line(2, f"ReadOnly:\t{go_bool(csi.read_only)}")
    page.labels("    VolumeAttributes", csi.volume_attributes, _INNER if csi.volume_attributes else "\t")


def _describe_fc(page: Page, fc: FCVolumeSource) -> None:
    page.line(2, "Type:\tFC (a Fibre Channel disk)")
    page.line(2, f"TargetWWNs:\t{', '.join(fc.target_wwns)}")
    page.line(2, f"LUN:\t{'<none>' if fc.lun is None else fc.lun}")
    page.line(2, f"FSType:\t{fc.fs_type or ''}")
    page.line(2, f"ReadOnly:\t{go_bool(fc.read_only)}")
