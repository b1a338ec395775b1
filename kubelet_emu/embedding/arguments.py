"""Arguments of the Python API: one of a wrong kind is told at once, by its name, and not later by whoever meets it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubelet_emu.scenarios.expectations import MomentExpression

NOT_CONTAINERS = frozenset({"*", "pod", "job", "step"})


def check_seconds(name: str, value: object) -> None:
    """Accept None and a number of seconds from 0 on; TypeError, ValueError."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is a number of seconds, not {value!r}")
    if math.isnan(value) or value < 0:
        raise ValueError(f"{name} is a number of seconds from 0 on, not {value!r}")


def check_grace(value: object) -> None:
    """Accept None and whole seconds from 0 on; TypeError, ValueError."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"grace_period_seconds is a whole number of seconds, not {value!r}")
    check_seconds("grace_period_seconds", value)


def check_whole(name: str, value: object) -> None:
    """Accept a whole number; TypeError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number, not {value!r}")


def check_text(name: str, value: object) -> None:
    """Accept a text; TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {value!r}")


def check_manifest(value: object) -> None:
    """Accept a text or a path; TypeError."""
    if not isinstance(value, str | Path):
        raise TypeError(f"manifest is a path or the text of one, not {value!r}")


def check_containers(pod: str, moments: Collection[MomentExpression], known: Collection[str]) -> None:
    """Accept moments of containers that a pod has; LookupError names those that there are."""
    for moment in moments:
        container = moment.subject.name
        if known and container not in {*NOT_CONTAINERS, *known}:
            raise LookupError(f"{pod} has no container {container!r}; it has {', '.join(known)}")
