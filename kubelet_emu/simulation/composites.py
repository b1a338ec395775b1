"""Shapes made of others: choices, lists, pairs, mappings and records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from attrs import frozen

from kubelet_emu.manifests.advice import nearest
from kubelet_emu.simulation.shapes import FAULTY, INVALID, Faults, Word, kind_of, not_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.simulation.shapes import Schema, Shape

_SURE = 0.7


@frozen
class OneOf:
    """The first of several shapes that takes the value's kind."""

    shapes: tuple[Shape, ...]

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of all of them."""
        return frozenset[str]().union(*(shape.kinds for shape in self.shapes))

    @property
    def words(self) -> str:
        """Return their words."""
        return ", or ".join(shape.words for shape in self.shapes)

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Read by the shape that fits."""
        kind = kind_of(raw)
        fitting = [shape for shape in self.shapes if kind in shape.kinds]
        if not fitting:
            is_unquoted = kind in {"number", "bool"} and "text" in self.kinds
            return faults.wrong(path, raw, self.words, "quote it" if is_unquoted else "")
        own = Faults()
        value = fitting[0].read(raw, path, own)
        for fault in own.found:
            is_whole = fault.path == path and fault.type == INVALID
            faults.found.append(fault._replace(text=not_words(raw, self.words)) if is_whole else fault)
        return value

    def schema(self) -> Schema:
        """Return the JSON schemas of all of them."""
        return {"anyOf": [shape.schema() for shape in self.shapes]}


@frozen
class Made:
    """A shape whose value becomes another value."""

    shape: Shape
    make: Callable[[object], object]

    @property
    def kinds(self) -> frozenset[str]:
        """Return the shape's kinds."""
        return self.shape.kinds

    @property
    def words(self) -> str:
        """Return the shape's words."""
        return self.shape.words

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Read and make."""
        value = self.shape.read(raw, path, faults)
        return FAULTY if value is FAULTY else self.make(value)

    def schema(self) -> Schema:
        """Return the shape's JSON schema."""
        return self.shape.schema()


@frozen
class ListOf:
    """A list of values of one shape; `least` of them."""

    item: Shape
    least: int = 0
    kinds: frozenset[str] = frozenset({"list"})

    @property
    def words(self) -> str:
        """Return what the items are."""
        return f"a list, each item {self.item.words}"

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return a tuple; faulty items are left out."""
        if not isinstance(raw, list) or len(raw) < self.least:
            return faults.wrong(path, raw, self.words)
        read = [self.item.read(each, f"{path}[{index}]", faults) for index, each in enumerate(raw)]
        return tuple(value for value in read if value is not FAULTY)

    def schema(self) -> Schema:
        """Return a JSON array."""
        return {"type": "array", "items": self.item.schema(), **({"minItems": self.least} if self.least else {})}


@frozen
class Pair:
    """A list of two: a time and what is then."""

    first: Shape
    second: Shape
    kinds: frozenset[str] = frozenset({"list"})

    @property
    def words(self) -> str:
        """Return both."""
        return f"a pair [{self.first.words}, {self.second.words}]"

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return a tuple of two."""
        if not isinstance(raw, list) or len(raw) != 2:
            return faults.wrong(path, raw, self.words)
        first = self.first.read(raw[0], f"{path}[0]", faults)
        second = self.second.read(raw[1], f"{path}[1]", faults)
        return FAULTY if first is FAULTY or second is FAULTY else (first, second)

    def schema(self) -> Schema:
        """Return a JSON array of two."""
        both = [self.first.schema(), self.second.schema()]
        return {"type": "array", "prefixItems": both, "minItems": 2, "maxItems": 2}


