"""Objects of one kind, namespace and name: an API server stores the first and refuses the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Expansion

PATH = "metadata.name"


def same_names(expansion: Expansion) -> tuple[Problem, ...]:
    """Return an error for each object whose name another one of its kind has in its namespace."""
    return tuple(_problems(expansion))


def _problems(expansion: Expansion) -> Iterator[Problem]:
    first: dict[tuple[str, str, str], Loaded] = {}
    for each in (*expansion.stored, *expansion.runnables):
        kind, metadata = each.loaded.object.kind, each.object.metadata
        name = each.loaded.object.metadata.name or ""
        before = first.setdefault((kind, metadata.namespace or "default", name), each.loaded)
        if name and before is not each.loaded:
            yield _problem(each.loaded, before, f"{kind} {name!r}")


def _problem(loaded: Loaded, before: Loaded, what: str) -> Problem:
    text = f"{what} is also in {before.source.file}:{before.positions.find(PATH)[0]}"
    return loaded.problem(PATH, "Duplicate value", text, hint="give it another name, or leave one of them out")
