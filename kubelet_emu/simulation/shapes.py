"""Shapes of plain YAML values: one description that reads a value, finds every fault of it, and writes its JSON schema.

A shape's `read` returns the typed value, or FAULTY after it has told `Faults` what is wrong. `kinds` are the YAML kinds
that it takes, so that one of several shapes can be chosen without trying them all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

from attrs import define, field, frozen

from kubelet_emu.api.quantity import quantity_value
from kubelet_emu.manifests.advice import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = dict[str, object]

INVALID = "Invalid value"
FAULTY = object()
"""What a faulty value is read as."""

_SHOWN_CHARACTERS = 60


class Fault(NamedTuple):
    """One fault: where, in the words of a field path, and how to mend it."""

    path: str
    type: str
    text: str
    hint: str = ""


@define
class Faults:
    """Collects faults."""

    found: list[Fault] = field(factory=list)

    def add(self, path: str, type_: str, text: str, hint: str = "") -> object:
        """Note a fault; returns FAULTY."""
        self.found.append(Fault(path, type_, text, hint))
        return FAULTY

    def wrong(self, path: str, raw: object, words: str, hint: str = "") -> object:
        """Note a value of a wrong type or range; returns FAULTY."""
        return self.add(path, INVALID, not_words(raw, words), hint or _number_hint(raw))


def not_words(raw: object, words: str) -> str:
    """Return the text of a value that is not what is needed."""
    shown = repr(raw)
    return f"{shown if len(shown) <= _SHOWN_CHARACTERS else shown[:_SHOWN_CHARACTERS] + '...'} is not {words}"


def _number_hint(raw: object) -> str:
    """Say how to write a number of seconds that has a unit or quotes."""
    text = raw.strip().removesuffix("s") if isinstance(raw, str) else ""
    return f"write {text}" if text.replace(".", "", 1).isdigit() else ""


class Shape(Protocol):
    """What a value may look like."""

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of YAML value that it takes."""

    @property
    def words(self) -> str:
        """Return what it is called in a message."""

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return the value, FAULTY after noting what is wrong."""

    def schema(self) -> Schema:
        """Return the JSON schema."""


def kind_of(raw: object) -> str:
    """Return the kind of a plain value."""
    if isinstance(raw, bool):
        return "bool"
    for type_, kind in ((int | float, "number"), (str, "text"), (list, "list"), (dict, "map")):
        if isinstance(raw, type_):
            return kind
    return "nothing"


@frozen(kw_only=True)
class Number:
    """A number, whole or not, within bounds."""

    words: str
    least: float = 0
    most: float = math.inf
    is_whole: bool = False
    kinds: frozenset[str] = frozenset({"number"})

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return an int or a float."""
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not self.least <= raw <= self.most:
            return faults.wrong(path, raw, self.words)
        if not self.is_whole:
            return float(raw)
        return int(raw) if raw == int(raw) else faults.wrong(path, raw, self.words)

    def schema(self) -> Schema:
        """Return a JSON number with its bounds."""
        schema: Schema = {"type": "integer" if self.is_whole else "number", "minimum": self.least}
        return schema if self.most == math.inf else {**schema, "maximum": self.most}


@frozen(kw_only=True)
class Text:
    """Text; what YAML reads as a number or a boolean has to be quoted."""

    words: str = "text"
    kinds: frozenset[str] = frozenset({"text"})

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return a str."""
        hint = "quote it" if isinstance(raw, bool | int | float) else ""
        return raw if isinstance(raw, str) else faults.wrong(path, raw, self.words, hint)

    def schema(self) -> Schema:
        """Return a JSON string."""
        return {"type": "string"}


@frozen(kw_only=True)
class Flag:
    """True or false."""

    words: str = "true or false"
    kinds: frozenset[str] = frozenset({"bool"})

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return a bool."""
        return raw if isinstance(raw, bool) else faults.wrong(path, raw, self.words)

    def schema(self) -> Schema:
        """Return a JSON boolean."""
        return {"type": "boolean"}


@frozen
class Word:
    """One of some words, each with its meaning."""

    meanings: Mapping[str, object]
    kinds: frozenset[str] = frozenset({"text"})

    @property
    def words(self) -> str:
        """Return the words."""
        return " or ".join(self.meanings)

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return the meaning."""
        if isinstance(raw, str) and raw in self.meanings:
            return self.meanings[raw]
        likely = nearest(raw, self.meanings) if isinstance(raw, str) else ""
        return faults.wrong(path, raw, self.words, f"did you mean {likely!r}?" if likely else "")

    def schema(self) -> Schema:
        """Return a JSON enumeration."""
        return {"enum": list(self.meanings)}


@frozen(kw_only=True)
class Amount:
    """A quantity as Kubernetes writes it, such as 70Mi."""

    words: str = "an amount such as 70Mi"
    kinds: frozenset[str] = frozenset({"text", "number"})

    def read(self, raw: object, path: str, faults: Faults) -> object:
        """Return a whole number."""
        try:
            value = quantity_value(str(raw)) if isinstance(raw, str | int) and not isinstance(raw, bool) else -1
        except ValueError:
            value = -1
        return faults.wrong(path, raw, self.words) if value < 0 else value

    def schema(self) -> Schema:
        """Return a JSON string or number."""
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^[0-9.]+[A-Za-z]{0,2}$"}]}
