"""`kubelet-emu record`: one run on Docker, and the simulate.yaml that tells a simulated run the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve

from kubelet_emu.cli.parameters import record_parameters, to_options
from kubelet_emu.cli.remote.completion import complete_files

if TYPE_CHECKING:
    from kubelet_emu.simulation.recording import RunRecording

SUFFIX = ".simulate.yaml"
SHARED = "simulate.yaml"
STDOUT = Path("-")


@click.command("record")
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...", shell_complete=complete_files)
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write; default: NAME.simulate.yaml beside NAME.yaml, simulate.yaml in a folder; - is stdout.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@record_parameters
def command(manifests: tuple[str, ...], file: Path | None, force: bool, **given: object) -> None:  # noqa: FBT001 - click's way
    """Run manifests once on Docker, as `run` does, and write what happened as a simulate.yaml.

    `kubelet-emu run --runtime simulated` with the same options then goes the same way. Exit status: as that of `run`;
    2 also when the file exists already.
    """
    from kubelet_emu.cli.emulator import open_emulator
    from kubelet_emu.cli.execution import execute
    from kubelet_emu.cli.outputs import Streams
    from kubelet_emu.simulation.recording import RunRecording

    target = file or default_file(manifests)
    if target is None:
        raise click.UsageError("these manifests have no common place for a simulate.yaml: name one with -o FILE")
    if target != STDOUT and target.exists() and not force:
        raise click.UsageError(f"{target} exists already: --force overwrites it, -o FILE writes another")
    if target != STDOUT and not target.parent.is_dir():
        raise click.UsageError(f"{target}: there is no folder {str(target.parent)!r}")
    recording = RunRecording()
    streams = Streams(listeners=(recording,)) if target != STDOUT else Streams(out=sys.stderr, listeners=(recording,))
    status = execute(evolve(to_options(manifests, given), replace=True), streams, open_emulator)
    if recording.has_ended:
        write(recording, target, manifests)
    sys.exit(status)


def default_file(manifests: tuple[str, ...]) -> Path | None:
    """Return where a simulated run of the same manifests looks by itself; None where it looks nowhere."""
    if "-" in manifests:
        return None
    paths = [Path(each) for each in manifests]
    if len(paths) == 1 and not paths[0].is_dir():
        return paths[0].with_name(paths[0].stem + SUFFIX)
    folders = {path if path.is_dir() else path.parent for path in paths}
    return folders.pop() / SHARED if len(folders) == 1 else None


def write(recording: RunRecording, target: Path, manifests: tuple[str, ...]) -> None:
    """Write what a recording tells; exits with 2 when the file can't be written."""
    from kubelet_emu.cli.exit_status import BAD_INPUT
    from kubelet_emu.simulation.retelling import retell
    from kubelet_emu.simulation.writing import to_text

    text = to_text(retell(recording), f"Recorded on Docker from {', '.join(manifests)}.")
    if target == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        target.write_text(text)
    except OSError as error:
        click.echo(f"error: {target}: {error.strerror}", err=True)
        sys.exit(BAD_INPUT)
    click.echo(f"written: {target}", err=True)
