"""What a template consists of: texts, paths and loops; and the steps of a path. Pure."""

from __future__ import annotations

from attrs import frozen


class JSONPathError(Exception):
    """A template can't be read, or an object doesn't fit it; the text says why."""


@frozen
class Field:
    """The value of a key."""

    name: str


@frozen
class Fields:
    """The values of several keys."""

    names: tuple[str, ...]


@frozen
class Index:
    """An item of a list, from its end if negative; where it isn't, that is an error."""

    at: int


@frozen
class Slice:
    """Items of a list."""

    begin: int | None
    end: int | None
    step: int | None


@frozen
class Wildcard:
    """All items of a list, or all values of a mapping."""


@frozen
class Descent:
    """The value and all that is in it."""


@frozen
class Union:
    """What each of several subscripts finds."""

    parts: tuple[Step, ...]


@frozen
class Filter:
    """Items of a list for which a comparison holds; without an operator, those that have what `left` finds."""

    left: Path | Literal
    operator: str = ""
    right: Path | Literal | None = None


@frozen
class Literal:
    """A value that stands in a filter."""

    value: object


@frozen
class Path:
    """Steps, one after the other."""

    steps: tuple[Step, ...]


@frozen
class Text:
    """A text as it is."""

    text: str


@frozen
class Loop:
    """A part of a template for each value that a path finds."""

    path: Path
    body: tuple[Node, ...]


Step = Field | Fields | Index | Slice | Wildcard | Descent | Union | Filter
Node = Text | Path | Loop
