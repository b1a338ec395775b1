"""JSON as Go writes it. Pure. Source: Go encoding/json."""

from __future__ import annotations

import json

_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return a value as Go's encoding/json writes it: keys by name, `<`, `>` and `&` as escapes, for a page's sake."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=False, separators=separators)
    return text.translate(_ESCAPED)
