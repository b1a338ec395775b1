"""When a pod worker syncs, and what wakes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kubelet_rig import a_node, a_pod, lives

from kubelet_emu.kubelet.timing import FAST, KUBELET, Timing

if TYPE_CHECKING:
    from trio.testing import MockClock

CRASHING = {"main": (lives(7, 1),)}


async def test_a_sync_waits_for_a_look_that_began_after_it_at_the_same_instant(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(3, 1),)}, timing=FAST) as node:
        node.create(a_pod(restart_policy="OnFailure"))
        await node.until(5)
        assert node.runs() == ["0 main#1 start", "3 main#1 exit 1", "3 main#2 start"]


@pytest.mark.parametrize(
    ("timing", "syncs"),
    [pytest.param(FAST, [0, 0, 7, 7, 14, 24, 24], id="fast"), pytest.param(KUBELET, [0, 0, 7, 7, 14], id="kubelet")],
)
async def test_the_kubelets_own_status_writes_wake_no_worker(
    autojump_clock: MockClock, timing: Timing, syncs: list[float]
) -> None:
    """Source: kubelet v1.36 config.go podsDifferSemantically."""
    async with a_node(CRASHING, timing=timing) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(24.5)
        assert [round(node.at(step)) for step in node.steps()] == syncs
