"""What fails on the way: stops, kills, removals, configs; and what the kubelet says and does then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio
from attrs import define, field
from kubelet_rig import a_node, a_pod, answers, container, deaf, hooks, lives, probe, runs, sidecar, stops, turning

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import (
    ContainerRestartRule,
    ContainerRestartRuleOnExitCodes,
    LocalObjectReference,
    PodDNSConfig,
    Secret,
    VolumeMount,
)
from kubelet_emu.api.v1_environment import EnvVar, EnvVarSource, FileKeySelector
from kubelet_emu.api.v1_handlers import HTTPGetAction, LifecycleHandler
from kubelet_emu.api.v1_volumes import EmptyDirVolumeSource, Volume
from kubelet_emu.journal.records import EffectRecord
from runtime.api import CRIError
from runtime.simulated import HttpAnswer, Port

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio.testing import MockClock

    from runtime.api import ContainerID, SandboxID
    from runtime.simulated import SimulatedRuntime


@define(eq=False)
class Stubborn:
    """A runtime whose calls fail as often as said."""

    inner: SimulatedRuntime
    failures: dict[str, int] = field(factory=dict)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return a method of the runtime, or one that fails."""
        if not self.failures.get(name):
            return getattr(self.inner, name)

        async def fail(*_args: object, **_options: object) -> None:
            self.failures[name] -= 1
            raise CRIError(f"{name} is refused")

        return fail


def failing(**failures: int) -> Callable[[SimulatedRuntime], Any]:
    """Return what makes calls fail so many times."""
    return lambda inner: Stubborn(inner, failures)


async def test_a_kill_that_fails_is_told_and_tried_again(autojump_clock: MockClock) -> None:
    async with a_node(wrap=failing(stop_container=1)) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete()
        assert await node.gone() == 15
        assert node.events("FailedKillPod") == [
            (
                '5 - FailedKillPod: error killing pod: failed to "KillContainer" for "main" with KillContainerError: '
                '"stop_container is refused"'
            )
        ]
        assert node.runs() == ["0 main#1 start", "5 main#1 exit 137"]


async def test_a_sandbox_that_does_not_stop_is_told_and_tried_again(autojump_clock: MockClock) -> None:
    async with a_node(wrap=failing(stop_pod_sandbox=1)) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete()
        assert await node.gone() == 15
        (uid,) = {step.ref.uid for step in node.steps()}
        assert node.events("FailedKillPod") == [
            (
                f'5 - FailedKillPod: error killing pod: failed to "KillPodSandbox" for "{uid}" with '
                'KillPodSandboxError: "stop_pod_sandbox is refused"'
            )
        ]


async def test_all_kills_that_fail_are_told_in_one_list(autojump_clock: MockClock) -> None:
    async with a_node(wrap=failing(stop_container=2)) as node:
        node.create(a_pod(container("b"), container("a")))
        await node.until(5)
        node.delete()
        await node.gone()
        (message,) = node.events("FailedKillPod")
        assert message.removeprefix("5 - FailedKillPod: error killing pod: ") == (
            '[failed to "KillContainer" for "a" with KillContainerError: "stop_container is refused", '
            'failed to "KillContainer" for "b" with KillContainerError: "stop_container is refused"]'
        )


async def test_a_kill_after_which_something_runs_is_done_again_without_an_event(autojump_clock: MockClock) -> None:
    def deaf_once(inner: SimulatedRuntime) -> Any:  # noqa: ANN401
        class Liar(Stubborn):
            async def stop_container(self, container_id: ContainerID, timeout: int) -> None:  # noqa: ASYNC109
                if self.failures.setdefault("lies", 1):
                    self.failures["lies"] -= 1
                    return
                await self.inner.stop_container(container_id, timeout)

            async def stop_pod_sandbox(self, sandbox_id: SandboxID) -> None:
                if len(node.timeouts()) > 1:
                    await self.inner.stop_pod_sandbox(sandbox_id)

        return Liar(inner)

    async with a_node(wrap=deaf_once) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete()
        assert await node.gone() == 15
        assert node.timeouts() == ["5 main 30", "15 main 30"]
        assert node.events("FailedKillPod") == []
        assert [line["event"] for line in node.log] == ["running containers after a kill"]


