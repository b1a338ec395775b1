"""How long a workload waits before it makes a pod again that the node has refused.

Differs: a controller makes the next one at once, thousands of times. Here each waits longer than the one before, as the
DaemonSet controller has its failed pods wait.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kubelet_emu.api.reasons_node import REJECTED_PREFIX
from kubelet_emu.workloads.rules.plan import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod

ONE_ROUND_SECONDS = 0.5


def is_refused(pod: Pod) -> bool:
    """Tell whether a node's admission has refused a pod."""
    return pod.status.phase == "Failed" and (pod.status.message or "").startswith(REJECTED_PREFIX)


def waits_until(refused_at: Iterable[datetime]) -> datetime | None:
    """Return when the next pod may be made, None for at once; pods that were refused together count once."""
    last: datetime | None = None
    rounds = 0
    for at in sorted(refused_at):
        if last is None or (at - last).total_seconds() > ONE_ROUND_SECONDS:
            rounds += 1
        last = at
    return None if last is None else last + timedelta(seconds=backoff_seconds(rounds))
