"""Plain values as the text of a simulate.yaml: a line for each field of a container, and for each line of its log.

What is written reads back as it was: every text that is not a plain word is quoted.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEAD = "# {what}\n# Fields: docs/SIMULATE.md\n"
_WORD = re.compile(r"[A-Za-z/][A-Za-z0-9_./:-]*[A-Za-z0-9_/]")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")  # a longer one may read back as a float
_TAKEN = re.compile(r"(?i:true|false|yes|no|on|off|null|nan|inf)")
_UNPRINTABLE = re.compile("[\x7f-\x9f\ufeff\ud800-\udfff\ufffe\uffff\u2028\u2029]")


def to_text(document: Mapping[str, object], what: str) -> str:
    """Return the text of a document; `what` says in its first line where it comes from."""
    return "\n".join([HEAD.format(what=what).rstrip("\n"), *_block(document, 0)]) + "\n"


def _block(value: Mapping[str, object], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, each in value.items():
        name = f"{indent}{_key(key)}:"
        if isinstance(each, dict) and each and depth < 2:
            yield name
            yield from _block(each, depth + 1)
        elif key == "runs" and isinstance(each, list):
            yield name
            yield from _items(each, depth)
        elif key == "lines" and isinstance(each, list) and each:
            yield name
            yield from (f"{indent}- {_flow(item)}" for item in each)
        else:
            yield f"{name} {_flow(each)}"


def _items(runs: list[object], depth: int) -> Iterator[str]:
    """Yield runs as blocks of their own."""
    indent = "  " * depth
    for run in runs:
        if not isinstance(run, dict) or not run:
            yield f"{indent}- {_flow(run)}"
            continue
        first, *rest = _block(run, depth + 1)
        yield f"{indent}- {first.removeprefix(indent + '  ')}"
        yield from rest


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _key(key: str) -> str:
    return key if _NUMBER.fullmatch(key) else _scalar(key)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        if _WORD.fullmatch(value) and not _TAKEN.fullmatch(value) and ": " not in value:
            return value
        return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return str(value)
