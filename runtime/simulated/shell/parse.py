"""Parse a script: tree-sitter's grammar for the structure, our own reading of the words (see masking).

The grammar is one of bash; where it groups differently from POSIX (a redirection after a list, `!` before a pipeline)
the tree is put right here. What only bash has is a syntax error, as in busybox.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import tree_sitter
import tree_sitter_bash
from attrs import define, evolve

from runtime.simulated.shell.masking import MARKER, NOT, Heredoc, mask
from runtime.simulated.shell.nodes import (
    AndOr,
    ArithmeticCommand,
    Background,
    Case,
    For,
    Function,
    If,
    Literal,
    Loop,
    Negated,
    Node,
    Pipeline,
    Redirect,
    Redirected,
    Script,
    Sequence,
    Simple,
    Subshell,
    Word,
)
from runtime.simulated.shell.words import (
    ShellSyntaxError,
    WordReader,
    parse_heredoc,
    parse_word,
    split_command,
    split_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SEPARATORS = frozenset({";", "\n", "comment"})
_RESERVED = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_COMMANDS = frozenset(
    {"command", "declaration_command", "unset_command", "test_command", "variable_assignment", "variable_assignments"}
)
_REDIRECT = re.compile(r"(\d*)(&>>|&>|>>|>\||>&|<>|>|<<<|<&|<)[ \t]*(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_CACHED_SCRIPTS = 4096


@lru_cache(maxsize=_CACHED_SCRIPTS)
def parse_script(text: str, first_line: int = 1) -> Script:
    """Return the parsed script, whose first line has that number; ShellSyntaxError."""
    if "\0" in text:
        raise ShellSyntaxError("syntax error: a script can't hold NUL")
    masked = mask(text)
    tree = _parser().parse(masked.structure)
    compiler = _Compiler(masked.source, masked.heredocs, dict(masked.prefixes), masked.empty_loops, first_line)
    if tree.root_node.has_error:
        compiler.check(tree.root_node)
    script = Script(compiler.sequence(tree.root_node.children))
    if compiler.prefixes:
        raise ShellSyntaxError(f"line {text.count(chr(10)) + first_line}: syntax error: unexpected end of file")
    return script


def good_lines(text: str) -> str:
    """Return the longest beginning of a script that can't be parsed which is a script of whole lines, "" for none."""
    lines = text.split("\n")
    for count in range(len(lines) - 1, 0, -1):
        beginning = "\n".join(lines[:count])
        try:
            parse_script(beginning)
        except ShellSyntaxError:
            continue
        return beginning if beginning.strip() else ""
    return ""


@lru_cache(maxsize=1)
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


