"""What configMap, secret, downwardAPI and projected volumes contain: paths, bytes, modes.

Pure. A payload is what the atomic writer puts below its timestamped directory; a fault is the text of a FailedMount.
Source: kubelet v1.36 pkg/volume/{configmap,secret,downwardapi,projected}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.rules.downward_api import FieldError, RuntimeFacts, field_value
from kubelet_emu.rules.resources import named_resource_field_value
from kubelet_emu.volumes.tokens import token_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import ConfigMap, Pod, Secret
    from kubelet_emu.api.v1_volumes import DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection

DEFAULT_MODE = 0o644


class SetUpError(ValueError):
    """A volume can't be set up; the text is what FailedMount shows after its prefix."""


@frozen
class PayloadFile:
    """One file of a payload; its owner is `uid` where set."""

    data: bytes
    mode: int
    uid: int | None = None


@frozen(kw_only=True)
class ContentSources:
    """What volumes are filled from: objects by namespace and name, facts of the pod, and the time."""

    config_map: Callable[[str, str], ConfigMap | None]
    secret: Callable[[str, str], Secret | None]
    now: datetime
    facts: RuntimeFacts = field(factory=RuntimeFacts)
    allocatable: Mapping[str, Quantity] = field(factory=dict)


Payload = dict[str, PayloadFile]


def payload_of(pod: Pod, volume: Volume, sources: ContentSources) -> Payload | None:
    """Return a volume's files by path, None when its source is of another kind; SetUpError.

    Source: kubelet v1.36 SetUpAt of the four plugins that use the atomic writer.
    """
    namespace = pod.metadata.namespace or ""
    if (config_map := volume.config_map) is not None:
        found = sources.config_map(namespace, config_map.name or "")
        mode = _mode(config_map.default_mode)
        return _config_map(found, config_map.name or "", config_map.items, mode, optional=bool(config_map.optional))
    if (secret := volume.secret) is not None:
        found_secret = sources.secret(namespace, secret.secret_name or "")
        mode = _mode(secret.default_mode)
        return _secret(found_secret, secret.secret_name or "", secret.items, mode, optional=bool(secret.optional))
    if (downward := volume.downward_api) is not None:
        return _downward(pod, downward.items, _mode(downward.default_mode), sources)
    if (projected := volume.projected) is not None:
        return _projected(pod, projected.sources, _mode(projected.default_mode), sources)
    return None


def _projected(pod: Pod, projections: tuple[VolumeProjection, ...], mode: int, sources: ContentSources) -> Payload:
    """Merge the sources in their order; the faults of all of them are told together."""
    payload: Payload = {}
    faults: list[str] = []
    for projection in projections:
        try:
            payload.update(_projection(pod, projection, mode, sources))
        except SetUpError as error:
            faults.append(str(error))
    if not faults:
        return payload
    raise SetUpError(faults[0] if len(faults) == 1 else "[" + ", ".join(dict.fromkeys(faults)) + "]")


def _projection(pod: Pod, projection: VolumeProjection, mode: int, sources: ContentSources) -> Payload:
    namespace = pod.metadata.namespace or ""
    if (config_map := projection.config_map) is not None:
        found = sources.config_map(namespace, config_map.name or "")
        return _config_map(found, config_map.name or "", config_map.items, mode, optional=bool(config_map.optional))
    if (secret := projection.secret) is not None:
        found_secret = sources.secret(namespace, secret.name or "")
        return _secret(found_secret, secret.name or "", secret.items, mode, optional=bool(secret.optional))
    if (downward := projection.downward_api) is not None:
        return _downward(pod, downward.items, mode, sources)
    if projection.service_account_token is not None:
        token = projection.service_account_token
        made = token_file(pod, token, mode, sources.facts.node_name, sources.now)
        return {token.path: PayloadFile(made.text.encode(), made.mode, made.uid)}
    return {}


def _config_map(
    found: ConfigMap | None, name: str, items: tuple[KeyToPath, ...], mode: int, *, optional: bool
) -> Payload:
    if found is None:
        return _absent("configmap", name, optional=optional)
    data = {**{key: value.encode() for key, value in found.data.items()}, **found.binary_data}
    return _select(data, items, mode, None if optional else reasons_creation.CONFIG_MAP_KEY_NOT_FOUND)


def _secret(found: Secret | None, name: str, items: tuple[KeyToPath, ...], mode: int, *, optional: bool) -> Payload:
    if found is None:
        return _absent("secret", name, optional=optional)
    return _select(found.data, items, mode, None if optional else reasons_creation.SECRET_KEY_NOT_FOUND)


def _absent(kind: str, name: str, *, optional: bool) -> Payload:
    if not optional:
        raise SetUpError(reasons_creation.OBJECT_NOT_FOUND.format(kind=kind, name=quote(name)))
    return {}


def _select(data: Mapping[str, bytes], items: tuple[KeyToPath, ...], mode: int, missing: str | None) -> Payload:
    """Return all keys, or the listed ones at their paths; `missing` is the fault of a key that isn't there."""
    if not items:
        return {key: PayloadFile(value, mode) for key, value in data.items()}
    payload: Payload = {}
    for item in items:
        if item.key in data:
            payload[item.path] = PayloadFile(data[item.key], mode if item.mode is None else item.mode)
        elif missing is not None:
            raise SetUpError(missing.format(key=item.key))
    return payload


def _downward(pod: Pod, items: tuple[DownwardAPIVolumeFile, ...], mode: int, sources: ContentSources) -> Payload:
    payload: Payload = {}
    for item in items:
        text = _downward_text(pod, item, sources)
        payload[item.path] = PayloadFile(text.encode(), mode if item.mode is None else item.mode)
    return payload


def _downward_text(pod: Pod, item: DownwardAPIVolumeFile, sources: ContentSources) -> str:
    try:
        if item.field_ref is not None:
            return field_value(pod, item.field_ref.field_path, sources.facts)
        if (resource := item.resource_field_ref) is not None:
            return named_resource_field_value(
                pod, resource.container_name or "", resource.resource, resource.divisor, sources.allocatable
            )
    except (FieldError, LookupError) as error:
        raise SetUpError(str(error)) from error
    return ""


def _mode(default: int | None) -> int:
    return DEFAULT_MODE if default is None else default