async def test_a_sidecar_waits_out_the_grace_when_the_stop_of_a_main_fails(autojump_clock: MockClock) -> None:
    """Source: kubelet v1.36 killContainer, which tells terminationOrdering only of a stop that worked."""
    async with a_node({"s1": (deaf(),)}, wrap=failing(stop_container=1)) as node:
        node.create(a_pod(init=[sidecar("s1")]))
        await node.until(5)
        node.delete(grace=10)
        await node.until(16)
        assert node.timeouts() == ["5 main 10", "15 s1 2"]


async def test_a_liveness_kill_that_fails_starts_nothing(autojump_clock: MockClock) -> None:
    program = stops(execs=(turning("check", (0, 0), (3, 1)),))
    async with a_node({"main": (program, lives(execs=(answers("check"),)))}, wrap=failing(stop_container=1)) as node:
        node.create(a_pod(container("main", liveness_probe=probe())))
        await node.until(30)
        results = [step.results for step in node.steps() if any("Kill" in r for r in step.results)][1:]
        assert results == [
            ("KillContainer main: KillContainerError",),
            ("KillContainer main: ok", "StartContainer main: ok"),
        ]
        assert len(node.starts("main")) == 2


async def test_a_reset_that_fails_is_done_again(autojump_clock: MockClock) -> None:
    rule = ContainerRestartRule(
        action="RestartAllContainers", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,))
    )
    async with a_node({"main": (lives(3, 42), lives())}, wrap=failing(remove_container=1)) as node:
        main = container("main", restart_policy="Never", restart_policy_rules=(rule,))
        node.create(a_pod(main, container("other")))
        await node.until(30)
        assert [r for step in node.steps() for r in step.results if "ResetContainerError" in r] != []
        assert len(node.starts("main")) == 2
        assert len(node.starts("other")) == 2
        assert node.condition("AllContainersRestarting").status == "False"


async def test_a_sync_whose_kill_fails_starts_nothing(autojump_clock: MockClock) -> None:
    async with a_node(wrap=failing(stop_container=1)) as node:
        node.create(a_pod())
        await node.until(5)
        await node.runtime.kill_pod_sandbox((await node.runtime.list_pod_sandboxes())[0].id)
        await node.until(30)
        assert [step.results for step in node.steps() if any("KillPod" in r for r in step.results)][1:] == [
            ("KillPod p: KillPodError",),
            ("KillPod p: ok", "CreatePodSandbox p: ok", "StartContainer main: ok"),
        ]


async def test_a_sandbox_that_can_not_be_made_is_told_and_tried_again(autojump_clock: MockClock) -> None:
    async with a_node(wrap=failing(run_pod_sandbox=1)) as node:
        node.create(a_pod())
        await node.until(15)
        assert node.events("FailedCreatePodSandBox") == [
            "0 - FailedCreatePodSandBox: Failed to create pod sandbox: run_pod_sandbox is refused"
        ]
        assert node.starts("main") == [10.0]


async def test_a_sandbox_that_nobody_knows_anything_of_is_told_and_used_at_the_next_sync(
    autojump_clock: MockClock,
) -> None:
    async with a_node(wrap=failing(pod_sandbox_status=1)) as node:
        node.create(a_pod())
        await node.until(15)
        assert node.events("FailedPodSandBoxStatus", "FailedCreatePodSandBox", "SandboxChanged") == [
            "0 - FailedPodSandBoxStatus: Unable to get pod sandbox status: pod_sandbox_status is refused"
        ]
        assert len(node.starts("main")) == 1


async def test_a_sandbox_that_fails_while_its_pod_is_deleted_is_no_fault(autojump_clock: MockClock) -> None:
    def deleted_meanwhile(inner: SimulatedRuntime) -> Any:  # noqa: ANN401
        class Late(Stubborn):
            async def run_pod_sandbox(self, _config: object) -> None:
                node.delete()
                await trio.sleep(1)
                raise CRIError("the network is gone")

        return Late(inner)

    async with a_node(wrap=deleted_meanwhile) as node:
        node.create(a_pod())
        await node.gone()
        assert node.events("FailedCreatePodSandBox") == []


async def test_a_container_that_can_not_be_made_is_told_and_tried_again(autojump_clock: MockClock) -> None:
    async with a_node(wrap=failing(create_container=2)) as node:
        node.create(a_pod())
        await node.until(5)
        assert node.events("Failed")[0] == "0 main Failed: Error: create_container is refused"
        assert node.states("main")[-1] == "0 waiting:CreateContainerError"
        await node.until(25)
        assert len(node.starts("main")) == 1
        assert node.status("main").restart_count == 0


