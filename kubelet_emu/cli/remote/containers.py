"""Containers of a pod by name, as kubectl tells and chooses them. Pure, over the API's JSON form.

Source: kubectl v1.36 pkg/cmd/util/podcmd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.cli.remote.views import Object

DEFAULT_CONTAINER_ANNOTATION = "kubectl.kubernetes.io/default-container"


_FIELDS = ("initContainers", "containers", "ephemeralContainers")


def _containers(pod: Object, field: str) -> list[Object]:
    return cast("list[Object]", cast("Object", pod.get("spec") or {}).get(field) or [])


def _names(pod: Object, field: str) -> Iterator[str]:
    for each in _containers(pod, field):
        yield str(each["name"])


def container_named(pod: Object, name: str) -> Object | None:
    """Return the container of a name, of whatever kind, None when the pod has none."""
    return next((each for field in _FIELDS for each in _containers(pod, field) if each["name"] == name), None)


def is_ephemeral(pod: Object, name: str) -> bool:
    """Tell whether a container of the pod is an ephemeral one."""
    return name in _names(pod, "ephemeralContainers")


def all_containers(pod: Object) -> tuple[str, ...]:
    """Return the names of all containers in the order in which `logs --all-containers` reads them."""
    return tuple(name for field in _FIELDS for name in _names(pod, field))


def told_containers(pod: Object) -> str:
    """Return the containers as one text: `a, b, debug (ephem), setup (init)`."""
    ephemeral = (f"{name} (ephem)" for name in _names(pod, "ephemeralContainers"))
    init = (f"{name} (init)" for name in _names(pod, "initContainers"))
    return ", ".join([*_names(pod, "containers"), *ephemeral, *init])


def default_container(pod: Object) -> tuple[str, str]:
    """Return the container that is meant where none is named, and what to say of that; empty for an only one."""
    metadata = cast("Object", pod["metadata"])
    annotations = cast("Object", metadata.get("annotations") or {})
    known, wanted = all_containers(pod), annotations.get(DEFAULT_CONTAINER_ANNOTATION)
    if wanted in known:
        return str(wanted), ""
    first = next(_names(pod, "containers"))
    said = f'Defaulted container "{first}" out of: {told_containers(pod)}' if len(known) > 1 else ""
    return first, said
