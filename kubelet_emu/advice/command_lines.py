"""What a command line is known to do: `sleep`, `tail -f`, a server, a script of `sh -c`, and what launchers start."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.advice.flows import Flow, is_harmless, sleep_seconds, tail_follows, term_action
from kubelet_emu.advice.known_servers import is_server_program
from kubelet_emu.advice.programs import Deafness, Program
from kubelet_emu.advice.scripts import read_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.advice.scripts import Script

_SHELLS = frozenset({"sh", "ash", "bash", "dash"})
_LAUNCHERS = frozenset({"tini", "dumb-init", "catatonit", "docker-init", "tini-static"})


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
