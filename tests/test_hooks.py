"""Lifecycle hooks run to their end, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, field
from kubelet_stubs import StubRuntime, make_recorder
from memory_servers import HTTPServer, Network, Reply, headers_of, says

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, ContainerPort, Pod
from kubelet_emu.api.v1_handlers import (
    ExecAction,
    HTTPGetAction,
    HTTPHeader,
    LifecycleHandler,
    SleepAction,
    TCPSocketAction,
)
from kubelet_emu.kubelet.hooks import OK, HookOutcome, run_handler, sleep_hook
from runtime.api import ContainerID, ExecResult, ExecStartError, SandboxID

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trio.testing import MockClock

    from kubelet_emu.journal.records import Record

POD = Pod(metadata=ObjectMeta(name="p", namespace="ns", uid="u"))
CONTAINER = Container(name="a", ports=(ContainerPort(name="web", container_port=8080),))


@define
class _World:
    network: Network
    runtime: StubRuntime
    records: list[Record] = field(factory=list)

    async def run(self, handler: LifecycleHandler, *, pod_ip: str = "10.1.0.5") -> HookOutcome:
        return await run_handler(
            self.runtime,
            POD,
            CONTAINER,
            ContainerID("c1"),
            handler,
            pod_ip=pod_ip,
            sandbox_id=SandboxID("s"),
            recorder=make_recorder(self.records),
        )

    def on_exec(self, result: ExecResult | Exception) -> None:
        async def run(command: tuple[str, ...]) -> ExecResult:
            await trio.sleep(5)
            if isinstance(result, Exception):
                raise result
            return result

        self.runtime.on_exec = run


@pytest.fixture
async def world() -> AsyncIterator[_World]:
    async with trio.open_nursery() as nursery:
        network = Network(nursery)
        yield _World(network, StubRuntime(network))
        nursery.cancel_scope.cancel()


EXEC = LifecycleHandler(exec=ExecAction(command=("echo", "$(HOME)")))


async def test_an_exec_has_no_timeout_and_is_not_expanded(autojump_clock: MockClock, world: _World) -> None:
    world.on_exec(ExecResult(exit_code=0))
    assert await world.run(EXEC) == OK
    assert [(command, timeout) for _, command, timeout in world.runtime.execs] == [(("echo", "$(HOME)"), None)]
    assert trio.current_time() - world.runtime.execs[0][0] == 5


async def test_an_exec_that_fails(autojump_clock: MockClock, world: _World) -> None:
    world.on_exec(ExecResult(exit_code=3, stdout=b"bad news\n", stderr=b"no"))
    assert await world.run(EXEC) == HookOutcome(
        ok=False,
        message='Exec lifecycle hook ([echo $(HOME)]) for Container "a" in Pod "p_ns(u)" failed - error: '
        "command 'echo $(HOME)' exited with 3: no, message: \"bad news\\nno\"",
    )


async def test_an_exec_that_cannot_start(autojump_clock: MockClock, world: _World) -> None:
    world.on_exec(ExecStartError("no such program"))
    assert (await world.run(EXEC)).message == (
        'Exec lifecycle hook ([echo $(HOME)]) for Container "a" in Pod "p_ns(u)" failed - error: '
        'no such program, message: ""'
    )


async def test_sleep(autojump_clock: MockClock, world: _World) -> None:
    started_at = trio.current_time()
    assert await world.run(LifecycleHandler(sleep=SleepAction(seconds=7))) == OK
    assert trio.current_time() - started_at == 7


async def test_a_sleep_that_is_cut_short(autojump_clock: MockClock) -> None:
    outcome = await sleep_hook(3, "a", "p_ns(u)", trio.current_time() + 2)
    assert outcome.message.endswith("failed - error: container terminated before sleep hook finished")


@pytest.mark.parametrize("handler", [LifecycleHandler(), LifecycleHandler(tcp_socket=TCPSocketAction(port=80))])
async def test_what_the_kubelet_does_not_know(
    autojump_clock: MockClock, world: _World, handler: LifecycleHandler
) -> None:
    outcome = await world.run(handler)
    assert (outcome.ok, outcome.message.startswith("Cannot run handler: invalid handler: ")) == (False, True)


HTTP = LifecycleHandler(http_get=HTTPGetAction(path="/x", port="web"))


async def test_any_http_answer_is_a_success(autojump_clock: MockClock, world: _World) -> None:
    server = world.network.servers[8080] = HTTPServer({"/x": Reply(500, after=3600)})
    assert await world.run(HTTP) == OK
    assert headers_of(server.requests[0])["user-agent"] == "kube-lifecycle/1.36"


async def test_a_refused_connection_is_not(autojump_clock: MockClock, world: _World) -> None:
    assert (await world.run(HTTP)).message == (
        'HTTP lifecycle hook (/x) for Container "a" in Pod "p_ns(u)" failed - error: '
        'Get "http://10.1.0.5:8080/x": dial tcp 10.1.0.5:8080: connect: connection refused'
    )


async def test_a_port_that_is_none(autojump_clock: MockClock, world: _World) -> None:
    outcome = await world.run(LifecycleHandler(http_get=HTTPGetAction(port="nosuch")))
    assert outcome.message.endswith('error: strconv.Atoi: parsing "nosuch": invalid syntax')


async def test_a_pod_without_address(autojump_clock: MockClock, world: _World) -> None:
    outcome = await world.run(HTTP, pod_ip="")
    assert outcome.message.endswith("error: failed to find networking container: p_ns(u)")


SECRET = HTTPHeader(name="Authorization", value="secret")
HTTPS = LifecycleHandler(http_get=HTTPGetAction(path="/x", port=8080, scheme="HTTPS", http_headers=(SECRET,)))


async def test_https_falls_back_to_http(autojump_clock: MockClock, world: _World) -> None:
    server = world.network.servers[8080] = HTTPServer({"/x": Reply()})
    assert await world.run(HTTPS) == OK
    assert "authorization" not in headers_of(server.requests[0])
    assert [(record.reason, record.message, record.container) for record in world.records] == [
        (
            "LifecycleHTTPFallback",
            "request to HTTPS lifecycle hook 10.1.0.5:8080 got HTTP response, retry with HTTP succeeded",
            None,
        )
    ]


async def test_a_fallback_that_fails_too(autojump_clock: MockClock, world: _World) -> None:
    answers = iter((says(b"HTTP/1.0 400 Bad Request\r\n\r\n"), says(b"")))

    async def serve(stream: trio.abc.Stream) -> None:
        await next(answers)(stream)

    world.network.servers[8080] = serve
    outcome = await world.run(HTTPS)
    assert outcome.message.endswith("http: server gave HTTP response to HTTPS client")
    assert world.records == []
