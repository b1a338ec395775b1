"""Which entry of a simulate.yaml a container follows, and which entries no container follows.

A container is followed by the most exact entry: its pod's annotation, POD/CONTAINER, the same with *, CONTAINER, the
same with *, then the program of its image. A pod goes by its name and by those of the workloads that made it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, cast

from attrs import frozen

from kubelet_emu.api.image_names import InvalidImageNameError, apply_default_image_tag, parse_image_name
from kubelet_emu.manifests.workloads import pod_spec_of
from kubelet_emu.simulation.reading import annotation_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.v1 import Pod, PodSpec
    from kubelet_emu.manifests.workloads import Workload
    from kubelet_emu.simulation.values import Behaviour, ImageEntry, Simulation

_HASH_LABEL = "pod-template-hash"
_SOME_SUFFIX = "-00000"


@frozen(kw_only=True)
class Target:
    """A container that entries may be about; `pods` are the names that its pod goes by."""

    pods: frozenset[str]
    container: str
    image: str


def pod_names(pod: Pod) -> frozenset[str]:
    """Return the names that a pod goes by: its own, its owners', its Deployment's."""
    metadata = pod.metadata
    names = {metadata.name or "", *(owner.name for owner in metadata.owner_references)}
    if metadata.generate_name:
        stem = metadata.generate_name.rstrip("-")
        names |= {stem, stem.removesuffix(f"-{metadata.labels.get(_HASH_LABEL, '')}")}
    return frozenset(names - {""})


def targets_of(runnable: Workload) -> tuple[Target, ...]:
    """Return the containers that a pod, or the pods of a workload, will have."""
    owner = runnable.metadata.name or ""
    names = frozenset({owner, owner + _SOME_SUFFIX, owner + _SOME_SUFFIX * 2})
    return _targets(pod_spec_of(runnable), pod_names(cast("Pod", runnable)) if runnable.kind == "Pod" else names)


def _targets(spec: PodSpec, names: frozenset[str]) -> tuple[Target, ...]:
    containers = (*spec.init_containers, *spec.containers)
    return tuple(Target(pods=names, container=each.name, image=each.image or "") for each in containers)


def behaviour_of(simulation: Simulation, target: Target, annotations: Mapping[str, str]) -> Behaviour | None:
    """Return what a container does, None when nothing says so."""
    given = annotation_of(annotations, target.container)
    if given is not None:
        return given
    fitting = [key for key in simulation.containers if container_fits(key, target)]
    if fitting:
        return simulation.containers[min(fitting, key=_vagueness)]
    image = image_of(simulation, target.image)
    return None if image is None else image.program


def image_of(simulation: Simulation, name: str) -> ImageEntry | None:
    """Return the entry of an image, one without * before one with."""
    fitting = [key for key in simulation.images if image_fits(key, name)]
    return simulation.images[min(fitting, key=lambda key: "*" in key)] if fitting else None


def _vagueness(key: str) -> tuple[bool, bool]:
    return "/" not in key, "*" in key


def container_fits(key: str, target: Target) -> bool:
    """Tell whether CONTAINER or POD/CONTAINER means a container."""
    pod, slash, container = key.rpartition("/")
    if not fnmatchcase(target.container, container):
        return False
    return not slash or any(fnmatchcase(name, pod) for name in target.pods)


def image_fits(key: str, name: str) -> bool:
    """Tell whether an image's name or pattern means an image."""
    if "*" in key:
        return fnmatchcase(name, key) or fnmatchcase(full_name(name), key)
    return full_name(key) == full_name(name)


def full_name(name: str) -> str:
    """Return a name with its registry and tag, as it is where it is none."""
    try:
        parsed = parse_image_name(apply_default_image_tag(name))
    except InvalidImageNameError:
        return name
    return parsed.repository + (f":{parsed.tag}" if parsed.tag else "") + (f"@{parsed.digest}" if parsed.digest else "")


def unused_entries(simulation: Simulation, targets: Iterable[Target]) -> tuple[tuple[str, str], ...]:
    """Return section and key of each entry that is about no container of the run."""
    known = tuple(targets)
    containers = [key for key in simulation.containers if not any(container_fits(key, each) for each in known)]
    images = [key for key in simulation.images if not any(image_fits(key, each.image) for each in known)]
    return (*(("containers", key) for key in containers), *(("images", key) for key in images))
