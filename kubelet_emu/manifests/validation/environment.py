"""Environment variables and their sources. Source: kubernetes v1.36 ValidateEnv, validateEnvFrom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import canonical_quantity, parse_quantity
from kubelet_emu.manifests.advice import nearest
from kubelet_emu.manifests.validation.faults import Fault, invalid, not_found, required, unsupported, validate_required
from kubelet_emu.manifests.validation.names import (
    config_key_errors,
    env_name_errors,
    path_errors,
    qualified_name_errors,
    subdomain_errors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_environment import (
        ConfigMapKeySelector,
        EnvFromSource,
        EnvVar,
        EnvVarSource,
        FileKeySelector,
        ObjectFieldSelector,
        ResourceFieldSelector,
        SecretKeySelector,
    )
    from kubelet_emu.manifests.validation.context import Context

ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_CONVERTIBLE_FIELDS = frozenset(
    {*ENV_FIELDS, *VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host"}
)
_RESOURCES = tuple(
    f"{verb}.{name}" for verb in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_SUBSCRIPT = re.compile(r"(.+?)\['(.*)'\]", re.DOTALL)
_BYTE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_ONE_OF = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
_ONLY_ONE = "may not have more than one field specified at a time"


def validate_env(variables: tuple[EnvVar, ...], path: str, context: Context) -> Iterator[Fault]:
    """Check the `env` list of a container."""
    for index, variable in enumerate(variables):
        at = f"{path}[{index}]"
        yield from validate_required(variable.name, f"{at}.name", env_name_errors)
        if variable.value_from is not None:
            yield from _validate_source(variable.value_from, variable.value or "", f"{at}.valueFrom", context)


def _validate_source(source: EnvVarSource, value: str, path: str, context: Context) -> Iterator[Fault]:
    count = 0
    if source.field_ref is not None:
        count += 1
        yield from validate_field_ref(source.field_ref, f"{path}.fieldRef", ENV_FIELDS)
    if source.resource_field_ref is not None:
        count += 1
        yield from validate_resource_field_ref(source.resource_field_ref, f"{path}.resourceFieldRef")
    if source.config_map_key_ref is not None:
        count += 1
        yield from _validate_key_ref(source.config_map_key_ref, f"{path}.configMapKeyRef")
    if source.secret_key_ref is not None:
        count += 1
        yield from _validate_key_ref(source.secret_key_ref, f"{path}.secretKeyRef")
    if source.file_key_ref is not None:
        count += 1
        yield from _validate_file_key_ref(source.file_key_ref, f"{path}.fileKeyRef", context)
    if count == 0:
        yield invalid(path, "", _ONE_OF)
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield invalid(path, "", _ONLY_ONE)


def validate_field_ref(ref: ObjectFieldSelector, path: str, allowed: tuple[str, ...]) -> Iterator[Fault]:
    """Check a reference to a field of the pod; `allowed` are the fields that may stand here."""
    at = f"{path}.fieldPath"
    if not ref.api_version:
        yield required(f"{path}.apiVersion")
    elif not ref.field_path:
        yield required(at)
    elif ref.api_version != "v1":
        yield invalid(at, ref.field_path, f"error converting fieldPath: unsupported pod version: {ref.api_version}")
    elif found := _SUBSCRIPT.fullmatch(ref.field_path):
        yield from _validate_subscript(found[1], found[2], ref.field_path, at)
    elif ref.field_path not in _CONVERTIBLE_FIELDS:
        likely = nearest(ref.field_path, allowed)
        hint = f"did you mean {likely}?" if likely else ""
        yield invalid(
            at, ref.field_path, f"error converting fieldPath: field label not supported: {ref.field_path}", hint=hint
        )
    elif _converted(ref.field_path) not in allowed:
        yield unsupported(at, _converted(ref.field_path), allowed)


def _converted(field_path: str) -> str:
    return "spec.nodeName" if field_path == "spec.host" else field_path


def _validate_subscript(field_path: str, key: str, written: str, path: str) -> Iterator[Fault]:
    if field_path not in ("metadata.labels", "metadata.annotations"):
        text = f"error converting fieldPath: field label does not support subscript: {written}"
        yield invalid(path, written, text)
        return
    for text in qualified_name_errors(key.lower() if field_path == "metadata.annotations" else key):
        yield invalid(path, key, text)


def validate_resource_field_ref(ref: ResourceFieldSelector, path: str, *, in_volume: bool = False) -> Iterator[Fault]:
    """Check a reference to a container's resource and its divisor."""
    if in_volume and not ref.container_name:
        yield required(f"{path}.containerName")
        return
    if not ref.resource:
        yield required(f"{path}.resource")
        return
    is_huge = ref.resource.startswith(("limits.hugepages-", "requests.hugepages-"))
    if ref.resource not in _RESOURCES and not is_huge:
        yield unsupported(f"{path}.resource", ref.resource, _RESOURCES)
        return
    divisor = ref.divisor or "0"
    if parse_quantity(divisor) == 0:
        return
    name = ref.resource.partition(".")[2]
    allowed = ("1m", "1") if name == "cpu" else _BYTE_DIVISORS
    if canonical_quantity(divisor) not in allowed:
        shown = "1m and 1" if name == "cpu" else ", ".join(_BYTE_DIVISORS)
        called = {"ephemeral-storage": "local ephemeral storage"}.get(name, "hugepages" if is_huge else name)
        text = f"only divisor's values {shown} are supported with the {called} resource"
        yield invalid(f"{path}.divisor", ref.resource, text)


def _validate_key_ref(ref: ConfigMapKeySelector | SecretKeySelector, path: str) -> Iterator[Fault]:
    for text in subdomain_errors(ref.name or ""):
        yield invalid(f"{path}.name", ref.name or "", text)
    yield from validate_required(ref.key, f"{path}.key", config_key_errors)


def _validate_file_key_ref(ref: FileKeySelector, path: str, context: Context) -> Iterator[Fault]:
    """Check a variable that is read from a file of an emptyDir (KEP-3721)."""
    yield from validate_required(ref.key, f"{path}.key", env_name_errors)
    if not ref.volume_name:
        yield required(f"{path}.volumeName")
    elif (volume := context.volumes.get(ref.volume_name)) is None:
        yield not_found(f"{path}.volumeName", ref.volume_name)
    elif volume.empty_dir is None:
        yield invalid(f"{path}.volumeName", ref.volume_name, "referenced volume must be of type emptyDir")
    yield from validate_required(ref.path, f"{path}.path", path_errors)


def validate_env_from(sources: tuple[EnvFromSource, ...], path: str) -> Iterator[Fault]:
    """Check the `envFrom` list of a container; a missing source is reported without its index."""
    for index, source in enumerate(sources):
        at = f"{path}[{index}]"
        if source.prefix:
            for text in env_name_errors(source.prefix):
                yield invalid(f"{at}.prefix", source.prefix, text)
        refs = [("configMapRef", source.config_map_ref), ("secretRef", source.secret_ref)]
        given = [(name, ref) for name, ref in refs if ref is not None]
        for name, ref in given:
            yield from validate_required(ref.name, f"{at}.{name}.name", subdomain_errors)
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`", at=at)
        elif len(given) > 1:
            yield invalid(path, "", _ONLY_ONE, at=at)
