"""From the manifests that the user names to what is run, with everything that is wrong said at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from attrs import evolve, field, frozen

from kubelet_emu.cli.simulation_inputs import Simulated, read_simulation
from kubelet_emu.manifests import format_problem, load
from kubelet_emu.manifests.missing_references import missing_references
from kubelet_emu.manifests.not_emulated import not_emulated
from kubelet_emu.manifests.safety import SafetyPolicy, check_safety
from kubelet_emu.manifests.same_names import same_names
from kubelet_emu.manifests.validation import validate
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.manifests.workloads import expand, random_uid
from kubelet_emu.simulation.values import Simulation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random
    from typing import TextIO

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import ConfigMap, Pod, Secret
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests import Loaded, LoadResult, Problem
    from kubelet_emu.manifests.workloads import Expansion


@frozen(kw_only=True)
class Inputs:
    """What is stored and what is run, in the order of the manifests, each with its defaults; and what is wrong."""

    stored: tuple[ConfigMap | Secret, ...] = ()
    runnables: tuple[Pod | Job, ...] = ()
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(factory=dict, repr=False)
    simulation: Simulation = field(factory=Simulation)
    simulation_files: tuple[str, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Tell whether something must be mended before anything runs."""
        return any(problem.severity == "error" for problem in self.problems)


def read_inputs(options: RunOptions, gates: FeatureGates, rng: Random) -> Inputs:
    """Read, sort, default and check the manifests; never raises for what they contain."""
    result = load(options.manifests, strict=options.strict)
    expansion = expand([loaded for loaded in result.objects if loaded.is_whole], rng)
    refusals = [p for r in expansion.runnables for p in check_safety(r, _policy(options.safety, r.loaded))]
    runnables = tuple(cast("Pod | Job", prepare(r.object, gates, job_uid=random_uid(rng))) for r in expansion.runnables)
    simulation = read_simulation(options, result.sources, expansion.runnables) if options.is_simulated else Simulated()
    return Inputs(
        stored=tuple(cast("ConfigMap | Secret", prepare(r.object, gates)) for r in expansion.stored),
        runnables=runnables,
        problems=(
            *find_problems(result, expansion, gates),
            *missing_references(expansion),
            *refusals,
            *simulation.problems,
        ),
        sources={**result.sources, **simulation.sources},
        simulation=simulation.value,
        simulation_files=tuple(simulation.sources),
    )


def find_problems(result: LoadResult, expansion: Expansion, gates: FeatureGates) -> tuple[Problem, ...]:
    """Return everything that is wrong or doubtful in manifests, each once."""
    ignored = [problem for loaded in result.objects for problem in not_emulated(loaded)]
    checked = validate(result.objects, gates)
    problems = (*result.problems, *checked, *expansion.problems, *same_names(expansion), *ignored)
    return tuple(dict.fromkeys(problems))


def find_refusals(expansion: Expansion) -> tuple[Problem, ...]:
    """Return what `run` refuses unless an option allows it, as warnings: a server takes it."""
    policy = SafetyPolicy()
    refusals = (p for r in expansion.runnables for p in check_safety(r, _policy(policy, r.loaded)))
    return tuple(evolve(problem, severity="warning", type="Refused by run") for problem in refusals)


def _policy(policy: SafetyPolicy, loaded: Loaded) -> SafetyPolicy:
    """Return the policy for one manifest: without an option it may read its own folder."""
    file = loaded.source.file
    is_file = not file.startswith("<") and not policy.host_paths
    return evolve(policy, manifest_folder=str(Path(file).resolve().parent) if is_file else None)


def show_problems(inputs: Inputs, out: TextIO) -> None:
    """Write each problem with its source line."""
    for problem in inputs.problems:
        print(format_problem(problem, inputs.sources.get(problem.file, "")), file=out)
