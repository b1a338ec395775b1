"""Shell patterns: `*`, `?`, `[...]`, where quoted characters stand for themselves."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r" \t\n\r\f\v",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F", "print": " -~", "graph": "!-~",
    "cntrl": r"\0-\x1f\x7f",
}  # fmt: skip
_NOTHING = "(?!)"
"""Matches nothing: a pattern can't end with a backslash."""
_CACHED_PATTERNS = 1024


def quote(text: str) -> str:
    """Return a pattern that matches a text literally."""
    return "".join("\\" + char if char in "*?[]\\!-^" else char for char in text)


def unquote(pattern: str) -> str:
    """Return the text that a pattern without special characters matches."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def is_pattern(pattern: str) -> bool:
    """Tell whether a pattern has special characters that aren't quoted."""
    return re.search(r"(?<!\\)(?:\\\\)*[*?[]", pattern) is not None


@lru_cache(maxsize=_CACHED_PATTERNS)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern, to be used with fullmatch; a backslash quotes."""
    try:
        return re.compile("".join(_pieces(pattern)), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))


def matches(pattern: str, text: str) -> bool:
    """Tell whether a text matches a pattern as a whole, byte by byte as busybox does it."""
    return compile_pattern(_bytes(pattern)).fullmatch(_bytes(text)) is not None


def _bytes(text: str) -> str:
    """Return a text with a character for each of its bytes."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode("latin-1")


def _characters(text: str) -> str:
    """Return what `_bytes` made of a text, or a part of it."""
    return text if text.isascii() else text.encode("latin-1").decode(errors="surrogateescape")


def _pieces(pattern: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            at += 1
            found.append(re.escape(pattern[at]))
        elif char == "\\":
            found.append(_NOTHING)
        elif char == "*":
            found.append(".*")
        elif char == "?":
            found.append(".")
        elif char == "[" and (end := _bracket_end(pattern, at)):
            found.append(_bracket(pattern[at + 1 : end]))
            at = end
        else:
            found.append(re.escape(char))
        at += 1
    return found


def _bracket_end(pattern: str, start: int) -> int:
    """Return where a bracket expression closes, 0 when it does not."""
    at = start + 1
    if pattern[at : at + 1] in {"!", "^"}:
        at += 1
    if pattern[at : at + 1] == "]":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        if pattern.startswith("[:", at) and ":]" in pattern[at:]:
            at = pattern.index(":]", at) + 1
        elif pattern[at] == "\\":
            at += 1
        at += 1
    return at if at < len(pattern) else 0


def _bracket(body: str) -> str:
    negated = body[:1] in {"!", "^"}
    body = body[1:] if negated else body
    body = re.sub(r"\[:(\w+):\]", lambda match: f"\0{match[1]}\0", body)
    parts = body.split("\0")
    inner = "".join(_CLASSES.get(part, "") if index % 2 else _escape_bracket(part) for index, part in enumerate(parts))
    return f"[{'^' if negated else ''}{inner}]" if inner else _NOTHING


def _escape_bracket(text: str) -> str:
    found = ""
    at = 0
    while at < len(text):
        quoted = text[at] == "\\" and at + 1 < len(text)
        at += quoted
        found += ("\\" if quoted or text[at] in "[]\\^&~|" else "") + text[at]
        at += 1
    return re.sub(r"\\([A-Za-z0-9])", r"\1", found)


def strip(value: str, pattern: str, op: str) -> str:
    """Return a value without the part that `#`, `##`, `%` or `%%` takes away."""
    value, compiled = _bytes(value), compile_pattern(_bytes(pattern))
    ends: Sequence[int] = range(len(value) + 1)
    if op in {"##", "%"}:
        ends = ends[::-1]
    for end in ends:
        if op.startswith("#") and compiled.fullmatch(value, 0, end):
            return _characters(value[end:])
        if op.startswith("%") and compiled.fullmatch(value, end):
            return _characters(value[:end])
    return _characters(value)


def replace(value: str, pattern: str, replacement: str, *, everywhere: bool) -> str:
    """Return a value with the longest matches of a pattern replaced, from the left (bash's and busybox's `/`)."""
    compiled = compile_pattern(pattern)
    result, at = "", 0
    while at <= len(value):
        end = next((end for end in range(len(value), at, -1) if compiled.fullmatch(value, at, end)), None)
        if end is None:
            result += value[at : at + 1]
            at += 1
            continue
        result += replacement
        at = end
        if not everywhere:
            break
    return result + value[at:]
