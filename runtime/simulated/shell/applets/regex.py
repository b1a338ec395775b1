"""POSIX regular expressions, translated to Python's."""

from __future__ import annotations

import re
from functools import lru_cache

from runtime.simulated.shell.applets.base import AppletError

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F", "print": r"\x20-\x7e", "graph": "!-~",
    "cntrl": r"\x00-\x1f\x7f", "word": r"\w",
}  # fmt: skip
_CACHED = 512
_REASONS = {
    "missing ), unterminated subpattern": "Unmatched ( or \\(", "unbalanced parenthesis": "Unmatched ) or \\)",
    "unterminated character set": "Unmatched [, [^, [:, [., or [=",
    "nothing to repeat": "Invalid preceding regular expression", "invalid group reference": "Invalid back reference",
}  # fmt: skip


class BadPatternError(AppletError):
    """A pattern that is none; `reason` is the C library's."""

    def __init__(self, pattern: str, reason: str) -> None:
        """Keep the reason."""
        super().__init__(f"bad regex '{pattern}'", 2)
        self.reason = reason


@lru_cache(maxsize=_CACHED)
def basic(pattern: str, *, ignores_case: bool = False) -> re.Pattern[str]:
    r"""Compile a basic expression: \( \) \{ \} \| \+ \? are the special ones; AppletError."""
    return _compile(_translate(pattern, is_basic=True), pattern, ignores_case=ignores_case)


@lru_cache(maxsize=_CACHED)
def extended(pattern: str, *, ignores_case: bool = False) -> re.Pattern[str]:
    """Compile an extended expression; AppletError."""
    return _compile(_translate(pattern, is_basic=False), pattern, ignores_case=ignores_case)


def _compile(translated: str, pattern: str, *, ignores_case: bool) -> re.Pattern[str]:
    try:
        return re.compile(translated, re.DOTALL | (re.IGNORECASE if ignores_case else re.NOFLAG))
    except re.error as error:
        raise BadPatternError(pattern, _REASONS.get(error.msg.partition(" at ")[0], error.msg)) from error


def _translate(pattern: str, *, is_basic: bool) -> str:
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[" and (end := _bracket_end(pattern, at)):
            parts.append(_bracket(pattern[at:end]))
            at = end
            continue
        if char == "\\" and at + 1 < len(pattern):
            parts.append(_escaped(pattern[at + 1], is_basic=is_basic))
            at += 2
            continue
        if char == "$":
            is_anchor = not is_basic or at + 1 == len(pattern) or pattern.startswith((r"\)", r"\|"), at + 1)
            parts.append(r"\Z" if is_anchor else r"\$")
        else:
            parts.append(_plain(char, parts, is_basic=is_basic))
        at += 1
    return "".join(parts)


def _plain(char: str, parts: list[str], *, is_basic: bool) -> str:
    at_start = not parts or parts[-1] in {"(", "|", "^"}
    if is_basic:
        if char == "*" and at_start:
            return r"\*"
        if char == "^":
            return "^" if at_start else r"\^"
        return "\\" + char if char in "+?(){}|" else char
    return r"\*" if char == "*" and not parts else char


def _escaped(char: str, *, is_basic: bool) -> str:
    if is_basic and char in "(){}|+?":
        return char
    if char.isdigit() or char in "wWsSbB":
        return "\\" + char
    if char in "<>":
        return r"\b"
    return {"n": r"\n", "t": r"\t"}.get(char, re.escape(char))


def _bracket_end(pattern: str, start: int) -> int:
    at = start + 1
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        at = pattern.find(":]", at) + 1 if pattern.startswith("[:", at) and ":]" in pattern[at:] else at
        at += 1
    return at + 1 if at < len(pattern) else 0


def _bracket(text: str) -> str:
    body = text[1:-1]
    negated = body.startswith("^")
    body = body[1:] if negated else body
    pieces = re.split(r"\[:(\w+):\]", body)
    inner = "".join(
        _CLASSES.get(piece, "") if place % 2 else re.sub(r"([\[\]\\^&~|])", r"\\\1", piece)
        for place, piece in enumerate(pieces)
    )
    return f"[{'^' if negated else ''}{inner}]"
