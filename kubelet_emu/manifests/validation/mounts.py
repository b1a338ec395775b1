"""Volume mounts and block devices. Source: kubernetes v1.36 ValidateVolumeMounts, ValidateVolumeDevices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.advice import nearest
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, not_found, required, unsupported
from kubelet_emu.manifests.validation.names import backstep_errors, path_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import AnyContainer, VolumeMount
    from kubelet_emu.manifests.validation.context import Context

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def validate_mounts(container: AnyContainer, path: str, context: Context) -> Iterator[Fault]:
    """Check where a container mounts which volume; some of the server's paths have no index."""
    devices = {device.name: device.device_path for device in container.volume_devices}
    seen: set[str] = set()
    for index, mount in enumerate(container.volume_mounts):
        at = f"{path}[{index}]"
        if not mount.name:
            yield required(f"{at}.name")
        if mount.name not in context.volumes:
            yield not_found(f"{at}.name", mount.name, hint=_volume_hint(mount.name, context))
        if not mount.mount_path:
            yield required(f"{at}.mountPath")
        if mount.mount_path in seen:
            yield invalid(f"{at}.mountPath", mount.mount_path, "must be unique")
        seen.add(mount.mount_path)
        if mount.name in devices:
            yield invalid(f"{at}.name", mount.name, "must not already exist in volumeDevices")
        if mount.mount_path in devices.values():
            yield invalid(f"{at}.mountPath", mount.mount_path, "must not already exist as a path in volumeDevices")
        yield from _validate_sub_paths(mount, path, at)
        yield from _validate_propagation(container, mount, path, at)
        yield from _validate_recursive(mount, path, at)


def _volume_hint(name: str, context: Context) -> str:
    names = [volume.name for volume in context.spec.volumes]
    if not name or name in names:
        return ""
    likely = nearest(name, names)
    return f"did you mean {likely!r}?" if likely else f"the pod's volumes need one of this name: - name: {name}"


def _validate_sub_paths(mount: VolumeMount, path: str, at: str) -> Iterator[Fault]:
    for text in path_errors(mount.sub_path or ""):
        yield invalid(f"{path}.subPath", mount.sub_path, text, at=f"{at}.subPath")
    if mount.sub_path_expr:
        if mount.sub_path:
            text = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{at}.subPathExpr", mount.sub_path_expr, text)
        for text in path_errors(mount.sub_path_expr):
            yield invalid(f"{path}.subPathExpr", mount.sub_path_expr, text, at=f"{at}.subPathExpr")


def _validate_propagation(container: AnyContainer, mount: VolumeMount, path: str, at: str) -> Iterator[Fault]:
    propagation = mount.mount_propagation
    where = f"{at}.mountPropagation"
    if propagation is None:
        return
    if propagation not in _PROPAGATIONS:
        yield unsupported(f"{path}.mountPropagation", propagation, _PROPAGATIONS, at=where)
    is_privileged = container.security_context is not None and container.security_context.privileged
    if propagation == "Bidirectional" and not is_privileged:
        text = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(f"{path}.mountPropagation", text, at=where)


def _validate_recursive(mount: VolumeMount, path: str, at: str) -> Iterator[Fault]:
    recursive = mount.recursive_read_only
    name = f"{path}.recursiveReadOnly"
    where = f"{at}.recursiveReadOnly"
    if recursive in (None, "Disabled"):
        return
    if recursive not in _RECURSIVE:
        yield unsupported(name, recursive, _RECURSIVE, at=where)
        return
    if not mount.read_only:
        yield forbidden(name, "may only be specified when readOnly is true", at=where)
    if mount.mount_propagation not in (None, "None"):
        yield forbidden(name, "may only be specified when mountPropagation is None or not specified", at=where)


def validate_devices(container: AnyContainer, path: str, context: Context) -> Iterator[Fault]:
    """Check which claims a container gets as block devices."""
    mounts = {mount.name: mount.mount_path for mount in container.volume_mounts}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.volume_devices):
        at = f"{path}[{index}]"
        yield from _validate_device_name(device.name, f"{at}.name", context, names)
        if not device.device_path:
            yield required(f"{at}.devicePath")
        if device.device_path in paths:
            yield invalid(f"{at}.devicePath", device.device_path, "must be unique")
        if backstep_errors(device.device_path):
            yield invalid(f"{at}.devicePath", device.device_path, "can not contain backsteps ('..')")
        else:
            paths.add(device.device_path)
        if device.name in mounts:
            yield invalid(f"{at}.name", device.name, "must not already exist in volumeMounts")
        if device.device_path in mounts.values():
            yield invalid(f"{at}.devicePath", device.device_path, "must not already exist as a path in volumeMounts")


def _validate_device_name(name: str, path: str, context: Context, names: set[str]) -> Iterator[Fault]:
    """Check the volume of a device; `names` are those so far, to which it adds its own."""
    if not name:
        yield required(path)
    if name in names:
        yield invalid(path, name, "must be unique")
    volume = context.volumes.get(name)
    if volume is None:
        yield not_found(path, name, hint=_volume_hint(name, context))
    elif volume.persistent_volume_claim is None and volume.ephemeral is None:
        text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid(path, name, text)
    if name:
        names.add(name)
