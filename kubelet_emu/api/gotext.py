"""Go's ways of writing a string and a duration, as they appear in Kubernetes' own texts.

Messages of the API and of the kubelet hold `%q` strings and `time.Duration` values; both live here once.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}
_QUOTED = frozenset('\\"')
_LAST_ASCII = 0x7F
_LAST_BMP = 0xFFFF


def quote(text: str) -> str:
    """Return `text` as Go's %q writes it (Go strconv.Quote)."""
    if text.isascii() and text.isprintable() and not _QUOTED.intersection(text):
        return f'"{text}"'
    return '"' + "".join(_escape(character) for character in text) + '"'


def quote_list(texts: tuple[str, ...]) -> str:
    """Return texts as Go's %v writes a slice of strings."""
    return "[" + " ".join(texts) + "]"


def format_duration(duration: timedelta) -> str:
    """Return a duration as Go's time.Duration.String writes it: 0s, 412ms, 1.503s, 1m2.004s, 2h0m0s."""
    microseconds = round(duration.total_seconds() * 1_000_000)
    sign, microseconds = ("-", -microseconds) if microseconds < 0 else ("", microseconds)
    if microseconds == 0:
        return "0s"
    if microseconds < 1_000_000:
        unit, name = (1_000, "ms") if microseconds >= 1_000 else (1, "µs")
        return f"{sign}{_decimal(microseconds, unit)}{name}"
    minutes, rest = divmod(microseconds, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, 1_000_000)}s"
    if minutes or hours:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    if not part:
        return str(whole)
    digits = len(str(unit)) - 1
    return f"{whole}.{part:0{digits}d}".rstrip("0")


def _escape(character: str) -> str:
    known = _ESCAPES.get(character)
    if known is not None:
        return known
    if character == " " or unicodedata.category(character)[0] in "LMNPS":
        return character
    code = ord(character)
    if code <= _LAST_ASCII:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_BMP else f"\\U{code:08x}"
