"""Reads a JSONPath template. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.printers.jsonpath.nodes import (
    Descent,
    Field,
    Fields,
    Filter,
    Index,
    JSONPathError,
    Literal,
    Loop,
    Path,
    Slice,
    Text,
    Union,
    Wildcard,
)

if TYPE_CHECKING:
    from kubelet_emu.printers.jsonpath.nodes import Node, Step

_RELAXED = re.compile(r"\{\.?([^{}]+)\}|\.?([^{}]+)")
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)
_NAME = re.compile(r"(?:\\.|[^\\\s.,\[\]$@{}'\"=!<>()])+", re.DOTALL)
_KEYS = re.compile(r"""\s*'([^']*)'\s*(?:,\s*'[^']*'\s*)*""")
_NUMBERS = re.compile(r"\s*(-?\d*)\s*(?::\s*(-?\d*)\s*)?(?::\s*(-?\d*)\s*)?")
_OPERATOR = re.compile(r"==|!=|<=|>=|<|>")
_VALUE = re.compile(r"-?\d+(\.\d+)?|true|false")


def read_template(text: str) -> tuple[Node, ...]:
    """Read a template; JSONPathError."""
    return _Reader(text).template(is_in_loop=False)


def read_path(text: str) -> Path:
    """Read a path as custom columns and `--sort-by` take it, with or without braces and first dot; JSONPathError."""
    found = _RELAXED.fullmatch(text)
    if found is None:
        known = "'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        raise JSONPathError(f"unexpected path string, expected a {known}")
    [node] = read_template(f"{{.{found[1] or found[2]}}}")
    if not isinstance(node, Path):
        raise JSONPathError(f"{text!r} is no path")
    return node


@define(eq=False)
class _Reader:
    """A template, and how far it has been read."""

    text: str
    at: int = field(default=0)

    def template(self, *, is_in_loop: bool) -> tuple[Node, ...]:
        """Read up to the end, or to the `{end}` of a loop."""
        nodes: list[Node] = []
        while self.at < len(self.text):
            begin = self.text.find("{", self.at)
            if begin != self.at:
                end = len(self.text) if begin < 0 else begin
                nodes.append(Text(self.text[self.at : end]))
                self.at = end
                continue
            self.at += 1
            word = self._word()
            if word == "end":
                if not is_in_loop:
                    raise JSONPathError("not in range, nothing to end")
                self._close()
                return tuple(nodes)
            nodes += self._loop() if word == "range" else self._action()
        if is_in_loop:
            raise JSONPathError("{range} without {end}")
        return tuple(nodes)

    def _word(self) -> str:
        """Take `range` or `end` where it stands."""
        found = re.compile(r"\s*(range|end)\b").match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[1]

    def _loop(self) -> list[Node]:
        path = self._path("}")
        self._close()
        return [Loop(path, self.template(is_in_loop=True))]

    def _action(self) -> list[Node]:
        """Read what stands between braces: texts and paths."""
        nodes: list[Node] = []
        while not self._skips("}"):
            quoted = _QUOTED.match(self.text, self.at)
            if quoted is not None:
                self.at = quoted.end()
                nodes.append(Text(_unquoted(quoted[0])))
            else:
                nodes.append(self._path("}"))
        return nodes

    def _path(self, ends: str) -> Path:
        """Read steps up to one of some signs, a blank behind which something else begins, or a quote."""
        steps: list[Step] = []
        begin = self.at
        while self._peek() and self._peek() not in ends:
            character = self._peek()
            if character.isspace():
                self.at += 1
                if steps and self._peek() in {'"', "'"}:
                    break
            elif character in "$@":
                self.at += 1
            elif character == "[":
                self.at += 1
                steps.append(self._subscript())
            elif character == "*":
                self.at += 1
                steps.append(Wildcard())
            elif self.text.startswith("..", self.at):
                self.at += 2
                steps.append(Descent())
                steps += self._name()
            elif character == ".":
                self.at += 1
                steps += self._name()
            else:
                break
        if self.at == begin:
            raise self._refusal()
        return Path(tuple(steps))

    def _name(self) -> list[Step]:
        """Return the field behind a dot; nothing behind the dot is the value itself."""
        found = _NAME.match(self.text, self.at)
        if found is None or found[0] == "*":
            return []
        self.at = found.end()
        return [Field(re.sub(r"\\(.)", r"\1", found[0]))]

    def _subscript(self) -> Step:
        """Read what stands between brackets."""
        parts: list[Step] = []
        while True:
            parts.append(self._part())
            if self._skips("]"):
                return parts[0] if len(parts) == 1 else Union(tuple(parts))
            if not self._skips(","):
                raise JSONPathError("unterminated array") if not self._peek() else self._refusal()

    def _part(self) -> Step:
        if self._skips("*"):
            return Wildcard()
        if self._skips("?"):
            return self._filter()
        if (keys := _KEYS.match(self.text, self.at)) is not None:
            self.at = keys.end()
            names = tuple(re.findall(r"'([^']*)'", keys[0]))
            return Field(names[0]) if len(names) == 1 else Fields(names)
        found = _NUMBERS.match(self.text, self.at)
        if found is None or not found[0].strip():
            raise self._refusal()
        self.at = found.end()
        begin, end, step = (int(each) if each and each != "-" else None for each in found.groups())
        if ":" in found[0]:
            return Slice(begin, end, step)
        return Index(begin or 0)

    def _filter(self) -> Filter:
        if not self._skips("("):
            raise self._refusal()
        left = self._operand()
        self._skips("")
        operator = _OPERATOR.match(self.text, self.at)
        right = None
        if operator is not None:
            self.at = operator.end()
            right = self._operand()
        if not self._skips(")"):
            raise JSONPathError("unterminated filter") if not self._peek() else self._refusal()
        return Filter(left, "" if operator is None else operator[0], right)

    def _operand(self) -> Path | Literal:
        self._skips("")
        if (quoted := _QUOTED.match(self.text, self.at)) is not None:
            self.at = quoted.end()
            return Literal(_unquoted(quoted[0]))
        if (value := _VALUE.match(self.text, self.at)) is not None:
            self.at = value.end()
            return Literal(json.loads(value[0]))
        return self._path("=!<>)")

    def _skips(self, sign: str) -> bool:
        """Go past blanks, then past a sign if it stands there; tell whether it did."""
        while self._peek().isspace():
            self.at += 1
        if not sign or self._peek() != sign:
            if sign == "}" and not self._peek():
                raise JSONPathError("unclosed action")
            return False
        self.at += 1
        return True

    def _close(self) -> None:
        if not self._skips("}"):
            raise self._refusal()

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _refusal(self) -> JSONPathError:
        if not self._peek():
            return JSONPathError("unclosed action")
        return JSONPathError(f"unrecognized character in action: {self._peek()!r} at {self.at + 1}")


def _unquoted(text: str) -> str:
    """Return what a quoted text says, with Go's escapes."""
    body = text[1:-1]
    if text[0] == "'":
        body = body.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError as error:
        raise JSONPathError(f"invalid syntax in {text}") from error
