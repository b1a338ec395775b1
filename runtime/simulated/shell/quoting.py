"""How a shell writes a word so that it can be read again."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[+-:@-Z\]^_a-z]*")
KEYWORDS = frozenset(
    {"!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while", "{", "}"}
)
"""Words of the grammar."""


def single_quoted(text: str) -> str:
    """Return a text in single quotes, with those that it has in double ones (ash's single_quote)."""
    pieces = re.findall(r"([^']*)('*)", text)[:-1] or [("", "")]
    return "".join(f"'{plain}'" + (f'"{quotes}"' if quotes else "") for plain, quotes in pieces)


def show(text: str) -> str:
    """Return a word as `set -x` shows it: quoted only where it must be (ash's maybe_single_quote)."""
    return text if _PLAIN.fullmatch(text) and text not in KEYWORDS else single_quoted(text)
