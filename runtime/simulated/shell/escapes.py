"""Backslash escapes of C, as printf, echo -e and $'...' have them."""

from __future__ import annotations

import re

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", "e": "\x1b"}
ESCAPE = re.compile(r"\\(?:([ntrabfve\\])|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(c))")


def unescape(text: str, escape: re.Pattern[str] = ESCAPE) -> tuple[str, bool]:
    r"""Return a text with its escapes replaced, and whether \c cut it off."""
    cut = False
    parts: list[str] = []
    at = 0
    for match in escape.finditer(text):
        if match.start() < at:
            continue
        parts.append(text[at : match.start()])
        at = match.end()
        if match[4]:
            cut = True
            at = len(text)
            break
        if match[1]:
            parts.append(_ESCAPES.get(match[1], match[1]))
        else:
            code = int(match[2], 16) if match[2] else int(match[3] or "0", 8) & 255
            parts.append(bytes([code]).decode(errors="surrogateescape"))
    parts.append(text[at:])
    return "".join(parts), cut
