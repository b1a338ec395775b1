"""What a fault most likely means: proposals for names, values and indentation.

Advice never decides anything: it is the hint of a problem that the decoder found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.schema import FieldShape, Many, Scalar
from kubelet_emu.manifests.nodes import Entry, MappingNode, Node, ScalarNode, SequenceNode, plain_value
from kubelet_emu.manifests.scalar_values import go_kind as scalar_kind
from kubelet_emu.manifests.scalar_values import words
from kubelet_emu.manifests.scalars import PlainValue, json_number

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Entry", "faulty_key", "go_kind", "go_type", "nearest", "shown", "wanted", "wrong_scalar"]

_INDEX = r"\[[^\]]*\]"
_LONGEST_VALUE = 60
SURE = 0.8
LIKELY = 0.6
_DURATION = r"(\d+)\s*(s|sec|seconds|m|min|h)"
_DURATION_SECONDS = {"s": 1, "m": 60, "h": 3600}
_UNFILLED = r"\{\{.*\}\}|\$\{\w+|\$\(\w+\)|<\w[^<>]*>"
_BYTES = r"(?i)([0-9.]+)\s*([kmgtpe]?)(i?)b?"
_BLANK_BEFORE_UNIT = r"([0-9.]+)\s+([num])"


def nearest(word: str, choices: Iterable[str], *, cutoff: float = LIKELY) -> str:
    """Return the choice that `word` most likely meant, or nothing."""
    import difflib  # noqa: PLC0415 - only a faulty manifest pays for it

    by_lower = {choice.lower(): choice for choice in sorted(choices, reverse=True)}
    found = difflib.get_close_matches(word[:_LONGEST_VALUE].lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[found[0]] if found else ""


def wrong_scalar(item: Scalar, value: PlainValue, written: str) -> str:
    """Say how to write a value that doesn't fit a field of type `item`."""
    if item is Scalar.STRING and not isinstance(value, str):
        return f'quote it: "{written}"' + _becomes(value, written)
    if item is Scalar.BYTES:
        return "encode it with base64, or write it as it is in stringData of a Secret"
    if item is Scalar.QUANTITY and isinstance(value, str) and not is_unfilled(value):
        return _quantity(value)
    if not isinstance(value, str):
        return ""
    if is_unfilled(value):
        return UNFILLED
    if item is Scalar.BOOL and value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return f"remove the quotes: {'true' if value.lower() in ('true', 'yes', 'on') else 'false'}"
    if item in (Scalar.INT, Scalar.LONG):
        if value == "root":
            return "write its number: 0"
        if re.fullmatch(r"[-+]?\d+", value):
            return f"remove the quotes: {value}"
        if found := re.fullmatch(_DURATION, value):
            return f"a plain number of seconds: {int(found[1]) * _DURATION_SECONDS[found[2][0]]}"
    return ""


def _becomes(value: PlainValue, written: str) -> str:
    read = ("true" if value else "false") if isinstance(value, bool) else _number(value)
    return f" (unquoted it is read as {read})" if read and read != written else ""


def _number(value: PlainValue) -> str:
    return json_number(value) if isinstance(value, int | float) and value - value == 0 else ""


def _quantity(text: str) -> str:
    if parted := re.fullmatch(_BLANK_BEFORE_UNIT, text.strip()):
        return f"write {parted[1]}{parted[2]}"
    found = re.fullmatch(_BYTES, text.strip())
    if found is None:
        return ""
    number, unit, binary = found.groups()
    if not unit:
        return f"write {number}"
    upper = unit.upper()
    return f"write {number}{upper}i" if binary else f"write {number}{upper.replace('K', 'k')} or {number}{upper}i"


UNFILLED = "is this a template that isn't filled in? Render it first (helm template, kustomize, envsubst)"


def is_unfilled(text: str) -> bool:
    """Tell whether text has the marks of a template: `{{ ... }}`, `${...}`, `$(...)`, `<...>`."""
    return re.search(_UNFILLED, text) is not None


TEMPLATE_TEXT = (
    "this looks like an unrendered template ({{ ... }}): render it first (helm template), or quote it if it is text"
)


def is_template(node: Node) -> bool:
    """Tell whether a value is written `{{ ... }}`, which YAML reads as a mapping whose key is a mapping."""
    return isinstance(node, MappingNode) and len(node.value) == 1 and isinstance(node.value[0][0], MappingNode)


def faulty_key(node: Node) -> tuple[str, str]:
    """Return type and text of the problem that a key brings which is no text."""
    if is_template(node) or isinstance(node, MappingNode):
        return "Template", TEMPLATE_TEXT
    if isinstance(node, ScalarNode) and plain_value(node) is None:
        return "Syntax", "a key is missing before the colon"
    return "Syntax", "a key must be text, and what is merged with << must be a mapping"


def without_indexes(path: str) -> str:
    """Return a field path as Go's decoder prints it."""
    return re.sub(_INDEX, "", path)


def shown(node: Node) -> str:
    """Describe a value for a message."""
    if isinstance(node, ScalarNode):
        text = cut(node.value)
        value = plain_value(node)
        if isinstance(value, str):
            return f'"{text}" is text'
        return f"{text} is a boolean" if isinstance(value, bool) else f"{text} is a number"
    return "this is a list" if isinstance(node, SequenceNode) else "this is a mapping"


def cut(text: str) -> str:
    """Return a value short enough for a message."""
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


def go_kind(node: Node) -> str:
    """Name the kind of a node as Go's JSON decoder does."""
    if isinstance(node, ScalarNode):
        return scalar_kind(plain_value(node))
    return "array" if isinstance(node, SequenceNode) else "object"


def go_type(shape: FieldShape) -> str:
    """Name a field's type as Go's JSON decoder does."""
    name = f"v1.{shape.item}" if isinstance(shape.item, str) else shape.item.value
    match shape.many:
        case Many.ONE:
            return name
        case Many.LIST:
            return f"[]{name}"
        case Many.MAP:
            return f"map[string]{name}"


def wanted(shape: FieldShape) -> str:
    """Name what a field takes."""
    name = f"a mapping ({shape.item})" if isinstance(shape.item, str) else words(shape.item)
    match shape.many:
        case Many.ONE:
            return name
        case Many.LIST:
            return f"a list, each item {name},"
        case Many.MAP:
            return f"a mapping of names to values, each {name},"
