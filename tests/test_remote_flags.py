"""Flags with a value, as kubectl takes them."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import LazyGroup, main
from kubelet_emu.cli.remote.flags import KubectlCommand


@click.command("probe", cls=KubectlCommand)
@click.option("-w", "--watch", is_flag=True)
@click.option("--wait/--no-wait", default=True)
@click.option("--name", default="")
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def probe(*, watch: bool, wait: bool, name: str, words: tuple[str, ...]) -> None:
    """Say what was read."""
    click.echo(f"{watch} {wait} {name} {' '.join(words)}".rstrip())


FLAGS = [
    ("none", [], "False True"),
    ("without a value", ["--watch", "--no-wait"], "True False"),
    ("true", ["--watch=true", "--wait=true"], "True True"),
    ("false", ["--watch=false", "--wait=false"], "False False"),
    ("as short as Go reads them", ["--watch=T", "--wait=0"], "True False"),
    ("the value of an option", ["--name=true"], "False True true"),
    ("what is behind --", ["--watch", "--", "cmd", "--wait=false"], "True True  cmd --wait=false"),
]


@pytest.mark.parametrize(("why", "words", "expected"), FLAGS, ids=[row[0] for row in FLAGS])
def test_flags_may_have_a_value(why: str, words: list[str], expected: str) -> None:
    result = CliRunner().invoke(probe, words)
    assert (result.exit_code, result.output.rstrip("\n")) == (0, expected), why


def test_what_is_neither_true_nor_false_is_refused() -> None:
    result = CliRunner().invoke(probe, ["--wait=maybe"])
    assert result.exit_code == 2
    assert "invalid argument 'maybe' for '--wait' flag" in result.output


@pytest.mark.parametrize(
    "name", ["ps", "get", "describe", "logs", "exec", "attach", "debug", "delete", "kill", "port-forward"]
)
def test_kubectls_commands_read_flags_so(name: str) -> None:
    assert isinstance(LazyGroup().get_command(click.Context(main), name), KubectlCommand)
