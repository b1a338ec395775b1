"""Ends that the node decides on and waits for: evictions and preemptions.

Who asks waits until the pod's containers are gone, but no longer than the grace lets expect: a worker that is in the
middle of a step finishes it first. Source: kubelet v1.36 killPodNow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define

from kubelet_emu.api import reasons
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.disruption import kill_wait_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.rules.disruption import Termination


@define(eq=False, kw_only=True)
class NodeKills:
    """Ends pods of one kubelet; `terminate` asks a worker for the end, `stopped` waits until nothing of a pod runs."""

    recorder: Recorder
    timebase: Timebase
    terminate: Callable[[str, Termination], None]
    stopped: Callable[[str], Awaitable[None]]

    async def kill(self, pod: Pod, termination: Termination) -> None:
        """End a pod and wait for it. Cancellation ends the wait, not the pod's end."""
        self.terminate(pod.metadata.uid or "", termination)
        await self.wait(pod, termination)

    async def wait(self, pod: Pod, termination: Termination) -> None:
        """Wait for a pod whose end was asked for; one that takes too long is told and no longer waited for.

        Source: kubelet v1.36 killPodNow.
        """
        grace = termination.override_seconds
        if grace is None:
            grace = pod.spec.termination_grace_period_seconds or 0
        with trio.move_on_after(kill_wait_seconds(grace)) as wait:
            await self.stopped(pod.metadata.uid or "")
        if wait.cancelled_caught:
            await self.timebase.turn(Lane.WORKER, f"{pod.metadata.namespace}/{pod.metadata.name}")
            message = reasons.CONTAINER_RUNTIME_DID_NOT_KILL
            self.recorder.event(pod, None, reasons.WARNING, reasons.EXCEEDED_GRACE_PERIOD, message)
