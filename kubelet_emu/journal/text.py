"""Makes foreign text safe to show: what a container or an image writes must not move the cursor or reorder a line."""

from __future__ import annotations

import unicodedata

MAX_LINE = 8192

_NAMED = {"\n": "\\n", "\r": "\\r", "\x1b": "\\e"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_HARMLESS = {"\t", "\u200d"}


def harmless(text: str, limit: int = MAX_LINE) -> str:
    """Return `text` with control and direction characters as visible escapes, and a mark where it was cut."""
    kept, cut = text[:limit], len(text) - limit
    if not kept.isprintable():
        kept = "".join(_visible(character) for character in kept)
    return kept if cut <= 0 else f"{kept}… [{cut} more characters]"


def _visible(character: str) -> str:
    if character in _HARMLESS or unicodedata.category(character) not in _HIDDEN:
        return character
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
