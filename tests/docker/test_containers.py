"""Containers on a real engine: order, stops, failures, limits."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attrs import evolve
from engine_pods import PodMaker, sandbox_config

from runtime.api import (
    ContainerState,
    CRIError,
    LinuxContainerResources,
    NotFoundError,
    PodSandboxState,
    RuntimeEventType,
    StartError,
)
from runtime.docker import DockerRuntime
from runtime.docker.bridge import READ_THREADS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from docker import APIClient

    from runtime.api import ContainerID, RuntimeEvent

pytestmark = pytest.mark.docker

OBEYS = 'trap "echo Terminated; exit 3" TERM; echo ready; while :; do sleep 0.05; done'
_INIT = "unable to start container process: error during container init: "
IGNORES = 'trap "echo Terminated" TERM; echo ready; while :; do sleep 0.05; done'


async def events_until(
    runtime: DockerRuntime, do: Callable[[], Awaitable[None]], *last: RuntimeEventType
) -> list[RuntimeEvent]:
    """Return the events while `do` runs, until there was one of each type; their order is the engine's."""
    seen: list[RuntimeEvent] = []
    async with runtime.events() as events:
        await do()
        with trio.fail_after(20):
            async for event in events:
                seen.append(event)
                if {each.type for each in seen} >= set(last):
                    break
    return seen


async def test_a_container_is_created_started_and_its_code_comes_with_the_event(pod: PodMaker) -> None:
    async def do() -> None:
        await pod.start("a", "exit 7")

    seen = await events_until(pod.runtime, do, RuntimeEventType.CONTAINER_EXITED)
    late = RuntimeEventType.SANDBOX_STARTED  # the engine may tell of the sandbox only now
    assert [event.type for event in seen if event.type is not late] == [
        RuntimeEventType.CONTAINER_CREATED,
        RuntimeEventType.CONTAINER_STARTED,
        RuntimeEventType.CONTAINER_EXITED,
    ]
    died = seen[-1]
    assert (died.container_name, died.attempt, died.exit_code) == ("a", 0, 7)
    assert (died.pod_uid, died.sandbox_id) == (pod.config.metadata.uid, pod.sandbox_id)
    [summary] = await pod.runtime.list_containers()
    assert summary.state is ContainerState.EXITED, "the list must not lag behind the event"
    status = await pod.runtime.container_status(died.container_id)
    assert (status.exit_code, status.reason) == (7, "Error")
    assert status.started_at is not None
    assert status.finished_at is not None
    assert status.started_at <= status.finished_at


async def test_an_exit_with_0_is_completed(pod: PodMaker) -> None:
    container_id = await pod.start("a", "exit 0")
    assert await pod.log_of(container_id) == []
    await pod.runtime.stop_container(container_id, 5)
    status = await pod.runtime.container_status(container_id)
    assert (status.exit_code, status.reason) == (0, "Completed")


async def test_stop_sends_term_and_returns_when_it_is_dead(pod: PodMaker) -> None:
    container_id = await pod.start("a", OBEYS)
    await pod.log_until(container_id, "ready")
    await pod.runtime.stop_container(container_id, 30)
    status = await pod.runtime.container_status(container_id)
    assert (status.state, status.exit_code) == (ContainerState.EXITED, 3)


async def test_term_ignored_means_kill_at_the_deadline(pod: PodMaker) -> None:
    container_id = await pod.start("a", IGNORES)
    await pod.log_until(container_id, "ready")
    before = trio.current_time()
    await pod.runtime.stop_container(container_id, 1.0)
    took = trio.current_time() - before
    assert 1.0 <= took < 6.0
    status = await pod.runtime.container_status(container_id)
    assert (status.exit_code, status.reason) == (137, "Error")


async def test_two_stops_send_one_term_and_the_shorter_time_counts(pod: PodMaker) -> None:
    container_id = await pod.start("a", IGNORES)
    await pod.log_until(container_id, "ready")
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pod.runtime.stop_container, container_id, 50.0)
            await pod.log_until(container_id, "Terminated")
            nursery.start_soon(pod.runtime.stop_container, container_id, 1.0)
    assert await pod.log_of(container_id) == ["ready", "Terminated"]


async def test_a_stop_that_was_cancelled_and_repeated_sends_one_term(pod: PodMaker) -> None:
    container_id = await pod.start("a", IGNORES)
    await pod.log_until(container_id, "ready")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pod.runtime.stop_container, container_id, 50.0)
        await pod.log_until(container_id, "Terminated")
        nursery.cancel_scope.cancel()
    await pod.runtime.stop_container(container_id, 0.5)
    assert await pod.log_of(container_id) == ["ready", "Terminated"]


async def test_stopping_what_is_dead_or_gone_succeeds(pod: PodMaker) -> None:
    container_id = await pod.start("a", "exit 0")
    await pod.log_of(container_id)
    await pod.runtime.stop_container(container_id, 5)
    await pod.runtime.remove_container(container_id)
    await pod.runtime.remove_container(container_id)
    await pod.runtime.stop_container(container_id, 5)
    with pytest.raises(NotFoundError):
        await pod.runtime.container_status(container_id)