@define
class _Compiler:
    source: bytes
    heredocs: tuple[Heredoc, ...]
    prefixes: dict[int, tuple[str, ...]]
    empty_loops: frozenset[int]
    first_line: int
    here: int = 0

    def parse(self, text: str) -> Script:
        """Parse a command substitution of the command that is being read."""
        return parse_script(text, self.here or self.first_line)

    def text(self, start: int, end: int) -> str:
        return self.source[start:end].decode()

    def line(self, node: tree_sitter.Node) -> int:
        return self.source.count(b"\n", 0, node.start_byte) + self.first_line

    def check(self, node: tree_sitter.Node) -> None:
        """Raise for the first place that is not shell; a command may lack its word when it has redirections."""
        if node.type == "ERROR" or (node.is_missing and (node.type != "word" or not _has_redirect(node))):
            raise self._error(node)
        for child in node.children:
            self.check(child)

    def sequence(self, children: Iterable[tree_sitter.Node]) -> Sequence:
        items: list[Node] = []
        for child in children:
            if child.type == "&" and items:
                items[-1] = Background(items[-1])
            elif child.type not in _SEPARATORS:
                items.append(self.node(child))
        return Sequence(tuple(items))

    def node(self, node: tree_sitter.Node) -> Node:
        """Compile a command with what was taken out before it: `!` is of the pipeline, a name of its first stage."""
        if _begins_with_list(node):
            return self._plain(node)
        prefixes = self.prefixes.pop(node.start_byte, ())
        if node.type == "pipeline" and (names := tuple(prefix for prefix in prefixes if prefix != NOT)):
            self.prefixes[node.start_byte] = names
            prefixes = prefixes[: -len(names)]
        compiled = self._plain(node)
        for prefix in reversed(prefixes):
            compiled = Negated(compiled) if prefix == NOT else Function(prefix, compiled)
        return compiled

    def _plain(self, node: tree_sitter.Node) -> Node:
        if node.type in _COMMANDS:
            return self._simple(node)
        compile_ = self._compilers().get(node.type)
        if compile_ is None:
            raise self._error(node)
        return compile_(node)

    def _compilers(self) -> dict[str, Callable[[tree_sitter.Node], Node]]:
        return {
            "list": self._list,
            "pipeline": self._pipeline,
            "redirected_statement": self._redirected,
            "compound_statement": self._compound,
            "subshell": lambda node: Subshell(self._body(node.children[1:])),
            "if_statement": self._if,
            "while_statement": self._loop,
            "for_statement": self._for,
            "case_statement": self._case,
        }

    def _error(self, node: tree_sitter.Node) -> ShellSyntaxError:
        """Return what is wrong: the grammar stumbled at the last token of the node."""
        while node.children:
            node = node.children[-1]
        found = self.text(node.start_byte, node.end_byte).strip() or "end of file"
        return ShellSyntaxError(f'line {self.line(node)}: syntax error: unexpected "{found}"')

    # -- simple commands and redirections

    def _simple(self, node: tree_sitter.Node) -> Simple:
        """Read a command's words from the text between its redirections."""
        self.here = self.line(node)
        pieces: list[str] = []
        redirects: list[Redirect] = []
        end = node.start_byte
        for child in self._flat(node):
            if child.type in {"file_redirect", "herestring_redirect"}:
                redirect, rest = self._redirect(child)
                redirects.append(redirect)
                pieces.append(rest)
            elif not child.is_missing:
                pieces.append(" " * (child.start_byte > end) + self.text(child.start_byte, child.end_byte))
            end = child.end_byte
        assignments, words = split_command("".join(pieces), self.parse)
        if words and _is_reserved(words[0]):
            raise ShellSyntaxError(f'line {self.line(node)}: syntax error: unexpected "{words[0].plain}"')
        return Simple(tuple(assignments), tuple(words), tuple(redirects), self.line(node))

    def _flat(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        """Return the pieces of a simple command; ShellSyntaxError for parentheses, which only bash has here."""
        for child in node.children:
            if child.type in {"array", "subshell"}:
                raise ShellSyntaxError(f'line {self.line(child)}: syntax error: unexpected "("')
        return list(node.children) if node.type in {"command", "declaration_command"} else [node]

    def _redirect(self, node: tree_sitter.Node) -> tuple[Redirect, str]:
        """Return a redirection, and the words behind its target: the grammar takes them in."""
        match = _REDIRECT.fullmatch(self.text(node.start_byte, node.end_byte))
        if match is None:
            raise self._error(node)
        fd, op, text = match.groups()
        words = split_words(text, self.parse)
        if not words:
            raise self._error(node)
        number = int(fd) if fd else int(op.startswith((">", "&")))
        target = words[0]
        rest = "" if len(words) == 1 else " " + _behind_first(text)
        if op == "<" and target.plain is not None and target.plain.startswith(MARKER):
            return Redirect(number, "<<", self._heredoc(target.plain)), rest
        if op == "<<<":
            return Redirect(0, "<<", Word((*target.parts, Literal("\n", is_quoted=True)))), rest
        return Redirect(number, op, target), rest

    def _heredoc(self, marker: str) -> Word:
        heredoc = self.heredocs[int(marker.removeprefix(MARKER))]
        if heredoc.is_literal:
            return Word((Literal(heredoc.text, is_quoted=True),), heredoc.text)
        return parse_heredoc(heredoc.text, self.parse)

    def _redirected(self, node: tree_sitter.Node) -> Node:
        redirects: list[Redirect] = []
        extra = ""
        body: Node | None = None
        for child in node.children:
            if child.type in {"file_redirect", "herestring_redirect"}:
                redirect, rest = self._redirect(child)
                redirects.append(redirect)
                extra += rest
            else:
                body = self.node(child)
        words = tuple(split_words(extra, self.parse))
        if body is None:
            return Simple((), words, tuple(redirects), self.line(node))
        return _attach(body, tuple(redirects), words, self.line(node))

    # -- compound commands

    def _pipeline(self, node: tree_sitter.Node) -> Node:
        return _pipeline([self.node(child) for child in node.children if child.type not in {"|", "comment"}])

    def _list(self, node: tree_sitter.Node) -> Node:
        left, op, right = (child for child in node.children if child.type != "comment")
        return _and_or(self.node(left), self.node(right), is_and=op.type == "&&")

    def _compound(self, node: tree_sitter.Node) -> Node:
        if node.children[0].type == "((":
            text = self.text(node.children[0].end_byte, node.children[-1].start_byte)
            return ArithmeticCommand(parse_heredoc(text.replace('"', ""), self.parse))
        return self._body(node.children[1:])

    def _body(self, children: list[tree_sitter.Node]) -> Sequence:
        """Compile a list up to the word that closes it; ShellSyntaxError for an empty one."""
        *inner, close = children
        body = self.sequence(inner)
        if not body.items:
            raise self._error(close)
        return body

    def _if(self, node: tree_sitter.Node) -> If:
        branches: list[tuple[Node, Node]] = []
        otherwise: Node | None = None
        own: list[tree_sitter.Node] = []
        for child in node.children:
            if child.type == "elif_clause":
                branches.append(self._branch(child.children))
            elif child.type == "else_clause":
                otherwise = self._list_of(child.children[1:], node.children[-1])
            else:
                own.append(child)
        return If((self._branch(own), *branches), otherwise)

    def _branch(self, children: list[tree_sitter.Node]) -> tuple[Node, Node]:
        then = next(index for index, child in enumerate(children) if child.type == "then")
        return self._body(children[1 : then + 1]), self._list_of(children[then + 1 :], children[-1])

    def _list_of(self, children: list[tree_sitter.Node], close: tree_sitter.Node) -> Sequence:
        return self._body([*(child for child in children if child.type != "fi"), close])

    def _loop(self, node: tree_sitter.Node) -> Loop:
        *condition, body = node.children[1:]
        return Loop(self.sequence(condition), self._do(body), node.children[0].type == "until")

    def _do(self, node: tree_sitter.Node) -> Node:
        if node.type not in {"do_group", "compound_statement"}:
            raise self._error(node)
        return self._body(node.children[1:])

    def _for(self, node: tree_sitter.Node) -> For:
        self.here = self.line(node)
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if name is None or body is None or node.children[0].type != "for":
            raise self._error(node)
        if not _NAME.fullmatch(self.text(name.start_byte, name.end_byte)):
            raise ShellSyntaxError(f"line {self.line(node)}: syntax error: bad for loop variable")
        start = next((child for child in node.children if child.type == "in"), None)
        words: tuple[Word, ...] | None = None
        if node.start_byte in self.empty_loops:
            words = ()
        elif start is not None:
            values = node.children_by_field_name("value")
            text = self.text(start.end_byte, values[-1].end_byte) if values else ""
            words = tuple(split_words(text, self.parse))
        return For(self.text(name.start_byte, name.end_byte), words, self._do(body), self.line(node))

    def _case(self, node: tree_sitter.Node) -> Case:
        self.here = self.line(node)
        value = node.child_by_field_name("value")
        if value is None:
            raise self._error(node)
        items = tuple(self._case_item(child) for child in node.children if child.type == "case_item")
        return Case(parse_word(self.text(value.start_byte, value.end_byte), self.parse), items)

    def _case_item(self, node: tree_sitter.Node) -> tuple[tuple[Word, ...], Node]:
        close = next((index for index, child in enumerate(node.children) if child.type == ")"), None)
        if close is None or any(child.type in {";&", ";;&", "ERROR"} for child in node.children):
            raise self._error(node)
        patterns: list[str] = [""]
        for child in node.children[:close]:
            if child.type == "|":
                patterns.append("")
            elif child.type != "(":
                patterns[-1] += self.text(child.start_byte, child.end_byte)
        words = tuple(parse_word(pattern.strip(), self.parse) for pattern in patterns)
        return words, self.sequence(child for child in node.children[close + 1 :] if child.type != ";;")


def _begins_with_list(node: tree_sitter.Node) -> bool:
    """Tell whether the grammar has a list where POSIX has only its first or last command."""
    match node.type:
        case "list":
            return True
        case "redirected_statement":
            return any(child.type in {"list", "pipeline"} for child in node.children)
        case "pipeline":
            return _begins_with_list(node.children[0])
    return False


def _has_redirect(node: tree_sitter.Node) -> bool:
    """Tell whether the command of a missing word has a redirection."""
    command = node.parent.parent if node.parent is not None else None
    return command is not None and any(child.type.endswith("_redirect") for child in command.children)


def _is_reserved(word: Word) -> bool:
    return word.plain in _RESERVED and not any(isinstance(part, Literal) and part.is_quoted for part in word.parts)


def _behind_first(text: str) -> str:
    """Return a redirection's text behind its first word."""
    reader = WordReader(text, parse_script)
    reader.skip_blanks()
    reader.read_word(" \t\n")
    return text[reader.at :]


def _pipeline(stages: list[Node]) -> Node:
    """Join stages; a first stage that is itself a list, a pipeline or negated is taken apart, as POSIX groups it."""
    match stages[0]:
        case AndOr() as first:
            return evolve(first, right=_pipeline([first.right, *stages[1:]]))
        case Negated() as first:
            return Negated(_pipeline([first.body, *stages[1:]]))
        case Pipeline() as first:
            return Pipeline((*first.stages, *stages[1:]))
    return Pipeline(tuple(stages))


def _and_or(left: Node, right: Node, *, is_and: bool) -> Node:
    """Join two commands; && and || bind alike, from the left."""
    if isinstance(right, AndOr):
        return evolve(right, left=_and_or(left, right.left, is_and=is_and))
    return AndOr(left, right, is_and)


def _attach(body: Node, redirects: tuple[Redirect, ...], words: tuple[Word, ...], line: int) -> Node:
    """Give redirections to the command that they belong to: the last of a list or a pipeline."""
    match body:
        case Simple():
            return evolve(body, words=body.words + words, redirects=body.redirects + redirects)
        case AndOr():
            return evolve(body, right=_attach(body.right, redirects, words, line))
        case Pipeline():
            return Pipeline((*body.stages[:-1], _attach(body.stages[-1], redirects, words, line)))
        case Negated():
            return Negated(_attach(body.body, redirects, words, line))
        case Redirected():
            return evolve(body, redirects=body.redirects + redirects)
        case Sequence(items=(Subshell() as only,)):
            return _attach(only, redirects, words, line)
        case Function():
            return evolve(body, body=_attach(body.body, redirects, words, line))
        case _:
            return Redirected(body, redirects, line)
