"""One journal for one seed, whatever order the scheduler runs tasks in.

Trio shuffles the tasks that are ready on every tick, so running a scenario again is running it under another schedule.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio
from kubelet_rig import (
    a_node,
    a_pod,
    answers,
    container,
    deaf,
    hooks,
    lives,
    probe,
    runs,
    sidecar,
    sleeps,
    stops,
    turning,
)
from trio.testing import MockClock

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import ConfigMap, VolumeMount
from kubelet_emu.api.v1_volumes import ConfigMapVolumeSource, Volume
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timing import FAST, KUBELET, Timing
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from runtime.simulated import TYPICAL, Latencies, Line, SimulatedImage

if TYPE_CHECKING:
    from kubelet_rig import Rig

    from kubelet_emu.api.v1 import Pod

PROGRAMS = {
    "crash": (lives(0.5, 1, lines=(Line(0, "up"), Line(0.5, "down"))), lives(1, 2), lives(1.5, 3)),
    "init": (lives(0.5),),
    "side": (stops(0.5, execs=(turning("check", (0, 1), (1, 0)), answers("bye", takes_seconds=0.5))),),
    "main": (
        stops(1, code=3, execs=(turning("check", (0, 0), (2, 1), (3, 0)),), lines=(Line(1, "tick"), Line(2, "tick"))),
    ),
    "deaf": (deaf(),),
}


def pods(count: int) -> list[Pod]:
    """Return pods of five kinds whose exits, probes, hooks and relists all fall on half seconds."""
    side = sidecar(
        "side", startup_probe=probe(failure_threshold=9), lifecycle=hooks(post_start=sleeps(1), pre_stop=runs("bye"))
    )
    volume = Volume(name="v", config_map=ConfigMapVolumeSource(name="cm"))
    main = container("main", liveness_probe=probe(failure_threshold=2), readiness_probe=probe())
    kinds = (
        partial(a_pod, container("crash"), init=[container("init")], restart_policy="OnFailure"),
        partial(a_pod, main, init=[side, container("init")], termination_grace_period_seconds=2),
        partial(a_pod, container("deaf"), main, init=[side], termination_grace_period_seconds=1),
        partial(a_pod, container("init"), container("crash"), restart_policy="Never", active_deadline_seconds=2),
        partial(a_pod, container("main", volume_mounts=(VolumeMount(name="v", mount_path="/v"),)), volumes=(volume,)),
    )
    return [kinds[n % len(kinds)](name=f"p{n:02d}") for n in range(count)]


async def live(rigs: list[Rig], timing: Timing, latencies: Latencies, count: int) -> None:
    """Create all pods at once, delete some, and let the kubelet be away for a while."""
    async with a_node(PROGRAMS, timing=timing, latencies=latencies) as node:
        rigs.append(node)
        for pod in pods(count):
            node.create(pod)
        await node.until(2)
        node.create(ConfigMap(metadata=ObjectMeta(name="cm", namespace="ns"), data={"k": "v"}))
        await node.until(4)
        for n in range(0, count, 3):
            if node.find(f"p{n:02d}") is not None:
                node.delete(f"p{n:02d}")
        await node.until(7)
        await node.cluster.stop_kubelet()
        await node.until(7.5)
        await node.cluster.start_kubelet()
        await node.until(10)


def journal(timing: Timing, latencies: Latencies, count: int, clock: trio.abc.Clock | None = None) -> list[str]:
    """Return the journal of one run; on Trio's own clock for tests unless another one is given."""
    rigs: list[Rig] = []
    trio.run(live, rigs, timing, latencies, count, clock=clock or MockClock(autojump_threshold=0))
    return rigs[0].lines()


@pytest.mark.parametrize(
    ("timing", "latencies"),
    [
        pytest.param(FAST, Latencies(), id="fast"),
        pytest.param(KUBELET, Latencies(start=0.5, create=0.5), id="kubelet, slow engine"),
    ],
)
def test_sixty_colliding_pods_have_one_journal(timing: Timing, latencies: Latencies) -> None:
    expected = journal(timing, latencies, 60)
    assert len(expected) > 1000
    assert journal(timing, latencies, 60, VirtualClock()) == expected


@pytest.mark.parametrize("timing", [pytest.param(FAST, id="fast"), pytest.param(KUBELET, id="kubelet")])
def test_colliding_pods_have_one_journal_under_many_schedules(timing: Timing) -> None:
    expected = journal(timing, Latencies(), 6)
    for n in range(24):
        clock = VirtualClock() if n % 6 else None
        assert journal(timing, Latencies(), 6, clock) == expected


async def live_unknown(rigs: list[Rig], count: int) -> None:
    """Have pods of images that aren't known, all pulled beside each other, start at one instant."""
    images = {"registry.example/*": SimulatedImage(bytes_per_second=1e6)}
    settings = KubeletSettings(configuration=KubeletConfiguration(serialize_image_pulls=False))
    async with a_node({"main": ()}, images=images, settings=settings, latencies=TYPICAL) as node:
        rigs.append(node)
        for n in range(count):
            main = container("main", image=f"registry.example/app:{n}", readiness_probe=probe())
            node.create(a_pod(main, name=f"p{n:02d}"))
        await node.until(20)


def test_pulls_and_first_lines_of_one_instant_have_one_order() -> None:
    journals = set()
    for n in range(8):
        rigs: list[Rig] = []
        trio.run(live_unknown, rigs, 8, clock=VirtualClock() if n % 4 else MockClock(autojump_threshold=0))
        journals.add(tuple(rigs[0].lines()))
    assert len(journals) == 1
