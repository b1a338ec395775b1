"""What an app's own lines mean: rules that turn log lines into moments.

A rule is `WHAT=REGEX` or `CONTAINER:WHAT=REGEX`. A rule that is given takes the place of the default for the same WHAT,
for all containers or for the one it names. Invariant: a pattern is searched in the line without its prefix and colours.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class MomentKind(enum.Enum):
    """What a line may say; the words are those of the moments of scenarios."""

    STARTED = "started"
    EXITED = "exited"
    READY = "ready"
    SIGTERM = "sigterm"
    PRE_STOP_START = "prestop-start"
    PRE_STOP_END = "prestop-end"
    POST_START_START = "poststart-start"
    POST_START_END = "poststart-end"


@frozen(kw_only=True)
class MomentRule:
    """One rule; `container` is empty when it holds for every container."""

    what: MomentKind
    pattern: re.Pattern[str]
    container: str = ""

    @classmethod
    def parse(cls, text: str) -> MomentRule:
        """Read `[CONTAINER:]WHAT=REGEX`; ValueError says what is wrong with it."""
        left, equals, pattern = text.partition("=")
        container, _, word = left.strip().rpartition(":")
        known = {kind.value: kind for kind in MomentKind}
        if not equals or not pattern or word not in known:
            raise ValueError(f"{text!r} is not [CONTAINER:]WHAT=REGEX with WHAT one of {', '.join(known)}")
        try:
            return cls(what=known[word], pattern=re.compile(pattern), container=container)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from error


def _default(what: MomentKind, pattern: str) -> MomentRule:
    return MomentRule(what=what, pattern=re.compile(pattern))


DEFAULT_RULES = (
    _default(MomentKind.SIGTERM, r"\bTerminated\b"),
    _default(MomentKind.READY, r"^Ready$"),
    _default(MomentKind.PRE_STOP_START, r"^PreStop (?:Executed|Started|begin)\b"),
    _default(MomentKind.PRE_STOP_END, r"^PreStop (?:Done|end)\b"),
    _default(MomentKind.POST_START_START, r"^PostStart (?:Executed|Started|begin)\b"),
    _default(MomentKind.POST_START_END, r"^PostStart (?:Done|end)\b"),
)
"""What lines mean when nothing else is said: the words that test scripts print."""


ANY_DEFAULT = re.compile("|".join(rule.pattern.pattern for rule in DEFAULT_RULES))
"""Found in a line that any of the defaults is found in: most lines are none of them."""


@frozen
class MomentWords:
    """The rules of one reading: those that were given, and the defaults that they don't replace."""

    given: tuple[MomentRule, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> MomentWords:
        """Read rules; ValueError names the first that can't be read."""
        return cls(tuple(MomentRule.parse(text) for text in texts))

    def merged(self, other: MomentWords) -> MomentWords:
        """Return the rules of both."""
        return MomentWords((*self.given, *other.given))

    def rules_for(self, container: str, *, with_defaults: bool = True) -> tuple[MomentRule, ...]:
        """Return the rules that hold for a container: its own, those for all, then the defaults that are left."""
        own = [rule for rule in self.given if rule.container in {"", container}]
        said = {rule.what for rule in own}
        rest = [rule for rule in DEFAULT_RULES if rule.what not in said] if with_defaults else []
        return (*own, *rest)

    def has_start_rule(self, container: str) -> bool:
        """Tell whether a rule says with which line a run of the container begins."""
        return any(rule.what is MomentKind.STARTED for rule in self.rules_for(container, with_defaults=False))


def read_moments_file(path: Path) -> MomentWords:
    """Read a file of rules, one a line, `#` begins a comment line; ValueError names file and line, OSError."""
    return MomentWords(tuple(_rules_of(path)))


def _rules_of(path: Path) -> Iterator[MomentRule]:
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            yield MomentRule.parse(text)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from error
