"""What the image manager is given and what it answers."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.rules.observed import StartFailure
    from runtime.api import Image, ImageID, PullProgress


class PullOverride(enum.Enum):
    """A policy for every container that comes before the manifest's (`--pull`)."""

    ALWAYS = "always"
    MISSING = "missing"
    NEVER = "never"


@frozen(kw_only=True)
class PullConfig:
    """How pulls are throttled, from the KubeletConfiguration; `max_parallel` None is no limit."""

    serialize: bool = True
    max_parallel: int | None = None
    registry_qps: float = 5.0
    registry_burst: int = 10
    override: PullOverride | None = None

    @property
    def limit(self) -> int | None:
        """Return how many pulls may run at a time, None for no limit (KEP-3673)."""
        return 1 if self.serialize else self.max_parallel


@frozen(kw_only=True)
class ImageOutcome:
    """The image to run, or why there is none.

    `image_ref` is the digest that a status shows, `image` what the runtime knows of it (its user, its stop signal).
    """

    image_id: ImageID | None = None
    image_ref: str = ""
    image: Image | None = None
    failure: StartFailure | None = None


class PullState(enum.Enum):
    """Where a pull stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@frozen(kw_only=True)
class PullUpdate:
    """One step of a pull, for a progress display; `running` of `limit` pulls run now."""

    pod: Pod
    container: str
    image: str
    state: PullState
    running: int
    limit: int | None
    progress: PullProgress | None = None
