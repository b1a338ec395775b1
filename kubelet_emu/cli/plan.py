"""`kubelet-emu plan`: how a pod will start, stop and end, told before anything runs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from attrs import field, frozen

from kubelet_emu.cli.remote.completion import complete_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubelet_emu.advice.plan import PodPlan
    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.cli.failures import InputError
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests import Problem
    from kubelet_emu.manifests.workloads import Stored
    from kubelet_emu.rehearsal.confirming import Claim
    from kubelet_emu.rehearsal.grace import Solution
    from kubelet_emu.simulation.values import Simulation

DEFAULT_MEMORY = "8Gi"


@frozen(kw_only=True)
class PlanOptions:
    """The options of `plan`."""

    manifests: tuple[str, ...]
    ignore: tuple[str, ...] = ()
    node_memory: str = DEFAULT_MEMORY
    kubernetes: str = "1.36"
    strict: bool = False
    confirm: bool = True
    solve: tuple[str, ...] = ()


@frozen(kw_only=True)
class Answer:
    """The plan of one pod with what came of it in virtual time."""

    plan: PodPlan
    claims: tuple[Claim, ...] = ()
    solution: Solution | None = None


@frozen(kw_only=True)
class _Read:
    """What was read: the pods, what they may refer to, and what simulate.yaml says of their programs."""

    subjects: tuple[Subject, ...]
    stored: tuple[Stored, ...] = field(repr=False)
    told: Simulation = field(repr=False)


@click.command("plan")
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...", shell_complete=complete_files)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: see docs/ADVICE.md.")
@click.option("--ignore", multiple=True, metavar="CODE,...", help="Advice that isn't wanted; repeatable.")
@click.option("--solve", type=click.Choice(["grace"]), multiple=True, help="Find the smallest grace with no SIGKILL.")
@click.option("--confirm/--no-confirm", default=True, help="Play start and end in virtual time; the default.")
@click.option("--node-memory", default=DEFAULT_MEMORY, show_default=True, metavar="SIZE", help="For OOM scores.")
@click.option("--kubernetes", default="1.36", show_default=True, metavar="VERSION", help="The kubelet's version.")
@click.option("--strict", is_flag=True, help="Duplicate keys in manifests are errors.")
def command(*, output: str, **given: object) -> None:
    """Say how the pods of manifests start, stop and end, what they ask for, and what to mend.

    The order of the start with what each step waits for, the order of the stop with its times, whether the pod ends and
    who keeps it from that, and advice with codes (docs/ADVICE.md). Nothing is run on an engine: what the plan says of
    start and end is played in virtual time, in well under a second.

    Exit status: 0, 1 when the played run was not as the plan says, 2 for a bad manifest or option.
    """
    options = _options(given)
    answers = tuple(_answers(options))
    if output == "json":
        click.echo(_as_json(answers))
    else:
        _show(answers)
    sys.exit(1 if any(claim.is_contradicted for answer in answers for claim in answer.claims) else 0)


def _options(given: Mapping[str, object]) -> PlanOptions:
    from typing import Any, cast

    return PlanOptions(**cast("Mapping[str, Any]", given))


def _answers(options: PlanOptions) -> Iterator[Answer]:
    """Yield the answer for each pod; InputError for an option that can't be used, or without a pod."""
    from kubelet_emu.advice.catalogue import read_codes
    from kubelet_emu.advice.plan import plan_of
    from kubelet_emu.api.quantity import quantity_value

    try:
        ignored, memory = read_codes(options.ignore), quantity_value(options.node_memory)
    except ValueError as error:
        raise _refused(str(error)) from error
    if memory <= 0:
        raise _refused(f"--node-memory: {options.node_memory!r} is no size")
    read = _read(options)
    for subject in read.subjects:
        plan = plan_of(subject, ignored, memory)
        yield Answer(plan=plan, claims=_claims(options, plan, read), solution=_solution(options, subject, read))


def _read(options: PlanOptions) -> _Read:
    """Read the manifests; their errors are shown, and end the program with 2."""
    import random

    from kubelet_emu.advice.subjects import subjects_of
    from kubelet_emu.manifests import load
    from kubelet_emu.manifests.admission import admit
    from kubelet_emu.manifests.safety import SafetyPolicy

    gates = _gates(options.kubernetes)
    result = load(options.manifests, strict=options.strict)
    admitted = admit(result, gates, random.Random(0), SafetyPolicy())  # noqa: S311 - names, not secrets
    told, problems = _simulation(options.manifests)
    _refuse_errors((*admitted.problems, *problems), result.sources)
    subjects = subjects_of(result.objects, gates)
    if not subjects:
        raise _refused("nothing to plan: the manifests have no object that makes pods")
    return _Read(subjects=subjects, stored=admitted.stored, told=told)


def _gates(kubernetes: str) -> FeatureGates:
    from kubelet_emu.config.features import gates_for

    try:
        return gates_for(kubernetes, {})
    except ValueError as error:
        raise _refused(f"--kubernetes: {error}") from error


def _refused(text: str) -> InputError:
    from kubelet_emu.cli.failures import InputError

    return InputError(text)


def _simulation(manifests: Sequence[str]) -> tuple[Simulation, tuple[Problem, ...]]:
    """Return what the files of simulate.yaml beside the manifests say, and what is wrong with them."""
    from kubelet_emu.simulation.reading import files_beside, read_file
    from kubelet_emu.simulation.values import Simulation

    files = [read_file(path) for path in files_beside(manifests)]
    told = Simulation()
    for file in files:
        told += file.value
    return told, tuple(problem for file in files for problem in file.problems)


def _refuse_errors(problems: Sequence[Problem], sources: Mapping[str, str]) -> None:
    from kubelet_emu.manifests import format_problem

    errors = [each for each in dict.fromkeys(problems) if each.severity == "error"]
    for each in errors:
        click.echo(format_problem(each, sources.get(each.file, "")), err=True)
    if errors:
        sys.exit(2)


def _claims(options: PlanOptions, plan: PodPlan, read: _Read) -> tuple[Claim, ...]:
    if not options.confirm:
        return ()
    from kubelet_emu.rehearsal.confirming import confirm

    return confirm(plan, read.stored, read.told)


def _solution(options: PlanOptions, subject: Subject, read: _Read) -> Solution | None:
    if "grace" not in options.solve:
        return None
    from kubelet_emu.rehearsal.grace import solve_grace

    return solve_grace(subject, read.stored, read.told)


def _as_json(answers: Sequence[Answer]) -> str:
    from kubelet_emu.advice.machine import SCHEMA, as_object
    from kubelet_emu.rehearsal.machine import claims_as_objects, solution_as_object

    pods = [
        as_object(answer.plan)
        | {"confirmed": claims_as_objects(answer.claims), "grace": solution_as_object(answer.solution)}
        for answer in answers
    ]
    return json.dumps({"schema": SCHEMA, "pods": pods}, indent=2)


def _show(answers: Sequence[Answer]) -> None:
    from kubelet_emu.advice.text import plan_lines
    from kubelet_emu.rehearsal.text import claim_lines, solution_lines

    for number, answer in enumerate(answers):
        if number:
            click.echo()
        for line in (
            *plan_lines(answer.plan, _paint),
            *solution_lines(answer.solution, answer.plan.subject.grace),
            *claim_lines(answer.claims, _paint),
        ):
            click.echo(line)


def _paint(text: str, colour: str) -> str:
    return click.style(text, bold=True) if colour == "bold" else click.style(text, fg=colour)
