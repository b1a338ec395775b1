"""What a simulated run is told beside its manifests: the files of simulate.yaml, and the annotations of pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import field, frozen

from kubelet_emu.simulation.values import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.manifests import Problem
    from kubelet_emu.manifests.workloads import Runnable, Workload
    from kubelet_emu.simulation.reading import SimulationFile


@frozen(kw_only=True)
class Simulated:
    """What was read, what is wrong with it, and the texts of the files."""

    value: Simulation = field(factory=Simulation)
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(factory=dict)


def read_simulation(options: RunOptions, manifests: Iterable[str], runnables: Sequence[Runnable]) -> Simulated:
    """Read the files that the user names, else those beside the manifests; and check annotations."""
    from kubelet_emu.simulation.reading import files_beside, read_file

    files = [read_file(path) for path in options.simulate or files_beside(manifests)]
    value = Simulation()
    for file in files:
        value += file.value
    problems = [problem for file in files for problem in file.problems]
    if not any(problem.severity == "error" for problem in problems):
        problems += _unused(files, runnables)
    problems += [problem for runnable in runnables for problem in _annotation_problems(runnable)]
    return Simulated(value=value, problems=tuple(problems), sources={file.file: file.text for file in files})


def _unused(files: Sequence[SimulationFile], runnables: Sequence[Runnable]) -> Iterable[Problem]:
    """Return a warning for each entry that is about no container of the run."""
    from kubelet_emu.manifests.advice import nearest
    from kubelet_emu.simulation.matching import targets_of, unused_entries

    targets = [target for runnable in runnables for target in targets_of(cast("Workload", runnable.object))]
    names = {"containers": {target.container for target in targets}, "images": {target.image for target in targets}}
    for file in files:
        for section, key in unused_entries(file.value, targets):
            likely = nearest(key.rpartition("/")[2] if section == "containers" else key, names[section])
            hint = f"did you mean {likely!r}?" if likely else f"there is {', '.join(sorted(names[section]))}"
            text = f"no container of this run has the {'name' if section == 'containers' else 'image'} {key!r}"
            yield file.problem_at(f"{section}[{key}]", "Not used", text, hint)


def _annotation_problems(runnable: Runnable) -> Iterable[Problem]:
    from kubelet_emu.simulation.reading import check_annotations

    obj = runnable.loaded.object
    if obj.kind == "Pod":
        pod = cast("Pod", obj)
    else:
        job = cast("CronJob", obj).spec.job_template if obj.kind == "CronJob" else cast("Job", obj)
        pod = cast("Pod", job.spec.template)
    names = [each.name for each in (*pod.spec.init_containers, *pod.spec.containers)]
    path = runnable.spec_path.removesuffix("spec") + "metadata"
    return check_annotations(runnable.loaded, pod.metadata.annotations, path, names)
