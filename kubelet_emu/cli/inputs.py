"""From the manifests that the user names to what is run, with everything that is wrong said at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.cli.simulation_inputs import Simulated, read_simulation
from kubelet_emu.kubelet.seccomp_profiles import profiles_of_machine
from kubelet_emu.manifests import format_problem, load
from kubelet_emu.manifests.admission import admit
from kubelet_emu.simulation.values import Simulation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random
    from typing import TextIO

    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests import Problem
    from kubelet_emu.manifests.workloads import Stored, Workload


@frozen(kw_only=True)
class Inputs:
    """What is stored and what is run, in the order of the manifests, each with its defaults; and what is wrong."""

    stored: tuple[Stored, ...] = ()
    runnables: tuple[Workload, ...] = ()
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(factory=dict, repr=False)
    simulation: Simulation = field(factory=Simulation)
    simulation_files: tuple[str, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Tell whether something must be mended before anything runs."""
        return any(problem.severity == "error" for problem in self.problems)


def read_inputs(options: RunOptions, gates: FeatureGates, rng: Random) -> Inputs:
    """Read, sort, default and check the manifests; never raises for what they contain.

    In virtual time nothing of the machine is touched, so nothing is refused for its sake.
    """
    loaded = load(options.manifests, strict=options.strict)
    profiles = profiles_of_machine(options.seccomp_profile_root, is_simulated=options.is_simulated)
    read = admit(loaded, gates, rng, options.safety, cron_jobs_now=options.now, has_seccomp_profile=profiles.has)
    refusals = () if options.is_simulated else read.refusals
    simulation = read_simulation(options, read.sources, read.written) if options.is_simulated else Simulated()
    return Inputs(
        stored=read.stored,
        runnables=read.runnables,
        problems=(*read.problems, *read.missing, *refusals, *simulation.problems),
        sources={**read.sources, **simulation.sources},
        simulation=simulation.value,
        simulation_files=tuple(simulation.sources),
    )


def show_problems(inputs: Inputs, out: TextIO) -> None:
    """Write each problem with its source line."""
    for problem in inputs.problems:
        print(format_problem(problem, inputs.sources.get(problem.file, "")), file=out)
