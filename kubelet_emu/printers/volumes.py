"""Volumes in `describe`, in the order of the spec.

Source: kubectl v1.36 describeVolumes and what it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.printers.page import go_bool
from kubelet_emu.printers.storage import describe_storage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1_volumes import (
        DownwardAPIVolumeSource,
        EmptyDirVolumeSource,
        ProjectedVolumeSource,
        Volume,
        VolumeProjection,
    )
    from kubelet_emu.printers.page import Page


def describe_volumes(page: Page, volumes: Sequence[Volume]) -> None:
    """Add the volumes of a pod."""
    page.line(0, "Volumes:" if volumes else "Volumes:\t<none>")
    for volume in volumes:
        page.line(1, f"{volume.name}:")
        _describe(page, volume)


def describe_template_volumes(page: Page, volumes: Sequence[Volume]) -> None:
    """Add the volumes of a pod template: names one blank deeper."""
    page.line(1, "Volumes:" if volumes else "Volumes:\t<none>")
    for volume in volumes:
        page.line(1, f" {volume.name}:")
        _describe(page, volume)


def _describe(page: Page, volume: Volume) -> None:
    if (path := volume.host_path) is not None:
        kind = "<none>" if path.type is None else path.type
        told = [f"Path:\t{path.path}", f"HostPathType:\t{kind}"]
        _typed(page, "HostPath (bare host directory volume)", told)
    elif (empty := volume.empty_dir) is not None:
        told = [f"Medium:\t{empty.medium or ''}", f"SizeLimit:\t{_size_limit(empty)}"]
        _typed(page, "EmptyDir (a temporary directory that shares a pod's lifetime)", told)
    elif (secret := volume.secret) is not None:
        told = [f"SecretName:\t{secret.secret_name or ''}", f"Optional:\t{go_bool(secret.optional)}"]
        _typed(page, "Secret (a volume populated by a Secret)", told)
    elif (config := volume.config_map) is not None:
        told = [f"Name:\t{config.name or ''}", f"Optional:\t{go_bool(config.optional)}"]
        _typed(page, "ConfigMap (a volume populated by a ConfigMap)", told)
    elif (projected := volume.projected) is not None:
        told = _projected(projected)
        _typed(page, "Projected (a volume that contains injected data from multiple sources)", told)
    elif (downward := volume.downward_api) is not None:
        _typed(page, "DownwardAPI (a volume populated by information about the pod)", ["Items:"])
        page.lines(3, _downward(downward))
    elif (image := volume.image) is not None:
        told = [f"Reference:\t{image.reference or ''}", f"PullPolicy:\t{image.pull_policy or ''}"]
        _typed(page, "Image (a container image or OCI artifact)", told)
    else:
        describe_storage(page, volume)


def _typed(page: Page, kind: str, told: Sequence[str]) -> None:
    page.line(2, f"Type:\t{kind}")
    page.lines(2, told)


def _size_limit(empty: EmptyDirVolumeSource) -> str:
    limit = empty.size_limit
    return limit if limit is not None and parse_quantity(limit) > 0 else "<unset>"


def _projected(projected: ProjectedVolumeSource) -> list[str]:
    return [line for source in projected.sources for line in _projection(source)]


def _projection(source: VolumeProjection) -> list[str]:
    if (secret := source.secret) is not None:
        return [f"SecretName:\t{secret.name or ''}", f"Optional:\t{go_bool(secret.optional)}"]
    if source.downward_api is not None:
        return ["DownwardAPI:\ttrue"]
    if (config := source.config_map) is not None:
        return [f"ConfigMapName:\t{config.name or ''}", f"Optional:\t{go_bool(config.optional)}"]
    if (token := source.service_account_token) is not None:
        return [f"TokenExpirationSeconds:\t{token.expiration_seconds or 0}"]
    return []


def _downward(downward: DownwardAPIVolumeSource) -> list[str]:
    lines: list[str] = []
    for item in downward.items:
        if item.field_ref is not None:
            lines.append(f"{item.field_ref.field_path} -> {item.path}")
        if item.resource_field_ref is not None:
            lines.append(f"{item.resource_field_ref.resource} -> {item.path}")
    return lines
