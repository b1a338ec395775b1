"""Defaults of volumes. Source: kubernetes v1.36 SetDefaults_Volume and those of its sources."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, TypeVar

from attrs import evolve, fields

from kubelet_emu.api.image_names import default_pull_policy
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.quantity import Quantity, format_quantity, parse_quantity, quantity_format
from kubelet_emu.manifests.changing import changed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1_claims import PersistentVolumeClaimSpec
    from kubelet_emu.api.v1_volume_plugins import AzureDiskVolumeSource, RBDVolumeSource, ScaleIOVolumeSource
    from kubelet_emu.api.v1_volumes import (
        DownwardAPIProjection,
        DownwardAPIVolumeFile,
        DownwardAPIVolumeSource,
        EphemeralVolumeSource,
        ImageVolumeSource,
        ProjectedVolumeSource,
        Volume,
        VolumeProjection,
    )

S = TypeVar("S")
Files = TypeVar("Files", "DownwardAPIVolumeSource | None", "DownwardAPIProjection | None")

_MODE = 0o644
_TOKEN_SECONDS = 3600
_MILLI = Decimal("0.001")


def default_volume(volume: Volume) -> Volume:
    """Return a volume with defaults; one without any source is an emptyDir."""
    if all(getattr(volume, each.name) is None for each in fields(type(volume)) if each.name != "name"):
        return evolve(volume, empty_dir=api_type("EmptyDirVolumeSource")())
    return evolve(
        volume,
        secret=_default_mode(volume.secret),
        config_map=_default_mode(volume.config_map),
        downward_api=_default_files(_default_mode(volume.downward_api)),
        projected=_default_projected(volume.projected),
        host_path=None if volume.host_path is None else evolve(volume.host_path, type=volume.host_path.type or ""),
        image=_default_image(volume.image),
        ephemeral=_default_ephemeral(volume.ephemeral),
        iscsi=None
        if volume.iscsi is None
        else evolve(volume.iscsi, iscsi_interface=volume.iscsi.iscsi_interface or "default"),
        rbd=_default_rbd(volume.rbd),
        azure_disk=_default_azure_disk(volume.azure_disk),
        scale_io=_default_scale_io(volume.scale_io),
    )


def _default_mode(source: S) -> S:
    if source is None or getattr(source, "default_mode", None) is not None:
        return source
    return changed(source, default_mode=_MODE)


def _default_files(source: Files) -> Files:
    """Default the apiVersion of each fieldRef of downward API files."""
    return source if source is None else changed(source, items=tuple(_default_file(each) for each in source.items))


def _default_file(item: DownwardAPIVolumeFile) -> DownwardAPIVolumeFile:
    if item.field_ref is None:
        return item
    return evolve(item, field_ref=evolve(item.field_ref, api_version=item.field_ref.api_version or "v1"))


def _default_projected(source: ProjectedVolumeSource | None) -> ProjectedVolumeSource | None:
    if source is None:
        return None
    return evolve(_default_mode(source), sources=tuple(_default_projection(each) for each in source.sources))


def _default_projection(projection: VolumeProjection) -> VolumeProjection:
    token = projection.service_account_token
    if token is not None and token.expiration_seconds is None:
        token = evolve(token, expiration_seconds=_TOKEN_SECONDS)
    return evolve(projection, service_account_token=token, downward_api=_default_files(projection.downward_api))


def _default_image(source: ImageVolumeSource | None) -> ImageVolumeSource | None:
    if source is None or source.pull_policy:
        return source
    return evolve(source, pull_policy=default_pull_policy(source.reference or ""))


def _default_ephemeral(source: EphemeralVolumeSource | None) -> EphemeralVolumeSource | None:
    template = None if source is None else source.volume_claim_template
    if source is None or template is None or template.spec is None:
        return source
    return evolve(source, volume_claim_template=evolve(template, spec=default_claim_spec(template.spec)))


def default_claim_spec(spec: PersistentVolumeClaimSpec) -> PersistentVolumeClaimSpec:
    """Return the spec of a claim with defaults (SetDefaults_PersistentVolumeClaimSpec, SetDefaults_ResourceList)."""
    resources = spec.resources
    if resources is not None:
        resources = evolve(resources, limits=round_up(resources.limits), requests=round_up(resources.requests))
    return evolve(spec, volume_mode=spec.volume_mode or "Filesystem", resources=resources)


def _default_rbd(source: RBDVolumeSource | None) -> RBDVolumeSource | None:
    if source is None:
        return source
    return evolve(
        source,
        pool=source.pool or "rbd",
        user=source.user or "admin",
        keyring=source.keyring or "/etc/ceph/keyring",
    )


def _default_azure_disk(source: AzureDiskVolumeSource | None) -> AzureDiskVolumeSource | None:
    if source is None:
        return source
    return evolve(
        source,
        caching_mode=source.caching_mode or "ReadWrite",
        fs_type=source.fs_type or "ext4",
        read_only=bool(source.read_only),
        kind=source.kind or "Shared",
    )


def _default_scale_io(source: ScaleIOVolumeSource | None) -> ScaleIOVolumeSource | None:
    if source is None:
        return source
    storage_mode, fs_type = source.storage_mode or "ThinProvisioned", source.fs_type or "xfs"
    return evolve(source, storage_mode=storage_mode, fs_type=fs_type)


def round_up(amounts: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    """Round each quantity up to a thousandth (SetDefaults_ResourceList); one that isn't finer stays as written."""
    return {name: _round_quantity(text) for name, text in amounts.items()}


def _round_quantity(text: Quantity) -> Quantity:
    value = parse_quantity(text)
    rounded = value.quantize(_MILLI, ROUND_CEILING)
    return text if rounded == value else format_quantity(rounded, quantity_format(text))
