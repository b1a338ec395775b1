"""What a program hands to a node: a path, a text or an object, read and checked as a cluster would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.embedding.errors import ManifestError
from kubelet_emu.manifests import format_problem, load, load_text
from kubelet_emu.manifests.admission import admit

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.embedding.options import NodeOptions
    from kubelet_emu.manifests import LoadResult
    from kubelet_emu.manifests.admission import Admitted
    from kubelet_emu.manifests.problems import Problem

HERE = "<text>"


def read_manifests(source: str | Path, options: NodeOptions, gates: FeatureGates, rng: Random) -> Admitted:
    """Read a file, a folder, or a text of more than one line; ManifestError."""
    read = admit(_load(source, options), gates, rng, options.safety, has_seccomp_profile=options.seccomp.has)
    _raise_for(read, () if options.is_simulated else read.refusals)
    if not read.runnables and not read.stored:
        raise ManifestError(f"{name_of(source)}: nothing to run")
    return read


def _load(source: str | Path, options: NodeOptions) -> LoadResult:
    if not str(source):
        raise ManifestError("no manifest is named: give a path, or a text of more than one line")
    if isinstance(source, str) and "\n" in source:
        return load_text(source, file=HERE)
    return load((str(options.folder / source),))


def name_of(source: str | Path) -> str:
    """Return what a manifest is called in messages: its path, or that it is a text."""
    return HERE if isinstance(source, str) and "\n" in source else str(source)


def _raise_for(read: Admitted, refusals: tuple[Problem, ...]) -> None:
    errors = dict.fromkeys(each for each in (*read.problems, *refusals) if each.severity == "error")
    if errors:
        raise ManifestError("\n".join(format_problem(each, read.sources.get(each.file, "")) for each in errors))
