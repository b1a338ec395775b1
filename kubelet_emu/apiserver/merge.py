"""Patches of JSON-like trees: strategic merge, JSON merge patch (RFC 7386) and JSON patch (RFC 6902).

Pure: a patch returns a new tree and leaves its arguments alone. A strategic merge treats the lists that have a merge
key in the API (containers by name, conditions by type, ...) as maps, and replaces all other lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

Tree: TypeAlias = "Mapping[str, object]"

# patchMergeKey of the v1 types, by the name of the list's field
_MERGE_KEYS: dict[str, tuple[str, ...]] = {
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "hostIPs": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "ports": ("containerPort", "port"),
    "resourceClaims": ("name",),
    "resourceClaimStatuses": ("name",),
    "schedulingGates": ("name",),
    "topologySpreadConstraints": ("topologyKey",),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
_PRIMITIVE_SETS = ("finalizers",)
_LIST_DIRECTIVES = ("$deleteFromPrimitiveList", "$setElementOrder")


class PatchError(ValueError):
    """A patch that can't be applied: its path does not exist, its test fails, or its operation is unknown."""


def json_merge_patch(target: Tree, patch: Tree) -> dict[str, object]:
    """Return the target with the patch's keys set, and those that are null in it removed (RFC 7386)."""
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            old = result.get(key)
            result[key] = json_merge_patch(old if isinstance(old, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def strategic_merge_patch(target: Tree, patch: Tree) -> dict[str, object]:
    """Return the target merged with the patch by the API's merge keys (apimachinery strategicpatch).

    Directives: `$patch: replace` and `$patch: delete`, `$deleteFromPrimitiveList/FIELD`; `$setElementOrder/FIELD` and
    `$retainKeys` are obeyed.
    """
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    if directive is not None and directive != "merge":
        raise PatchError(f"unknown patch directive {directive!r}")
    result = dict(target)
    _apply_retain_keys(result, patch)
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge_value(key, result.get(key), value)
    _apply_list_directives(result, patch)
    return result


def _merge_value(key: str, old: object, new: object) -> object:
    """Merge one field by its kind: map, keyed list, set of primitives, or a plain value that replaces."""
    if isinstance(new, Mapping):
        return strategic_merge_patch(old if isinstance(old, Mapping) else {}, new)
    if not _is_list(new):
        return new
    items = cast("Sequence[object]", new)
    if not all(isinstance(item, Mapping) for item in items):
        return _merge_primitives(key, old, items)
    return _merge_list(key, old, cast("Sequence[Tree]", items))


def _merge_primitives(key: str, old: object, items: Sequence[object]) -> list[object]:
    """Add to a set of primitives, or replace a plain list."""
    if key not in _PRIMITIVE_SETS or not _is_list(old):
        return list(items)
    kept = list(cast("Sequence[object]", old))
    return kept + [item for item in items if item not in kept]


def _merge_list(key: str, old: object, items: Sequence[Tree]) -> list[object]:
    """Merge a list of maps by its merge key; without one, or with `$patch: replace` in it, replace it."""
    if any(item.get("$patch") == "replace" for item in items):
        return [item for item in items if "$patch" not in item]
    merge_key = next((name for name in _MERGE_KEYS.get(key, ()) if all(name in item for item in items)), None)
    if merge_key is None:
        if key in _MERGE_KEYS and items:
            raise PatchError(f"map does not contain declared merge key: {_MERGE_KEYS[key][0]}")
        return list(items)
    result: list[object] = list(cast("Sequence[object]", old)) if _is_list(old) else []
    for item in items:
        _merge_item(result, merge_key, item)
    return result


def _merge_item(result: list[object], merge_key: str, item: Tree) -> None:
    """Change, remove or append one element of a keyed list in place."""
    at = next(
        (i for i, have in enumerate(result) if isinstance(have, Mapping) and have.get(merge_key) == item[merge_key]),
        None,
    )
    if item.get("$patch") == "delete":
        if at is not None:
            del result[at]
    elif at is None:
        result.append(strategic_merge_patch({}, item))
    else:
        result[at] = strategic_merge_patch(cast("Tree", result[at]), item)


def _apply_retain_keys(result: dict[str, object], patch: Tree) -> None:
    """Drop what a `$retainKeys` list does not name."""
    retained = patch.get("$retainKeys")
    if _is_list(retained):
        for key in [key for key in result if key not in cast("Sequence[object]", retained)]:
            del result[key]


def _apply_list_directives(result: dict[str, object], patch: Tree) -> None:
    """Apply `$deleteFromPrimitiveList/FIELD` and `$setElementOrder/FIELD`."""
    for key, value in patch.items():
        directive, _, name = key.partition("/")
        listed = result.get(name)
        if directive not in _LIST_DIRECTIVES or not (_is_list(value) and _is_list(listed)):
            continue
        wanted, have = list(cast("Sequence[object]", value)), list(cast("Sequence[object]", listed))
        if directive == "$deleteFromPrimitiveList":
            result[name] = [item for item in have if item not in wanted]
        else:
            result[name] = _ordered(name, have, wanted)


def _ordered(name: str, have: list[object], wanted: list[object]) -> list[object]:
    """Return the list in the wanted order; what the order does not name keeps its place at the end."""
    keys = _MERGE_KEYS.get(name, ())

    def identity(item: object) -> object:
        """Return what tells elements apart."""
        if isinstance(item, Mapping):
            return next((item[key] for key in keys if key in item), None)
        return item

    order = [identity(item) for item in wanted]
    named = sorted((item for item in have if identity(item) in order), key=lambda item: order.index(identity(item)))
    return named + [item for item in have if identity(item) not in order]


def json_patch(target: Tree, operations: Sequence[Tree]) -> dict[str, object]:
    """Return the target after the operations, in order (RFC 6902)."""
    result = _copied(target)
    for operation in operations:
        result = _apply_operation(result, operation)
    return cast("dict[str, object]", result)


def _apply_operation(root: object, operation: Tree) -> object:
    """Apply one operation to a tree that may be changed in place, and return its root."""
    path = _pointer(operation.get("path"))
    match operation.get("op"):
        case "add":
            return _added(root, path, _copied(operation.get("value")))
        case "remove":
            return _removed(root, path)
        case "replace":
            _at(root, path)
            return _added(_removed(root, path), path, _copied(operation.get("value")))
        case "move":
            value = _at(root, _pointer(operation.get("from")))
            return _added(_removed(root, _pointer(operation.get("from"))), path, value)
        case "copy":
            return _added(root, path, _copied(_at(root, _pointer(operation.get("from")))))
        case "test":
            if _at(root, path) != operation.get("value"):
                raise PatchError(f"testing value {operation.get('path')} failed")
            return root
        case other:
            raise PatchError(f"unexpected kind: {other}")


def _pointer(text: object) -> tuple[str, ...]:
    """Return the steps of a JSON pointer (RFC 6901)."""
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise PatchError(f"not a JSON pointer: {text!r}")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def _at(node: object, path: tuple[str, ...]) -> object:
    """Return what stands at a path."""
    for step in path:
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list):
            node = node[_index(step, len(node) - 1)]
        else:
            raise PatchError(f"path does not exist: /{'/'.join(path)}")
    return node


def _added(root: object, path: tuple[str, ...], value: object) -> object:
    """Set a map's key, insert into a list (`-` appends), or replace the root."""
    if not path:
        return value
    parent, last = _at(root, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(last, len(parent)), value)
    else:
        raise PatchError(f"path does not exist: /{'/'.join(path)}")
    return root


def _removed(root: object, path: tuple[str, ...]) -> object:
    """Remove what stands at a path."""
    if not path:
        return {}
    _at(root, path)
    parent, last = _at(root, path[:-1]), path[-1]
    if isinstance(parent, dict):
        del parent[last]
    else:
        items = cast("list[object]", parent)
        del items[_index(last, len(items) - 1)]
    return root


def _index(step: str, highest: int) -> int:
    """Return a list index of a pointer's step."""
    if not step.isdecimal() or int(step) > highest:
        raise PatchError(f"index {step!r} is out of range")
    return int(step)


def _is_list(value: object) -> bool:
    """Tell whether a value is a list of a tree."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _copied(value: object) -> object:
    """Return a deep copy made of plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if _is_list(value):
        return [_copied(item) for item in cast("Sequence[object]", value)]
    return value
