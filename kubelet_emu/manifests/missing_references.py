"""ConfigMaps, Secrets and keys of them that pods need and that no manifest has: their pods would wait for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubelet_emu.api.root_ca import ROOT_CA_CONFIG_MAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.v1 import Container, PodSpec
    from kubelet_emu.api.v1_environment import ConfigMapKeySelector, SecretKeySelector
    from kubelet_emu.api.v1_volumes import KeyToPath, Volume
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Expansion, Runnable

CONFIG_MAP, SECRET = "ConfigMap", "Secret"
_DEFAULT = "default"


class Reference(NamedTuple):
    """A field that names an object, or a key of it; optional ones are left out."""

    path: str
    kind: str
    name: str
    key: str = ""


class Needed(NamedTuple):
    """What is needed and not there, once for each pod or workload, at the first field that needs it."""

    runnable: Runnable
    reference: Reference
    is_there: bool
    """Whether the object is there, and only the key is missing."""
    elsewhere: str = ""
    """Another namespace that has an object of this name."""

    @property
    def is_stood_in(self) -> bool:
        """Tell whether a stand-in takes its place: every namespace of a cluster has it."""
        return not self.is_there and self.reference.kind == CONFIG_MAP and self.reference.name == ROOT_CA_CONFIG_MAP

    @property
    def text(self) -> str:
        """Return what is missing, as a sentence."""
        kind, name, key = self.reference.kind, self.reference.name, self.reference.key
        if self.is_there:
            return f"{kind} {name!r} has no key {key!r}, so the pod waits for it"
        if self.elsewhere:
            return f"{kind} {name!r} is in namespace {self.elsewhere!r}, not in the pod's, so the pod waits for it"
        return f"{kind} {name!r} is in none of the manifests, so the pod waits for it"

    @property
    def hint(self) -> str:
        """Return what mends it."""
        first = "add the key" if self.is_there else "name its file, too"
        if self.elsewhere:
            first = f"write metadata.namespace: {_namespace(self.runnable)} there"
        return f"{first}, or make the reference optional: true"


def missing_references(expansion: Expansion) -> tuple[Problem, ...]:
    """Return a warning for each object or key that is needed and not there, once for each pod or workload.

    A pull secret is not needed, the pull is tried without it; the user should know all the same.
    """
    return (*(_problem(needed) for needed in needed_references(expansion)), *_pull_secrets(expansion))


def _pull_secrets(expansion: Expansion) -> Iterator[Problem]:
    known = {_identity(each) for each in expansion.stored}
    for runnable in expansion.runnables:
        namespace = runnable.object.metadata.namespace or _DEFAULT
        references = () if runnable.pod_spec is None else runnable.pod_spec.image_pull_secrets
        for index, reference in enumerate(references):
            if reference.name and (SECRET, namespace, reference.name) not in known:
                yield runnable.loaded.problem(
                    f"{runnable.spec_path}.imagePullSecrets[{index}].name",
                    "Missing",
                    f"{SECRET} {reference.name!r} is in none of the manifests, so images are pulled without it",
                    hint="name its file, too; the credentials of docker login are used as well",
                    severity="warning",
                )


def needed_references(expansion: Expansion) -> Iterator[Needed]:
    """Yield each object or key that is needed and not there, once for each pod or workload."""
    return (needed for needed in absent_references(expansion) if not needed.is_stood_in)


def absent_references(expansion: Expansion) -> Iterator[Needed]:
    """Yield what `needed_references` does, and what has a stand-in."""
    known = {_identity(each): _keys(each) for each in expansion.stored}
    for runnable in expansion.runnables:
        namespace = _namespace(runnable)
        told: set[tuple[str, str, str]] = set()
        spec = runnable.pod_spec
        for reference in () if spec is None else _references(spec):
            keys = known.get((reference.kind, namespace, reference.name))
            if keys is not None and (not reference.key or reference.key in keys):
                continue
            what = (reference.kind, reference.name, "" if keys is None else reference.key)
            if what not in told:
                told.add(what)
                places = (place for kind, place, name in known if (kind, name) == (reference.kind, reference.name))
                yield Needed(runnable, reference, keys is not None, "" if keys is not None else next(places, ""))


def _namespace(runnable: Runnable) -> str:
    return runnable.object.metadata.namespace or _DEFAULT


def _identity(stored: Runnable) -> tuple[str, str, str | None]:
    metadata = stored.object.metadata
    return stored.object.kind, metadata.namespace or _DEFAULT, metadata.name


def _keys(stored: Runnable) -> frozenset[str]:
    """Return the keys of a ConfigMap or Secret."""
    fields = ("data", "binary_data", "string_data")
    return frozenset(key for field in fields for key in getattr(stored.object, field, None) or ())


def _problem(needed: Needed) -> Problem:
    return needed.runnable.loaded.problem(
        f"{needed.runnable.spec_path}.{needed.reference.path}",
        "Missing",
        needed.text,
        hint=needed.hint,
        severity="warning",
    )


def _references(spec: PodSpec) -> Iterator[Reference]:
    for index, volume in enumerate(spec.volumes):
        where = f"volumes[{index}]"
        yield from _of_volume(volume, where)
        for number, source in enumerate(() if volume.projected is None else volume.projected.sources):
            at = f"{where}.projected.sources[{number}]"
            for given, kind, field in ((source.config_map, CONFIG_MAP, "configMap"), (source.secret, SECRET, "secret")):
                if given is not None:
                    yield from _needed((f"{at}.{field}", "name", kind), given.name, given.optional, given.items)
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        yield from _of_containers(field, containers)


def _of_volume(volume: Volume, where: str) -> Iterator[Reference]:
    if (config_map := volume.config_map) is not None:
        place = (f"{where}.configMap", "name", CONFIG_MAP)
        yield from _needed(place, config_map.name, config_map.optional, config_map.items)
    if (secret := volume.secret) is not None:
        yield from _needed((f"{where}.secret", "secretName", SECRET), secret.secret_name, secret.optional, secret.items)


def _of_containers(field: str, containers: Iterable[Container]) -> Iterator[Reference]:
    for index, container in enumerate(containers):
        for number, source in enumerate(container.env_from):
            at = f"{field}[{index}].envFrom[{number}]"
            for given, kind, name in (
                (source.config_map_ref, CONFIG_MAP, "configMapRef"),
                (source.secret_ref, SECRET, "secretRef"),
            ):
                if given is not None:
                    yield from _needed((f"{at}.{name}", "name", kind), given.name, given.optional)
        for number, variable in enumerate(container.env):
            value, at = variable.value_from, f"{field}[{index}].env[{number}].valueFrom"
            if value is not None and (key := value.config_map_key_ref) is not None:
                yield from _selected((f"{at}.configMapKeyRef", CONFIG_MAP), key)
            if value is not None and (secret_key := value.secret_key_ref) is not None:
                yield from _selected((f"{at}.secretKeyRef", SECRET), secret_key)


def _selected(place: tuple[str, str], selector: ConfigMapKeySelector | SecretKeySelector) -> Iterator[Reference]:
    """Yield the object that a variable names, and the key of it."""
    at, kind = place
    if selector.name and not selector.optional:
        yield Reference(f"{at}.name", kind, selector.name)
        if selector.key:
            yield Reference(f"{at}.key", kind, selector.name, selector.key)


def _needed(
    place: tuple[str, str, str],
    name: str | None,
    optional: bool | None,  # noqa: FBT001 - an API field
    items: Iterable[KeyToPath] = (),
) -> Iterator[Reference]:
    """Yield an object that is named by a field, and the keys of it that are asked for."""
    at, field, kind = place
    if name and not optional:
        yield Reference(f"{at}.{field}", kind, name)
        yield from (Reference(f"{at}.items[{i}].key", kind, name, item.key) for i, item in enumerate(items) if item.key)
