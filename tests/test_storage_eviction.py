"""Pods that outgrow their own storage limits: which limit counts, what is measured, and how the pod ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from attrs import define, evolve
from kubelet_rig import NODE, a_node
from kubelet_rig import a_pod as a_rig_pod
from pod_makers import a_container, a_pod, a_sidecar, requesting

from kubelet_emu.api.v1 import VolumeMount
from kubelet_emu.api.v1_volumes import EmptyDirVolumeSource, Volume
from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.rules.local_storage import StorageUsage, has_storage_limit, storage_eviction
from kubelet_emu.scenarios.scenario_file import load_scenario
from runtime.api import CRIError

if TYPE_CHECKING:
    from pathlib import Path

    from trio.testing import MockClock

    from kubelet_emu.api.v1 import Container, Pod
    from runtime.api import Runtime
    from runtime.simulated import SimulatedRuntime

MIB = 1 << 20


def limited(name: str, limit: str) -> Container:
    return a_container(name, resources=requesting(limits={"ephemeral-storage": limit}))


def scratch(name: str, limit: str | None = None, medium: str = "") -> Volume:
    return Volume(name=name, empty_dir=EmptyDirVolumeSource(size_limit=limit, medium=medium))


VOLUME = 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". '
POD = "Pod ephemeral local storage usage exceeds the total limit of containers {}. "
CONTAINER = 'Container b exceeded its local ephemeral storage limit "1Mi". '
TWO = a_pod(limited("a", "3Mi"), limited("b", "1Mi"))

IN_MEMORY = a_pod(volumes=(scratch("v", "1024Ki", "Memory"),))
WITH_DISK = a_pod(limited("a", "1Mi"), volumes=(scratch("v"),))
WITH_MEMORY = a_pod(limited("a", "1Mi"), volumes=(scratch("v", None, "Memory"),))
ONE_LIMIT = a_pod(limited("a", "1M"), a_container("b"))
LIMITS = [
    ("an emptyDir within its limit", a_pod(volumes=(scratch("v", "1Mi"),)), {}, {"v": MIB}, ""),
    ("an emptyDir over it", a_pod(volumes=(scratch("v", "1Mi"),)), {}, {"v": MIB + 1}, VOLUME),
    ("an emptyDir in memory has a limit too", IN_MEMORY, {}, {"v": 2 * MIB}, VOLUME),
    ("an emptyDir without a limit", a_pod(volumes=(scratch("v"), scratch("w", "0"))), {}, {"v": MIB, "w": MIB}, ""),
    ("containers within the sum", TWO, {"a": 3 * MIB, "b": MIB}, {}, ""),
    ("containers over the sum", TWO, {"a": 2 * MIB, "b": 3 * MIB}, {}, POD.format("4Mi")),
    ("one over its own limit alone", TWO, {"a": 1, "b": 2 * MIB}, {}, CONTAINER),
    ("one without a limit counts for the pod", ONE_LIMIT, {"b": MIB}, {}, POD.format("1M")),
    ("emptyDirs count for the pod", WITH_DISK, {}, {"v": 2 * MIB}, POD.format("1Mi")),
    ("but not those in memory", WITH_MEMORY, {}, {"v": 2 * MIB}, ""),
    ("a limit of nothing", a_pod(limited("a", "0")), {"a": 1}, {}, POD.format("0")),
    ("a sidecar's limit is the pod's, not its own", a_pod(init=(limited("s", "1Mi"),)), {"s": MIB}, {}, ""),
]


@pytest.mark.parametrize(
    ("pod", "containers", "volumes", "message"), [row[1:] for row in LIMITS], ids=[row[0] for row in LIMITS]
)
def test_which_limit_is_outgrown(pod: Pod, containers: dict[str, int], volumes: dict[str, int], message: str) -> None:
    assert storage_eviction(pod, StorageUsage(containers=containers, volumes=volumes)) == message


@pytest.mark.parametrize(
    ("pod", "has"),
    [
        (a_pod(), False),
        (a_pod(limited("a", "1Mi")), True),
        (a_pod(init=(limited("i", "1Mi"),)), True),
        (a_pod(init=(a_sidecar("s"),), volumes=(scratch("v"),)), False),
        (a_pod(volumes=(scratch("v", "1Mi"),)), True),
    ],
    ids=["none", "a container's", "an init container's", "none of a sidecar", "a volume's"],
)
def test_who_has_a_limit(pod: Pod, has: bool) -> None:  # noqa: FBT001 - a table's column
    assert has_storage_limit(pod) is has


SCENARIO = """manifest:
  apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec:
    terminationGracePeriodSeconds: 30
    volumes: [{name: v, emptyDir: {sizeLimit: 20Ki}}]
    containers:
    - name: main
      image: busybox
      command: [sh, -c, "trap 'exit 7' TERM; WRITE; while :; do sleep 1; done"]
      volumeMounts: [{name: v, mountPath: /v}]
      resources: {limits: {ephemeral-storage: 40Ki}}