async def test_the_stop_signal_of_the_spec_is_sent(pod: PodMaker) -> None:
    script = 'trap "exit 9" USR1; echo ready; while :; do sleep 0.05; done'
    container_id = await pod.start("a", script, stop_signal="SIGUSR1")
    await pod.log_until(container_id, "ready")
    await pod.runtime.stop_container(container_id, 30)
    status = await pod.runtime.container_status(container_id)
    assert (status.exit_code, status.stop_signal) == (9, "SIGUSR1")


@pytest.mark.parametrize(
    ("sender", "own"),
    [("stop", True), ("kill", False), ("engine", False)],
    ids=["a stop's signal is ours", "a kill by hand is not", "nor is one behind our back"],
)
async def test_who_sent_a_signal(pod: PodMaker, engine: APIClient, sender: str, own: bool) -> None:  # noqa: FBT001 - a table's column
    container_id = await pod.start("a", "echo ready; sleep 100")
    await pod.log_until(container_id, "ready")

    async def do() -> None:
        match sender:
            case "stop":
                await pod.runtime.stop_container(container_id, 0)
            case "kill":
                await pod.runtime.kill_container(container_id, "SIGKILL")
            case _:
                await trio.to_thread.run_sync(engine.kill, container_id, "SIGKILL")

    seen = await events_until(pod.runtime, do, RuntimeEventType.CONTAINER_EXITED)
    signals = [event for event in seen if event.type is RuntimeEventType.CONTAINER_SIGNALLED]
    assert (signals[-1].signal, {event.own for event in signals}) == ("SIGKILL", {own})
    assert seen[-1].exit_code == 137


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("/usr/bin/srever",), 'exec: "/usr/bin/srever": stat /usr/bin/srever: no such file or directory'),
        (("srever",), 'exec: "srever": executable file not found in $PATH'),
        (("/etc",), 'exec: "/etc": permission denied'),
    ],
    ids=["no such file", "not in PATH", "not a program"],
)
async def test_a_process_that_cannot_start_is_start_error_128(
    pod: PodMaker, command: tuple[str, ...], message: str
) -> None:
    container_id = await pod.create("a", "", command=command)
    with pytest.raises(StartError) as raised:
        await pod.runtime.start_container(container_id)
    expected = (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
        f"unable to start container process: {message}"
    )
    assert str(raised.value) == expected
    status = await pod.runtime.container_status(container_id)
    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 128, "StartError")
    assert (status.message, status.started_at) == (expected, None)
    [summary] = await pod.runtime.list_containers()
    assert summary.state is ContainerState.EXITED
    async with DockerRuntime(pod.runtime.instance) as restarted:
        [summary] = await restarted.list_containers()
        assert summary.state is ContainerState.EXITED, "a restarted emulator sees the same"


@pytest.mark.parametrize(
    ("folder", "command", "message"),
    [
        ("data", ("true",), "Cwd must be an absolute path"),
        ("/etc/passwd", ("true",), f"{_INIT}mkdir /etc/passwd: not a directory"),
        ("/etc/passwd/a/b", ("true",), f"{_INIT}mkdir /etc/passwd: not a directory"),
        (None, ("", "true"), 'unable to start container process: exec: "": executable file not found in $PATH'),
    ],
    ids=["a relative folder", "a file to work in", "a folder below a file", "no name"],
)
async def test_what_an_engine_refuses_to_make_fails_when_it_is_started(
    pod: PodMaker, folder: str | None, command: tuple[str, ...], message: str
) -> None:
    container_id = await pod.create("a", "", command=command, working_dir=folder)
    with pytest.raises(StartError) as raised:
        await pod.runtime.start_container(container_id)
    expected = (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    )
    status = await pod.runtime.container_status(container_id)
    assert (str(raised.value), status.message) == (expected + message, expected + message)
    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 128, "StartError")


async def test_memory_over_the_limit_is_oom_killed(pod: PodMaker) -> None:
    limit = LinuxContainerResources(memory_limit_bytes=16 << 20)

    async def do() -> None:
        await pod.start("a", "sleep 0.2; exec tail /dev/zero", resources=limit)

    seen = await events_until(pod.runtime, do, RuntimeEventType.CONTAINER_EXITED, RuntimeEventType.CONTAINER_OOM)
    status = await pod.runtime.container_status(seen[-1].container_id)
    assert (status.exit_code, status.reason) == (137, "OOMKilled")


async def test_a_name_that_our_earlier_create_took_is_adopted(pod: PodMaker) -> None:
    first = await pod.create("a", "exit 0")
    assert await pod.create("a", "exit 0") == first
    await pod.runtime.start_container(first)
    await pod.log_of(first)
    replaced = await pod.create("a", "exit 0")
    assert replaced != first
    with pytest.raises(NotFoundError):
        await pod.runtime.container_status(first)


