"""How long a script goes on, and what becomes of a stop signal meanwhile.

Everything is a lower bound: what isn't known takes no time, and where a script may leave early nothing is certain.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.advice.scripts import Kind, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SLEEP = re.compile(r"(\d+\.?\d*|\.\d+)([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_HARMLESS = frozenset(
    {"echo", "printf", "true", ":", "sleep", "date", "export", "cd", "umask", "set", "local", "readonly"}
)
_LEAVING = frozenset({"exit", "exec", "return", "break", "kill", "pkill", "killall", "source", ".", "eval", "reboot"})
_TRUE_TESTS = frozenset({("1",), ("true",), ("1", "=", "1"), ("1", "-eq", "1"), ("1", "==", "1")})
_TERM = frozenset({"TERM", "SIGTERM", "15"})


def sleep_seconds(words: Sequence[str]) -> float | None:
    """Return how long `sleep WORDS` takes, None where that isn't known."""
    total = 0.0
    for word in words:
        if word.lower() in {"infinity", "inf"}:
            total = math.inf
        elif found := _SLEEP.fullmatch(word):
            total += float(found[1]) * _SECONDS[found[2]]
        else:
            return None
    return total if words else None


def tail_follows(words: Sequence[str]) -> tuple[bool, bool]:
    """Tell whether `tail WORDS` goes on after the end of a file, and whether it does so without the file, too."""
    options = [word for word in words if word.startswith("-")]
    if any(word.startswith("--pid") for word in options):
        return False, False
    retries = any(re.fullmatch(r"-[a-zA-Z0-9]*F[0-9]*|--follow=name.*", word) for word in options)
    follows = retries or any(re.fullmatch(r"-[a-zA-Z0-9]*f[0-9]*|--follow(=descriptor)?", word) for word in options)
    return follows, follows and (retries or "/dev/null" in words)


@define
class Flow:
    """What a script does, statement by statement.

    `lasts` is the least time that it takes if nothing fails, in seconds; `is_certain` holds while it can't have left
    early; `longest` is the longest command in the foreground, whose text is `blocker`; `execs` is what it becomes.
    """

    is_strict: bool = False
    lasts: float = 0.0
    is_certain: bool = True
    is_over: bool = False
    longest: float = 0.0
    blocker: str = ""
    execs: tuple[str, ...] | None = None
    traps: list[tuple[str, ...]] = field(factory=list)

    def follow(self, statements: Iterable[Statement]) -> None:
        """Go through statements that run one after the other."""
        for each in statements:
            if self.is_over or self.lasts == math.inf:
                return
            if not each.in_background:
                self._follow(each)
            elif leaves(each):
                self.is_certain = False

    def _follow(self, each: Statement) -> None:
        match each.kind:
            case Kind.COMMAND:
                self._command(each)
            case Kind.WHILE | Kind.UNTIL:
                self._loop(each)
            case Kind.GROUP:
                self.follow(each.parts)
            case Kind.AND:
                self._and(each)
            case Kind.TEST | Kind.ASSIGNMENT:
                self.is_certain &= not self.is_strict
            case _:
                self.is_certain &= not leaves(each) and not self.is_strict

    def _and(self, each: Statement) -> None:
        """Go on to the right side only where the left one can't fail."""
        first, *rest = each.parts
        self._follow(first)
        if is_harmless(first):
            self.follow(rest)
        elif any(leaves(part) for part in each.parts):
            self.is_certain = False

    def _command(self, each: Statement) -> None:
        args = each.words[1:]
        match each.name:
            case "trap":
                self.traps.append(args)
            case "set":
                self.is_strict |= any(re.fullmatch(r"-[a-z]*[eu][a-z]*", word) for word in args)
            case "sleep":
                seconds = sleep_seconds(args)
                if seconds is None:
                    self.is_certain = False
                else:
                    self._blocks(seconds, each.text)
            case "tail" if tail_follows(args)[0]:
                self.is_certain &= tail_follows(args)[1]
                self._blocks(math.inf, each.text)
            case "exec" if args:
                self.execs, self.is_over = args, True
            case "exit" | "return":
                self.is_over = True
            case name if name in _LEAVING or name == "wait":
                self.is_certain = False
            case name if name not in _HARMLESS:
                self.is_certain &= not self.is_strict

    def _blocks(self, seconds: float, text: str) -> None:
        self.lasts += seconds
        if seconds > self.longest:
            self.longest, self.blocker = seconds, text

    def _loop(self, each: Statement) -> None:
        """Take a loop for endless when its condition always holds and nothing in it leaves."""
        inside = [part for part in each.walk() if part is not each]
        if any(leaves(part) for part in inside):
            self.is_certain = False
            return
        if not is_always(each):
            self.is_certain &= not self.is_strict
            return
        waits = [part for part in inside if part.name == "sleep" and not part.in_background]
        sleeps = [(sleep_seconds(part.words[1:]) or 0.0, part.text) for part in waits]
        longest, text = max(sleeps, default=(0.0, ""))
        if longest > self.longest:
            self.longest, self.blocker = longest, text
        unsafe = [part for part in inside if part.kind is Kind.COMMAND and part.name not in _HARMLESS]
        self.is_certain &= not (self.is_strict and unsafe)
        self.lasts = math.inf

    @property
    def is_endless(self) -> bool:
        """Tell whether it is certain that the script never ends."""
        return self.is_certain and self.lasts == math.inf


def leaves(statement: Statement) -> bool:
    """Tell whether a statement, or one inside it, may end the script, its loop or another process."""
    return any(each.kind is Kind.COMMAND and each.name in _LEAVING for each in statement.walk())


def is_harmless(statement: Statement) -> bool:
    """Tell whether a statement is a command that always succeeds and starts nothing."""
    is_plain = statement.kind is Kind.ASSIGNMENT or statement.name in _HARMLESS
    return is_plain and "$(" not in statement.text and "`" not in statement.text


def is_always(loop: Statement) -> bool:
    """Tell whether a loop's condition holds for ever."""
    if len(loop.condition) != 1:
        return False
    test = loop.condition[0]
    if loop.kind is Kind.UNTIL:
        return test.kind is Kind.COMMAND and test.name == "false"
    if test.kind is Kind.TEST:
        return test.words in _TRUE_TESTS
    is_true_test = test.words[:1] == ("test",) and test.words[1:] in _TRUE_TESTS
    return test.kind is Kind.COMMAND and (test.name in {"true", ":", "sleep"} or is_true_test)


def term_action(traps: Iterable[Sequence[str]]) -> str | None:
    """Return what the last of some traps does at SIGTERM, empty for one that asks for deafness; None without any."""
    actions = [args[0] for args in traps if len(args) > 1 and set(args[1:]) & _TERM]
    return actions[-1] if actions and actions[-1] != "-" else None
