"""All that is told about loaded objects before anything runs.

What a server refuses, what it warns of, and what is not emulated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.not_emulated import not_emulated
from kubelet_emu.manifests.validation import validate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.validation.context import Gates


def check(loaded: Iterable[Loaded], gates: Gates) -> tuple[Problem, ...]:
    """Return every error and warning of the objects, object by object, each in the order of its lines."""
    problems: list[Problem] = []
    for each in loaded:
        own = (*validate([each], gates), *not_emulated(each))
        problems += sorted(own, key=lambda problem: (problem.line, problem.column))
    return tuple(problems)