@frozen
class MapOf:
    """A mapping whose keys are free; `key` may change or refuse them with a ValueError, `pattern` says it to JSON."""

    item: Shape
    key: Callable[[str], object] = str
    pattern: str = ""
    kinds: frozenset[str] = frozenset({"map"})

    @property
    def words(self) -> str:
        """Return what the values are."""
        return f"a mapping, each value {self.item.words}"

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return a dict; faulty entries are left out."""
        if not isinstance(raw, dict):
            return faults.wrong(path, raw, self.words)
        values: dict[object, object] = {}
        for name, each in raw.items():
            where = f"{path}[{name}]"
            value = self.item.read({} if each is None and "map" in self.item.kinds else each, where, faults)
            try:
                key = self.key(name)
            except ValueError as error:
                faults.add(where, "Invalid key", str(error))
                continue
            if value is not FAULTY:
                values[key] = value
        return values

    def schema(self) -> Schema:
        """Return a JSON object of any keys."""
        names: Schema = {"propertyNames": {"pattern": self.pattern}} if self.pattern else {}
        return {"type": "object", "additionalProperties": self.item.schema(), **names}


class Member(NamedTuple):
    """A field of a record: its attribute, its shape, and what it means in a sentence."""

    attribute: str
    shape: Shape
    text: str
    is_required: bool = False


@frozen
class Record:
    """A mapping with known fields. `make` gets those that are given as keywords."""

    name: str
    members: Mapping[str, Member]
    make: Callable[..., object]
    kinds: frozenset[str] = frozenset({"map"})

    @property
    def words(self) -> str:
        """Return its fields."""
        return f"a mapping with {', '.join(self.members)}"

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return what `make` makes; faulty fields are left out."""
        if not isinstance(raw, dict):
            return faults.wrong(path, raw, self.words)
        values: dict[str, object] = {}
        is_whole = True
        for key, each in raw.items():
            where = f"{path}.{key}" if path else str(key)
            member = self.members.get(key)
            if member is None:
                self._unknown(str(key), where, faults)
            elif each is not None:
                value = member.shape.read(each, where, faults)
                is_whole = is_whole and value is not FAULTY
                if value is not FAULTY:
                    values[member.attribute] = value
        for key, member in self.members.items():
            if member.is_required and raw.get(key) is None:
                faults.add(path, "Required value", f"{key} is missing: {member.text}", f"write {key}: ...")
                is_whole = False
        return self.make(**values) if is_whole else FAULTY

    def _unknown(self, key: str, where: str, faults: Faults) -> None:
        likely = nearest(key, self.members, cutoff=_SURE)
        known = ", ".join(self.members)
        hint = f"did you mean {likely!r}?" if likely else f"{self.name} has {known}"
        faults.add(where, "Unknown field", f"{self.name} has no field {key!r}", hint)

    def schema(self) -> Schema:
        """Return a JSON object of these keys alone."""
        properties = {key: {**each.shape.schema(), "description": each.text} for key, each in self.members.items()}
        required = [key for key, each in self.members.items() if each.is_required]
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": required} if required else schema


@frozen
class Variant:
    """A mapping whose field `tag` says which record it is."""

    tag: str
    records: Mapping[str, Record]
    kinds: frozenset[str] = frozenset({"map"})

    @property
    def words(self) -> str:
        """Return the tag and its words."""
        return f"a mapping with {self.tag}: {' or '.join(self.records)}"

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Read the record that the tag names."""
        if not isinstance(raw, dict):
            return faults.wrong(path, raw, self.words)
        if raw.get(self.tag) is None:
            return faults.add(path, "Required value", f"{self.tag} is missing", f"write {self.tag}: {self._choice()}")
        name = Word({each: each for each in self.records}).read(raw[self.tag], f"{path}.{self.tag}", faults)
        if name is FAULTY:
            return FAULTY
        rest = {key: each for key, each in raw.items() if key != self.tag}
        return self.records[cast("str", name)].read(rest, path, faults)

    def _choice(self) -> str:
        return " or ".join(self.records)

    def schema(self) -> Schema:
        """Return one of several JSON objects."""
        return {"oneOf": [self._tagged(name, record.schema()) for name, record in self.records.items()]}

    def _tagged(self, name: str, schema: Schema) -> Schema:
        properties = cast("dict[str, object]", schema["properties"])
        required = cast("list[str]", schema.get("required", []))
        return {**schema, "properties": {self.tag: {"const": name}, **properties}, "required": [self.tag, *required]}
