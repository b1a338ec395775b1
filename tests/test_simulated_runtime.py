"""The simulated runtime behind `runtime.api`: containers with written courses, in virtual time."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import h2.config
import h2.connection
import h2.events
import pytest
import trio
from attrs import evolve

from runtime.api import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
    ExecStartError,
    ExecTimeoutError,
    ImageID,
    ImageNotFoundError,
    LinuxContainerResources,
    PodSandboxConfig,
    PodSandboxMetadata,
    PodSandboxState,
    PortMapping,
    RuntimeEventType,
    RuntimeUnavailableError,
    StartError,
    VolumeConfig,
    VolumeFile,
)
from runtime.simulated import (
    Exec,
    ExecAnswer,
    FaultPlan,
    GrpcAnswer,
    HttpAnswer,
    Line,
    OnSignal,
    Port,
    PullFault,
    Run,
    ScriptedProgram,
    SimulatedImage,
    SimulatedRuntime,
)

if TYPE_CHECKING:
    from runtime.api import ContainerID, RuntimeEvent, SandboxID
    from runtime.simulated.process import Main, Process

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
IMAGE = "registry.test/app:1"
SANDBOX = PodSandboxConfig(metadata=PodSandboxMetadata(name="pod", namespace="ns", uid="u1"))


def now() -> datetime:
    return EPOCH + timedelta(seconds=trio.current_time())


def a_runtime(*runs: Run, **options: object) -> SimulatedRuntime:
    def programs(config: ContainerConfig) -> ScriptedProgram:
        return ScriptedProgram(runs or (Run(),), config.metadata.attempt)

    options.setdefault("images", {IMAGE: SimulatedImage(is_present=True)})
    return SimulatedRuntime(now, programs=programs, **options)  # type: ignore[arg-type]


async def start(
    runtime: SimulatedRuntime, name: str = "main", attempt: int = 0, limit: int | None = None
) -> ContainerID:
    sandbox = await runtime.run_pod_sandbox(SANDBOX)
    config = ContainerConfig(
        metadata=ContainerMetadata(name=name, attempt=attempt),
        image=ImageID(IMAGE),
        image_name=IMAGE,
        resources=LinuxContainerResources(memory_limit_bytes=limit),
    )
    container = await runtime.create_container(sandbox, config, SANDBOX)
    await runtime.start_container(container)
    return container


async def the_sandbox(runtime: SimulatedRuntime) -> SandboxID:
    return (await runtime.list_pod_sandboxes())[0].id


async def lines(runtime: SimulatedRuntime, container: ContainerID, *, follow: bool = True) -> list[tuple[float, str]]:
    async with runtime.container_logs(container, follow=follow) as log:
        return [(round((line.at - EPOCH).total_seconds(), 3), line.line.decode()) async for line in log]


def near(at: datetime | None, seconds: float) -> bool:
    """Tell whether a time is `seconds` after the epoch, but for the microseconds that order what happens at once."""
    return at is not None and abs((at - EPOCH).total_seconds() - seconds) < 0.001


async def test_a_run_prints_lives_and_ends(autojump_clock: trio.abc.Clock) -> None:
    run = Run(lines=(Line(0, "up"), Line(2.5, "work")), duration=4, exit_code=3)
    async with a_runtime(run) as runtime, runtime.events() as events:
        container = await start(runtime)
        assert await lines(runtime, container) == [(0, "up"), (2.5, "work")]
        status = await runtime.container_status(container)
        assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 3, "Error")
        assert near(status.started_at, 0)
        assert near(status.finished_at, 4)
        seen = [await anext(events) for _ in range(4)]
        assert [event.type for event in seen] == [
            RuntimeEventType.SANDBOX_STARTED,
            RuntimeEventType.CONTAINER_CREATED,
            RuntimeEventType.CONTAINER_STARTED,
            RuntimeEventType.CONTAINER_EXITED,
        ]
        assert (seen[3].exit_code, seen[3].pod_uid, seen[3].container_name) == (3, "u1", "main")


async def test_each_attempt_is_its_own_run(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(duration=1, exit_code=1), Run(duration=1)) as runtime:
        codes = []
        for attempt in range(3):
            container = await start(runtime, attempt=attempt)
            await trio.sleep(2)
            codes.append((await runtime.container_status(container)).exit_code)
        assert codes == [1, 0, 0]


@pytest.mark.parametrize(
    ("why", "run", "grace", "code", "seconds"),
    [
        ("a first process without a handler ignores TERM", Run(), 5.0, 137, 5.0),
        ("a handler exits at once", Run(on_signal={"SIGTERM": OnSignal(0)}), 5.0, 0, 0.0),
        ("a slow handler exits in time", Run(on_signal={"SIGTERM": OnSignal(143, 3.0)}), 5.0, 143, 3.0),
        ("too slow a handler is killed", Run(on_signal={"SIGTERM": OnSignal(0, 9.0)}), 5.0, 137, 5.0),
        ("a handler that stays is killed", Run(on_signal={"SIGTERM": OnSignal(None)}), 5.0, 137, 5.0),
        ("it ends by itself while stopping", Run(duration=2.0), 5.0, 0, 2.0),
        ("no time means a kill at once", Run(on_signal={"SIGTERM": OnSignal(0)}), 0.0, 137, 0.0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_stop(
    why: str, run: Run, grace: float, code: int, seconds: float, autojump_clock: trio.abc.Clock
) -> None:
    async with a_runtime(run) as runtime:
        container = await start(runtime)
        begun = trio.current_time()
        await runtime.stop_container(container, grace)
        assert trio.current_time() - begun == seconds
        status = await runtime.container_status(container)
        assert (status.state, status.exit_code) == (ContainerState.EXITED, code)
        await runtime.stop_container(container, grace)


async def test_two_stops_signal_once_and_the_shorter_time_counts(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(on_signal={"SIGTERM": OnSignal(None, lines=("term",))})) as runtime:
        container = await start(runtime)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(runtime.stop_container, container, 10.0)
            await trio.sleep(1)
            nursery.start_soon(runtime.stop_container, container, 3.0)
        assert trio.current_time() == 4.0
        assert await lines(runtime, container) == [(0, "term")]


async def test_signals_say_who_sent_them(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(on_signal={"SIGTERM": OnSignal(None)})) as runtime:
        container = await start(runtime)
        async with runtime.events() as events:
            await runtime.kill_container(container, "SIGTERM")
            await runtime.stop_container(container, 2.0)
            seen: list[RuntimeEvent] = [await anext(events) for _ in range(4)]
        assert [(event.signal, event.own) for event in seen[:3]] == [
            ("SIGTERM", False),
            ("SIGTERM", True),
            ("SIGKILL", True),
        ]
        assert seen[3].exit_code == 137


async def test_exec_answers_by_age(autojump_clock: trio.abc.Clock) -> None:
    probe = Exec(("probe",), ((1.0, ExecAnswer(0, "fine\n")), (3.0, ExecAnswer(1, takes_seconds=5.0))))
    async with a_runtime(Run(execs=(probe,))) as runtime:
        container = await start(runtime)
        assert (await runtime.exec_sync(container, ("probe",))).exit_code == 1
        await trio.sleep(1)
        result = await runtime.exec_sync(container, ("probe",))
        assert (result.exit_code, result.stdout) == (0, b"fine\n")
        await trio.sleep(2)
        with pytest.raises(ExecTimeoutError):
            await runtime.exec_sync(container, ("probe",), 2.0)
        assert trio.current_time() == 5.0
        with pytest.raises(ExecStartError, match="executable file not found"):
            await runtime.exec_sync(container, ("other",))
        await runtime.stop_container(container, 0)
        with pytest.raises(ExecStartError, match="CONTAINER_EXITED"):
            await runtime.exec_sync(container, ("probe",))


async def test_exec_dies_with_its_container(autojump_clock: trio.abc.Clock) -> None:
    hang = Exec(None, ((0.0, ExecAnswer(takes_seconds=99)),))
    async with a_runtime(Run(duration=2, execs=(hang,))) as runtime:
        container = await start(runtime)
        assert (await runtime.exec_sync(container, ("hang",))).exit_code == 137
        assert trio.current_time() == 2.0


async def test_a_program_that_cannot_start(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(start_error="no such file")) as runtime:
        with pytest.raises(StartError, match="no such file"):
            await start(runtime)
        (summary,) = await runtime.list_containers()
        status = await runtime.container_status(summary.id)
        assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 128, "StartError")
        assert status.message == "no such file"
        assert status.started_at is None


async def test_memory_over_the_limit_is_killed(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(memory=((0.0, 10), (2.0, 100)))) as runtime, runtime.events() as events:
        container = await start(runtime, limit=50)
        kinds = [(await anext(events)).type for _ in range(5)]
        assert kinds[3:] == [RuntimeEventType.CONTAINER_OOM, RuntimeEventType.CONTAINER_EXITED]
        status = await runtime.container_status(container)
        assert (status.exit_code, status.reason) == (137, "OOMKilled")
        assert status.finished_at is not None
        assert status.finished_at.replace(microsecond=0) == EPOCH + timedelta(seconds=2)


async def http_get(stream: trio.abc.Stream, path: str) -> bytes:
    await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n".encode())
    data = b""
    while part := await stream.receive_some():
        data += part
    return data


async def test_ports_open_answer_and_close(autojump_clock: trio.abc.Clock) -> None:
    port = Port(80, 1.0, 5.0, http={"/ok": ((0.0, HttpAnswer(500)), (3.0, HttpAnswer(200, b"hello")))})
    async with a_runtime(Run(ports=(port,))) as runtime:
        await start(runtime)
        sandbox = await the_sandbox(runtime)
        with pytest.raises(ConnectionRefusedError):
            await runtime.dial(sandbox, 80)
        await trio.sleep(2)
        assert (await http_get(await runtime.dial(sandbox, 80), "/ok")).startswith(b"HTTP/1.1 500 ")
        assert (await http_get(await runtime.dial(sandbox, 80), "/no")).startswith(b"HTTP/1.1 404 ")
        await trio.sleep(1)
        assert (await http_get(await runtime.dial(sandbox, 80), "/ok")).endswith(b"hello")
        await trio.sleep(2.5)
        with pytest.raises(ConnectionRefusedError):
            await runtime.dial(sandbox, 80)


ADDRESSES = [
    ("a published port at the loopback", "127.0.0.1", 8080, None),
    ("a published port at the node's address", "10.244.0.1", 8080, None),
    ("the pod's own address", "", 80, None),
    ("a port that nobody publishes", "127.0.0.1", 80, ConnectionRefusedError),
    ("a port of another protocol", "127.0.0.1", 5353, ConnectionRefusedError),
    ("another address", "198.51.100.7", 80, OSError),
    ("a name", "example.org", 80, socket.gaierror),
]


@pytest.mark.parametrize(("host", "port", "error"), [row[1:] for row in ADDRESSES], ids=[row[0] for row in ADDRESSES])
async def test_what_a_node_reaches(
    autojump_clock: trio.abc.Clock, host: str, port: int, error: type[OSError] | None
) -> None:
    mappings = (
        PortMapping(container_port=80, host_port=8080),
        PortMapping(container_port=80, host_port=5353, protocol="UDP"),
    )
    async with a_runtime(Run(ports=(Port(80, http={"/": ((0.0, HttpAnswer(200, b"hello")),)}),))) as runtime:
        sandbox = await runtime.run_pod_sandbox(evolve(SANDBOX, port_mappings=mappings))
        await start(runtime)
        await trio.sleep(1)
        host = host or (await runtime.pod_sandbox_status(sandbox)).ip
        if error is None:
            assert (await http_get(await runtime.dial_host(host, port), "/")).endswith(b"hello")
            await runtime.stop_pod_sandbox(sandbox)
            error = OSError
        with pytest.raises(error):
            await runtime.dial_host(host, port)


async def test_open_connections_end_with_the_container(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(duration=2, ports=(Port(9),))) as runtime:
        await start(runtime)
        await trio.sleep(1)
        stream = await runtime.dial(await the_sandbox(runtime), 9)
        assert await stream.receive_some() == b""
        assert trio.current_time() == 2.0


async def test_a_sandbox_that_dies_leaves_its_containers(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime() as runtime:
        container = await start(runtime)
        sandbox = await the_sandbox(runtime)
        assert (await runtime.pod_sandbox_status(sandbox)).ip.startswith("10.244.")
        await runtime.kill_pod_sandbox(sandbox)
        status = await runtime.pod_sandbox_status(sandbox)
        assert (status.state, status.ip) == (PodSandboxState.NOT_READY, "")
        assert (await runtime.container_status(container)).state is ContainerState.RUNNING
        await runtime.stop_pod_sandbox(sandbox)
        assert (await runtime.container_status(container)).exit_code == 137
        await runtime.remove_pod_sandbox(sandbox)
        assert await runtime.list_containers() == ()
        await runtime.remove_pod_sandbox(sandbox)


async def test_ids_follow_from_identity_not_from_order(autojump_clock: trio.abc.Clock) -> None:
    async def ids(names: tuple[str, ...]) -> dict[str, ContainerID]:
        async with a_runtime() as runtime:
            return {name: await start(runtime, name) for name in names}

    assert await ids(("a", "b")) == await ids(("b", "a"))


async def test_pulls_take_time_and_fail_as_planned(autojump_clock: trio.abc.Clock) -> None:
    images = {
        "slow:1": SimulatedImage(size_bytes=700, bytes_per_second=100),
        "*/none:*": SimulatedImage(fault=PullFault.NOT_FOUND),
    }
    async with a_runtime(images=images) as runtime:
        assert await runtime.image_status("slow:1") is None
        done: list[int] = []
        image = await runtime.pull_image("slow:1", progress=lambda progress: done.append(progress.done_bytes))
        assert trio.current_time() == 7.0
        assert done[-1] == 700
        present = await runtime.image_status("slow:1")
        assert present is not None
        assert (present.id, present.repo_tags) == (image, ("docker.io/library/slow:1",))
        with pytest.raises(ImageNotFoundError, match=r"registry\.test/none:1: not found"):
            await runtime.pull_image("registry.test/none:1")
        await runtime.remove_image("slow:1")
        assert await runtime.list_images() == ()


async def test_volumes_are_trees(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime() as runtime:
        volume = await runtime.create_volume(VolumeConfig(pod_uid="u1", name="v"))
        assert await runtime.create_volume(VolumeConfig(pod_uid="u1", name="v")) == volume
        tree = {
            "..1/key": VolumeFile(data=b"value"),
            "..data": VolumeFile(target="..1"),
            "key": VolumeFile(target="..data/key"),
        }
        await runtime.write_volume(volume, tree)
        assert await runtime.read_volume(volume, "key", last_bytes=3) == b"lue"
        await runtime.write_volume(volume, {}, remove=("..1",))
        assert await runtime.read_volume(volume, "key", last_bytes=3) == b""
        await runtime.remove_volume(volume)
        assert await runtime.list_volumes() == ()


async def test_an_engine_that_is_away(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(faults=FaultPlan(restarts=((1.0, 2.0),))) as runtime, runtime.events() as events:
        container = await start(runtime)
        await trio.sleep(1)
        with pytest.raises(RuntimeUnavailableError):
            await runtime.container_status(container)
        while (event := await anext(events)).type is not RuntimeEventType.RESYNC:
            pass
        assert event.at == EPOCH + timedelta(seconds=3)
        assert (await runtime.container_status(container)).state is ContainerState.RUNNING


async def test_grpc_health_is_served(autojump_clock: trio.abc.Clock) -> None:
    port = Port(9000, grpc={"": ((0.0, GrpcAnswer.NOT_SERVING),)})
    async with a_runtime(Run(ports=(port,))) as runtime:
        await start(runtime)
        await trio.sleep(1)
        stream = await runtime.dial(await the_sandbox(runtime), 9000)
        client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        client.initiate_connection()
        head = [
            (":method", "POST"),
            (":path", "/grpc.health.v1.Health/Check"),
            (":scheme", "http"),
            (":authority", "x"),
        ]
        client.send_headers(1, [*head, ("content-type", "application/grpc"), ("te", "trailers")])
        client.send_data(1, b"\0\0\0\0\0", end_stream=True)
        await stream.send_all(client.data_to_send())
        body, ended = b"", False
        while not ended:
            for event in client.receive_data(await stream.receive_some()):
                if isinstance(event, h2.events.DataReceived):
                    body += event.data
                ended = ended or isinstance(event, h2.events.StreamEnded)
        assert body == b"\0\0\0\0\x02\x08\x02"


class TellsItsEnd:
    """A program that says that it will return some ticks of the scheduler later."""

    def __init__(self, ticks: int) -> None:
        """Make the event."""
        self.ticks, self.ends = ticks, trio.Event()

    async def main(self, process: Process) -> int:
        """Live for a second."""
        await process.sleep(1)
        self.ends.set()
        for _ in range(self.ticks):
            await trio.lowlevel.checkpoint()
        return 0

    def find(self, argv: tuple[str, ...]) -> Main | None:  # noqa: ARG002 - the interface
        """Leave commands to the image."""
        return None


@pytest.mark.parametrize("ticks", range(6))
async def test_a_command_that_comes_with_the_end_finds_no_container(autojump_clock: trio.abc.Clock, ticks: int) -> None:
    program = TellsItsEnd(ticks)
    images = {IMAGE: SimulatedImage(is_present=True)}
    async with SimulatedRuntime(now, programs=lambda _: program, images=images) as runtime:
        container = await start(runtime)
        await program.ends.wait()
        with pytest.raises(ExecStartError, match="CONTAINER_EXITED"):  # noqa: PT012 - one of many raises
            while True:
                assert (await runtime.exec_sync(container, ("true",))).exit_code in {0, 137}


async def test_what_happens_while_a_subscription_is_left_reaches_the_others(autojump_clock: trio.abc.Clock) -> None:
    async with a_runtime(Run(duration=0)) as runtime, runtime.events() as heard:

        async def leave() -> None:
            with trio.CancelScope() as scope:
                async with runtime.events() as events:
                    scope.cancel()
                    await anext(aiter(events))

        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(leave)
                await trio.lowlevel.checkpoint()
            await start(runtime)
        assert (await anext(aiter(heard))).type is RuntimeEventType.SANDBOX_STARTED
