"""ConfigMaps and Secrets that pods need and that none of the manifests has: their pods would wait for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.v1 import Container, PodSpec
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Expansion, Runnable

CONFIG_MAP, SECRET = "ConfigMap", "Secret"
_DEFAULT = "default"


class Reference(NamedTuple):
    """A field that names an object; optional ones are left out."""

    path: str
    kind: str
    name: str


def missing_references(expansion: Expansion) -> tuple[Problem, ...]:
    """Return a warning for each object that is needed and not there, once for each pod or workload."""
    known = {(each.object.kind, each.object.metadata.namespace or _DEFAULT, each.object.metadata.name)
             for each in expansion.stored}  # fmt: skip
    problems: list[Problem] = []
    for runnable in expansion.runnables:
        namespace = runnable.object.metadata.namespace or _DEFAULT
        missing: dict[tuple[str, str], Reference] = {}
        spec = runnable.pod_spec
        for reference in () if spec is None else _references(spec):
            if (reference.kind, namespace, reference.name) not in known:
                missing.setdefault((reference.kind, reference.name), reference)
        problems += [_problem(runnable, reference) for reference in missing.values()]
    return tuple(problems)


def _problem(runnable: Runnable, reference: Reference) -> Problem:
    return runnable.loaded.problem(
        f"{runnable.spec_path}.{reference.path}",
        "Missing",
        f"{reference.kind} {reference.name!r} is in none of the manifests, so the pod waits for it",
        hint="name its file, too, or make the reference optional: true",
        severity="warning",
    )


def _references(spec: PodSpec) -> Iterator[Reference]:
    for index, volume in enumerate(spec.volumes):
        where = f"volumes[{index}]"
        if (config_map := volume.config_map) is not None:
            yield from _needed((f"{where}.configMap.name", CONFIG_MAP), config_map.name, config_map.optional)
        if (secret := volume.secret) is not None:
            yield from _needed((f"{where}.secret.secretName", SECRET), secret.secret_name, secret.optional)
        for number, source in enumerate(() if volume.projected is None else volume.projected.sources):
            at = f"{where}.projected.sources[{number}]"
            for given, kind, field in ((source.config_map, CONFIG_MAP, "configMap"), (source.secret, SECRET, "secret")):
                if given is not None:
                    yield from _needed((f"{at}.{field}.name", kind), given.name, given.optional)
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        yield from _of_containers(field, containers)


def _of_containers(field: str, containers: Iterable[Container]) -> Iterator[Reference]:
    for index, container in enumerate(containers):
        for number, source in enumerate(container.env_from):
            at = f"{field}[{index}].envFrom[{number}]"
            for given, kind, name in (
                (source.config_map_ref, CONFIG_MAP, "configMapRef"),
                (source.secret_ref, SECRET, "secretRef"),
            ):
                if given is not None:
                    yield from _needed((f"{at}.{name}.name", kind), given.name, given.optional)
        for number, variable in enumerate(container.env):
            value, at = variable.value_from, f"{field}[{index}].env[{number}].valueFrom"
            if value is not None and (key := value.config_map_key_ref) is not None:
                yield from _needed((f"{at}.configMapKeyRef.name", CONFIG_MAP), key.name, key.optional)
            if value is not None and (secret_key := value.secret_key_ref) is not None:
                yield from _needed((f"{at}.secretKeyRef.name", SECRET), secret_key.name, secret_key.optional)


def _needed(place: tuple[str, str], name: str | None, optional: bool | None) -> Iterator[Reference]:  # noqa: FBT001 - an API field
    if name and not optional:
        yield Reference(*place, name)
