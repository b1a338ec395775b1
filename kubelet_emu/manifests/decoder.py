"""YAML nodes to API objects: every fault of a document at once, each with its place and what was expected.

The decoder walks nodes and `schema.fields_of` together. A faulty field is left out of the object, so that the rest can
still be checked. Source: the v1.36 API server's strict decoding (sigs.k8s.io/json with field validation Strict).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from attrs import define, field

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import FieldShape, Many, Scalar, fields_of
from kubelet_emu.manifests import advice, scalar_values
from kubelet_emu.manifests.nodes import (
    Document,
    Level,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    entries,
    plain_value,
)
from kubelet_emu.manifests.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.manifests.problems import Severity

T = TypeVar("T")

_DEEPEST = 100
_ROOT_KEYS = ("apiVersion", "kind")
_MOST_REPEATED_NODES = 50_000
_ABSENT = object()


class TooMuchError(Exception):
    """The document's aliases or its nesting go beyond all bounds."""


@define
class Decoder:
    """Reads one document; `problems` collects what is wrong with it, `meant` where unknown fields belong."""

    document: Document
    strict: bool = False
    problems: list[Problem] = field(factory=list)
    meant: list[str] = field(factory=list)
    _levels: list[Level] = field(factory=list)
    _seen: set[int] = field(factory=set)
    _repeated: int = 0

    def decode(self, api_class: type[T], node: MappingNode) -> T:
        """Build the object; what is wrong lands in `problems`."""
        try:
            return self._object(api_class, node, "", 0)
        except TooMuchError as error:
            self.report(node, "", "Too much", str(error))
            return api_class()

    def report(  # noqa: PLR0913 - the fields of a problem
        self,
        node: Node,
        path: str,
        type_: str,
        text: str,
        *,
        hint: str = "",
        severity: Severity = "error",
        server: str = "",
    ) -> None:
        """Add a problem at a node."""
        line, column = self.document.place(node)
        self.problems.append(
            Problem(
                file=self.document.file,
                line=line,
                column=column,
                path=path,
                type=type_,
                text=text,
                severity=severity,
                hint=hint,
                server_text=server,
            )
        )

    def _object(self, api_class: type[T], node: MappingNode, path: str, depth: int) -> T:
        self._bound(node, depth)
        shapes = fields_of(api_class)
        arguments: dict[str, object] = {}
        found = self._entries(node, path)
        self._levels.append(Level(api_class, path, found))
        for key, entry in found.items():
            where = f"{path}.{key}" if path else key
            shape = shapes.get(key)
            if shape is None:
                self._report_unknown(key, entry.key_node, where)
                continue
            value = self._field(shape, entry.value, where, depth)
            if value is not _ABSENT:
                arguments[shape.attribute] = value
        self._levels.pop()
        return api_class(**arguments)

    def _entries(self, node: MappingNode, path: str) -> Mapping[str, advice.Entry]:
        found = entries(node)
        for entry in found.duplicates:
            where = f"{path}.{entry.key}" if path else entry.key
            text = f"key {entry.key!r} stands twice in this mapping, the last one wins"
            hint = "is a line --- missing before it?" if where in _ROOT_KEYS else ""
            self.report(entry.key_node, where, "Duplicate key", text, hint=hint, severity=self._of_duplicates)
        for entry in found.overridden:
            where = f"{path}.{entry.key}" if path else entry.key
            text = f"key {entry.key!r} stands before a `<<` that has it, too: the merged one wins"
            hint = "write the line with << first"
            self.report(entry.key_node, where, "Duplicate key", text, hint=hint, severity=self._of_duplicates)
        for faulty in found.faulty:
            self.report(faulty, path, *advice.faulty_key(faulty))
        return found.by_key

    @property
    def _of_duplicates(self) -> Severity:
        return "error" if self.strict else "warning"

    def _bound(self, node: Node, depth: int) -> None:
        if depth > _DEEPEST:
            raise TooMuchError(f"nested more than {_DEEPEST} levels deep (does an anchor contain itself?)")
        if id(node) in self._seen:
            self._repeated += 1
            if self._repeated > _MOST_REPEATED_NODES:
                raise TooMuchError(f"aliases repeat more than {_MOST_REPEATED_NODES} nodes")
        self._seen.add(id(node))

    def _report_unknown(self, key: str, node: Node, path: str) -> None:
        from kubelet_emu.manifests.misplaced import unknown_field  # noqa: PLC0415 - only a faulty manifest pays for it

        meant = unknown_field(key, tuple(self._levels))
        if meant.path:
            self.meant.append(meant.path)
        text = f"{self._levels[-1].api_class.__name__} has no field {key!r}"
        self.report(node, path, "Unknown field", text, hint=meant.hint, server=f'unknown field "{path}"')

    def _field(self, shape: FieldShape, node: Node, path: str, depth: int) -> object:
        if _is_null(node):
            return _ABSENT
        match shape.many:
            case Many.ONE:
                return self._item(shape, node, path, depth)
            case Many.LIST if isinstance(node, SequenceNode):
                self._bound(node, depth)
                items = (self._item(shape, each, f"{path}[{n}]", depth) for n, each in enumerate(node.value))
                return tuple(each for each in items if each is not _ABSENT)
            case Many.MAP if isinstance(node, MappingNode):
                self._bound(node, depth)
                found = self._entries(node, path)
                values = {key: self._item(shape, each.value, f"{path}[{key}]", depth) for key, each in found.items()}
                return {key: value for key, value in values.items() if value is not _ABSENT}
            case _:
                self._report_wrong(shape, node, path)
                return _ABSENT

    def _item(self, shape: FieldShape, node: Node, path: str, depth: int) -> object:
        if isinstance(shape.item, str):
            if _is_null(node):
                return api_type(shape.item)()
            if isinstance(node, MappingNode):
                return self._object(api_type(shape.item), node, path, depth + 1)
        elif shape.item is Scalar.ANY:
            return self.plain(node, path, depth + 1)
        elif isinstance(node, ScalarNode):
            self._bound(node, depth)
            return self._scalar(shape.item, node, path)
        self._report_wrong(shape._replace(many=Many.ONE), node, path)
        return _ABSENT

    def _scalar(self, item: Scalar, node: ScalarNode, path: str) -> object:
        value = plain_value(node)
        try:
            return scalar_values.convert(item, value)
        except scalar_values.UnfitError as error:
            owner = f"{self._levels[-1].api_class.__name__}.{advice.without_indexes(path)}"
            hint = advice.wrong_scalar(item, value, node.value)
            server = error.server_text.replace("{field}", owner).replace("{type}", item.value)
            self.report(
                node,
                path,
                "Wrong type",
                error.text.replace("{shown}", advice.shown(node)).replace("{value}", advice.cut(node.value)),
                hint=hint,
                server=server,
            )
            return _ABSENT

    def _report_wrong(self, shape: FieldShape, node: Node, path: str) -> None:
        if advice.is_template(node):
            self.report(node, path, "Template", advice.TEMPLATE_TEXT)
            return
        from kubelet_emu.manifests.wrong_shapes import wrong_shape  # noqa: PLC0415 - only a faulty manifest pays for it

        given = advice.go_kind(node)
        owner = f"{self._levels[-1].api_class.__name__}.{advice.without_indexes(path)}"
        server = f"json: cannot unmarshal {given} into Go struct field {owner} of type {advice.go_type(shape)}"
        text = f"{advice.shown(node)}, but {advice.wanted(shape)} is needed"
        self.report(node, path, "Wrong type", text, hint=wrong_shape(shape, node, path), server=server)

    def plain(self, node: Node, path: str, depth: int = 0) -> object:
        """Return a node as plain values; TooMuchError beyond the bounds."""
        self._bound(node, depth)
        if isinstance(node, ScalarNode):
            return plain_value(node)
        if isinstance(node, SequenceNode):
            return [self.plain(each, f"{path}[{index}]", depth + 1) for index, each in enumerate(node.value)]
        if not isinstance(node, MappingNode):
            return None
        found = self._entries(node, path)
        return {key: self.plain(each.value, f"{path}.{key}", depth + 1) for key, each in found.items()}


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and plain_value(node) is None
