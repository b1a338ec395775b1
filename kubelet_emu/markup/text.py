"""Texts in XML 1.0, which doesn't allow every character."""

from __future__ import annotations

import re
from html import escape

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_safe(text: str) -> str:
    r"""Return text with \xNN for each character that XML doesn't allow: control characters, lone surrogates."""
    return _NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def xml_text(text: str) -> str:
    """Return text as it is written between tags and in attributes."""
    return escape(xml_safe(text))
