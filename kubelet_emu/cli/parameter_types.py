"""What click reads of words: numbers, times, and whatever a function reads; and how a command gets options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import click

from kubelet_emu.config.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

MOST_SECONDS = 10**9


class Finite(click.FloatRange):
    """A number in a range; not a number is in none."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it."""
        number = float(super().convert(value, param, ctx))  # type: ignore[arg-type]  # click hands over any
        return self.fail(f"{value!r} is no number", param, ctx) if math.isnan(number) else number


class Seconds(Finite):
    """Seconds as a number, or a duration with units such as 1m30s."""

    name = "number of seconds or duration such as 1m30s"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it."""
        if isinstance(value, str) and value[-1:].isalpha() and value[:1].isdigit():
            try:
                value = parse_duration(value)
            except ValueError as error:
                self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


NON_NEGATIVE = Seconds(min=0, max=MOST_SECONDS)


class Word(click.ParamType):  # type: ignore[type-arg]  # older clicks take no argument
    """A word that a function reads; its ValueError is shown to the user."""

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        """Keep the function and the name of what it reads."""
        self.name = name
        self._read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read the word; a default that was read already stays."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def with_parameters(parameters: tuple[click.Parameter, ...], command: Decorated) -> Decorated:
    """Give a command function parameters, in their order."""
    for parameter in reversed(parameters):
        command.__dict__.setdefault("__click_params__", []).append(parameter)
    return command
