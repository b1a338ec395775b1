"""Reading one variable out of an env file (KEP-3721, `fileKeyRef`).

Source: kubelet v1.36 pkg/kubelet/util/env: a strict subset of a shell's syntax, `KEY='value'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class EnvFileError(ValueError):
    """The file is not of the format before the wanted key is found."""


def read_key(text: str, key: str) -> str:
    """Return the value of the first line that sets `key`, empty when none does; EnvFileError.

    Values stand between single quotes, may span lines and are literal. A blank after `=` sets the empty value.
    What follows the line that sets `key` is not looked at. Source: kubelet v1.36 util/env ParseEnv.
    """
    lines = iter([line.removesuffix("\r") for line in text.split("\n")])
    for raw in lines:
        line = raw.lstrip(" \t")
        if not line or line.startswith("#"):
            continue
        name, equals, rest = line.partition("=")
        if not equals or not name or name != name.rstrip(" \t"):
            raise EnvFileError(f"invalid environment variable format: {line!r}")
        value = "" if rest[:1] in {" ", "\t"} else _quoted(rest, lines)
        if name == key:
            return value
    return ""


def _quoted(first: str, following: Iterator[str]) -> str:
    """Return the text between single quotes that starts in `first`, reading on where it spans lines."""
    if not first.startswith("'"):
        raise EnvFileError("value must be enclosed in single quotes")
    parts: list[str] = []
    rest = first[1:]
    while "'" not in rest:
        parts.append(rest)
        try:
            rest = next(following)
        except StopIteration:
            raise EnvFileError("unclosed single quote") from None
    last, _, after = rest.partition("'")
    after = after.lstrip(" \t")
    if after and not after.startswith("#"):
        raise EnvFileError("unexpected content after closing quote")
    return "\n".join([*parts, last])
