"""Plain words for files that aren't YAML: encodings, tabs, templates, broken syntax."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from kubelet_emu.manifests.problems import Problem

if TYPE_CHECKING:
    from kubelet_emu.manifests.nodes import Document

_TEMPLATE = r"\{\{-?\s*[^{}\s]|\{%"
_QUOTED = r"""(?x) (?<=[\s,\[{:]) (?: "(?:[^"\\]|\\.)*" | '[^']*' ) """
_VARIABLE = r"(?:[:,\[{-]|^)\s*\$\{\w+[^}]*\}"
_CONFLICT = r"<{7} |={7}$|>{7} "
_TAB_INDENT = r" *\t"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BROKEN_BEFORE = 2


def unicode_fault(file: str, data: bytes) -> Problem | None:
    """Return what is wrong with a file's encoding, or None for UTF-8."""
    start = data[:64]
    if data.startswith(_UTF16_MARKS) or (b"\0" in start and start.count(b"\0") * 3 >= len(start)):
        return _whole_file(file, "Encoding", "the file is UTF-16, Kubernetes reads UTF-8", "save it as UTF-8")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        text = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return Problem(
            file=file, line=line, column=column, path="", type="Encoding", text=text, hint="save it as UTF-8"
        )
    return None


def _whole_file(file: str, type_: str, text: str, hint: str) -> Problem:
    return Problem(file=file, line=1, column=1, path="", type=type_, text=text, hint=hint)


def explain_syntax(document: Document, error: Exception) -> Problem:
    """Turn a parser's complaint into the place and the likely cause."""
    lines = document.text.split("\n")
    row, column = _place(document.text, error)
    row = min(row, len(lines) - 1)
    if (found := next((n for n, line in enumerate(lines) if re.match(_CONFLICT, line)), None)) is not None:
        words = ("this is a mark of a merge conflict", "settle the conflict first, and remove the marks")
        return _problem(document, found, 1, "Syntax", words)
    if (found := _template_row(lines, row)) is not None:
        text = "this is an unrendered template ({{ ... }})"
        hint = "render it first, for example with helm template"
        return _problem(document, found, lines[found].find("{") + 1, "Template", (text, hint))
    if found_variable := re.search(_VARIABLE, lines[row]):
        words = ("this is a variable that isn't filled in (${...})", "fill it in first, for example with envsubst")
        return _problem(document, row, lines[row].find("$", found_variable.start()) + 1, "Template", words)
    if (found := _tab_row(lines, row)) is not None:
        text = "a tab is used for indentation, YAML allows blanks only"
        return _problem(document, found, lines[found].find("\t") + 1, "Syntax", (text, "replace the tab by blanks"))
    return _problem(document, row, column + 1, "Syntax", _words(error))


def _problem(document: Document, row: int, column: int, type_: str, words: tuple[str, str]) -> Problem:
    text, hint = words
    line = document.first_line + row + 1
    return Problem(file=document.file, line=line, column=column, path="", type=type_, text=text, hint=hint)


def _place(text: str, error: Exception) -> tuple[int, int]:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if getattr(error, "problem", "") == "found unexpected end of stream":
        mark = getattr(error, "context_mark", None) or mark
    if mark is not None:
        return mark.line, mark.column
    position = getattr(error, "position", 0) or 0
    before = text[: position if isinstance(position, int) else 0]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def _template_row(lines: list[str], row: int) -> int | None:
    near: tuple[int, ...] = (*range(row, max(-1, row - _BROKEN_BEFORE - 1), -1), row + 1)
    for each in near:
        if each < len(lines) and re.search(_TEMPLATE, re.sub(_QUOTED, "", lines[each])):
            return each
    return next((n for n, line in enumerate(lines) if re.match(_TEMPLATE, line.strip())), None)


def _tab_row(lines: list[str], row: int) -> int | None:
    near = (row, row - 1, row + 1)
    return next((each for each in near if 0 <= each < len(lines) and re.match(_TAB_INDENT, lines[each])), None)


_EXPLANATIONS = (
    (
        "mapping values are not allowed",
        "a value can't hold `key: value` here",
        "check the indentation, or quote text with ': '",
    ),
    ("did not find expected key", "a key was expected here", "check the indentation of this line and the one before"),
    ("did not find expected ',' or ']'", "a comma or the ] of a list is missing", "the list begins with the [ before"),
    ("did not find expected ',' or '}'", "a comma or the } of a mapping is missing", "quote values that hold { or }"),
    ("found character that cannot start any token", "a value can't begin with this character", "quote the text"),
    ("did not find expected '-' indicator", "a list item was expected here", "check the indentation of this line"),
    ("could not find expected ':'", "a colon is missing", "write `key: value`"),
    ("found undefined alias", "this alias has no anchor in this document", "anchors don't reach over `---`"),
    ("found unexpected end of stream", "a quote isn't closed", ""),
    ("exceeded maximum nesting depth", "the document is nested too deep", ""),
    ("control characters are not allowed", "a control character isn't allowed in YAML", ""),
    ("did not find expected <document start>", "a second document without `---` before it", ""),
    ("expected a single document", "a second document without `---` before it", ""),
)


def _words(error: Exception) -> tuple[str, str]:
    if isinstance(error, yaml.MarkedYAMLError):
        said = ", ".join(each for each in (error.context, error.problem) if each)
    else:
        said = "nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
    for pattern, text, hint in _EXPLANATIONS:
        if pattern in said:
            return f"{text} ({said})", hint
    return said, ""
