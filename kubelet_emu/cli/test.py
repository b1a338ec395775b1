"""`kubelet-emu test`: parse and hand over."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from kubelet_emu.cli.mirror_options import mirror_parameters, mirrors_of
from kubelet_emu.cli.remote.completion import complete_files
from kubelet_emu.cli.seccomp_options import seccomp_parameters

if TYPE_CHECKING:
    from kubelet_emu.images.mirrors import Mirror

DOCKER_JOBS = 8
"""Containers mostly wait; more at a time make an engine slow rather than the set fast."""


@click.command("test")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@click.option(
    "--runtime",
    type=click.Choice(["simulated", "docker"]),
    default="simulated",
    show_default=True,
    help="What runs the containers; simulated: in virtual time, without an engine.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run N at a time; default: the cores, 8 on docker.",
)
@click.option("-k", "wanted", default="", metavar="FILTER", help="Only names with this word; and, or, not combine.")
@click.option(
    "--trace-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write what happened to DIR/NAME.jsonl.",
)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "junit"]), default="text", help="How results are written."
)
@click.option("--compare", is_flag=True, help="Compare with the trace.jsonl of a real node beside each scenario.")
@click.option(
    "--timing",
    "timing_name",
    type=click.Choice(["fast", "kubelet"]),
    help="kubelet: with a real node's own delays, the default; fast: without.",
)
@mirror_parameters
@click.option(
    "--root-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Docker: where state is kept.",
)
@seccomp_parameters
@click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Seed of names and jitter.")
def command(  # noqa: PLR0913 - click's way
    *,
    paths: tuple[str, ...],
    runtime: Literal["simulated", "docker"],
    jobs: int | None,
    wanted: str,
    trace_dir: Path | None,
    output: Literal["text", "json", "junit"],
    compare: bool,
    timing_name: Literal["fast", "kubelet"] | None,
    registry_mirrors: tuple[Mirror, ...],
    registry_hosts: Path | None,
    root_dir: Path | None,
    seccomp_profile_root: Path | None,
    seed: int,
) -> None:
    """Run scenarios and check what they expect: folders with a scenario.yaml, at any depth, or *.scenario.yaml files.

    Results go to stdout, progress to stderr. docs/SCENARIOS.md describes the files.

    Exit status: 0 every scenario holds; 1 one doesn't; 2 a file can't be read, or there is none; 3 no engine; 130
    interrupted.
    """
    from kubelet_emu.cli.suite.execution import Streams, execute
    from kubelet_emu.cli.suite.options import SuiteOptions

    options = SuiteOptions(
        paths=paths,
        runtime=runtime,
        jobs=jobs or (DOCKER_JOBS if runtime == "docker" else os.cpu_count() or 1),
        wanted=wanted,
        trace_dir=trace_dir,
        output=output,
        compare=compare,
        timing_name=timing_name,
        registry_mirrors=mirrors_of(registry_mirrors, registry_hosts, lambda text: click.echo(text, err=True)),
        root_dir=root_dir,
        seccomp_profile_root=seccomp_profile_root,
        seed=seed,
    )
    sys.exit(execute(options, Streams()))
