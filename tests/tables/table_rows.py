"""Rows of decision tables: reading the YAML files, and strict access to a row's fields.

Three shapes are told apart by their top-level keys: lists of rows by table name (A); `tables: {name: {about, rows}}`
(B); `bases` with `cases`, or `messages` (C). Whatever is not understood becomes a row that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

REQUIRED = object()


class TableError(AssertionError):
    """A table, a key or a value that the adapter does not know."""


@define
class Fields:
    """One mapping of a row; a key that nobody read by the end fails the row."""

    where: str
    values: Mapping[str, Any]
    _read: set[str] = field(factory=set, init=False)
    _parts: list[Fields] = field(factory=list, init=False)

    @classmethod
    def of(cls, where: str, value: object) -> Fields:
        """Wrap a mapping; anything else is a fault of the row."""
        if not isinstance(value, dict):
            raise TableError(f"{where}: expected a mapping, got {value!r}")
        return cls(where, value)

    def __contains__(self, key: str) -> bool:
        """Tell whether a key is given (without reading it)."""
        return key in self.values

    def take(self, key: str, default: object = REQUIRED) -> Any:  # noqa: ANN401
        """Return a value as it stands."""
        self._read.add(key)
        if key in self.values:
            return self.values[key]
        if default is REQUIRED:
            raise TableError(f"{self.where}: key {key!r} is missing")
        return default

    def choice(self, key: str, known: Mapping[Any, Any], default: object = REQUIRED) -> Any:  # noqa: ANN401
        """Return what a value stands for; a value outside `known` fails the row."""
        value = self.take(key, default)
        if not isinstance(value, str | int | bool | None) or value not in known:
            raise TableError(f"{self.where}: {key}: unknown value {value!r}")
        return known[value]

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return a boolean."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise TableError(f"{self.where}: {key}: expected a boolean, got {value!r}")
        return value

    def part(self, key: str, default: object = REQUIRED) -> Fields:
        """Return a mapping inside this one."""
        part = self.of(f"{self.where}.{key}", self.take(key, default))
        self._parts.append(part)
        return part

    def parts(self, key: str) -> list[Fields]:
        """Return a list of mappings inside this one; an absent key is an empty list."""
        values = self.take(key, [])
        if not isinstance(values, list):
            raise TableError(f"{self.where}: {key}: expected a list, got {values!r}")
        parts = [self.of(f"{self.where}.{key}[{n}]", value) for n, value in enumerate(values)]
        self._parts += parts
        return parts

    def check(self, actual: Mapping[str, Any]) -> None:
        """Compare every key given here with what came out; a key that `actual` lacks is unknown."""
        for key, value in self.values.items():
            if key not in actual:
                raise TableError(f"{self.where}: unknown key {key!r}")
            if self.take(key) != actual[key]:
                raise AssertionError(f"{self.where}.{key}: expected {value!r}, got {actual[key]!r}")

    def done(self) -> None:
        """Fail on keys that nobody read, here and in the parts."""
        if unread := set(self.values) - self._read:
            raise TableError(f"{self.where}: unknown keys {sorted(map(str, unread))}")
        for part in self._parts:
            part.done()


@frozen
class Row:
    """One row: its table, its id, its text, and what stands beside the rows of its table (`shared`)."""

    table: str
    id: str
    values: Mapping[str, Any]
    shared: Mapping[str, Any] = field(factory=dict)
    fault: str = ""

    @property
    def is_resize(self) -> bool:
        """Tell whether the row is marked as one about in-place resize."""
        return str(self.values.get("about", "")).startswith("resize")

    def fields(self) -> Fields:
        """Return the row's fields, with those that only explain it already read."""
        fields = Fields.of(f"{self.table}/{self.id}", self.values)
        for key in ("id", "key", "about", "src", "note"):
            fields.take(key, None)
        return fields


def load_rows(folder: Path) -> list[Row]:
    """Return the rows of every YAML file in a folder, files by name."""
    files = sorted(path for path in folder.glob("*") if path.suffix in {".yaml", ".yml"})
    rows = [row for path in files for row in _rows_of_file(path)]
    return rows or [Row("tables", "none", {}, fault=f"no table in {folder}")]


def _rows_of_file(path: Path) -> Iterator[Row]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        yield Row(path.stem, "file", {}, fault=f"{path}: {error}")
        return
    if not isinstance(content, dict) or not content:
        yield Row(path.stem, "file", {}, fault=f"{path}: not a file of tables")
        return
    yield from _shape_of(content)(content)


def _shape_of(content: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Iterator[Row]]:
    if "tables" in content:
        return _tables_under_a_key
    if {"cases", "messages"} & set(content):
        return _cases
    return _tables_at_top_level


def _tables_at_top_level(content: Mapping[str, Any]) -> Iterator[Row]:
    for table, value in content.items():
        if isinstance(value, dict) and "cases" in value:
            shared = {key: part for key, part in value.items() if key != "cases"}
            yield from _rows(table, value["cases"], shared)
        else:
            yield from _rows(table, value)


def _tables_under_a_key(content: Mapping[str, Any]) -> Iterator[Row]:
    for key in content:
        if key != "tables":
            yield Row(str(key), "file", {}, fault=f"unknown key {key!r} beside `tables`")
    for table, value in content["tables"].items():
        if not isinstance(value, dict) or not {"rows"} <= set(value) <= {"about", "rows"}:
            yield Row(str(table), "table", {}, fault=f"table {table!r}: expected the keys `about` and `rows`")
            continue
        yield from _rows(table, value["rows"])


def _cases(content: Mapping[str, Any]) -> Iterator[Row]:
    names = {"cases": "validation", "messages": "messages"}
    shared = {key: value for key, value in content.items() if key not in names}
    for key, table in names.items():
        if key in content:
            yield from _rows(table, content[key], shared)


def _rows(table: object, rows: Iterable[Any], shared: Mapping[str, Any] | None = None) -> Iterator[Row]:
    name = str(table)
    if not isinstance(rows, list) or not rows:
        yield Row(name, "table", {}, fault=f"table {name!r}: expected a list of rows")
        return
    for n, values in enumerate(rows):
        row_id = (values.get("id") or values.get("key")) if isinstance(values, dict) else None
        if not row_id:
            yield Row(name, f"#{n}", {}, fault=f"table {name!r}: row {n} has no id")
            continue
        yield Row(name, str(row_id), values, shared or {})
