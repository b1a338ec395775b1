"""What a path finds in an object, and what a template writes of it. Pure, over the API's JSON form."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from kubelet_emu.printers.go_json import to_json
from kubelet_emu.printers.jsonpath.nodes import (
    Descent,
    Field,
    Fields,
    Filter,
    Index,
    JSONPathError,
    Literal,
    Loop,
    Path,
    Slice,
    Text,
    Union,
    Wildcard,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubelet_emu.printers.jsonpath.nodes import Node, Step

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def write(template: tuple[Node, ...], value: object) -> str:
    """Return what a template says of a value; what isn't there says nothing. JSONPathError."""
    return "".join(_written(template, value))


def _written(nodes: tuple[Node, ...], value: object) -> Iterator[str]:
    for node in nodes:
        match node:
            case Text(text):
                yield text
            case Path():
                yield " ".join(_text_of(each) for each in find(node, value))
            case Loop(path, body):
                for each in find(path, value):
                    yield from _written(body, each)


def _text_of(value: object) -> str:
    if isinstance(value, Mapping | list):
        return to_json(value)
    return go_text(value)


def go_text(value: object) -> str:
    """Return a value as Go's fmt.Sprint writes it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "map[" + " ".join(f"{key}:{go_text(value[key])}" for key in sorted(value)) + "]"
        case list():
            return "[" + " ".join(map(go_text, value)) + "]"
        case _:
            return str(value)


def find(path: Path, value: object) -> list[object]:
    """Return what a path finds; nothing where something isn't there. JSONPathError."""
    found = [value]
    for step in path.steps:
        found = [each for one in found for each in _step(step, one)]
    return found


def _step(step: Step, value: object) -> Iterable[object]:
    match step:
        case Field(name):
            return [value[name]] if isinstance(value, Mapping) and name in value else []
        case Fields(names):
            return [value[name] for name in names if name in value] if isinstance(value, Mapping) else []
        case Wildcard():
            return _inside(value)
        case Descent():
            return _all_in(value)
        case Union(parts):
            return [each for part in parts for each in _step(part, value)]
        case Index(at):
            return [] if value is None else _item(_list(value), at)
        case Slice(begin, end, by):
            return _sliced(_list(value), begin, end, by)
        case Filter():
            return [each for each in _list(value) if _holds(step, each)]


def _inside(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return cast("list[object]", value) if isinstance(value, list) else []


def _all_in(value: object) -> Iterator[object]:
    yield value
    for each in _inside(value):
        yield from _all_in(each)


def _list(value: object) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise JSONPathError(f"{_kind_of(value)} is not array or slice")
    return cast("list[object]", value)


def _kind_of(value: object) -> str:
    return "a mapping" if isinstance(value, Mapping) else go_text(value)


def _item(values: list[object], at: int) -> list[object]:
    if not -len(values) <= at < len(values):
        raise JSONPathError(f"array index out of bounds: index {at}, length {len(values)}")
    return [values[at]]


def _sliced(values: list[object], begin: int | None, end: int | None, by: int | None) -> list[object]:
    if by is not None and by < 1:
        raise JSONPathError(f"step must be > 0, and is {by}")
    return values[begin:end:by]


def _holds(condition: Filter, item: object) -> bool:
    left = _operand(condition.left, item)
    if condition.right is None:
        return bool(left)
    right = _operand(condition.right, item)
    if len(left) > 1 or len(right) > 1:
        raise JSONPathError("can only compare one element at a time")
    if not left or not right:
        return False
    try:
        return _COMPARISONS[condition.operator](left[0], right[0])
    except TypeError as error:
        raise JSONPathError(f"{go_text(left[0])} and {go_text(right[0])} can't be compared") from error


def _operand(operand: Path | Literal, item: object) -> list[object]:
    return [operand.value] if isinstance(operand, Literal) else find(operand, item)
