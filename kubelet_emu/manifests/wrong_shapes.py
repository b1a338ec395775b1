"""How to write a value that has another shape than its field: a list, a mapping, or text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import FieldShape, Many, Scalar, fields_of
from kubelet_emu.manifests.nodes import MappingNode, Node, ScalarNode, SequenceNode, entries

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHELL = re.compile(r"[|&;<>$`*\"'\\(){}]")
_LIST_ITEM = re.compile(r"\[\d+\]$")
_MAIN_FIELDS = {
    "ContainerPort": "containerPort",
    "GRPCAction": "port",
    "HTTPGetAction": "port",
    "SleepAction": "seconds",
    "TCPSocketAction": "port",
}
_DASHES = "write a list: each item begins with a dash"


def wrong_shape(shape: FieldShape, node: Node, path: str) -> str:
    """Return the hint for a value of the wrong shape, or nothing."""
    if isinstance(node, MappingNode):
        return _mapping(shape, node, path)
    if isinstance(node, SequenceNode):
        is_object = shape.many is Many.ONE and isinstance(shape.item, str)
        return "remove the dash: this is one mapping, not a list of them" if is_object and node.value else ""
    return _scalar(shape, node) if isinstance(node, ScalarNode) else ""


def _mapping(shape: FieldShape, node: MappingNode, path: str) -> str:
    key = next(iter(entries(node).by_key), "")
    if shape.many is Many.LIST:
        return _as_items(shape, key)
    if shape.item is not Scalar.STRING or not key:
        return ""
    if _LIST_ITEM.search(path):
        return "quote the whole text: a colon with a blank after it makes it a mapping"
    return "put | after the colon, to keep what follows as text"


def _as_items(shape: FieldShape, key: str) -> str:
    """Return how a mapping is written as a list."""
    fields: Sequence[str] = tuple(fields_of(api_type(shape.item))) if isinstance(shape.item, str) else ()
    if key in fields:
        return f"begin each item with a dash: - {key}: ..."
    if key and "name" in fields and "value" in fields:
        return f"write each as an item: - name: {key}, and in the next line value: ..."
    return _DASHES


def _scalar(shape: FieldShape, node: ScalarNode) -> str:
    """Return how one value is written where a list or a mapping is needed."""
    text = str(node.value)
    if shape.many is Many.LIST and shape.item is Scalar.STRING:
        return f"write {_words(text)}" if shape.json in ("command", "args") else f"write [{text}]"
    if shape.many is Many.ONE and isinstance(shape.item, str) and (field := _MAIN_FIELDS.get(shape.item)):
        return f"write {{{field}: {text}}}"
    if shape.item == "EnvVar" and (assignment := text.partition("="))[1]:
        return f"write {{name: {assignment[0]}, value: {json.dumps(assignment[2])}}}"
    if shape.many is Many.ONE and isinstance(shape.item, str) and "name" in fields_of(api_type(shape.item)):
        return f"write name: {text}"
    return _DASHES if shape.many is Many.LIST else ""


def _words(text: str) -> str:
    """Return a command line as a list, through a shell where only that can read it."""
    return json.dumps(["sh", "-c", text] if _SHELL.search(text) else text.split())
