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

from kubelet_emu.manifests.scalars import PlainValue, resolve_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Document", "Entry", "MappingNode", "Node", "ScalarNode", "SequenceNode", "entries", "plain_value"]

PLAIN_TAG = ""
TEXT_TAG = "tag:yaml.org,2002:str"
_LETTERS = frozenset("yYnN")
_BINARY_TAG = "tag:yaml.org,2002:binary"
_RESOLVED_TAGS = frozenset({PLAIN_TAG, *(f"tag:yaml.org,2002:{each}" for each in ("int", "float", "bool", "null"))})
_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


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
            return loader.get_node()  # type: ignore[no-any-return]
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
        if not _is_nothing(body):
            number += 1
            yield Document(file=file, number=number, first_line=line, text=part)
        line += part.count("\n")


def _join_surrogates(text: str) -> str:
    """Spell JSON's surrogate pairs the YAML way; the rest of such a line moves two columns to the left."""
    return _SURROGATES.sub(
        lambda pair: f"{pair[1]}\\U{0x10000 + ((int(pair[2], 16) - 0xD800) << 10) + int(pair[3], 16) - 0xDC00:08X}",
        text,
    )


def _is_nothing(body: str) -> bool:
    return all(not (line := raw.strip()) or line.startswith(("#", "%")) or line == "..." for raw in body.split("\n"))


def plain_value(node: ScalarNode) -> PlainValue:
    """Return what a scalar node means to Kubernetes' reader; a tag that isn't YAML's own leaves text."""
    text: str = node.value
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


class Entries(NamedTuple):
    """The entries of a mapping with merges applied: the last of equal keys, the keys given twice, the bad key nodes."""

    by_key: dict[str, Entry]
    duplicates: tuple[Entry, ...]
    faulty: tuple[Node, ...]


def entries(node: MappingNode) -> Entries:
    """Read a mapping's keys as Kubernetes' reader does: keys become text, `<<` merges under the keys given here."""
    by_key: dict[str, Entry] = {}
    merged: list[Node] = []
    duplicates: list[Entry] = []
    faulty: list[Node] = []
    for key_node, value in node.value:
        if isinstance(key_node, ScalarNode) and key_node.tag == PLAIN_TAG and key_node.value == "<<":
            merged += value.value if isinstance(value, SequenceNode) else [value]
            continue
        key = _key_text(key_node)
        if key is None:
            faulty.append(key_node)
            continue
        entry = Entry(key, key_node, value)
        if key in by_key:
            duplicates.append(entry)
        by_key[key] = entry
    _merge(node, merged, by_key, faulty)
    return Entries(by_key, tuple(duplicates), tuple(faulty))


def _merge(into: MappingNode, merged: list[Node], by_key: dict[str, Entry], faulty: list[Node]) -> None:
    waiting = list(reversed(merged))
    seen = {id(into)}
    while waiting:
        node = waiting.pop()
        if not isinstance(node, MappingNode):
            faulty.append(node)
        if not isinstance(node, MappingNode) or id(node) in seen:
            continue
        seen.add(id(node))
        for key_node, value in node.value:
            if isinstance(key_node, ScalarNode) and key_node.tag == PLAIN_TAG and key_node.value == "<<":
                waiting += reversed(value.value) if isinstance(value, SequenceNode) else [value]
            elif (key := _key_text(key_node)) is not None and key not in by_key:
                by_key[key] = Entry(key, key_node, value)


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
    return node.value if isinstance(value, float) else str(value)
