"""Environment variables and their sources. Source: kubernetes v1.36 ValidateEnv, validateEnvFrom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import canonical_quantity, parse_quantity
from kubelet_emu.manifests.advice import nearest
from kubelet_emu.manifests.validation.context import containers_of
from kubelet_emu.manifests.validation.faults import Fault, invalid, not_found, required, unsupported, validate_required
from kubelet_emu.manifests.validation.names import (
    backstep_errors,
    config_key_errors,
    env_name_errors,
    label_errors,
    prefix_errors,
    qualified_name_errors,
    strict_env_name_errors,
    subdomain_errors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.api.v1 import PodSpec
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
_SUBSCRIPT = r"(?s)(.+?)\['(.*)'\]"
_BYTE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_ONE_OF = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
_ONE_OF_FOUR = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
_ONLY_ONE = "may not have more than one field specified at a time"


def validate_env(variables: tuple[EnvVar, ...], path: str, context: Context) -> Iterator[Fault]:
    """Check the `env` list of a container."""
    errors = _name_errors(context)
    for index, variable in enumerate(variables):
        at = f"{path}[{index}]"
        yield from validate_required(variable.name, f"{at}.name", errors)
        if variable.value_from is not None:
            yield from _validate_source(variable.value_from, variable.value or "", f"{at}.valueFrom", context)


def _name_errors(context: Context) -> Callable[[str], list[str]]:
    """Return the check of names that the server has (KEP-4369)."""
    is_relaxed = context.gates.enabled("RelaxedEnvironmentVariableValidation")
    return env_name_errors if is_relaxed else strict_env_name_errors


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
        yield from _validate_file_key_ref(source.file_key_ref, f"{path}.fileKeyRef")
    if count == 0:
        yield invalid(path, "", _ONE_OF if context.gates.enabled("EnvFiles") else _ONE_OF_FOUR)
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
    elif found := re.fullmatch(_SUBSCRIPT, ref.field_path):
        yield from _validate_subscript(found[1], found[2], ref.field_path, path)
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
    """Check `metadata.labels['key']`; a bad key is reported at the reference, not at its field (server's path)."""
    at = f"{path}.fieldPath"
    if field_path not in ("metadata.labels", "metadata.annotations"):
        text = f"error converting fieldPath: field label does not support subscript: {written}"
        yield invalid(at, written, text)
        return
    checked = key.lower() if field_path == "metadata.annotations" else key
    for text in qualified_name_errors(checked):
        yield invalid(path, checked, text, at=at)


def validate_resource_field_ref(ref: ResourceFieldSelector, path: str, *, in_volume: bool = False) -> Iterator[Fault]:
    """Check a reference to a container's resource and its divisor."""
    is_huge = ref.resource.startswith(("limits.hugepages-", "requests.hugepages-"))
    if in_volume and not ref.container_name:
        yield required(f"{path}.containerName")
    elif not ref.resource:
        yield required(f"{path}.resource")
    elif ref.resource not in _RESOURCES and not is_huge:
        yield unsupported(f"{path}.resource", ref.resource, _RESOURCES)
    divisor = ref.divisor or "0"
    if not (is_huge or ref.resource in _RESOURCES) or parse_quantity(divisor) == 0:
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


def _validate_file_key_ref(ref: FileKeySelector, path: str) -> Iterator[Fault]:
    """Check a variable that is read from a file (KEP-3721); `validate_file_volumes` has the volume."""
    yield from validate_required(ref.key, f"{path}.key", env_name_errors)
    yield from validate_required(ref.volume_name, f"{path}.volumeName", label_errors)
    yield from validate_required(ref.path, f"{path}.path", backstep_errors)


def validate_file_volumes(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check that variables come from files of emptyDir volumes (validateFileKeyRefVolumes)."""
    volumes = {volume.name: volume for volume in spec.volumes}
    for at, container in containers_of(spec, path):
        for index, variable in enumerate(container.env):
            ref = variable.value_from.file_key_ref if variable.value_from is not None else None
            if ref is None:
                continue
            where = f"{at}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if (volume := volumes.get(ref.volume_name)) is None:
                yield not_found(where, ref.volume_name)
            elif volume.empty_dir is None:
                yield invalid(where, ref.volume_name, "referenced volume must be of type emptyDir")


def validate_env_from(sources: tuple[EnvFromSource, ...], path: str, context: Context) -> Iterator[Fault]:
    """Check the `envFrom` list of a container; a missing source is reported without its index."""
    errors = _name_errors(context)
    for index, source in enumerate(sources):
        at = f"{path}[{index}]"
        for text in errors(source.prefix) if source.prefix else ():
            yield invalid(f"{at}.prefix", source.prefix, text)
        refs = [("configMapRef", source.config_map_ref), ("secretRef", source.secret_ref)]
        given = [(name, ref) for name, ref in refs if ref is not None]
        for name, ref in given:
            yield from validate_required(ref.name, f"{at}.{name}.name", prefix_errors)
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`", at=at)
        elif len(given) > 1:
            yield invalid(path, "", _ONLY_ONE, at=at)
