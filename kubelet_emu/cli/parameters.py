"""Options of `run` and `demo` for click: names, help texts, and how their words become a RunOptions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import click
from click.core import ParameterSource

from kubelet_emu.cli import options as words
from kubelet_emu.cli.mirror_options import MIRROR_PARAMETERS
from kubelet_emu.cli.options import NodeCapacity, RunOptions
from kubelet_emu.cli.parameter_types import MOST_SECONDS, NON_NEGATIVE, Finite, Word, with_parameters
from kubelet_emu.cli.safety_options import SAFETY_PARAMETERS, safety_of
from kubelet_emu.cli.seccomp_options import SECCOMP_PARAMETERS
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.images.outcome import PullOverride

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

_NOT_OF_RECORD = frozenset({"runtime", "until", "speed", "sim_on_term", "simulate", "output", "replace"})
_OF_SIMULATED = frozenset({"until", "speed", "sim_on_term", "simulate"})

PATH = click.Path(path_type=Path, dir_okay=False)

PARAMETERS: tuple[click.Option, ...] = (
    click.Option(
        ["--runtime"],
        type=click.Choice(["docker", "simulated"]),
        default="docker",
        show_default=True,
        help="What runs the containers; simulated: in virtual time, without an engine.",
    ),
    click.Option(
        ["--until"],
        type=NON_NEGATIVE,
        default=3600.0,
        metavar="S",
        help="Simulated: delete the pods after S virtual seconds; default: an hour.",
    ),
    click.Option(
        ["--speed"],
        type=Finite(min=0, min_open=True, max=MOST_SECONDS),
        metavar="X",
        help="Simulated: X virtual seconds a second; default: as fast as can be.",
    ),
    click.Option(
        ["--sim-on-term"],
        type=Word("code", words.read_on_term),
        default="0",
        metavar="0|143|ignore",
        help="Simulated: what a program that is no shell script does on TERM.",
    ),
    click.Option(
        ["--simulate"],
        type=PATH,
        multiple=True,
        metavar="FILE",
        help="Simulated: what containers do; default: simulate.yaml and NAME.simulate.yaml beside NAME.yaml.",
    ),
    click.Option(["--log"], type=PATH, metavar="FILE", help="Write the lifecycle log (JSON lines, mode 0600)."),
    click.Option(["--log-values"], is_flag=True, help="Keep plain env values in records instead of digests."),
    click.Option(
        ["--timeline"],
        type=Word("picture", words.read_picture),
        metavar="FILE",
        help="Draw the run at its end: a .svg or a .html file.",
    ),
    click.Option(["--trace"], type=PATH, metavar="FILE", help="Write the trace that scenarios are checked against."),
    click.Option(
        ["-o", "--output"],
        type=click.Choice(["text", "json"]),
        default="text",
        help="json: the trace instead of container logs on stdout.",
    ),
    click.Option(["--plain"], is_flag=True, help="Lines alone, no live view at the bottom of a terminal."),
    click.Option(["--config"], type=PATH, metavar="FILE", help="A KubeletConfiguration file."),
    click.Option(
        ["--kubernetes"],
        default="1.36",
        show_default=True,
        metavar="VERSION",
        help="Use the feature gates of this version.",
    ),
    click.Option(
        ["--timing"],
        type=click.Choice(["fast", "kubelet"]),
        help="kubelet: a real node's delays too; default: fast, kubelet when simulated.",
    ),
    click.Option(
        ["--timeout"], type=NON_NEGATIVE, metavar="S", help="Delete the pods after S seconds; exit status 124."
    ),
    click.Option(
        ["--grace-period"],
        type=click.IntRange(min=0, max=MOST_SECONDS),
        metavar="S",
        help="Grace of every delete; default: the pod's own.",
    ),
    click.Option(
        ["--delete-when"],
        type=Word("moment", Trigger.parse),
        metavar="MOMENT[+S]",
        help="Delete the pods then: ready, running, SECONDS, or 'NAME started|exited|ready'.",
    ),
    click.Option(
        ["--fail-on"],
        type=Word("list", words.read_fail_on),
        default="",
        metavar="LIST",
        help="Exit 1 if this happened: killed,restarted,warning.",
    ),
    click.Option(["--pull"], type=click.Choice(["always", "missing", "never"]), help="Override every imagePullPolicy."),
    *MIRROR_PARAMETERS,
    click.Option(["--now"], is_flag=True, help="Run the Job of each CronJob once, at once; schedules are not kept."),
    click.Option(["--keep"], is_flag=True, help="Remove nothing at the end."),
    click.Option(
        ["--replace"], is_flag=True, help="Start anew where a killed run of the same manifests could be gone on with."
    ),
    click.Option(
        ["--root-dir"], type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where state is kept."
    ),
    click.Option(
        ["--node-name"],
        type=Word("name", words.read_node_name),
        metavar="NAME",
        help="Name of the node; default: the host's.",
    ),
    click.Option(
        ["--node-capacity"],
        type=Word("capacity", NodeCapacity.parse),
        metavar="cpu=,memory=,pods=",
        help="What the node has; default: what the engine has.",
    ),
    click.Option(
        ["--node-label"],
        type=Word("label", words.read_label),
        multiple=True,
        metavar="K=V",
        help="A label of the node; repeatable.",
    ),
    *SECCOMP_PARAMETERS,
    *SAFETY_PARAMETERS,
    click.Option(
        ["--publish-address"],
        type=Word("address", words.read_address),
        default="127.0.0.1",
        show_default=True,
        metavar="IP",
        help="Where hostPorts listen.",
    ),
    click.Option(["--strict"], is_flag=True, help="Duplicate keys in manifests are errors."),
    click.Option(
        ["--seed"], type=int, metavar="N", help="Seed of names and jitter; default: a random one, which the log tells."
    ),
)


def run_parameters(command: Decorated) -> Decorated:
    """Give a command function the options of a run."""
    return with_parameters(PARAMETERS, command)


def record_parameters(command: Decorated) -> Decorated:
    """Give a command function the options of a run on an engine whose output is its own."""
    return with_parameters(tuple(each for each in PARAMETERS if each.name not in _NOT_OF_RECORD), command)


def refuse_simulated_options(context: click.Context) -> None:
    """Refuse options that say nothing to an engine, rather than do as if they were not there; UsageError."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in _OF_SIMULATED and source is ParameterSource.COMMANDLINE:
            instead = "; --timeout bounds a run on Docker" if parameter.name == "until" else ""
            raise click.UsageError(f"{parameter.opts[0]} is for --runtime simulated{instead}", context)


def to_options(manifests: tuple[str, ...], given: Mapping[str, object]) -> RunOptions:
    """Return what click parsed as one value."""
    values = dict(given)
    safety = safety_of(values)
    labels = dict(cast("tuple[tuple[str, str], ...]", values.pop("node_label")))
    capacity = values.pop("node_capacity") or NodeCapacity()
    pull = values.pop("pull")
    make = cast("Callable[..., RunOptions]", RunOptions)  # each word was read by its type above
    return make(
        manifests=manifests,
        safety=safety,
        node_labels=labels,
        node_capacity=capacity,
        node_name=values.pop("node_name") or "",
        pull=None if pull is None else PullOverride(pull),
        **values,
    )
