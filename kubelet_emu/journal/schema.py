"""The JSON schema of a lifecycle log's line, made from the record types.

`python -m kubelet_emu.journal.schema` prints it; `lifecycle-log.schema.json` beside this module is that output, and a
test holds the two together. Keys that a newer writer adds are allowed, as the log's reader allows them.
"""

from __future__ import annotations

import enum
import json
import sys
import types
import typing
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import attrs
from attrs import define, field

from kubelet_emu.journal.deferred import Deferred
from kubelet_emu.journal.encode import RENAMED, SCHEMA
from kubelet_emu.journal.records import Record
from kubelet_emu.journal.values import wire_fields

if TYPE_CHECKING:
    from collections.abc import Hashable

FILE = Path(__file__).with_name("lifecycle-log.schema.json")
Schema = dict[str, object]

_PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    object: {},
    Deferred: {"type": "object"},
}
_NOT_ON_THE_WIRE = frozenset({"at", "ref"})
_WHOSE: Mapping[str, Schema] = {
    "pod": {"type": "string", "description": "uid of the pod that the record is about"},
    "uid": {"type": "string", "description": "uid of another kind of object"},
    "object": {"type": "string", "description": "the kind of that object"},
    "name": {"type": "string", "description": "NAMESPACE/NAME of the object"},
}


def line_schema() -> Schema:
    """Return the schema of one line of the log."""
    making = _Making()
    records = typing.cast("tuple[type[Record], ...]", typing.get_args(Record))
    branches: list[object] = [
        {
            "if": {"properties": {"kind": {"const": record.kind}}},
            "then": making.record(record),
        }
        for record in records
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a kubelet-emu lifecycle log, schema {SCHEMA}",
        "description": "See docs/LIFECYCLE-LOG.md. Unknown keys are ignored by readers.",
        "type": "object",
        "required": ["t", "n", "kind"],
        "properties": {
            "t": {"type": "number", "description": "seconds since the header's epoch"},
            "n": {"type": "integer", "minimum": 1},
            "kind": {"enum": [record.kind for record in records]},
            **_WHOSE,
        },
        "allOf": branches,
        "$defs": dict(sorted(making.definitions.items())),
    }


@define(eq=False)
class _Making:
    """Collects the definitions of the types that records hold."""

    definitions: dict[str, object] = field(factory=dict)

    def record(self, record: type[Record]) -> Schema:
        schema = self._fields(record, RENAMED.get(record.kind, {}))
        names = {name for name, _, _, _ in wire_fields(cast("Hashable", record))}
        is_always_of_one = any(
            name == "ref" and is_required for name, _, _, is_required in wire_fields(cast("Hashable", record))
        )
        if "ref" in names and is_always_of_one:
            schema["anyOf"] = [{"required": ["pod", "name"]}, {"required": ["uid", "object", "name"]}]
        return schema

    def _fields(self, cls: type, renamed: Mapping[str, str] = types.MappingProxyType({})) -> Schema:
        properties: dict[str, object] = {}
        required: list[str] = []
        for name, key, hint, is_required in wire_fields(cast("Hashable", cls)):
            if name in _NOT_ON_THE_WIRE and issubclass(cls, typing.get_args(Record)):
                continue
            wire = renamed.get(key, key)
            properties[wire] = self._of(hint)
            if is_required:
                required.append(wire)
        schema: Schema = {"type": "object", "properties": properties}
        return {**schema, "required": required} if required else schema

    def _of(self, hint: object) -> Schema:
        """Return the schema of a type."""
        hint = getattr(hint, "__supertype__", hint)
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in {typing.Union, types.UnionType}:
            return self._of_union(arguments)
        if origin is tuple:
            return {"type": "array", "items": self._of(arguments[0])}
        if origin is Mapping:
            return {"type": "object", "additionalProperties": self._of(arguments[1])}
        cls = cast("type", hint)
        if issubclass(cls, enum.Enum):
            return {"enum": [member.value for member in cls]}
        return {"$ref": f"#/$defs/{self._defined(cls)}"}

    def _of_union(self, arguments: tuple[object, ...]) -> Schema:
        schemas: list[Schema] = [{"type": "null"} if each is types.NoneType else self._of(each) for each in arguments]
        unlike = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
        return {"anyOf": unlike} if len(unlike) > 1 else unlike[0]

    def _defined(self, cls: type) -> str:
        """Return the name of a type's definition; the API and the runtime both have a ContainerStatus."""
        name = f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self._fields(cls) if attrs.has(cls) else {}
        return name


def as_text() -> str:
    """Return the schema as its file has it."""
    return json.dumps(line_schema(), indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(as_text())
