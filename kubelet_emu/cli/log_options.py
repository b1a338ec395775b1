"""What every command that reads logs takes: the logs, what their lines mean, the manifests beside them.

`log_parameters` gives a command these parameters; `read_given` turns what click parsed into a LifecycleLog.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

import click

from kubelet_emu.cli.remote.completion import complete_pods_and_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.lifecycle.reading import MomentWords

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)

LOG_PARAMETERS: tuple[click.Parameter, ...] = (
    click.Argument(
        ["logs"], nargs=-1, required=True, metavar="LOG...", type=click.Path(path_type=Path, allow_dash=True)
    ),
    click.Option(
        ["--moment"],
        multiple=True,
        metavar="[CONTAINER:]WHAT=REGEX",
        help="What a line means: started, exited, ready, sigterm, prestop-start, prestop-end, ...; repeatable.",
    ),
    click.Option(["--moments"], multiple=True, type=_FILE, metavar="FILE", help="A file of such rules, one a line."),
    click.Option(
        ["-f", "--manifest", "manifests"],
        multiple=True,
        metavar="FILE",
        help="The manifest of what ran, where the log doesn't hold it; repeatable.",
    ),
    click.Option(
        ["--name", "names"],
        multiple=True,
        metavar="[FILE=]POD/CONTAINER[#RUN]",
        help="Whose lines a file without names holds; repeatable.",
    ),
)


def log_parameters(command: Decorated) -> Decorated:
    """Give a command function the parameters; it takes them as keywords and hands them to `read_given`."""
    for parameter in reversed(LOG_PARAMETERS):
        command.__dict__.setdefault("__click_params__", []).append(parameter)
    return command


def optional_log_parameters(command: Decorated) -> Decorated:
    """Give a command function the same parameters where a word may also be a pod, or be missing."""
    words = click.Argument(
        ["logs"],
        nargs=-1,
        metavar="[POD|LOG]...",
        type=click.Path(path_type=Path, allow_dash=True),
        shell_complete=complete_pods_and_files,
    )
    for parameter in reversed((words, *LOG_PARAMETERS[1:])):
        command.__dict__.setdefault("__click_params__", []).append(parameter)
    return command


def read_given(given: Mapping[str, object]) -> LifecycleLog:
    """Return the log that the parameters name.

    Ends the command with exit status 2 and a text when a log, a rule or a manifest can't be used. Faults of single
    lines are in the log: `tell_faults` shows them.
    """
    from kubelet_emu.lifecycle.reading import GivenName, ReadError, read_logs

    try:
        names = [GivenName.parse(text) for text in cast("tuple[str, ...]", given["names"])]
        moments = _moments(given)
    except (ValueError, OSError) as error:
        _stop(str(error))
    manifests = _manifests(cast("tuple[str, ...]", given["manifests"]))
    try:
        return read_logs(cast("tuple[Path, ...]", given["logs"]), moments, manifests, names)
    except ReadError as error:
        _stop(str(error))


def tell_faults(log: LifecycleLog) -> None:
    """Say on stderr what couldn't be read, each with its file and line."""
    for fault in log.faults:
        where = f"{fault.file}:{fault.line}" if fault.line else fault.file
        click.echo(f"{where}: {fault.text}", err=True)
    if log.is_torn:
        click.echo(f"{', '.join(source.file for source in log.sources)}: the last line was cut off", err=True)


def _moments(given: Mapping[str, object]) -> MomentWords:
    from kubelet_emu.lifecycle.reading import MomentWords, read_moments_file

    moments = MomentWords.parse(cast("tuple[str, ...]", given["moment"]))
    for file in cast("tuple[Path, ...]", given["moments"]):
        moments = moments.merged(read_moments_file(file))
    return moments


def _manifests(paths: tuple[str, ...]) -> tuple[APIObject, ...]:
    """Return the objects of manifests; ends the command when one of them is wrong."""
    from kubelet_emu.manifests import format_problem, load

    result = load(paths)
    if result.has_errors:
        shown = [format_problem(each, result.sources.get(each.file, "")) for each in result.problems]
        _stop("\n".join(shown))
    return tuple(loaded.object for loaded in result.objects)


def stop_without(pod: str | None, names: Sequence[str]) -> NoReturn:
    """End the command because a log has no such pod, or none at all."""
    if pod is None:
        _stop("the log tells of no pod")
    _stop(f"no pod {pod} in this log; there are {', '.join(names) or 'none'}")


def _stop(text: str) -> NoReturn:
    click.echo(f"error: {text}", err=True)
    raise click.exceptions.Exit(2)
