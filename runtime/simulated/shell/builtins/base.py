"""What the built-ins share: how they read their options, and how they say what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated.shell.faults import ShellFault

if TYPE_CHECKING:
    from runtime.simulated.shell.interpreter import Shell


def fault(shell: Shell, name: str, text: str) -> ShellFault:
    """Return an error of a built-in, to be raised: it ends the shell if the built-in is a special one."""
    return ShellFault(f"{name}: line {shell.line}: {text}", has_place=True)


def number_of(shell: Shell, name: str, text: str) -> int:
    """Return a number given as an argument; ShellFault."""
    if not text.isdecimal():
        raise fault(shell, name, f"Illegal number: {text}")
    return int(text)


def letters(shell: Shell, arguments: list[str], known: str = "") -> tuple[str, list[str]]:
    """Return the flags in front of a built-in's other arguments, and these; ShellFault for a flag that isn't known."""
    flags = ""
    rest = arguments[1:]
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        for letter in word[1:]:
            if letter not in known:
                raise fault(shell, arguments[0], f"illegal option -{letter}")
        flags += word[1:]
    return flags, rest
