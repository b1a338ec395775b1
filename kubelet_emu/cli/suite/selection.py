"""`-k`: which scenarios are wanted, by parts of their names with `and`, `or`, `not` and parentheses. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import define

Wanted = Callable[[str], bool]

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")
_OPERATORS = frozenset({"and", "or", "not", "(", ")"})


def read_filter(text: str) -> Wanted:
    """Return what tells whether a name is wanted; ValueError for a text that can't be read.

    A word is wanted anywhere in the name, upper or lower case. An empty text wants everything.
    """
    tokens = _TOKEN.findall(text)
    if not tokens:
        return lambda _: True
    reader = _Reader(tokens)
    wanted = reader.either()
    if reader.tokens:
        raise ValueError(f"{text!r}: {reader.tokens[0]!r} can't stand here: join words by and, or, not")
    return wanted


@define
class _Reader:
    """Reads `or` of `and` of `not` of words, as Python binds them."""

    tokens: list[str]

    def either(self) -> Wanted:
        parts = [self._both()]
        while self._skip("or"):
            parts.append(self._both())
        return lambda name: any(part(name) for part in parts)

    def _both(self) -> Wanted:
        parts = [self._negated()]
        while self._skip("and"):
            parts.append(self._negated())
        return lambda name: all(part(name) for part in parts)

    def _negated(self) -> Wanted:
        if self._skip("not"):
            inner = self._negated()
            return lambda name: not inner(name)
        if self._skip("("):
            inner = self.either()
            if not self._skip(")"):
                raise ValueError("a parenthesis isn't closed")
            return inner
        if not self.tokens or self.tokens[0] in _OPERATORS:
            raise ValueError(f"a word is needed {f'before {self.tokens[0]!r}' if self.tokens else 'at the end'}")
        word = self.tokens.pop(0).lower()
        return lambda name: word in name.lower()

    def _skip(self, token: str) -> bool:
        if self.tokens[:1] != [token]:
            return False
        self.tokens.pop(0)
        return True
