"""Completion in a shell: every word of every command, and the script of each shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import COMMANDS, LazyGroup, main

if TYPE_CHECKING:
    from pathlib import Path

FREE = {("debug", "words"), ("exec", "words"), ("port-forward", "ports")}


def complete(*words: str, root: Path | None = None) -> list[str]:
    """Return what is offered for the last of the words, files as FILE."""
    given = [words[0], *(() if root is None else ("--root-dir", str(root))), *words[1:]]
    environ = {"_KUBELET_EMU_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["kubelet-emu", *given])}
    done = subprocess.run(
        [sys.executable, "-m", "kubelet_emu"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environ, "COMP_CWORD": str(len(given))},
    )
    assert done.stderr == ""
    return ["FILE" if line.startswith("file,") else line.partition(",")[2] for line in done.stdout.split()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_word_of_a_command_is_completed(name: str) -> None:
    command = LazyGroup().get_command(click.Context(main), name)
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and (name, parameter.name) not in FREE:
            has_own = parameter._custom_shell_complete is not None  # noqa: SLF001 - click doesn't tell
            assert has_own or isinstance(parameter.type, click.Choice | click.Path), parameter.name


OFFERED = [
    ("commands", ("dr",), ["drill"]),
    ("options", ("run", "--wat"), ["--watch"]),
    ("words of an option", ("run", "--pull", "m"), ["missing"]),
    ("manifests", ("run", "po"), ["FILE"]),
    ("logs", ("verify", ""), ["FILE"]),
    ("shells", ("completion", ""), ["bash", "zsh", "fish"]),
    ("kinds", ("get", "co"), ["configmaps"]),
]


@pytest.mark.parametrize(("why", "words", "expected"), OFFERED, ids=[row[0] for row in OFFERED])
def test_words_are_offered(why: str, words: tuple[str, ...], expected: list[str]) -> None:
    assert complete(*words) == expected, why


def test_runs_that_can_not_be_looked_at_are_none(tmp_path: Path) -> None:
    (tmp_path / "instances").touch()
    assert complete("logs", "--run", "", root=tmp_path) == []


def test_without_a_run_there_are_no_pods(tmp_path: Path) -> None:
    assert complete("logs", "", root=tmp_path) == []
    assert complete("why", "", root=tmp_path) == ["FILE"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_both_names_of_the_program(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    for name in ("kubelet-emu", "kemu"):
        assert any(line.rstrip(";").endswith(name) or f" {name} " in line for line in result.output.splitlines())
    assert "_KUBELET_EMU_COMPLETE" in result.output


def test_a_bash_that_has_read_the_script_completes(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    program = tmp_path / "kubelet-emu"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kubelet_emu "$@"\n')
    program.chmod(0o755)
    script = (
        "source <(kubelet-emu completion bash)\n"
        "COMP_WORDS=(kubelet-emu dri) COMP_CWORD=1\n"
        "_kubelet_emu_completion kubelet-emu dri kubelet-emu\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        [bash, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.stdout.split() == ["drill"]
