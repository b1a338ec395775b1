"""Flags as kubectl takes them: `--wait=false` and `--watch=true` beside `--no-wait` and `--watch`."""

from __future__ import annotations

import click

_TRUE, _FALSE = frozenset({"true", "t", "1"}), frozenset({"false", "f", "0"})


class KubectlCommand(click.Command):
    """A command whose flags may have a value (Go's pflag)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, flags with a value as click knows them."""
        flags = {
            name: parameter
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.is_flag
            for name in parameter.opts
        }
        end = args.index("--") if "--" in args else len(args)
        read = [_read(word, flags) for word in args[:end]]
        return super().parse_args(ctx, [*(word for word in read if word), *args[end:]])


def _read(word: str, flags: dict[str, click.Option]) -> str:
    """Return a word as click knows it, empty for a flag that is off; UsageError."""
    name, equals, value = word.partition("=")
    flag = flags.get(name)
    if flag is None or not equals:
        return word
    if value.lower() in _TRUE:
        return name
    if value.lower() in _FALSE:
        return flag.secondary_opts[0] if flag.secondary_opts else ""
    raise click.UsageError(f"invalid argument {value!r} for {name!r} flag: it is neither true nor false")
