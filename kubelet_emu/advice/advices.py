"""What an advice is, and what all rules of advice share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubelet_emu.advice.subjects import Part, Subject


@frozen(kw_only=True)
class Advice:
    """One advice about a pod, at a field of its spec (empty: the spec itself); `change` is a diff that follows it."""

    code: str
    path: str
    text: str
    hint: str = ""
    change: str = field(default="", repr=False)


@frozen(kw_only=True)
class Rule:
    """A rule of advice: its code, what it is about, and what finds it."""

    code: str
    title: str
    find: Callable[[Subject], Iterator[Advice]]


def names_of(parts: Sequence[Part]) -> str:
    """Return names in one phrase: `a`, `a and b`, `a, b and c`."""
    return listed([part.name for part in parts])


def listed(words: Sequence[str]) -> str:
    """Return words in one phrase."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def verb(parts: Sequence[Part], one: str, many: str) -> str:
    """Return the form of a verb for so many containers."""
    return one if len(parts) == 1 else many


def seconds(value: float) -> str:
    """Return a length of time for a message."""
    return f"{value:g} s"


def short(text: str, width: int = 60) -> str:
    """Return a command in one line that isn't too long."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
