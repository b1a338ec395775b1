"""Objects as YAML, as kubectl writes them: keys by name, lists under their key, texts quoted where they have to be.

Pure. Source: sigs.k8s.io/yaml, go-yaml v2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# what YAML 1.1 or 1.2 would read as something else than a text
_NO_TEXT = re.compile(
    r"""(?xi) ~ | null | true | false | y | n | yes | no | on | off | \.nan | [-+]?\.inf
    | [-+]?[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)? | [-+]?\.[0-9_]+(e[-+]?[0-9]+)?
    | [-+]?0[xob][0-9a-f_]+ | [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\x20].*)?"""
)
WIDTH = 80
_MERGE = frozenset({"<<", "="})
_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`")
_UNPRINTABLE = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def to_yaml(obj: Mapping[str, object]) -> str:
    """Return an object as text."""
    return "\n".join(_mapping(obj, "")) + "\n" if obj else "{}\n"


def _mapping(value: Mapping[str, object], indent: str) -> Iterator[str]:
    for key in sorted(value):
        yield from _entry(f"{indent}{_text(key, '', None)}:", value[key], indent)


def _entry(head: str, value: object, indent: str) -> Iterator[str]:
    """Yield a key with its value."""
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent + "  ")
    elif isinstance(value, list) and value:
        yield head
        yield from _items(value, indent)
    else:
        yield f"{head} {_scalar(value, indent, len(head) + 1)}"


def _items(values: Sequence[object], indent: str) -> Iterator[str]:
    """Yield the items of a list, a mapping's first key beside the dash."""
    inner = indent + "  "
    for value in values:
        if isinstance(value, Mapping) and value:
            first, *rest = _mapping(value, inner)
            yield f"{indent}- {first.removeprefix(inner)}"
            yield from rest
        elif isinstance(value, list) and value:
            first, *rest = _items(value, inner)
            yield f"{indent}- {first.removeprefix(inner)}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(value, indent, len(inner))}"


def _scalar(value: object, indent: str, column: int) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value, indent + "  ", column)
        case int() | float():
            return str(value)
        case _:
            return "{}" if isinstance(value, Mapping) else "[]"


def _text(text: str, indent: str, column: int | None) -> str:
    """Return a text that begins in a column of its line; a key has none, and stays on one line."""
    if not text or _NO_TEXT.fullmatch(text) or _UNPRINTABLE.search(text):
        return _double(text)
    if "\n" in text:
        return _literal(text, indent) if column is not None else _double(text)
    if _is_plain(text):
        return text if column is None else _folded(text, indent, column)
    quoted = "'" + text.replace("'", "''") + "'"
    return quoted if column is None else _folded(quoted, indent, column)


def _folded(text: str, indent: str, column: int) -> str:
    """Break a text at the first blank behind `WIDTH` of each line; never beside another blank, nor beside a quote."""
    lines, begin, used = [], 0, column
    for at, character in enumerate(text):
        around = text[max(0, at - 1) : at + 2]
        if character == " " and used > WIDTH and around.count(" ") == 1 and 1 < at < len(text) - 2:
            lines.append(text[begin:at])
            begin, used = at + 1, len(indent)
        else:
            used += 1
    return f"\n{indent}".join([*lines, text[begin:]])


def _is_plain(text: str) -> bool:
    """Tell whether a text of one line may stand as it is."""
    if text in _MERGE or text != text.strip(" ") or text.startswith(("---", "...")):
        return False
    if text[0] in _FIRST and not (text[0] in "-?:" and len(text) > 1 and text[1] != " "):
        return False
    return ": " not in text and " #" not in text and not text.endswith(":") and "\t" not in text


def _literal(text: str, indent: str) -> str:
    """Return a text of several lines as a block; one that a block can't hold is quoted."""
    if " \n" in text or not text.strip("\n "):
        return _double(text)
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomp = {0: "-", 1: ""}.get(ends, "+")
    hint = "2" if body.startswith((" ", "\n")) else ""
    lines = [f"{indent}{line}" if line else "" for line in body.split("\n")]
    return "\n".join([f"|{hint}{chomp}", *lines, *[""] * (ends - 1)])


def _double(text: str) -> str:
    """Return a text in double quotes; JSON's escapes are YAML's, too."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: _escape(found[0]), quoted)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
