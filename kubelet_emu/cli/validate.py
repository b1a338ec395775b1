"""`kubelet-emu validate`: what is wrong with manifests, without running them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.remote.completion import complete_files
from kubelet_emu.cli.seccomp_options import seccomp_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests import LoadResult, Problem


@click.command("validate")
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...", shell_complete=complete_files)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    help="json: a list of problems; sarif: SARIF 2.1.0, for code hosts.",
)
@click.option("--strict", is_flag=True, help="Duplicate keys in manifests are errors.")
@click.option("--ignore", multiple=True, metavar="CODE,...", help="Advice that isn't wanted; repeatable.")
@click.option("--no-advice", is_flag=True, help="Only what an API server says, what isn't emulated, what isn't run.")
@seccomp_parameters
@click.option("--kubernetes", default="1.36", show_default=True, metavar="VERSION", help="The API server's version.")
def command(  # noqa: PLR0913 - click's way
    manifests: tuple[str, ...],
    output: str,
    ignore: tuple[str, ...],
    *,
    strict: bool,
    no_advice: bool,
    seccomp_profile_root: Path | None,
    kubernetes: str,
) -> None:
    """Check manifests (files, folders, - for stdin): all errors and warnings at once.

    Errors are what an API server refuses. Warnings are what it warns of, what is not emulated, what `run` refuses
    unless an option allows it, and advice: what will go wrong though every field is right (KE..., docs/ADVICE.md).

    Exit status: 1 when there is an error, 2 when a file can't be read or for a bad option, else 0.
    """
    from kubelet_emu.manifests import format_problem, load

    gates = _gates(kubernetes)
    result = load(manifests, strict=strict)
    problems = (*_checked(result, gates, seccomp_profile_root), *(() if no_advice else _advice(result, ignore, gates)))
    match output:
        case "json":
            click.echo(as_json(problems))
        case "sarif":
            click.echo(_as_sarif(problems))
        case _:
            for problem in problems:
                click.echo(format_problem(problem, result.sources.get(problem.file, "")))
            click.echo(_count(problems), err=True)
    if any(problem.type == "Unreadable" for problem in problems):
        sys.exit(2)
    sys.exit(1 if any(problem.severity == "error" for problem in problems) else 0)


def _gates(kubernetes: str) -> FeatureGates:
    from kubelet_emu.config.features import gates_for

    try:
        return gates_for(kubernetes)
    except ValueError as error:
        from kubelet_emu.cli.failures import InputError

        raise InputError(f"--kubernetes: {error}") from error


def _checked(result: LoadResult, gates: FeatureGates, seccomp_profile_root: Path | None) -> tuple[Problem, ...]:
    """Return what a server says, what isn't emulated, and what `run` refuses."""
    import random

    from attrs import evolve

    from kubelet_emu.manifests.admission import admit
    from kubelet_emu.manifests.safety import SafetyPolicy

    rng = random.Random(0)  # noqa: S311 - names, not secrets
    read = admit(result, gates, rng, SafetyPolicy(), has_seccomp_profile=_profiles_below(seccomp_profile_root))
    refusals = (evolve(problem, severity="warning", type="Refused by run") for problem in read.refusals)
    return (*read.problems, *refusals)


def _profiles_below(root: Path | None) -> Callable[[str], bool]:
    """Return what tells whether the machine has a seccomp profile; few manifests ask for one."""

    def has(profile: str) -> bool:
        from kubelet_emu.kubelet.seccomp_profiles import profiles_of_machine

        return profiles_of_machine(root, is_simulated=False).has(profile)

    return has


def _advice(result: LoadResult, ignore: Collection[str], gates: FeatureGates) -> tuple[Problem, ...]:
    """Return advice about what could be read; InputError for a code that is none."""
    from kubelet_emu.advice.advising import problems_of
    from kubelet_emu.advice.subjects import subjects_of

    return tuple(problems_of(subjects_of(result.objects, gates), _ignored(ignore)))


def _ignored(ignore: Collection[str]) -> Collection[str]:
    if not ignore:
        return ()
    from kubelet_emu.advice.catalogue import read_codes
    from kubelet_emu.cli.failures import InputError

    try:
        return read_codes(ignore)
    except ValueError as error:
        raise InputError(f"--ignore: {error}") from error


def as_json(problems: Iterable[Problem]) -> str:
    """Return problems as a JSON list."""
    import json

    names = ("file", "line", "column", "path", "type", "text", "severity", "hint")
    return json.dumps([{name: getattr(problem, name) for name in names} for problem in problems], indent=2)


def _as_sarif(problems: tuple[Problem, ...]) -> str:
    import kubelet_emu
    from kubelet_emu.advice.catalogue import RULES
    from kubelet_emu.manifests.sarif import as_sarif

    return as_sarif(problems, {rule.code: rule.title for rule in RULES}, kubelet_emu.__version__)


def _count(problems: tuple[Problem, ...]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    return f"{_counted(errors, 'error')}, {_counted(len(problems) - errors, 'warning')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
