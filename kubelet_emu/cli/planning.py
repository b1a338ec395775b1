"""What a run is to be, from the words of its user: manifests, configuration, seed, folder. Nothing runs yet."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from kubelet_emu.cli.failures import InputError
from kubelet_emu.cli.going_on import digest_of, find_dead_run, how_to_remove, take_up
from kubelet_emu.cli.inputs import read_inputs, show_problems
from kubelet_emu.cli.mirror_options import mirrors_of
from kubelet_emu.cli.run_plan import Plan
from kubelet_emu.config.features import gates_for
from kubelet_emu.config.kubelet_configuration import ConfigurationError, KubeletConfiguration
from kubelet_emu.config.kubelet_configuration import load as load_configuration
from kubelet_emu.embedding.instances import Instance, default_root, new_instance_id
from kubelet_emu.manifests import format_problem

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.cli.going_on import DeadRun
    from kubelet_emu.cli.inputs import Inputs
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.cli.outputs import Streams
    from kubelet_emu.config.features import FeatureGates

MAX_SEED = 2**32


def make_plan(options: RunOptions, streams: Streams) -> Plan | None:
    """Read what the user names; None when something of it is wrong, which is then said."""
    root = options.root_dir or default_root(os.environ, os.getuid())
    configuration = _read_configuration(options, streams)
    features = _features(options, configuration or KubeletConfiguration())
    mirrors = mirrors_of(options.registry_mirrors, options.registry_hosts, lambda text: print(text, file=streams.err))
    seed, inputs, dead = _read(options, features, root, streams)
    show_problems(inputs, streams.err)
    for file in inputs.simulation_files:
        print(f"containers do what {file} says", file=streams.err)
    if inputs.has_errors or configuration is None:
        return None
    if not inputs.runnables:
        raise InputError("nothing to run: no Pod, Job or other workload in " + ", ".join(options.manifests))
    _check_moment(options, inputs)
    if dead is not None and (dead := _taken_up(dead, streams)) is None:
        seed, inputs = _read_anew(options, features)
    return Plan(
        options=options,
        inputs=inputs,
        configuration=configuration,
        features=features,
        instance=Instance(root=root, id=_instance_id(options, dead)),
        seed=seed,
        mirrors=mirrors,
        dead=dead,
    )


def _read(
    options: RunOptions, features: FeatureGates, root: Path, streams: Streams
) -> tuple[int, Inputs, DeadRun | None]:
    """Read the manifests with the seed of the dead run of the same ones, if there is one: it names what has no name."""
    dead = find_dead_run(options, root)
    if dead is not None:
        inputs = _read_inputs(options, features, dead.file.seed)
        if dead.file.digest == digest_of(inputs.sources):
            return dead.file.seed, inputs, dead
        print(f"starts anew: the manifests are not those of the killed run {dead.id}", file=streams.err)
    return *_read_anew(options, features), None


def _read_anew(options: RunOptions, features: FeatureGates) -> tuple[int, Inputs]:
    seed = random.SystemRandom().randrange(MAX_SEED) if options.seed is None else options.seed
    return seed, _read_inputs(options, features, seed)


def _read_inputs(options: RunOptions, features: FeatureGates, seed: int) -> Inputs:
    return read_inputs(options, features, random.Random(f"{seed}/names"))  # noqa: S311 - names, not secrets


def _taken_up(dead: DeadRun, streams: Streams) -> DeadRun | None:
    try:
        return take_up(dead, lambda text: print(f"warning: {text}", file=streams.err))
    except OSError as error:
        told = InputError(f"--root-dir: {error.filename or dead.folder}: {error.strerror or error}")
        told.add_note(how_to_remove(dead.folder.parents[1]))
        raise told from error


def _instance_id(options: RunOptions, dead: DeadRun | None) -> str:
    if dead is not None:
        return dead.id
    return "simulated" if options.is_simulated else new_instance_id()


def _check_moment(options: RunOptions, inputs: Inputs) -> None:
    try:
        if options.delete_when is not None:
            options.delete_when.check(inputs.runnables)
    except ValueError as error:
        raise InputError(f"--delete-when: {error}") from error


def _read_configuration(options: RunOptions, streams: Streams) -> KubeletConfiguration | None:
    if options.config is None:
        return KubeletConfiguration()
    try:
        configuration = load_configuration(str(options.config))
    except ConfigurationError as error:
        print(error, file=streams.err)
        return None
    for warning in configuration.warnings:
        print(format_problem(warning, ""), file=streams.err)
    return configuration


def _features(options: RunOptions, configuration: KubeletConfiguration) -> FeatureGates:
    try:
        return gates_for(options.kubernetes, configuration.feature_gates.overrides)
    except ValueError as error:
        raise InputError(f"--kubernetes: {error}") from error
