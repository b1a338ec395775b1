"""What a container's first process is known to do: whether it ends, and whether it hears SIGTERM."""

from __future__ import annotations

import enum
import math
import re
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.advice.flows import Flow, is_harmless, sleep_seconds, tail_follows, term_action
from kubelet_emu.advice.known_servers import has_no_entry_point, is_server_image, is_server_program
from kubelet_emu.advice.scripts import read_script
from kubelet_emu.rules.expansion import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.advice.scripts import Script
    from kubelet_emu.api.v1 import Container

_SHELLS = frozenset({"sh", "ash", "bash", "dash"})
_LAUNCHERS = frozenset({"tini", "dumb-init", "catatonit", "docker-init", "tini-static"})


class Deafness(enum.Enum):
    """Why a first process doesn't end at SIGTERM.

    It has no handler; its trap waits for a command to end, or doesn't end it; or it asks for that: `trap '' TERM`.
    """

    NO_HANDLER = enum.auto()
    NO_TRAP = enum.auto()
    TRAP_WAITS = enum.auto()
    TRAP_GOES_ON = enum.auto()
    ASKED_FOR = enum.auto()


@frozen(kw_only=True)
class Program:
    """What is known of a program; nothing is known of the default.

    `is_endless`: it is certain that it never ends. `is_server`: it is known as one. `deaf_seconds`: for how long, at
    least, it goes on without a reaction to SIGTERM where it is process 1, because of `deafness`; `blocker` is the
    command in the foreground that takes `longest`.
    """

    words: tuple[str, ...] = ()
    script: Script | None = None
    lasts: float = 0.0
    is_endless: bool = False
    is_server: bool = False
    deaf_seconds: float = 0.0
    deafness: Deafness | None = None
    longest: float = 0.0
    blocker: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        """Return the command line, or the script of a shell."""
        return self.words[-1] if self.script is not None else " ".join(self.words)

    @property
    def never_ends(self) -> bool:
        """Tell whether nobody expects it to end by itself."""
        return self.is_endless or self.is_server


def program_of(container: Container) -> Program:
    """Return what is known of the program that a container runs."""
    words = tuple(expanded(container, (*container.command, *container.args)))
    if not container.command and not has_no_entry_point(container.image or ""):
        return Program(is_server=is_server_image(container.image or "", words))
    return program_of_words(words)


def program_of_words(words: Sequence[str]) -> Program:
    """Return what is known of a command line."""
    words = tuple(words)
    if not words:
        return Program()
    name = words[0].rpartition("/")[2]
    if name == "busybox" and len(words) > 1:
        return program_of_words(words[1:])
    if name in _LAUNCHERS:
        return _launched(words)
    if name in _SHELLS:
        return _shell(words)
    return _plain(words)


def expanded(container: Container, words: Sequence[str]) -> list[str]:
    """Return words of a command with the variables that are literal in the manifest replaced."""
    known = {each.name: each.value for each in container.env if each.value is not None and "$(" not in each.value}
    return [expand(word, known) for word in words]


def script_of(words: Sequence[str]) -> str | None:
    """Return the script of `sh -c SCRIPT`, None for another command line."""
    return _split_shell(words)[1]


def is_strict(words: Sequence[str]) -> bool:
    """Tell whether a shell ends at the first command that fails, or at a variable that isn't set."""
    return any(re.fullmatch(r"-[a-z]*[eu][a-z]*", word) for word in _split_shell(words)[0])


def _split_shell(words: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """Return a shell's options and its script; options that take a word of their own count both."""
    if not words or words[0].rpartition("/")[2] not in _SHELLS:
        return (), None
    options: list[str] = []
    rest = list(words[1:])
    has_script = False
    while rest and re.fullmatch(r"[-+][a-zA-Z]+", rest[0]):
        option = rest.pop(0)
        options.append(option)
        has_script |= option.startswith("-") and "c" in option
        if option.endswith("o") and rest:
            options.append(rest.pop(0))
    return tuple(options), rest[0] if has_script and rest else None


def _launched(words: tuple[str, ...]) -> Program:
    """Return what an init such as tini starts: it passes signals on, and what it starts isn't process 1."""
    after = words.index("--") + 1 if "--" in words else 1
    while after < len(words) and words[after].startswith("-"):
        after += 1
    return evolve(program_of_words(words[after:]), words=words, deaf_seconds=0.0, deafness=None)


def _plain(words: tuple[str, ...]) -> Program:
    name, args = words[0].rpartition("/")[2], words[1:]
    if name == "sleep" and (seconds := sleep_seconds(args)) is not None:
        return Program(
            words=words,
            lasts=seconds,
            is_endless=seconds == math.inf,
            deaf_seconds=seconds,
            deafness=Deafness.NO_HANDLER,
            longest=seconds,
            blocker=" ".join(words),
        )
    follows, for_ever = tail_follows(args) if name == "tail" else (False, False)
    if follows:
        return Program(
            words=words,
            lasts=math.inf,
            is_endless=for_ever,
            deaf_seconds=math.inf,
            deafness=Deafness.NO_HANDLER,
            longest=math.inf,
            blocker=" ".join(words),
        )
    return Program(words=words, is_server=is_server_program(words))


def _shell(words: tuple[str, ...]) -> Program:
    text = script_of(words)
    script = None if text is None else read_script(text)
    if script is None:
        return Program(words=words)
    flow = Flow(is_strict=is_strict(words))
    flow.follow(script)
    if flow.execs is not None:
        after = program_of_words(flow.execs)
        is_sure = flow.is_certain
        return evolve(after, words=words, script=script, is_endless=after.is_endless and is_sure)
    known = Program(
        words=words,
        script=script,
        lasts=flow.lasts,
        is_endless=flow.is_endless,
        is_server=_serves(script),
        longest=flow.longest,
        blocker=flow.blocker,
    )
    return _with_deafness(known, flow, script)


def _serves(script: Script) -> bool:
    """Tell whether a script is one command that is a server."""
    return len(script) == 1 and is_server_program(script[0].words)


def _with_deafness(program: Program, flow: Flow, script: Script) -> Program:
    """Add what a shell that doesn't `exec` does about SIGTERM: nothing, or what its trap says, but late."""
    inside = [each for statement in script for each in statement.walk()]
    if any(each.name in {"exec", "source", ".", "eval"} for each in inside):
        return program
    if not any(each.name == "trap" for each in inside):
        return evolve(program, deaf_seconds=flow.lasts, deafness=Deafness.NO_TRAP)
    action = term_action(flow.traps)
    if action is None:
        return program
    if not action:
        return evolve(program, deaf_seconds=flow.lasts, deafness=Deafness.ASKED_FOR)
    if all(is_harmless(each) for each in read_script(action) or script):
        return evolve(program, deaf_seconds=flow.lasts, deafness=Deafness.TRAP_GOES_ON)
    return evolve(program, deaf_seconds=flow.longest, deafness=Deafness.TRAP_WAITS)