async def test_a_name_that_somebody_else_took_is_left_alone(pod: PodMaker, engine: APIClient) -> None:
    config = sandbox_config()
    name = f"k8s_POD_pod_default_{config.metadata.uid}_0"
    body = {"Image": pod.image, "Cmd": ["true"]}
    foreign = await trio.to_thread.run_sync(engine.create_container_from_config, body, name)
    try:
        sandbox_id = await pod.runtime.run_pod_sandbox(config)
        status = await pod.runtime.pod_sandbox_status(sandbox_id)
        assert (status.metadata, status.state) == (config.metadata, PodSandboxState.READY)
        inspected = await trio.to_thread.run_sync(engine.inspect_container, sandbox_id)
        assert inspected["Name"] == f"/{name}_{pod.runtime.instance}"
    finally:
        engine.remove_container(foreign["Id"])


async def test_a_running_sandbox_is_adopted_and_a_dead_one_replaced(pod: PodMaker, engine: APIClient) -> None:
    assert await pod.runtime.run_pod_sandbox(pod.config) == pod.sandbox_id
    await pod.runtime.stop_pod_sandbox(pod.sandbox_id)
    status = await pod.runtime.pod_sandbox_status(pod.sandbox_id)
    assert status.state is PodSandboxState.NOT_READY
    assert await pod.runtime.run_pod_sandbox(pod.config) != pod.sandbox_id


async def test_labels_and_annotations_come_back_as_given(pod: PodMaker) -> None:
    given = {"io.kubernetes.container.hash": "ab12", "io.kubernetes.container.restartCount": "4"}
    container_id = await pod.create("a", "exit 0", annotations=given)
    status = await pod.runtime.container_status(container_id)
    [summary] = await pod.runtime.list_containers()
    for seen in (status, summary):
        assert (seen.annotations, seen.labels) == (given, {"io.kubernetes.pod.uid": pod.config.metadata.uid})
        assert (seen.sandbox_id, seen.metadata.name, seen.image_name) == (
            pod.sandbox_id,
            "a",
            "127.0.0.1:5000/kemu/busybox:1",
        )
    assert status.state is ContainerState.CREATED
    [sandbox] = await pod.runtime.list_pod_sandboxes()
    assert sandbox == evolve(
        await pod.runtime.pod_sandbox_status(pod.sandbox_id), created_at=sandbox.created_at, ip=sandbox.ip
    )


async def test_containers_of_a_pod_share_network_and_hostname_is_the_sandboxs(pod: PodMaker) -> None:
    await pod.start("server", "mkdir /w; echo page > /w/index.html; exec httpd -f -p 8080 -h /w")
    script = "until wget -q -O - http://127.0.0.1:8080/; do sleep 0.05; done; hostname"
    client = await pod.start("client", script)
    assert (await pod.log_of(client))[-2:] == ["page", "pod"]


async def test_removing_a_sandbox_removes_its_containers(pod: PodMaker) -> None:
    await pod.start("a", "sleep 100")
    await pod.create("b", "exit 0")
    await pod.runtime.remove_pod_sandbox(pod.sandbox_id)
    assert await pod.runtime.list_containers() == ()
    assert await pod.runtime.list_pod_sandboxes() == ()
    await pod.runtime.remove_pod_sandbox(pod.sandbox_id)


async def test_limits_can_be_changed_while_it_runs(pod: PodMaker, engine: APIClient) -> None:
    container_id = await pod.start("a", "sleep 100", resources=LinuxContainerResources(memory_limit_bytes=32 << 20))
    changed = LinuxContainerResources(cpu_period=100_000, cpu_quota=20_000, memory_limit_bytes=64 << 20)
    await pod.runtime.update_container_resources(container_id, changed)
    host_config = (await trio.to_thread.run_sync(engine.inspect_container, container_id))["HostConfig"]
    seen = [host_config[key] for key in ("CpuPeriod", "CpuQuota", "Memory", "MemorySwap")]
    assert seen == [100_000, 20_000, 64 << 20, 64 << 20]


async def test_a_signal_to_the_dead_is_an_error(pod: PodMaker) -> None:
    container_id: ContainerID = await pod.create("a", "exit 0")
    with pytest.raises(CRIError, match="does not run"):
        await pod.runtime.kill_container(container_id, "SIGKILL")


async def test_a_signal_waits_for_no_look(pod: PodMaker) -> None:
    container_id = await pod.start("a", "echo ready; sleep 100")
    await pod.log_until(container_id, "ready")
    looked = threading.Event()

    def look(_client: APIClient) -> None:
        assert looked.wait(10), "the signal waited"

    async with pod.runtime.events() as events, trio.open_nursery() as nursery:
        for _ in range(READ_THREADS):
            nursery.start_soon(pod.runtime.bridge.read, look)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(pod.runtime.stop_container, container_id, 30)
        async for event in events:
            if event.type is RuntimeEventType.CONTAINER_SIGNALLED:
                assert (event.signal, looked.is_set()) == ("SIGTERM", False)
                looked.set()
                break
        await pod.runtime.stop_container(container_id, 0)
