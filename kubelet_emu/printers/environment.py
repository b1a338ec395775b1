"""The environment of a container in `describe`: values as the manifest has them, nothing expanded.

Source: kubectl v1.36 describeContainerEnvVars, describeContainerEnvFrom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.v1 import Pod
from kubelet_emu.printers.page import go_bool
from kubelet_emu.rules.downward_api import FieldError, RuntimeFacts, field_value
from kubelet_emu.rules.resources import resource_field_value

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import AnyContainer
    from kubelet_emu.api.v1_environment import EnvFromSource, EnvVarSource
    from kubelet_emu.printers.page import Page

_NO_POD = Pod()
_NODE_LIMITS = frozenset({"limits.cpu", "limits.memory"})


def describe_environment(page: Page, container: AnyContainer, pod: Pod | None) -> None:
    """Add both sections; fields of the object are those of `pod`, empty in a template."""
    if container.env_from:
        page.line(2, "Environment Variables from:")
        page.lines(3, map(_env_from, container.env_from))
    if not container.env:
        page.line(2, "Environment:\t<none>")
        return
    page.line(2, "Environment:")
    for variable in container.env:
        if variable.value_from is not None:
            page.lines(3, _sourced(variable.name, variable.value_from, container, pod))
            continue
        first, *others = (variable.value or "").split("\n")
        page.line(3, f"{variable.name}:\t{first}")
        page.lines(3, (f"\t{other}" for other in others))


def _env_from(source: EnvFromSource) -> str:
    reference = source.config_map_ref or source.secret_ref
    kind = "ConfigMap" if source.config_map_ref is not None else "Secret"
    name, optional = (reference.name or "", bool(reference.optional)) if reference is not None else ("", False)
    prefix = f" with prefix '{source.prefix}'" if source.prefix else ""
    return f"{name}\t{kind}{prefix}\tOptional: {go_bool(optional)}"


def _sourced(name: str, source: EnvVarSource, container: AnyContainer, pod: Pod | None) -> list[str]:
    if (field := source.field_ref) is not None:
        value = _field(pod, field.field_path)
        return [f"{name}:\t{value} ({field.api_version or ''}:{field.field_path})"]
    if (resource := source.resource_field_ref) is not None:
        value = resource_field_value(
            _NO_POD if pod is None else pod, container, resource.resource, resource.divisor, {}
        )
        shown = "node allocatable" if value == "0" and resource.resource in _NODE_LIMITS else value
        return [f"{name}:\t{shown} ({resource.resource})"]
    if (secret := source.secret_key_ref) is not None:
        told = f"<set to the key '{secret.key}' in secret '{secret.name or ''}'>"
        return [f"{name}:\t{told}\tOptional: {go_bool(secret.optional)}"]
    if (key := source.config_map_key_ref) is not None:
        told = f"<set to the key '{key.key}' of config map '{key.name or ''}'>"
        return [f"{name}:\t{told}\tOptional: {go_bool(key.optional)}"]
    return []


def _field(pod: Pod | None, path: str) -> str:
    """Return a field that the metadata holds; what only a node knows is empty, and so are parts of labels."""
    if pod is None or not path.startswith("metadata.") or "[" in path:
        return ""
    try:
        return field_value(pod, path, RuntimeFacts())
    except FieldError:
        return ""
