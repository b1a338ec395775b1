"""Which run a command of a second terminal is about, as one value."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@frozen(kw_only=True)
class Target:
    """Which run is meant, and which namespace of it; no id is the only run that there is."""

    root: Path
    run_id: str | None = None
    namespace: str = "default"


def target_of(given: Mapping[str, object]) -> Target:
    """Return what click parsed as one value."""
    from kubelet_emu.embedding.instances import default_root

    root = cast("Path | None", given.get("root_dir")) or default_root(os.environ, os.getuid())
    return Target(
        root=root,
        run_id=cast("str | None", given.get("run_id")),
        namespace=cast("str", given.get("namespace") or "default"),
    )
