"""Words of the commands of a second terminal, and refusals in kubectl's form."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

_POD = frozenset({"po", "pod", "pods"})


class Refusal(click.ClickException):
    """What was asked for can't be done: `error: ...` on stderr, exit status 1, as from kubectl."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it."""
        click.echo(f"error: {self.message}", file=file, err=True)


def is_pod_word(word: str) -> bool:
    """Tell whether a word is the kind of pods."""
    return word.lower() in _POD


def pod_name(word: str) -> str:
    """Return the name of `NAME` or `pod/NAME`; Refusal for another kind."""
    kind, slash, name = word.partition("/")
    if not slash:
        return word
    if not is_pod_word(kind) or not name or "/" in name:
        raise Refusal(f"{word!r} is no pod: use NAME or pod/NAME")
    return name


def write_out(text: str) -> None:
    """Write to stdout, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
