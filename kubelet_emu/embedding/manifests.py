"""What a program hands to a node: a path, a text or an object, read and checked as a cluster would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from attrs import evolve, frozen

from kubelet_emu.embedding.errors import ManifestError
from kubelet_emu.manifests import format_problem, load, load_text
from kubelet_emu.manifests.safety import check_safety
from kubelet_emu.manifests.same_names import same_names
from kubelet_emu.manifests.validation import validate
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.manifests.workloads import expand, random_uid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import ConfigMap, Pod, Secret
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.embedding.options import NodeOptions
    from kubelet_emu.manifests import LoadResult, Problem

HERE = "<text>"


@frozen(kw_only=True)
class Manifests:
    """What to store and what to run, in the order of the manifests, each with its defaults."""

    stored: tuple[ConfigMap | Secret, ...] = ()
    runnables: tuple[Pod | Job, ...] = ()


def read_manifests(source: str | Path, options: NodeOptions, gates: FeatureGates, rng: Random) -> Manifests:
    """Read a file, a folder, or a text of more than one line; ManifestError."""
    result = _load(source, options)
    expansion = expand([loaded for loaded in result.objects if loaded.is_whole], rng)
    problems = [*result.problems, *validate(result.objects, gates), *expansion.problems, *same_names(expansion)]
    for runnable in expansion.runnables:
        policy = options.safety
        if not policy.host_paths and runnable.loaded.source.file != HERE:
            policy = evolve(policy, manifest_folder=str(Path(runnable.loaded.source.file).resolve().parent))
        problems += check_safety(runnable, policy)
    _raise_for(problems, result)
    if not expansion.runnables and not expansion.stored:
        raise ManifestError(f"{name_of(source)}: nothing to run")
    return Manifests(
        stored=tuple(cast("ConfigMap | Secret", prepare(each.object, gates)) for each in expansion.stored),
        runnables=tuple(
            cast("Pod | Job", prepare(each.object, gates, job_uid=random_uid(rng))) for each in expansion.runnables
        ),
    )


def _load(source: str | Path, options: NodeOptions) -> LoadResult:
    if not str(source):
        raise ManifestError("no manifest is named: give a path, or a text of more than one line")
    if isinstance(source, str) and "\n" in source:
        return load_text(source, file=HERE)
    return load((str(options.folder / source),))


def name_of(source: str | Path) -> str:
    """Return what a manifest is called in messages: its path, or that it is a text."""
    return HERE if isinstance(source, str) and "\n" in source else str(source)


def _raise_for(problems: Sequence[Problem], result: LoadResult) -> None:
    errors = dict.fromkeys(problem for problem in problems if problem.severity == "error")
    if errors:
        raise ManifestError("\n".join(_lines(errors, result)))


def _lines(errors: dict[Problem, None], result: LoadResult) -> Iterator[str]:
    for problem in errors:
        yield format_problem(problem, result.sources.get(problem.file, ""))
