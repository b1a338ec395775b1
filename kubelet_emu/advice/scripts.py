"""Reads the scripts of `sh -c`: their commands, loops and conditions, or nothing at all.

A script is understood as a whole or not: whoever gets None says nothing about it. Words are literal where they are
constant; others stay as they are written, with their `$`.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import evolve, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import tree_sitter

_LONGEST_SCRIPT = 20_000
_NAMES = re.compile(r"\\(.)", re.DOTALL)


class Kind(enum.Enum):
    """What a statement is; `BRANCH` is any other compound: if, for, case, a function."""

    COMMAND = enum.auto()
    TEST = enum.auto()
    ASSIGNMENT = enum.auto()
    AND = enum.auto()
    OR = enum.auto()
    NOT = enum.auto()
    PIPELINE = enum.auto()
    WHILE = enum.auto()
    UNTIL = enum.auto()
    GROUP = enum.auto()
    SUBSHELL = enum.auto()
    BRANCH = enum.auto()


@frozen(kw_only=True)
class Statement:
    """One statement: a command with its `words`, or one made of `parts`; a loop's are its condition and its body."""

    kind: Kind
    text: str
    words: tuple[str, ...] = ()
    condition: tuple[Statement, ...] = ()
    parts: tuple[Statement, ...] = ()
    in_background: bool = False

    @property
    def name(self) -> str:
        """Return the name of a command, without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    def walk(self) -> Iterator[Statement]:
        """Yield the statement and all that are inside."""
        yield self
        for each in (*self.condition, *self.parts):
            yield from each.walk()


Script = tuple[Statement, ...]

_KINDS = {
    "test_command": Kind.TEST,
    "variable_assignment": Kind.ASSIGNMENT,
    "variable_assignments": Kind.ASSIGNMENT,
    "negated_command": Kind.NOT,
    "pipeline": Kind.PIPELINE,
    "compound_statement": Kind.GROUP,
    "do_group": Kind.GROUP,
    "subshell": Kind.SUBSHELL,
    "if_statement": Kind.BRANCH,
    "elif_clause": Kind.BRANCH,
    "else_clause": Kind.BRANCH,
    "for_statement": Kind.BRANCH,
    "c_style_for_statement": Kind.BRANCH,
    "case_statement": Kind.BRANCH,
    "case_item": Kind.BRANCH,
    "function_definition": Kind.BRANCH,
}
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})


@lru_cache(maxsize=256)
def read_script(text: str) -> Script | None:
    """Return the statements of a script, None for one that isn't understood."""
    if not text.strip() or len(text) > _LONGEST_SCRIPT or "\0" in text:
        return None
    root = _parser().parse(text.encode()).root_node
    return None if root.has_error else tuple(_statements(root.children))


@lru_cache(maxsize=1)
def _parser() -> tree_sitter.Parser:
    import tree_sitter  # noqa: PLC0415 - only a manifest with a script pays for it
    import tree_sitter_bash  # noqa: PLC0415 - as above

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _statements(nodes: Iterable[tree_sitter.Node]) -> Iterator[Statement]:
    """Yield statements; one that is followed by `&` runs in the background."""
    held: Statement | None = None
    for node in nodes:
        if node.type == "&" and held is not None:
            held = evolve(held, in_background=True)
        elif node.is_named and (found := _statement(node)) is not None:
            if held is not None:
                yield held
            held = found
    if held is not None:
        yield held


def _statement(node: tree_sitter.Node) -> Statement | None:
    text = _text(node)
    if node.type in _COMMANDS:
        return Statement(kind=Kind.COMMAND, text=text, words=tuple(_words(node)))
    match node.type:
        case "redirected_statement":
            body = node.child_by_field_name("body")
            return None if body is None else _statement(body)
        case "list":
            return _list(node, text)
        case "while_statement":
            return _loop(node, text)
        case "test_command":
            return Statement(kind=Kind.TEST, text=text, words=tuple(text.strip("[] ").split()))
        case other if other in _KINDS:
            return Statement(kind=_KINDS[other], text=text, parts=tuple(_statements(node.children)))
        case _:
            return None


def _list(node: tree_sitter.Node, text: str) -> Statement:
    kind = Kind.OR if any(child.type == "||" for child in node.children) else Kind.AND
    return Statement(kind=kind, text=text, parts=tuple(_statements(node.children)))


def _loop(node: tree_sitter.Node, text: str) -> Statement:
    body = node.child_by_field_name("body")
    before = [child for child in node.children if body is None or child.end_byte <= body.start_byte]
    return Statement(
        kind=Kind.UNTIL if node.children[0].type == "until" else Kind.WHILE,
        text=text,
        condition=tuple(_statements(before)),
        parts=() if body is None else tuple(_statements(body.children)),
    )


def _words(command: tree_sitter.Node) -> Iterator[str]:
    for child in command.children:
        if child.type in {"variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect"}:
            continue
        node = child.children[0] if child.type == "command_name" and child.children else child
        yield _word(node)


def _word(node: tree_sitter.Node) -> str:
    text = _text(node)
    match node.type:
        case "raw_string":
            return text[1:-1]
        case "string" if all(child.type in {'"', "string_content"} for child in node.children):
            return text[1:-1]
        case "word":
            return _NAMES.sub(r"\1", text)
        case "concatenation":
            return "".join(_word(child) for child in node.children)
        case _:
            return text


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()