async def test_a_name_too_long_for_a_host_keeps_the_pod_pending(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        name = "p" * 60
        node.create(a_pod(name=name, subdomain="sub", set_hostname_as_fqdn=True))
        await node.until(15)
        events = node.events("FailedCreatePodSandBox", name=name)
        assert "failed to construct FQDN from pod hostname and cluster domain" in events[0]
        assert node.pod(name).status.phase == "Pending"


async def test_too_many_name_servers_are_told(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        dns = PodDNSConfig(nameservers=tuple(f"10.0.0.{n}" for n in range(1, 6)))
        node.create(a_pod(dns_policy="None", dns_config=dns))
        await node.until(1)
        assert node.events("DNSConfigForming")[0].startswith("0 - DNSConfigForming: Nameserver limits were exceeded")


# -- hooks over HTTP, files for variables


async def test_a_hook_over_http_reaches_its_container(autojump_clock: MockClock) -> None:
    port = Port(8080, http={"/setup": ((0.0, HttpAnswer(404)),), "/bye": ((0.0, HttpAnswer()),)})
    async with a_node({"main": (stops(ports=(port,)),)}) as node:
        lifecycle = hooks(
            LifecycleHandler(http_get=HTTPGetAction(path="/setup", port=8080)),
            LifecycleHandler(http_get=HTTPGetAction(path="/bye", port=8080)),
        )
        node.create(a_pod(container("main", lifecycle=lifecycle)))
        await node.until(5)
        node.delete()
        await node.gone()
        assert [(r.call, r.what) for r in node.of(EffectRecord)] == [
            ("postStart", "started"),
            ("postStart", "finished"),
            ("preStop", "started"),
            ("preStop", "finished"),
        ]


async def test_a_hook_over_http_that_nobody_answers_fails(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(),)}) as node:
        lifecycle = hooks(pre_stop=LifecycleHandler(http_get=HTTPGetAction(path="/bye", port=8080)))
        node.create(a_pod(container("main", lifecycle=lifecycle)))
        await node.until(5)
        node.delete()
        await node.until(6)
        assert node.events("FailedPreStopHook") == ["5 main FailedPreStopHook: PreStopHook failed"]


@pytest.mark.parametrize(
    ("path", "key", "optional", "state"),
    [
        pytest.param("vars", "K", False, "running#1", id="a key"),
        pytest.param("vars", "L", True, "running#1", id="no key, optional"),
        pytest.param("vars", "L", False, "waiting:CreateContainerConfigError", id="no key"),
        pytest.param("gone", "K", True, "waiting:CreateContainerConfigError", id="no file, optional"),
    ],
)
async def test_a_variable_from_a_file(
    autojump_clock: MockClock, *, path: str, key: str, optional: bool, state: str
) -> None:
    """Source: KEP-3721; optional is about the key only."""
    selector = FileKeySelector(volume_name="v", path=path, key=key, optional=optional)
    variable = EnvVar(name="V", value_from=EnvVarSource(file_key_ref=selector))
    volume = Volume(name="v", empty_dir=EmptyDirVolumeSource())
    mounts = (VolumeMount(name="v", mount_path="/v"),)
    script = ("sh", "-c", "echo \"K='value'\" > /v/vars")
    setup = container("setup", image="busybox:1", command=script, volume_mounts=mounts)
    async with a_node({"setup": ()}) as node:
        node.create(a_pod(container("main", env=(variable,), volume_mounts=mounts), init=[setup], volumes=(volume,)))
        await node.until(11)  # behind init containers a node tells it with the second try, ten seconds later
        assert node.states("main")[-1].split()[1] == state


async def test_a_pull_secret_that_is_missing_is_told(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(Secret(metadata=ObjectMeta(name="there", namespace="ns"), type="kubernetes.io/dockerconfigjson"))
        node.create(a_pod(image_pull_secrets=(LocalObjectReference(name="gone"),)))
        await node.until(1)
        assert "(gone)" in node.events("FailedToRetrieveImagePullSecret")[0]


async def test_a_hook_that_kills_its_container_ends_the_stop(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(7, execs=(answers("bye", takes_seconds=60.0),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("bye"))), restart_policy="Always"))
        await node.until(5)
        node.delete()
        await node.until(8)
        assert node.find() is None
        assert node.events("FailedPreStopHook") == ["7 main FailedPreStopHook: PreStopHook failed"]
        assert node.signals() == []
