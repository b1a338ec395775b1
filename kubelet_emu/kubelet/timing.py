"""The kubelet's own delays, and what is left of them in fast timing.

`kubelet` timing has the real delays: a relist each second and jitter on every wait. `fast` timing lets a runtime event
wake the relist at once and drops the jitter; the decisions are the same. Source: kubelet v1.36 pkg/kubelet/kubelet.go.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import random


@frozen(kw_only=True)
class Timing:
    """Delays in seconds. `jitter` is the largest part added to a wait: 0.5 makes 10 s last 10..15 s.

    `kubelet_start_seconds` pass from the start of a kubelet's process until it looks at pods (measured on a real node:
    0.6 to 1.2).
    """

    name: str
    relist_seconds: float = 1.0
    relist_on_events: bool
    jitter: float
    tick_seconds: float
    resync_seconds: float = 60.0
    error_retry_seconds: float = 10.0
    network_retry_seconds: float = 1.0
    housekeeping_seconds: float = 2.0
    garbage_collection_seconds: float = 60.0
    controller_batch_seconds: float = 1.0
    kubelet_start_seconds: float = 0.75

    def wait(self, seconds: float, rng: random.Random) -> float:
        """Return a wait with jitter (kubelet wait.Jitter)."""
        return seconds * (1.0 + rng.random() * self.jitter) if self.jitter else seconds

    def due(self, at: float) -> float:
        """Return when the loop that collects due pods notices one that is due at `at` (kubelet syncLoop tick)."""
        return math.ceil(at / self.tick_seconds) * self.tick_seconds if self.tick_seconds else at


FAST = Timing(
    name="fast",
    relist_on_events=True,
    jitter=0.0,
    tick_seconds=0.0,
    controller_batch_seconds=0.0,
    kubelet_start_seconds=0.0,
)
KUBELET = Timing(name="kubelet", relist_on_events=False, jitter=0.5, tick_seconds=1.0)


def timing_named(name: str) -> Timing:
    """Return the timing of that name; KeyError for another word."""
    return {"fast": FAST, "kubelet": KUBELET}[name]
