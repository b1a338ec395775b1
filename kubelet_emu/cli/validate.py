"""`kubelet-emu validate`: what is wrong with manifests, without running them."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

import click
from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.manifests import Problem


@click.command("validate")
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a list of problems.")
@click.option("--strict", is_flag=True, help="Duplicate keys in manifests are errors.")
def command(manifests: tuple[str, ...], output: str, strict: bool) -> None:  # noqa: FBT001 - click's way
    """Check manifests (files, folders, - for stdin): all errors and warnings at once.

    Errors are what an API server refuses, warnings what it warns of, what is not emulated, and what `run` refuses
    unless an option allows it. Exit status: 1 when there is an error, else 0.
    """
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests import format_problem, load
    from kubelet_emu.manifests.admission import admit
    from kubelet_emu.manifests.safety import SafetyPolicy

    result = load(manifests, strict=strict)
    read = admit(result, FeatureGates(), random.Random(0), SafetyPolicy())  # noqa: S311 - names, not secrets
    refusals = (evolve(problem, severity="warning", type="Refused by run") for problem in read.refusals)
    problems = (*read.problems, *refusals)
    if output == "json":
        click.echo(as_json(problems))
    else:
        for problem in problems:
            click.echo(format_problem(problem, result.sources.get(problem.file, "")))
        click.echo(_count(problems), err=True)
    sys.exit(1 if any(problem.severity == "error" for problem in problems) else 0)


def as_json(problems: Iterable[Problem]) -> str:
    """Return problems as a JSON list."""
    names = ("file", "line", "column", "path", "type", "text", "severity", "hint")
    return json.dumps([{name: getattr(problem, name) for name in names} for problem in problems], indent=2)


def _count(problems: tuple[Problem, ...]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    return f"{_counted(errors, 'error')}, {_counted(len(problems) - errors, 'warning')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
