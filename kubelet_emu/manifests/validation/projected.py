"""Files in volumes: keys of ConfigMaps and Secrets, downward API files, projected sources.

Source: kubernetes v1.36 validateKeyToPath, validateDownwardAPIVolumeFile, validateProjectionSources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.environment import (
    VOLUME_FIELDS,
    validate_field_ref,
    validate_resource_field_ref,
)
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, required, validate_required
from kubelet_emu.manifests.validation.names import config_key_errors, file_path_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_volumes import (
        DownwardAPIVolumeFile,
        KeyToPath,
        ProjectedVolumeSource,
        ServiceAccountTokenProjection,
        VolumeProjection,
    )

_MODE_RULE = "must be a number between 0 and 0777 (octal), both inclusive"
_SHORTEST_TOKEN_SECONDS = 600
_LONGEST_TOKEN_SECONDS = 2**32


def validate_mode(mode: int | None, path: str) -> Iterator[Fault]:
    """Check the mode of a file."""
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(path, mode, _MODE_RULE)


def validate_items(items: tuple[KeyToPath, ...], path: str) -> Iterator[Fault]:
    """Check which keys become which files."""
    for index, item in enumerate(items):
        at = f"{path}[{index}]"
        yield from validate_required(item.key, f"{at}.key", config_key_errors)
        yield from _validate_path(item.path, f"{at}.path")
        yield from validate_mode(item.mode, f"{at}.mode")


def _validate_path(file: str, path: str, *, at: str = "") -> Iterator[Fault]:
    if not file:
        yield required(path, at=at)
        return
    for text in file_path_errors(file):
        yield invalid(path, file, text, at=at)


def validate_downward_files(items: tuple[DownwardAPIVolumeFile, ...], path: str) -> Iterator[Fault]:
    """Check downward API files; the server's paths have no index."""
    for index, item in enumerate(items):
        at = f"{path}.items[{index}]"
        for fault in _validate_downward_file(item, path):
            yield Fault(fault.path, fault.type, fault.detail, at + fault.path.removeprefix(path), fault.hint)


def _validate_downward_file(item: DownwardAPIVolumeFile, path: str) -> Iterator[Fault]:
    yield from _validate_path(item.path, f"{path}.path")
    if item.field_ref is not None:
        yield from validate_field_ref(item.field_ref, f"{path}.fieldRef", VOLUME_FIELDS)
        if item.resource_field_ref is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.resource_field_ref is not None:
        yield from validate_resource_field_ref(item.resource_field_ref, f"{path}.resourceFieldRef", in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from validate_mode(item.mode, f"{path}.mode")


def validate_projected(source: ProjectedVolumeSource, path: str) -> Iterator[Fault]:
    """Check a projected volume: one kind in each source, no file twice."""
    yield from validate_mode(source.default_mode, f"{path}.defaultMode")
    seen: set[str] = set()
    for index, projection in enumerate(source.sources):
        at = f"{path}.sources[{index}]"
        yield from _validate_projection(projection, path, at)
        for owner, file in _files(projection):
            if file and file in seen:
                yield invalid(path, owner, "conflicting duplicate paths", at=at)
            seen.add(file)


def _validate_projection(projection: VolumeProjection, path: str, at: str) -> Iterator[Fault]:
    count = 0
    for name, source in (("secret", projection.secret), ("configMap", projection.config_map)):
        if source is None:
            continue
        count += 1
        if count > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")
            continue
        if not source.name:
            yield required(f"{at}.{name}.name")
        yield from validate_items(source.items, f"{at}.{name}.items")
    if projection.downward_api is not None:
        count += 1
        if count > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")
        else:
            yield from validate_downward_files(projection.downward_api.items, f"{at}.downwardAPI")
    if projection.service_account_token is not None:
        count += 1
        if count > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")
        else:
            yield from validate_token(projection.service_account_token, f"{at}.serviceAccountToken", path)


def validate_token(token: ServiceAccountTokenProjection, at: str, path: str) -> Iterator[Fault]:
    """Check a token's life and file; an empty file name is reported at the volume (the server's path)."""
    seconds = token.expiration_seconds
    if seconds is not None and seconds < _SHORTEST_TOKEN_SECONDS:
        yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > _LONGEST_TOKEN_SECONDS:
        yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if not token.path:
        yield required(f"{path}.path", at=f"{at}.path")
    else:
        for text in file_path_errors(token.path):
            yield invalid(f"{path}.path", token.path, text, at=f"{at}.path")


def _files(projection: VolumeProjection) -> Iterator[tuple[str, str]]:
    for source in (projection.secret, projection.config_map):
        for item in source.items if source is not None else ():
            yield source.name or "", item.path  # type: ignore[union-attr]
    if projection.downward_api is not None:
        for file in projection.downward_api.items:
            yield "downwardAPI", file.path
    if projection.service_account_token is not None:
        yield "serviceAccountToken", projection.service_account_token.path
