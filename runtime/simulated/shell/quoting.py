"""How a shell writes a word so that it can be read again."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def single_quoted(text: str) -> str:
    """Return a text in single quotes."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def show(text: str) -> str:
    """Return a word as `set -x` shows it: quoted only where it must be."""
    return text if _PLAIN.fullmatch(text) else single_quoted(text)
