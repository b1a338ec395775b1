"""Defaults of volumes. Source: kubernetes v1.36 SetDefaults_Volume and those of its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from attrs import evolve, fields

from kubelet_emu.api.image_names import default_pull_policy
from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.changing import changed

if TYPE_CHECKING:
    from kubelet_emu.api.v1_volume_plugins import RBDVolumeSource
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
    if source is None or template is None or template.spec is None or template.spec.volume_mode is not None:
        return source
    spec = evolve(template.spec, volume_mode="Filesystem")
    return evolve(source, volume_claim_template=evolve(template, spec=spec))


def _default_rbd(source: RBDVolumeSource | None) -> RBDVolumeSource | None:
    if source is None:
        return source
    return evolve(
        source,
        pool=source.pool or "rbd",
        user=source.user or "admin",
        keyring=source.keyring or "/etc/ceph/keyring",
    )
