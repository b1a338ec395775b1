"""What is wrong with a manifest, and how it is shown.

One `Problem` is one fact with its place; rendering needs the source text only for the line and the caret.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from attrs import frozen

Severity = Literal["error", "warning"]

_LONGEST_LINE = 160


class Source(NamedTuple):
    """Where an object was written: file, line (from 1) and the number of its document in the file (from 1)."""

    file: str
    line: int
    document: int


@frozen(kw_only=True)
class Problem:
    """One fault or warning; `line` and `column` count from 1, `path` is the API's field path.

    `type` is the kind of fault in the API server's words where it has one ("Required value", "Unknown field", ...).
    `server_text` is the whole text of a v1.36 API server after the path, where ours differs from it.
    """

    file: str
    line: int
    column: int
    path: str
    type: str
    text: str
    severity: Severity = "error"
    hint: str = ""
    server_text: str = ""


def format_problem(problem: Problem, source_text: str) -> str:
    """Render a problem as file:line:column, path, text, hint, and the source line with a caret.

    What a terminal would act upon, in a file's name or in a value, is shown as an escape.
    """
    place = f"{problem.file}:{problem.line}:{problem.column}"
    what = f"{problem.type}: {problem.text}" if problem.text else problem.type
    path = f" {problem.path}:" if problem.path else ""
    lines = [_printable(f"{place}: {problem.severity}:{path} {what}")]
    lines += _source_lines(problem, source_text)
    if problem.hint:
        lines.append(_printable(f"  hint: {problem.hint}"))
    return "\n".join(lines)


def _printable(text: str) -> str:
    shown = (each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode() for each in text)
    return "".join(shown)


def _source_lines(problem: Problem, source_text: str) -> list[str]:
    lines = source_text.split("\n", problem.line)
    if not 0 < problem.line <= len(lines):
        return []
    line = lines[problem.line - 1].rstrip("\r").removeprefix("\ufeff")
    start = max(0, problem.column - _LONGEST_LINE // 2) if len(line) > _LONGEST_LINE else 0
    shown = line[start : start + _LONGEST_LINE]
    printable = "".join(each if each.isprintable() else " " for each in shown)
    if not printable.strip():
        return []
    return [f"  {problem.line} | {printable}", " " * (len(str(problem.line)) + 4 + problem.column - start) + "^"]
