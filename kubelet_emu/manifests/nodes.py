"""Documents of YAML nodes: the one module that reads YAML.

Nodes keep line and column. Composing never expands an alias; readers of nodes bound that themselves.
Source: the splitting of kubectl's YAMLReader; libyaml's syntax, which goyaml v2 shares.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import yaml
from attrs import frozen
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from kubelet_emu.manifests.json_stream import further_values
from kubelet_emu.manifests.scalars import PlainValue, binary_text, float_key, resolve_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Document", "Entry", "Level", "MappingNode", "Node", "ScalarNode", "SequenceNode", "entries", "plain_value"]

PLAIN_TAG = ""
TEXT_TAG = "tag:yaml.org,2002:str"
_LETTERS = frozenset("yYnN")
_BINARY_TAG = "tag:yaml.org,2002:binary"
_MERGE_TAG = "tag:yaml.org,2002:merge"
_DEEPEST_MERGE = 50
_RESOLVED_TAGS = frozenset({PLAIN_TAG, *(f"tag:yaml.org,2002:{each}" for each in ("int", "float", "bool", "null"))})
_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_SURROGATES = r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """Composes nodes and leaves the meaning of unquoted scalars to us."""

    def resolve(self, kind: type, _value: str, implicit: tuple[bool, bool]) -> str:
        if kind is ScalarNode:
            return PLAIN_TAG if implicit[0] else TEXT_TAG
        return ""


@frozen(kw_only=True)
class Document:
    """One document of a file: its number (from 1), its first line (from 0), and its text."""

    file: str
    number: int
    first_line: int
    text: str

    def compose(self) -> Node | None:
        """Return the root node, None for a document without content; yaml.YAMLError for broken syntax."""
        is_json = self.text.lstrip().startswith(("{", "["))
        loader = _Loader(_join_surrogates(self.text) if is_json else self.text)
        try:
            if not loader.check_node():
                return None
            root: Node = loader.get_node()
            if loader.check_node():
                mark = loader.get_node().start_mark
                raise yaml.MarkedYAMLError(problem="expected a single document", problem_mark=mark)
            return root
        finally:
            loader.dispose()

    def place(self, node: Node) -> tuple[int, int]:
        """Return line and column of a node in its file, both from 1."""
        return self.first_line + node.start_mark.line + 1, node.start_mark.column + 1


def split_documents(file: str, text: str) -> Iterator[Document]:
    """Split a file at its `---` lines; documents of blanks and comments alone are left out."""
    starts = [0, *(found.start() for found in _SEPARATOR.finditer(text))]
    ends = [*starts[1:], len(text)]
    line = 0
    number = 0
    for start, end in zip(starts, ends, strict=True):
        part = text[start:end]
        body = part.removeprefix("---")
        for piece in () if _is_nothing(body) else _pieces(part):
            number += 1
            yield Document(file=file, number=number, first_line=line + piece.line, text=piece.text)
        line += part.count("\n")


class _Piece(NamedTuple):
    line: int
    text: str


def _pieces(part: str) -> Iterator[_Piece]:
    """Yield the values of a stream of JSON with the blanks that keep their columns; all else is one piece."""
    starts = further_values(part) if part.lstrip().startswith("{") else ()
    for start, end in zip((0, *starts), (*starts, len(part)), strict=True):
        column = start - part.rfind("\n", 0, start) - 1 if start else 0
        yield _Piece(part.count("\n", 0, start), " " * column + part[start:end])


def _join_surrogates(text: str) -> str:
    """Spell JSON's surrogate pairs the YAML way; the rest of such a line moves two columns to the left."""
    return re.sub(
        _SURROGATES,
        lambda pair: f"{pair[1]}\\U{0x10000 + ((int(pair[2], 16) - 0xD800) << 10) + int(pair[3], 16) - 0xDC00:08X}",
        text,
    )


