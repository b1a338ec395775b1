"""From manifests that were read to what is stored and run, with everything that is wrong or doubtful."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from attrs import evolve, field, frozen

from kubelet_emu.manifests.image_texts import image_texts
from kubelet_emu.manifests.missing_references import missing_references
from kubelet_emu.manifests.not_emulated import not_emulated
from kubelet_emu.manifests.safety import SafetyPolicy, check_safety
from kubelet_emu.manifests.same_names import same_names
from kubelet_emu.manifests.security_not_emulated import has_no_profile
from kubelet_emu.manifests.services import missing_services
from kubelet_emu.manifests.stand_ins import stand_ins
from kubelet_emu.manifests.validation import validate
from kubelet_emu.manifests.validation.dropping import drop_disabled_fields
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.manifests.workloads import expand, random_uid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests.loading import Loaded, LoadResult
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Expansion, Runnable, Stored, Workload


@frozen(kw_only=True)
class Admitted:
    """What is stored and what is run, in the order of the manifests, each with its defaults; and what is wrong.

    `problems` are what an API server refuses or warns of and what is not emulated, `missing` what pods need and no
    manifest has, `refusals` what is not run here unless the policy allows it. `sources` are the texts of the files.
    """

    stored: tuple[Stored, ...] = ()
    runnables: tuple[Workload, ...] = ()
    written: tuple[Runnable, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: tuple[Problem, ...] = ()
    refusals: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(factory=dict, repr=False)


def admit(
    result: LoadResult,
    gates: FeatureGates,
    rng: Random,
    policy: SafetyPolicy,
    *,
    cron_jobs_now: bool = False,
    has_seccomp_profile: Callable[[str], bool] = has_no_profile,
) -> Admitted:
    """Sort, default and check manifests; never raises for what they contain.

    `rng` makes names and uids; `has_seccomp_profile` tells whether the node has a Localhost profile.
    """
    expansion = expand([loaded for loaded in result.objects if loaded.is_whole], rng, cron_jobs_now=cron_jobs_now)
    refusals = [p for r in expansion.runnables for p in check_safety(r, _policy_for(r.loaded, policy))]
    runnables = [prepare(r.object, gates, job_uid=random_uid(rng)) for r in expansion.runnables]
    return Admitted(
        stored=tuple(cast("Stored", prepare(s.object, gates)) for s in expansion.stored),
        runnables=cast("tuple[Workload, ...]", tuple(runnables)),
        written=tuple(expansion.runnables),
        problems=_problems(result, expansion, gates, has_seccomp_profile),
        missing=(*missing_references(expansion), *missing_services(result.objects)),
        refusals=tuple(refusals),
        sources=result.sources,
    )


def _problems(
    result: LoadResult, expansion: Expansion, gates: FeatureGates, has_seccomp_profile: Callable[[str], bool]
) -> tuple[Problem, ...]:
    """Return what an API server says, and what is not emulated, each once."""
    kept = [evolve(loaded, object=drop_disabled_fields(loaded.object, gates)) for loaded in result.objects]
    ignored = [problem for loaded in kept for problem in not_emulated(loaded, has_seccomp_profile)]
    images = [problem for loaded in result.objects for problem in image_texts(loaded)]
    checked = validate(result.objects, gates)
    made_up = (*ignored, *stand_ins(expansion))
    problems = (*result.problems, *checked, *images, *expansion.problems, *same_names(expansion), *made_up)
    return tuple(dict.fromkeys(problems))


def _policy_for(loaded: Loaded, policy: SafetyPolicy) -> SafetyPolicy:
    """Return the policy for one manifest: without an option it may read its own folder."""
    file = loaded.source.file
    is_file = not file.startswith("<") and not policy.host_paths
    return evolve(policy, manifest_folder=os.path.dirname(os.path.realpath(file)) if is_file else None)
