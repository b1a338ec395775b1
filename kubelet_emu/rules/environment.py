"""A container's environment: envFrom, env, service variables, in the kubelet's order.

Later sources override earlier ones; what refers to something that isn't there and isn't optional makes the container
wait with CreateContainerConfigError. Source: kubelet v1.36 pkg/kubelet/kubelet_pods.go makeEnvironmentVariables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.rules.downward_api import FieldError, RuntimeFacts, field_value
from kubelet_emu.rules.env_file import EnvFileError, read_key
from kubelet_emu.rules.expansion import expand
from kubelet_emu.rules.resources import named_resource_field_value, resource_field_value
from kubelet_emu.rules.service_links import service_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import AnyContainer, ConfigMap, Pod, Secret
    from kubelet_emu.api.v1_environment import EnvFromSource, EnvVarSource, FileKeySelector, ResourceFieldSelector
    from kubelet_emu.rules.service_links import ServiceFacts


@frozen(kw_only=True)
class VolumeFiles:
    """Text files of a mounted volume that fileKeyRef may name; `path` is the volume's place on a node."""

    path: str
    files: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class EnvironmentSources:
    """What an environment is made from beside the pod: objects of its namespace by name, facts, files by volume."""

    config_maps: Mapping[str, ConfigMap] = field(factory=dict)
    secrets: Mapping[str, Secret] = field(factory=dict)
    facts: RuntimeFacts = field(factory=RuntimeFacts)
    allocatable: Mapping[str, Quantity] = field(factory=dict)
    services: tuple[ServiceFacts, ...] = ()
    volumes: Mapping[str, VolumeFiles] = field(factory=dict)


class ContainerEnvironmentError(ValueError):
    """The environment can't be made; the text is the waiting message."""


def make_environment(pod: Pod, container: AnyContainer, sources: EnvironmentSources) -> Mapping[str, str]:
    """Return a container's variables; ContainerEnvironmentError.

    A value sees envFrom, the entries before it and, behind these, the services. Source: kubelet v1.36
    makeEnvironmentVariables.
    """
    services = service_variables(sources.services)
    result: dict[str, str] = {}
    for source in container.env_from:
        result.update(_env_from(source, sources))
    for entry in container.env:
        if entry.value:
            result[entry.name] = expand(entry.value, result, services)
        elif entry.value_from is None:
            result[entry.name] = ""
        else:
            value = _value_from(pod, container, entry.value_from, sources)
            if value is not None:
                result[entry.name] = value
    return {**services, **result}


def _env_from(source: EnvFromSource, sources: EnvironmentSources) -> dict[str, str]:
    prefix = source.prefix or ""
    if source.config_map_ref is not None:
        name, optional = source.config_map_ref.name or "", bool(source.config_map_ref.optional)
        config_map = _config_map(sources, name, optional=optional)
        return {prefix + key: value for key, value in config_map.data.items()} if config_map is not None else {}
    if source.secret_ref is not None:
        name, optional = source.secret_ref.name or "", bool(source.secret_ref.optional)
        secret = _secret(sources, name, optional=optional)
        return {prefix + key: _text(value) for key, value in secret.data.items()} if secret is not None else {}
    return {}


def _value_from(pod: Pod, container: AnyContainer, source: EnvVarSource, sources: EnvironmentSources) -> str | None:
    """Return a variable's value, None when it is optional and not there."""
    namespace = pod.metadata.namespace or ""
    if source.field_ref is not None:
        try:
            return field_value(pod, source.field_ref.field_path, sources.facts)
        except FieldError as error:
            raise ContainerEnvironmentError(str(error)) from error
    if source.resource_field_ref is not None:
        return _resource(pod, container, source.resource_field_ref, sources)
    if (config_ref := source.config_map_key_ref) is not None:
        optional = bool(config_ref.optional)
        config_map = _config_map(sources, config_ref.name or "", optional=optional)
        if config_map is None:
            return None
        value = config_map.data.get(config_ref.key)
        return _required(value, config_ref.key, ("ConfigMap", namespace, config_ref.name or ""), optional=optional)
    if (secret_ref := source.secret_key_ref) is not None:
        optional = bool(secret_ref.optional)
        secret = _secret(sources, secret_ref.name or "", optional=optional)
        if secret is None:
            return None
        content = secret.data.get(secret_ref.key)
        value = None if content is None else _text(content)
        return _required(value, secret_ref.key, ("Secret", namespace, secret_ref.name or ""), optional=optional)
    if source.file_key_ref is not None:
        return _file_key(source.file_key_ref, sources)
    return ""


def _resource(pod: Pod, container: AnyContainer, selector: ResourceFieldSelector, sources: EnvironmentSources) -> str:
    if not selector.container_name:
        return resource_field_value(pod, container, selector.resource, selector.divisor, sources.allocatable)
    try:
        return named_resource_field_value(
            pod, selector.container_name, selector.resource, selector.divisor, sources.allocatable
        )
    except LookupError as error:
        raise ContainerEnvironmentError(str(error)) from error


def _file_key(selector: FileKeySelector, sources: EnvironmentSources) -> str | None:
    """Return a variable of a file; optional is about the key, a file that is missing is an error all the same."""
    volume = sources.volumes.get(selector.volume_name)
    if volume is None:
        raise ContainerEnvironmentError(
            reasons_creation.ENV_FILE_VOLUME_NOT_FOUND.format(volume=quote(selector.volume_name))
        )
    text = volume.files.get(selector.path)
    if text is None:
        raise ContainerEnvironmentError(reasons_creation.ENV_FILE_NOT_PARSED)
    try:
        value = read_key(text, selector.key)
    except EnvFileError as error:
        raise ContainerEnvironmentError(reasons_creation.ENV_FILE_NOT_PARSED) from error
    if value:
        return value
    if selector.optional:
        return None
    path = quote(f"{volume.path}/{selector.path}")
    raise ContainerEnvironmentError(reasons_creation.ENV_FILE_KEY_NOT_FOUND.format(key=quote(selector.key), path=path))


def _required(value: str | None, key: str, of: tuple[str, str, str], *, optional: bool) -> str | None:
    if value is not None or optional:
        return value
    kind, namespace, name = of
    raise ContainerEnvironmentError(
        reasons_creation.KEY_NOT_FOUND.format(key=key, kind=kind, namespace=namespace, name=name)
    )


def _config_map(sources: EnvironmentSources, name: str, *, optional: bool) -> ConfigMap | None:
    found = sources.config_maps.get(name)
    if found is None and not optional:
        raise ContainerEnvironmentError(reasons_creation.OBJECT_NOT_FOUND.format(kind="configmap", name=quote(name)))
    return found


def _secret(sources: EnvironmentSources, name: str, *, optional: bool) -> Secret | None:
    found = sources.secrets.get(name)
    if found is None and not optional:
        raise ContainerEnvironmentError(reasons_creation.OBJECT_NOT_FOUND.format(kind="secret", name=quote(name)))
    return found


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")