def _is_nothing(body: str) -> bool:
    return all(not (line := raw.strip()) or line.startswith(("#", "%")) or line == "..." for raw in body.split("\n"))


def plain_value(node: ScalarNode) -> PlainValue:
    """Return what a scalar node means to Kubernetes' reader; a tag that isn't YAML's own leaves text."""
    text: str = node.value
    if node.tag == _BINARY_TAG:
        return binary_text(text)
    return resolve_plain(text) if node.tag in _RESOLVED_TAGS else text


def take_letters_as_text(root: Node) -> None:
    """Make text of every unquoted y and n below a node, which Kubernetes' reader takes for booleans."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ScalarNode):
            if node.tag == PLAIN_TAG and node.value in _LETTERS:
                node.tag = TEXT_TAG
        elif isinstance(node, MappingNode):
            waiting += [part for pair in node.value for part in pair]
        else:
            waiting += node.value


class Entry(NamedTuple):
    """A key with its value, and the key node for its place."""

    key: str
    key_node: Node
    value: Node


class Level(NamedTuple):
    """An object around a field: its type, its path, and what it holds."""

    api_class: type
    path: str
    entries: Mapping[str, Entry]


class Entries(NamedTuple):
    """The entries of a mapping with merges applied, and what is doubtful about it.

    Of equal keys the last one is taken. `duplicates` are the keys given twice, `overridden` those that a merge behind
    them replaces, `faulty` the nodes that are no key or nothing to merge.
    """

    by_key: dict[str, Entry]
    duplicates: tuple[Entry, ...]
    overridden: tuple[Entry, ...]
    faulty: tuple[Node, ...]


def entries(node: MappingNode) -> Entries:
    """Read a mapping's keys as Kubernetes' reader does: keys become text, `<<` merges where it stands."""
    by_key: dict[str, Entry] = {}
    given: dict[str, Entry] = {}
    duplicates: list[Entry] = []
    overridden: list[Entry] = []
    faulty: list[Node] = []
    known: dict[int, dict[str, Entry]] = {id(node): {}}
    for key_node, value in node.value:
        if _is_merge(key_node):
            merged = _merged(value, known, faulty)
            overridden += [given[key] for key in merged if key in given]
            by_key.update(merged)
            continue
        key = _key_text(key_node)
        if key is None:
            faulty.append(key_node)
            continue
        entry = Entry(key, key_node, value)
        if key in given:
            duplicates.append(entry)
        by_key[key] = given[key] = entry
    return Entries(by_key, tuple(duplicates), tuple(overridden), tuple(faulty))


def _is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.tag in (PLAIN_TAG, _MERGE_TAG) and key.value == "<<"


def _merged(value: Node, known: dict[int, dict[str, Entry]], faulty: list[Node], depth: int = 0) -> dict[str, Entry]:
    """Return what a merge brings: of several mappings the first wins; one that merges itself brings nothing more."""
    brought: dict[str, Entry] = {}
    for part in reversed(value.value if isinstance(value, SequenceNode) else [value]):
        if not isinstance(part, MappingNode) or depth > _DEEPEST_MERGE:
            faulty.append(part)
            continue
        if id(part) not in known:
            known[id(part)] = {}
            known[id(part)] = _keys_of(part, known, faulty, depth + 1)
        brought.update(known[id(part)])
    return brought


def _keys_of(node: MappingNode, known: dict[int, dict[str, Entry]], faulty: list[Node], depth: int) -> dict[str, Entry]:
    by_key: dict[str, Entry] = {}
    for key_node, value in node.value:
        if _is_merge(key_node):
            by_key.update(_merged(value, known, faulty, depth))
        elif (key := _key_text(key_node)) is not None:
            by_key[key] = Entry(key, key_node, value)
    return by_key


def _key_text(node: Node) -> str | None:
    if not isinstance(node, ScalarNode):
        return None
    value = plain_value(node)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return None
    return float_key(value) if isinstance(value, float) else str(value)
