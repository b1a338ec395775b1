"""How a pod comes up: order of starts, gates, refusals, and what heals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from kubelet_rig import (
    BOTH,
    NODE,
    a_node,
    a_pod,
    answers,
    container,
    hooks,
    lives,
    probe,
    runs,
    sidecar,
    sleeps,
    stops,
    turning,
)

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import ConfigMap, EphemeralContainer, Pod, PodReadinessGate, VolumeMount
from kubelet_emu.api.v1_environment import ConfigMapKeySelector, EnvVar, EnvVarSource
from kubelet_emu.api.v1_security import SecurityContext
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.api.v1_volumes import ConfigMapVolumeSource, Volume
from kubelet_emu.journal.records import EffectRecord
from kubelet_emu.kubelet.timing import FAST, KUBELET, Timing
from runtime.simulated import FaultPlan, PullFault, Run, SimulatedImage

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock


# -- order


@BOTH
async def test_init_containers_run_one_after_another_then_all_mains(autojump_clock: MockClock, timing: Timing) -> None:
    programs = {"i1": (lives(1),), "i2": (lives(2),)}
    async with a_node(programs, timing=timing) as node:
        node.create(a_pod(container("a"), container("b"), init=[container("i1"), container("i2")]))
        await node.until(10)
        assert node.runs() == [
            "0 i1#1 start",
            "1 i1#1 exit 0",
            "1 i2#1 start",
            "3 i2#1 exit 0",
            "3 a#1 start",
            "3 b#1 start",
        ]
        assert node.phases() == ["Pending", "Running"]
        assert node.condition("Initialized").status == "True"


async def test_an_exit_between_two_relists_is_noticed_by_the_next_one(autojump_clock: MockClock) -> None:
    async with a_node({"i1": (lives(1.3),)}, timing=KUBELET) as node:
        node.create(a_pod(init=[container("i1")]))
        await node.until(5)
        assert node.runs() == ["0 i1#1 start", "1.3 i1#1 exit 0", "2 main#1 start"]


async def test_events_of_a_start_come_in_order(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(1)
        reasons = [event.split()[2] for event in node.events("Scheduled", "Pulled", "Created", "Started", "Killing")]
        assert reasons == ["Scheduled:", "Pulled:", "Created:", "Started:"]


@BOTH
async def test_a_sidecar_opens_the_way_when_it_has_started(autojump_clock: MockClock, timing: Timing) -> None:
    async with a_node(timing=timing) as node:
        node.create(a_pod(init=[sidecar("s1"), sidecar("s2")]))
        await node.until(2)
        assert node.runs() == ["0 s1#1 start", "0 s2#1 start", "0 main#1 start"]


async def test_a_startup_probe_of_a_sidecar_holds_back_what_follows(autojump_clock: MockClock) -> None:
    program = lives(execs=(turning("check", (0, 1), (3.5, 0)),))
    async with a_node({"s1": (program,)}) as node:
        node.create(a_pod(init=[sidecar("s1", startup_probe=probe(failure_threshold=30))]))
        await node.until(3)
        assert node.starts("main") == []
        assert node.status("s1").started is False
        await node.until(6)
        assert node.starts("main") == [4.0]
        assert node.starts("s1") == [0.0]


async def test_the_post_start_hook_of_a_sidecar_holds_back_what_follows(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(init=[sidecar("s1", lifecycle=hooks(post_start=sleeps(4)))]))
        await node.until(3)
        assert node.states("s1")[-1] == "0 waiting:PodInitializing"
        await node.until(6)
        assert node.starts("main") == [4.0]


async def test_mains_wait_for_the_post_start_hook_of_the_one_before(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(container("a", lifecycle=hooks(post_start=sleeps(2))), container("b")))
        await node.until(5)
        assert node.runs() == ["0 a#1 start", "2 b#1 start"]
        assert node.states("a") == ["0 none", "0 waiting:ContainerCreating", "2 running#1"]


@BOTH
async def test_a_failing_init_container_blocks_the_rest_and_is_tried_again(
    autojump_clock: MockClock, timing: Timing
) -> None:
    async with a_node({"i1": (lives(1, 1), lives(1, 1), lives(1))}, timing=timing) as node:
        node.create(a_pod(init=[container("i1")], restart_policy="OnFailure"))
        await node.until(60)
        starts = node.starts("i1")
        assert starts[:2] == [0.0, 1.0]
        assert 12.0 <= starts[2] <= 18.0
        assert node.starts("main") == [starts[2] + 1]
        assert node.phases() == ["Pending", "Running"]


async def test_a_failed_init_container_of_a_never_pod_ends_it_and_its_sidecars(autojump_clock: MockClock) -> None:
    async with a_node({"i2": (lives(1, 3),)}) as node:
        node.create(a_pod(init=[sidecar("s1"), container("i2")], restart_policy="Never"))
        await node.phase("Failed")
        assert node.runs() == ["0 s1#1 start", "0 i2#1 start", "1 i2#1 exit 3", "1 s1#1 exit 0"]
        assert node.states("main") == ["0 none", "0 waiting:PodInitializing"]
        assert node.condition("Initialized").status == "False"
        assert node.condition("Ready").reason == "PodFailed"


# -- failures of a start, and healing


def env_from(config_map: str) -> EnvVar:
    """Return a variable that comes from a ConfigMap."""
    return EnvVar(name="V", value_from=EnvVarSource(config_map_key_ref=ConfigMapKeySelector(name=config_map, key="k")))


def a_config_map(name: str = "cm") -> ConfigMap:
    """Return the ConfigMap that pods here ask for."""
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="ns"), data={"k": "v"})


async def test_a_missing_config_map_is_a_config_error_that_heals(autojump_clock: MockClock) -> None:
    async with a_node(timing=FAST) as node:
        node.create(a_pod(container("main", env=(env_from("cm"),))))
        await node.until(15)
        assert node.states("main") == ["0 none", "0 waiting:ContainerCreating", "0 waiting:CreateContainerConfigError"]
        assert node.events("Failed")[0] == '0 main Failed: Error: configmap "cm" not found'
        state = node.status("main").state.waiting
        assert state is not None
        assert state.message == 'configmap "cm" not found'
        assert node.pod().status.phase == "Pending"
        node.create(a_config_map())
        await node.until(25)
        assert node.starts("main") == [20.0]
        assert node.status("main").restart_count == 0


def a_pod_with_volume() -> Pod:
    """Return a pod that mounts the ConfigMap."""
    volume = Volume(name="v", config_map=ConfigMapVolumeSource(name="cm"))
    main = container("main", volume_mounts=(VolumeMount(name="v", mount_path="/v"),))
    return a_pod(main, volumes=(volume,))


async def test_a_missing_volume_keeps_even_the_sandbox_away_and_heals(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod_with_volume())
        await node.until(3)
        assert node.events("FailedMount")[0] == (
            '0 - FailedMount: MountVolume.SetUp failed for volume "v" : configmap "cm" not found'
        )
        assert await node.runtime.list_pod_sandboxes() == ()
        node.create(a_config_map())
        await node.until(10)
        assert len(node.starts("main")) == 1


async def test_deleting_a_pod_that_waits_for_a_volume_ends_it_at_once(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod_with_volume())
        await node.until(3)
        node.delete()
        assert await node.gone() == 3.0
        assert node.phases() == ["Pending", "Failed"]
        assert node.states("main")[-1] == "3 terminated:ContainerStatusUnknown:137"


async def test_an_image_that_is_missing_is_pulled_again_after_its_back_off(autojump_clock: MockClock) -> None:
    faults = FaultPlan(pulls={"docker.io/library/gone:1": (PullFault.NOT_FOUND, None)})
    images = {"gone:1": SimulatedImage()}
    async with a_node(images=images, default_image=SimulatedImage(is_present=True), faults=faults) as node:
        node.create(a_pod(container("a", image="gone:1"), container("b")))
        await node.until(5)
        assert node.pod().status.phase == "Pending"
        assert node.starts("b") == [0.0]
        await node.until(20)
        assert node.starts("a") == [10.0]
        assert node.pod().status.phase == "Running"


async def test_a_command_that_can_not_start_is_retried_as_a_crash(autojump_clock: MockClock) -> None:
    async with a_node({"main": (Run(start_error="exec: no such file"), lives())}) as node:
        node.create(a_pod())
        await node.until(2)
        assert node.events("Failed") == ["0 main Failed: Error: exec: no such file"]
        assert node.starts("main") == [0.0]
        assert node.status("main").restart_count == 1
        last = node.status("main").last_state.terminated
        assert last is not None
        assert (last.reason, last.exit_code) == ("StartError", 128)


async def test_a_command_that_can_not_start_fails_a_never_pod(autojump_clock: MockClock) -> None:
    async with a_node({"main": (Run(start_error="exec: no such file"),)}) as node:
        node.create(a_pod(restart_policy="Never"))
        await node.phase("Failed")
        assert node.states("main")[-1] == "0 terminated:StartError:128"


async def test_a_root_image_that_must_not_run_as_root_is_refused(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(container("main", security_context=SecurityContext(run_as_non_root=True))))
        await node.until(1)
        assert node.states("main")[-1] == "0 waiting:CreateContainerConfigError"


@pytest.mark.parametrize(
    ("policy", "ends"),
    [pytest.param("Always", "Running", id="Always"), pytest.param("Never", "Succeeded", id="Never")],
)
async def test_a_failed_post_start_hook_stops_the_container(autojump_clock: MockClock, policy: str, ends: str) -> None:
    program = lives(execs=(answers("setup", exit_code=3, output="bad news\n"), answers("bye")))
    async with a_node({"main": (program, lives(execs=(answers("setup"),)))}) as node:
        lifecycle = hooks(post_start=runs("setup"), pre_stop=runs("bye"))
        node.create(a_pod(container("main", lifecycle=lifecycle), restart_policy=policy))
        await node.until(5)
        assert node.events("FailedPostStartHook", "Killing") == [
            "0 main FailedPostStartHook: PostStartHook failed",
            "0 main Killing: FailedPostStartHook",
        ]
        assert node.signals() == ["0 main SIGTERM"]
        assert [r.call for r in hook_records(node)][:2] == ["postStart", "postStart"]
        assert "preStop" in [r.call for r in hook_records(node)]
        assert node.pod().status.phase == ends


def hook_records(node: Rig) -> list[EffectRecord]:
    """Return what was recorded of hooks."""
    return [r for r in node.of(EffectRecord) if r.call in {"preStop", "postStart"}]


# -- admission


async def test_a_pod_that_does_not_fit_is_rejected_for_good(autojump_clock: MockClock) -> None:
    async with a_node(node=evolve(NODE, max_pods=1)) as node:
        node.create(a_pod(name="first"))
        node.create(a_pod())
        await node.until(5)
        status = node.pod().status
        assert (status.phase, status.reason) == ("Failed", "OutOfpods")
        assert status.message == (
            "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1"
        )
        assert node.events("OutOfpods") == [
            "0 - OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1"
        ]
        node.delete("first")
        await node.gone("first")
        assert node.runs() == []
        node.delete()
        assert node.find() is None


async def test_a_finished_pod_no_longer_counts(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1),)}, node=evolve(NODE, max_pods=1)) as node:
        node.create(a_pod(name="first", restart_policy="Never"))
        await node.phase("Succeeded", name="first")
        node.create(a_pod(restart_policy="Never"))
        await node.phase("Succeeded")
        assert node.runs() == ["1 main#1 start", "2 main#1 exit 0"]


async def test_a_pod_of_another_node_is_left_alone(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(node_name="node2"))
        await node.until(5)
        assert node.pod().status.conditions == ()
        assert node.events("Scheduled") == []


async def test_a_selector_that_matches_no_node_leaves_the_pod_unschedulable(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(node_selector={"disk": "ssd"}))
        await node.until(5)
        assert node.condition("PodScheduled").reason == "Unschedulable"
        assert len(node.events("FailedScheduling")) == 1
        node.delete()
        assert node.find() is None


# -- readiness gates, ephemeral containers


async def test_a_readiness_gate_follows_its_condition(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(readiness_gates=(PodReadinessGate(condition_type="example.com/up"),)))
        await node.until(2)
        ready = node.condition("Ready")
        assert (ready.status, ready.reason) == ("False", "ReadinessGatesNotReady")
        assert ready.message == 'corresponding condition of pod readiness gate "example.com/up" does not exist.'
        pod = node.pod()
        condition = PodCondition(type="example.com/up", status="True")
        status = evolve(pod.status, conditions=(*pod.status.conditions, condition))
        node.cluster.api.update_status("Pod", "ns", "p", status, uid=pod.metadata.uid or "")
        await node.until(2.1)
        assert node.condition("Ready").status == "True"
        assert node.condition("example.com/up").status == "True"


async def test_an_ephemeral_container_starts_at_once_and_never_again(autojump_clock: MockClock) -> None:
    async with a_node({"debug": (lives(2, 1),)}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(3)
        node.cluster.api.add_ephemeral_container("ns", "p", EphemeralContainer(name="debug", image="app:1"))
        await node.until(90)
        assert node.runs() == ["0 main#1 start", "3 debug#1 start", "5 debug#1 exit 1"]
        assert node.pod().status.phase == "Running"
        assert node.status("debug").ready is False


async def test_an_ephemeral_container_of_a_target_that_is_not_there_is_refused(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(container("main"), container("late", image="a@sha256:0")))
        await node.until(3)
        debug = EphemeralContainer(name="debug", image="app:1", target_container_name="late")
        node.cluster.api.add_ephemeral_container("ns", "p", debug)
        await node.until(4)
        failed = [event for event in node.events("Failed") if " debug " in event]
        assert failed == ["3 debug Failed: Error: unable to find target container late"]


async def test_an_ephemeral_container_is_stopped_with_the_mains(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(1),)}) as node:
        node.create(a_pod(init=[sidecar("s1")]))
        await node.until(1)
        debug = EphemeralContainer(name="debug", image="app:1", target_container_name="main")
        node.cluster.api.add_ephemeral_container("ns", "p", debug)
        await node.until(3)
        node.delete()
        await node.gone()
        assert sorted(node.signals()) == ["3 debug SIGTERM", "3 main SIGTERM", "4 s1 SIGTERM"]