end: {seconds: 25}
expect:
"""
EVICTED = """
- phase == Failed
- podreason == Evicted
- 'podmessage == "{}"'
- 'pod event(Evicted) < main sigterm < main exited(7)'
- condition(DisruptionTarget) == none
"""
WRITTEN = [
    ("a full emptyDir", "head -c 30000 /dev/zero > /v/x", VOLUME.replace("1Mi", "20Ki")),
    ("files of the container", "head -c 50000 /dev/zero > /x", POD.format("40Ki")),
    ("a long log", "head -c 50000 /dev/zero | tr '\\\\0' x; echo", POD.format("40Ki")),
    ("both together", "head -c 15000 /dev/zero | tee /v/x > /x; cp /x /y", POD.format("40Ki")),
]


@pytest.mark.parametrize(("script", "message"), [row[1:] for row in WRITTEN], ids=[row[0] for row in WRITTEN])
def test_a_pod_is_evicted_over(tmp_path: Path, script: str, message: str) -> None:
    file = tmp_path / "one.scenario.yaml"
    file.write_text(SCENARIO.replace("WRITE", script) + EVICTED.replace("{}", message.replace('"', '\\"')))
    outcome = run_simulated(load_scenario(file), SimulatedWorld())
    assert [(verdict.expectation, verdict.because) for verdict in outcome.verdicts if not verdict.holds] == []


KEPT = [
    (
        "what is removed again counts nothing",
        "head -c 50000 /dev/zero > /x; rm /x; head -c 50000 /dev/zero > /v/x; rm /v/x",
    ),
    ("what lies in the image counts nothing", "cat /bin/* > /dev/null"),
]


@pytest.mark.parametrize("script", [row[1] for row in KEPT], ids=[row[0] for row in KEPT])
def test_a_pod_is_kept(tmp_path: Path, script: str) -> None:
    file = tmp_path / "one.scenario.yaml"
    file.write_text(SCENARIO.replace("WRITE", script) + "- phase == Running\n- never pod event(Evicted)\n")
    assert run_simulated(load_scenario(file), SimulatedWorld()).passed


@define
class _Unmeasured:
    """A runtime that can't tell how much is written."""

    runtime: SimulatedRuntime
    asked: int = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.runtime, name)

    async def container_disk_usage(self, _id: object) -> int:
        self.asked += 1
        raise CRIError("no such container")

    volume_usage = container_disk_usage


async def test_what_cant_be_measured_counts_nothing(autojump_clock: MockClock) -> None:
    runtimes: list[_Unmeasured] = []

    def wrap(runtime: SimulatedRuntime) -> Runtime:
        runtimes.append(_Unmeasured(runtime))
        return cast("Runtime", runtimes[0])

    main = evolve(limited("main", "1"), image="busybox", volume_mounts=(VolumeMount(name="v", mount_path="/v"),))
    async with a_node(wrap=wrap, node=evolve(NODE, ephemeral_storage_bytes=MIB)) as node:
        node.create(a_rig_pod(main, volumes=(scratch("v", "1"),)))
        await node.until(25)
        assert runtimes[0].asked == 4
        assert node.pod().status.phase == "Running"
