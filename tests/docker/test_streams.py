"""Commands, logs, events and connections on a real engine."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import trio
from engine_pods import EngineProxy, PodMaker, new_instance, sandbox_config

from runtime.api import ContainerID, ExecStartError, ExecTimeoutError, NotFoundError, RuntimeEventType
from runtime.docker import DockerRuntime, naming

if TYPE_CHECKING:
    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker


async def test_a_command_returns_its_code_and_both_outputs(pod: PodMaker) -> None:
    container_id = await pod.start("a", "sleep 100")
    result = await pod.runtime.exec_sync(container_id, ("sh", "-c", "echo out; echo err >&2; exit 4"))
    assert (result.exit_code, result.stdout, result.stderr) == (4, b"out\n", b"err\n")


@pytest.mark.parametrize("code", [126, 127])
async def test_a_shells_126_and_127_are_results(pod: PodMaker, code: int) -> None:
    container_id = await pod.start("a", "sleep 100")
    assert (await pod.runtime.exec_sync(container_id, ("sh", "-c", f"exit {code}"))).exit_code == code


async def test_a_missing_program_is_an_error_and_no_result(pod: PodMaker) -> None:
    container_id = await pod.start("a", "sleep 100")
    with pytest.raises(ExecStartError, match=r'OCI runtime exec failed: .*exec: "nosuch": executable file not found'):
        await pod.runtime.exec_sync(container_id, ("nosuch",), 10)


async def test_a_command_in_a_dead_container_is_an_error(pod: PodMaker) -> None:
    container_id = await pod.start("a", "exit 0")
    await pod.log_of(container_id)
    await pod.runtime.stop_container(container_id, 1)
    expected = "rpc error: code = Unknown desc = failed to exec in container: container is in CONTAINER_EXITED state"
    with pytest.raises(ExecStartError) as raised:
        await pod.runtime.exec_sync(container_id, ("true",))
    assert str(raised.value) == expected


async def test_a_command_that_is_too_slow_is_killed(pod: PodMaker) -> None:
    container_id = await pod.start("a", "sleep 100")
    with pytest.raises(ExecTimeoutError) as raised:
        await pod.runtime.exec_sync(container_id, ("sh", "-c", "echo begun; exec sleep 4321"), 1.0)
    assert raised.value.output == b"begun\n"
    assert str(raised.value) == 'command timed out: "sh -c echo begun; exec sleep 4321" timed out after 1s'
    processes = await pod.runtime.exec_sync(container_id, ("ps",))
    assert os.geteuid() != 0 or b"4321" not in processes.stdout


async def test_long_commands_do_not_hold_up_others(pod: PodMaker) -> None:
    container_id = await pod.start("a", "sleep 100")
    async with trio.open_nursery() as nursery:
        for _ in range(pod.runtime.exec_operations + 1):
            nursery.start_soon(pod.runtime.exec_sync, container_id, ("sleep", "50"))
        await trio.sleep(1)
        with trio.fail_after(10):
            assert (await pod.runtime.exec_sync(container_id, ("true",))).exit_code == 0
        nursery.cancel_scope.cancel()


async def test_the_container_dies_under_a_command(pod: PodMaker) -> None:
    container_id = await pod.start("a", "sleep 100")

    async def kill() -> None:
        await trio.sleep(0.5)
        await pod.runtime.stop_container(container_id, 0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(kill)
        result = await pod.runtime.exec_sync(container_id, ("sleep", "50"))
    assert result.exit_code == 137


async def test_logs_have_streams_times_and_the_last_partial_line(pod: PodMaker) -> None:
    container_id = await pod.start("a", "echo one; sleep 0.3; echo two >&2; sleep 0.3; printf three")
    async with pod.runtime.container_logs(container_id, follow=True) as opened:
        lines = [line async for line in opened]
    expected = [("stdout", b"one"), ("stderr", b"two"), ("stdout", b"three")]
    assert [(line.stream, line.line) for line in lines] == expected
    assert lines[1].at - lines[0].at >= timedelta(seconds=0.25)
    async with pod.runtime.container_logs(container_id, tail=1) as opened:
        assert [line.line async for line in opened] == [b"three"]
    async with pod.runtime.container_logs(container_id, since=lines[1].at) as opened:
        assert [line.line async for line in opened] == [b"two", b"three"]


async def test_a_line_longer_than_the_engines_buffer_stays_one_line(pod: PodMaker) -> None:
    container_id = await pod.start("a", "dd if=/dev/zero bs=40000 count=1 2>/dev/null | tr '\\0' x; echo; echo end")
    assert [len(line) for line in await pod.log_of(container_id)] == [40000, 3]


async def test_logs_of_a_terminal(pod: PodMaker) -> None:
    container_id = await pod.start("a", "echo one; echo two", tty=True)
    assert await pod.log_of(container_id) == ["one", "two"]


async def test_logs_of_nothing_are_not_found(pod: PodMaker) -> None:
    with pytest.raises(NotFoundError):
        async with pod.runtime.container_logs(ContainerID("0" * 64)):
            pass


async def test_following_is_given_up_at_once(pod: PodMaker) -> None:
    container_id = await pod.start("a", "echo ready; sleep 100")
    before = trio.current_time()
    with trio.move_on_after(0.5):
        await pod.log_of(container_id)
    assert trio.current_time() - before < 2


async def test_a_cut_event_stream_is_opened_again_and_says_so(pod: PodMaker, proxy: EngineProxy) -> None:
    through_proxy = DockerRuntime(pod.runtime.instance, base_url=proxy.url)
    async with through_proxy, through_proxy.events() as events:
        await proxy.cut()
        with trio.fail_after(10):
            async for event in events:
                if event.type is RuntimeEventType.RESYNC:
                    break
        container_id = await pod.start("a", "exit 5")
        with trio.fail_after(10):
            async for event in events:
                if event.type is RuntimeEventType.CONTAINER_EXITED:
                    break
    assert (event.container_id, event.exit_code) == (container_id, 5)


async def test_a_death_while_the_stream_is_cut_is_seen_by_asking(pod: PodMaker, proxy: EngineProxy) -> None:
    container_id = await pod.start("a", 'trap "sleep 0.5; exit 6" TERM; echo ready; while :; do sleep 0.05; done')
    await pod.log_until(container_id, "ready")
    through_proxy = DockerRuntime(pod.runtime.instance, base_url=proxy.url)
    async with through_proxy, trio.open_nursery() as nursery:
        nursery.start_soon(through_proxy.stop_container, container_id, 30.0)
        await trio.sleep(0.3)
        await proxy.cut()
    assert (await pod.runtime.container_status(container_id)).exit_code == 6


SERVER = "mkdir /w; echo page > /w/index.html; exec httpd -f -p 8080 -h /w"


async def get(runtime: DockerRuntime, pod: PodMaker, port: int = 8080) -> bytes:
    """Fetch the page; a server that is not up yet is tried again."""
    with trio.fail_after(20):
        while True:
            try:
                stream = await runtime.dial(pod.sandbox_id, port)
            except ConnectionRefusedError:
                await trio.sleep(0.1)
                continue
            async with stream:
                await stream.send_all(b"GET /index.html HTTP/1.0\r\n\r\n")
                answer = b""
                while data := await stream.receive_some():
                    answer += data
            return answer


@pytest.mark.parametrize("is_direct", [None, False], ids=["the way that was found", "the direct way blocked"])
async def test_dial_reaches_a_port_and_tells_a_closed_one(pod: PodMaker, is_direct: bool | None) -> None:  # noqa: FBT001
    pod.runtime.dialer.is_direct = is_direct
    await pod.start("server", SERVER)
    assert (await get(pod.runtime, pod)).endswith(b"\r\n\r\npage\n")
    with pytest.raises(ConnectionRefusedError):
        await pod.runtime.dial(pod.sandbox_id, 9)


async def test_the_probe_finds_the_direct_way_blocked(
    pod: PodMaker, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(address: str, port: int) -> trio.SocketStream:
        raise OSError(113, f"no route to {address}:{port}")

    monkeypatch.setattr("runtime.docker.dialing.connect_directly", refused)
    await pod.start("server", SERVER)
    assert (await get(pod.runtime, pod)).endswith(b"page\n")
    assert pod.runtime.dialer.is_direct is False
    assert [note for note in notes if "relay" in note] == [
        "pods can't be reached from here: connections go through a relay in each pod"
    ]


async def test_without_the_pods_gateway_here_nothing_is_tried(
    pod: PodMaker, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tried(address: str, port: int) -> trio.SocketStream:
        raise AssertionError(f"{address}:{port} was tried")

    monkeypatch.setattr("runtime.docker.dialing.source_address", lambda _address: "192.0.2.9")
    monkeypatch.setattr("runtime.docker.dialing.connect_directly", tried)
    await pod.start("server", SERVER)
    assert (await get(pod.runtime, pod)).endswith(b"page\n")
    assert len([note for note in notes if "relay" in note]) == 1


async def test_a_dial_that_is_given_up_finds_the_way_for_those_after_it(
    pod: PodMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(_address: str, _port: int) -> trio.SocketStream:
        await trio.sleep_forever()

    monkeypatch.setattr("runtime.docker.dialing.connect_directly", silent)
    monkeypatch.setattr("runtime.docker.dialing.PROBE_SECONDS", 0.2)
    with trio.move_on_after(0.05):
        await pod.runtime.dial(pod.sandbox_id, 9)
    assert pod.runtime.dialer.is_direct is False


async def test_the_relay_carries_much_both_ways_and_the_half_close(pod: PodMaker) -> None:
    pod.runtime.dialer.is_direct = False
    await pod.start("server", "exec nc -l -p 7000 -e cat")
    data = os.urandom(1 << 20)
    received = bytearray()
    with trio.fail_after(30):
        while True:
            try:
                stream = await pod.runtime.dial(pod.sandbox_id, 7000)
                break
            except ConnectionRefusedError:
                await trio.sleep(0.1)
        async with stream, trio.open_nursery() as nursery:

            async def send() -> None:
                await stream.send_all(data)
                await stream.send_eof()  # type: ignore[attr-defined]

            nursery.start_soon(send)
            while part := await stream.receive_some():
                received += part
    assert bytes(received) == data


async def test_dialling_the_loopback_reaches_what_listens_there_alone(pod: PodMaker) -> None:
    container_id = await pod.start("server", SERVER.replace("-p 8080", "-p 127.0.0.1:8080"))
    waits = "until wget -qO- http://127.0.0.1:8080/; do sleep 0.1; done"
    await pod.runtime.exec_sync(container_id, ("sh", "-c", waits))
    sandbox = await pod.runtime.pod_sandbox_status(pod.sandbox_id)
    async with await pod.runtime.dialer.dial_loopback(sandbox, 8080) as stream:
        await stream.send_all(b"GET / HTTP/1.0\r\n\r\n")
        answer = b"".join([bytes(chunk) async for chunk in stream])
    assert answer.endswith(b"page\n")
    with pytest.raises(ConnectionRefusedError):
        await pod.runtime.dialer.dial_loopback(sandbox, 9)


async def test_a_sandbox_of_another_image_gets_a_carrier_for_the_relay(
    engine: APIClient, busybox: ImageID, notes: list[str]
) -> None:
    tag = "kemu-test-pause:1"
    body = {"Image": busybox, "Entrypoint": ["sh", "-c", 'trap "exit 0" TERM; while :; do sleep 0.1; done']}
    made = engine.create_container_from_config(body)
    engine.commit(made["Id"], repository="kemu-test-pause", tag="1")
    engine.remove_container(made["Id"])
    try:
        async with DockerRuntime(new_instance(), pause_image=tag, on_note=notes.append) as runtime:
            config = sandbox_config()
            pod = PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
            runtime.dialer.is_direct = False
            await pod.start("server", SERVER)
            assert (await get(runtime, pod)).endswith(b"page\n")
            assert [c.metadata.name for c in await runtime.list_containers()] == ["server"]
            await runtime.dialer.remove_carriers()
            wanted = {"label": f"{naming.TYPE_LABEL}={naming.HELPER_TYPE}"}
            ours = [item for item in engine.containers(filters=wanted) if runtime.instance in str(item["Labels"])]
            assert ours == []
            await runtime.stop_pod_sandbox(pod.sandbox_id)
            with pytest.raises(ConnectionRefusedError):
                await runtime.dial(pod.sandbox_id, 8080)
            await runtime.remove_all()
    finally:
        engine.remove_image(tag)


async def test_closing_the_runtime_takes_no_time(pod: PodMaker, engine: APIClient) -> None:
    container_id = await pod.start("a", "echo ready; sleep 100")
    async with DockerRuntime(pod.runtime.instance) as second, trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(second.exec_sync, container_id, ("sleep", "50"))
            nursery.start_soon(second.stop_container, container_id, 50.0)
        await trio.sleep(1)
        before = trio.current_time()
        nursery.cancel_scope.cancel()
    assert trio.current_time() - before < 1.0
