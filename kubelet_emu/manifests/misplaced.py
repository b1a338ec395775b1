"""What was meant by a field that isn't there: another name, or another place.

Advice never decides anything: it is the hint of a problem that the decoder found. The place that was meant is kept,
so that nobody is told that it is missing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import Many, fields_of
from kubelet_emu.manifests.advice import LIKELY, SURE, nearest

if TYPE_CHECKING:
    from kubelet_emu.manifests.nodes import Level

_WRONG_NAMES = {
    ("SecretVolumeSource", "name"): "secretName",
    ("PersistentVolumeClaimVolumeSource", "name"): "claimName",
    ("ConfigMapVolumeSource", "configMapName"): "name",
    ("SecretKeySelector", "secret"): "name",
    ("SecretKeySelector", "secretName"): "name",
    ("ConfigMapKeySelector", "configMap"): "name",
    ("ConfigMapKeySelector", "configMapName"): "name",
    ("SecretProjection", "secretName"): "name",
    ("SecretEnvSource", "secretName"): "name",
    ("ConfigMapEnvSource", "configMapName"): "name",
}
"""Names that other types have for the same."""
_OFTEN_LEFT_OUT = ("spec", "template", "jobTemplate", "metadata")
_DEEPEST = 3


class Meant(NamedTuple):
    """A hint, and the path of the field that was meant; both empty where nobody knows."""

    hint: str = ""
    path: str = ""


def unknown_field(key: str, levels: tuple[Level, ...]) -> Meant:
    """Say what was meant by a key that the innermost of `levels` doesn't have."""
    level = levels[-1]
    own = fields_of(level.api_class)
    known = _WRONG_NAMES.get((level.api_class.__name__, key)) or nearest(key, own, cutoff=SURE)
    return (
        _typo(level, known)
        or _too_deep(key, levels[:-1], level.path)
        or _not_deep_enough(key, level)
        or _line_left_out(key, level)
        or _owner_left_out(key, level)
        or _of_its_twin(key, levels)
        or _typo(level, nearest(key, own, cutoff=LIKELY))
        or Meant()
    )


def _typo(level: Level, likely: str) -> Meant | None:
    return Meant(f"did you mean {likely!r}?", _join(level.path, likely)) if likely else None


def _too_deep(key: str, outer: tuple[Level, ...], inner: str) -> Meant | None:
    """Find the key in an object around; not the very field that the key stands in."""
    for level in reversed(outer):
        where = _join(level.path, key)
        if key in fields_of(level.api_class) and not _is_within(inner, where):
            return Meant(f"{key!r} belongs to {level.api_class.__name__} ({where}): is it indented too far?", where)
    return None


def _is_within(path: str, field: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))


def _not_deep_enough(key: str, level: Level) -> Meant | None:
    """Find the key in an object beside it."""
    own = fields_of(level.api_class)
    for name in level.entries:
        shape = own.get(name)
        if shape is None or not isinstance(shape.item, str) or key not in fields_of(api_type(shape.item)):
            continue
        if shape.many is Many.LIST:
            return Meant(f"{key!r} belongs to an entry of {name!r}: is it indented too little?")
        return Meant(f"{key!r} belongs to {name!r}: is it indented too little?", _join(level.path, f"{name}.{key}"))
    return None


def _of_its_twin(key: str, levels: tuple[Level, ...]) -> Meant | None:
    """Find the key in the field of the same name of an object around, as pods and containers have a securityContext."""
    level = levels[-1]
    if level.api_class.__name__ == "PodSecurityContext" and key in fields_of(api_type("SecurityContext")):
        return Meant(f"{key!r} belongs to the securityContext of a container")
    name = level.path.rpartition(".")[2]
    for outer in reversed(levels[:-2]):
        shape = fields_of(outer.api_class).get(name)
        if shape is not None and isinstance(shape.item, str) and key in fields_of(api_type(shape.item)):
            where = _join(outer.path, f"{name}.{key}")
            return Meant(f"{key!r} belongs to {where}", where)
    return None


def _line_left_out(key: str, level: Level) -> Meant | None:
    """Find the key below objects whose lines are often forgotten, such as `template:` and `spec:`."""
    chain = _chain(key, level.api_class, _DEEPEST)
    if not chain:
        return None
    where = _join(level.path, ".".join((*chain, key)))
    lines = chain[1:] if chain[0] in level.entries else chain
    are = "is a line" if len(lines) == 1 else "are lines"
    return Meant(f"{key!r} belongs to {where}: {are} {' and '.join(f'{name}:' for name in lines)} missing?", where)


def _owner_left_out(key: str, level: Level) -> Meant | None:
    """Find the key in the one object below that could have it, as limits belong to resources."""
    owners = [
        name
        for name, shape in fields_of(level.api_class).items()
        if shape.many is Many.ONE and isinstance(shape.item, str) and key in fields_of(api_type(shape.item))
    ]
    if key == "name" or len(owners) != 1 or owners[0] in level.entries:
        return None
    where = _join(level.path, f"{owners[0]}.{key}")
    return Meant(f"{key!r} belongs to {where}: is a line {owners[0]}: missing?", where)


def _chain(key: str, api_class: type, depth: int) -> tuple[str, ...]:
    """Return the names between an object and a key below it, the fewest there are."""
    if not depth:
        return ()
    inner = [
        (name, api_type(shape.item))
        for name, shape in fields_of(api_class).items()
        if name in _OFTEN_LEFT_OUT and shape.many is Many.ONE and isinstance(shape.item, str)
    ]
    found: list[tuple[str, ...]] = [(name,) for name, each in inner if key in fields_of(each)]
    found += [(name, *rest) for name, each in inner if (rest := _chain(key, each, depth - 1))]
    return min(found, key=len, default=())


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
