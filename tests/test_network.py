"""HTTP, TCP and gRPC health over streams, in virtual time."""

from __future__ import annotations

import errno
import math
import socket
import ssl
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
import trustme
from attrs import define
from memory_servers import HealthServer, HTTPServer, Network, Reply, headers_of, says, silent

from kubelet_emu.api.v1 import Container
from kubelet_emu.api.v1_handlers import HTTPGetAction, HTTPHeader
from kubelet_emu.kubelet.grpc_health import encode_request, grpc_health_check, read_answer
from kubelet_emu.kubelet.http_client import http_get
from kubelet_emu.kubelet.network import PodDialer, dial_error, read_error, tcp_connect
from kubelet_emu.rules.http_request import HTTPOutcome, HTTPRequest, probe_request
from kubelet_emu.rules.probe_outcomes import GRPCOutcome
from runtime.api import CRIError, NotFoundError, SandboxID
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memory_servers import Handler
    from trio.testing import MockClock

IP = "10.1.0.5"


@pytest.fixture
async def network() -> AsyncIterator[Network]:
    async with trio.open_nursery() as nursery:
        yield Network(nursery)
        nursery.cancel_scope.cancel()


def a_request(path: str = "/", *, scheme: str = "HTTP", headers: tuple[HTTPHeader, ...] = ()) -> HTTPRequest:
    action = HTTPGetAction(path=path, port=80, scheme=scheme, http_headers=headers)
    return probe_request(action, Container(name="c"), IP)


def soon() -> float:
    return trio.current_time() + 1


async def get(network: Network, path: str = "/") -> HTTPOutcome:
    return await http_get(a_request(path), network.dial, soon())


async def test_a_get_and_what_it_sends(autojump_clock: MockClock, network: Network) -> None:
    server = network.servers[80] = HTTPServer({"/ready": Reply(200, b"fine")})
    assert await get(network, "/ready") == HTTPOutcome(status=200, body=b"fine")
    assert headers_of(server.requests[0]) == {
        "host": "10.1.0.5:80",
        "accept": "*/*",
        "user-agent": "kube-probe/1.36",
        "connection": "close",
    }
    assert network.dialed == [(IP, 80)]


async def test_any_status_is_a_response(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({})
    assert (await get(network)).status == 404


async def test_a_long_body_is_cut(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({"/": Reply(200, b"x" * 20_000)})
    answer = await get(network)
    assert (answer.status, len(answer.body), answer.body_error) == (200, 10_240, "")


async def test_nobody_listens(autojump_clock: MockClock, network: Network) -> None:
    answer = await get(network, "/healthz")
    assert answer.error == 'Get "http://10.1.0.5:80/healthz": dial tcp 10.1.0.5:80: connect: connection refused'


async def test_no_answer_in_time(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = silent
    answer = await get(network)
    assert answer.error == (
        'Get "http://10.1.0.5:80/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
    )


async def test_a_body_that_does_not_end_in_time(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({"/": Reply(200, b"abcd", stall=9)})
    answer = await get(network)
    assert answer == HTTPOutcome(
        status=200,
        body=b"ab",
        body_error="context deadline exceeded (Client.Timeout or context cancellation while reading body)",
    )


async def test_a_body_that_breaks_off(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")
    assert await get(network) == HTTPOutcome(status=200, body=b"ab", body_error="unexpected EOF")


BROKEN = [
    ("hangs up at once", b"", "EOF"),
    (
        "speaks something else",
        b"SSH-2.0-x\r\n",
        'net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-x"',
    ),
]


@pytest.mark.parametrize(("data", "text"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
async def test_no_http_at_all(autojump_clock: MockClock, network: Network, data: bytes, text: str) -> None:
    network.servers[80] = says(data)
    assert (await get(network)).error == f'Get "http://10.1.0.5:80/": {text}'


async def test_a_connection_that_breaks(autojump_clock: MockClock, network: Network) -> None:
    async def dial(host: str, port: int) -> trio.abc.Stream:
        client, server = trio.testing.memory_stream_pair()
        await server.aclose()
        return client

    answer = await http_get(a_request(), dial, soon())
    assert answer.error == 'Get "http://10.1.0.5:80/": read tcp 10.1.0.5:80: read: connection reset by peer'


async def test_a_header_that_cannot_be_sent(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({})
    request = a_request(headers=(HTTPHeader(name="X-A", value="a\nb"),))
    answer = await http_get(request, network.dial, soon())
    assert answer.error.startswith('Get "http://10.1.0.5:80/": net/http: ')


async def test_redirects_on_the_same_host_are_followed(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({"/": Reply(302, headers=(("Location", "http://10.1.0.5:81/x"),))})
    network.servers[81] = HTTPServer({"/x": Reply(200, b"there")})
    assert await get(network) == HTTPOutcome(status=200, body=b"there")
    assert network.dialed == [(IP, 80), (IP, 81)]


async def test_a_redirect_to_another_host_is_the_response(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({"/": Reply(302, b"moved", (("Location", "http://elsewhere/"),))})
    assert await get(network) == HTTPOutcome(status=302, body=b"moved")


async def test_a_redirect_without_location_is_the_response(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({"/": Reply(302)})
    assert (await get(network)).status == 302


async def test_a_redirect_that_leads_nowhere(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = HTTPServer({"/": Reply(302, headers=(("Location", "http://[/"),))})
    assert (await get(network)).error.startswith('Get "http://[/": failed to parse Location header "http://[/": ')


def a_chain(hops: int) -> HTTPServer:
    replies = {f"/{n}": Reply(302, headers=(("Location", f"/{n + 1}"),)) for n in range(hops)}
    return HTTPServer({**replies, f"/{hops}": Reply(200)})


async def test_nine_redirects_are_followed(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = a_chain(9)
    assert (await get(network, "/0")).status == 200


async def test_the_tenth_redirect_is_one_too_many(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = a_chain(10)
    assert (await get(network, "/0")).error == 'Get "/10": stopped after 10 redirects'


@pytest.fixture(scope="module")
def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("somebody.else").configure_cert(context)
    return context


async def test_certificates_are_not_checked(
    autojump_clock: MockClock, network: Network, server_tls: ssl.SSLContext
) -> None:
    network.servers[80] = HTTPServer({"/": Reply(200, b"tls")}, tls=server_tls)
    answer = await http_get(a_request(scheme="HTTPS"), network.dial, soon())
    assert answer == HTTPOutcome(status=200, body=b"tls")


TLS_FAULTS = [
    ("plain HTTP", b"HTTP/1.0 400 Bad Request\r\n\r\n", "http: server gave HTTP response to HTTPS client"),
    ("a closed connection", b"", "EOF"),
]


@pytest.mark.parametrize(("data", "text"), [row[1:] for row in TLS_FAULTS], ids=[row[0] for row in TLS_FAULTS])
async def test_a_server_that_speaks_no_tls(autojump_clock: MockClock, network: Network, data: bytes, text: str) -> None:
    network.servers[80] = says(data)
    answer = await http_get(a_request(scheme="HTTPS"), network.dial, soon())
    assert answer.error == f'Get "https://10.1.0.5:80/": {text}'


async def test_other_faults_of_tls_are_in_openssl_words(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = says(b"SSH-2.0-OpenSSH_9.2\r\n")
    answer = await http_get(a_request(scheme="HTTPS"), network.dial, soon())
    assert answer.error.startswith('Get "https://10.1.0.5:80/": tls: ')


async def test_a_cancelled_get_closes_its_connection(autojump_clock: MockClock, network: Network) -> None:
    closed = trio.Event()

    async def serve(stream: trio.abc.Stream) -> None:
        await silent(stream)
        closed.set()

    network.servers[80] = serve
    with trio.move_on_after(1):
        await http_get(a_request(), network.dial, math.inf)
    await closed.wait()


async def test_tcp_connects(autojump_clock: MockClock, network: Network) -> None:
    network.servers[80] = silent
    assert await tcp_connect(IP, 80, network.dial, soon()) == ""


async def test_tcp_refused(autojump_clock: MockClock, network: Network) -> None:
    assert await tcp_connect(IP, 80, network.dial, soon()) == "dial tcp 10.1.0.5:80: connect: connection refused"


async def test_tcp_without_answer(autojump_clock: MockClock, network: Network) -> None:
    async def dial(host: str, port: int) -> trio.abc.Stream:
        await trio.sleep_forever()

    assert await tcp_connect(IP, 80, dial, soon()) == "dial tcp 10.1.0.5:80: i/o timeout"


def wrapped(error: OSError) -> OSError:
    outer = OSError("all attempts to connect failed")
    outer.__cause__ = ExceptionGroup("attempts", [error])
    return outer


DIAL_ERRORS = [
    (OSError(errno.EHOSTUNREACH, "x"), "dial tcp h:80: connect: no route to host"),
    (wrapped(OSError(errno.ENETUNREACH, "x")), "dial tcp h:80: connect: network is unreachable"),
    (socket.gaierror(-2, "Name or service not known"), "dial tcp: lookup h: no such host"),
    (ConnectionRefusedError("nobody"), "dial tcp h:80: connect: connection refused"),
    (OSError("no such sandbox"), "dial tcp h:80: connect: no such sandbox"),
]


@pytest.mark.parametrize(("error", "text"), DIAL_ERRORS)
def test_texts_of_connections_that_failed(error: OSError, text: str) -> None:
    assert dial_error("h", 80, error) == text


def test_the_text_of_a_connection_that_broke() -> None:
    assert read_error("h", 80, OSError(errno.ETIMEDOUT, "x")) == "read tcp h:80: read: connection timed out"


@define
class _Sandbox:
    """The two methods of a runtime that a dialer calls."""

    error: Exception | None = None

    async def dial(self, sandbox_id: SandboxID, port: int) -> trio.abc.Stream:  # noqa: ARG002
        if self.error is not None:
            raise self.error
        return trio.testing.memory_stream_pair()[0]

    async def dial_host(self, host: str, port: int) -> trio.abc.Stream:
        raise ConnectionRefusedError(f"{host}:{port}")


async def test_the_pods_own_address_goes_through_the_runtime() -> None:
    dialer = PodDialer(_Sandbox(), SandboxID("s"), IP)  # type: ignore[arg-type]
    assert isinstance(await dialer(IP, 80), trio.StapledStream)


async def test_a_sandbox_that_is_gone_is_a_failed_connection() -> None:
    dialer = PodDialer(_Sandbox(NotFoundError("no such sandbox")), SandboxID("s"), IP)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="no such sandbox") as caught:
        await dialer(IP, 80)
    assert isinstance(caught.value.__cause__, CRIError)


async def test_another_host_is_the_nodes_affair() -> None:
    dialer = PodDialer(_Sandbox(), SandboxID("s"), IP)  # type: ignore[arg-type]
    with pytest.raises(ConnectionRefusedError, match=r"192\.0\.2\.1:80"):
        await dialer("192.0.2.1", 80)


async def test_from_an_engines_node_a_host_is_reached_from_here() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
        async with await DockerRuntime("i").dial_host("127.0.0.1", port) as stream:
            assert isinstance(stream, trio.SocketStream)


async def ask(network: Network, service: str = "") -> GRPCOutcome:
    return await grpc_health_check(IP, 9000, service, network.dial, soon())


async def test_a_health_check_and_what_it_sends(autojump_clock: MockClock, network: Network) -> None:
    server = network.servers[9000] = HealthServer({"live": 1})
    assert await ask(network, "live") == GRPCOutcome(status=1)
    assert server.requests[0] == {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/grpc.health.v1.Health/Check",
        ":authority": "10.1.0.5:9000",
        "content-type": "application/grpc",
        "user-agent": "kube-probe/1.36",
        "te": "trailers",
    }


@pytest.mark.parametrize("status", [0, 2, 3, 9])
async def test_other_statuses(autojump_clock: MockClock, network: Network, status: int) -> None:
    network.servers[9000] = HealthServer({"": status})
    assert await ask(network) == GRPCOutcome(status=status)


async def test_an_error_of_the_call(autojump_clock: MockClock, network: Network) -> None:
    network.servers[9000] = HealthServer(code=12, message="no%20such%20method")
    assert await ask(network) == GRPCOutcome(code=12, message="no such method")


async def test_a_server_that_is_no_grpc_server(autojump_clock: MockClock, network: Network) -> None:
    network.servers[9000] = HealthServer(http_status=404)
    answer = await ask(network)
    assert answer == GRPCOutcome(code=12, message="unexpected HTTP status code received from server: 404")


@pytest.mark.parametrize(
    "servers", [{}, {9000: says(b"HTTP/1.1 400 Bad Request\r\n\r\n")}], ids=["closed", "no HTTP/2"]
)
async def test_without_a_connection_the_whole_time_is_spent(
    autojump_clock: MockClock, network: Network, servers: dict[int, Handler]
) -> None:
    network.servers = servers
    started_at = trio.current_time()
    assert await ask(network) == GRPCOutcome(connected=False)
    assert trio.current_time() - started_at == 1.0


async def test_connecting_is_tried_again(autojump_clock: MockClock, network: Network) -> None:
    async def dial(host: str, port: int) -> trio.abc.Stream:
        if trio.current_time() >= started_at + 2:
            network.servers[9000] = HealthServer({"": 1})
        return await network.dial(host, port)

    started_at = trio.current_time()
    assert await grpc_health_check(IP, 9000, "", dial, started_at + 10) == GRPCOutcome(status=1)
    assert trio.current_time() - started_at == pytest.approx(2.6)


async def test_no_answer_to_the_call(autojump_clock: MockClock, network: Network) -> None:
    network.servers[9000] = HealthServer(answer=False)
    assert await ask(network) == GRPCOutcome(code=4, message="context deadline exceeded")


SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
LOST = [
    ("the server hangs up", SETTINGS, 14, "error reading from server: EOF"),
    ("a frame that is none", SETTINGS + b"\x00\x00\x01\x04\x00\x00\x00\x00\x00\x00", 14, "connection error: "),
    (
        "GOAWAY",
        SETTINGS + b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00",
        14,
        "closing transport due to: connection error: received GOAWAY",
    ),
    (
        "RST_STREAM",
        SETTINGS + b"\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x02",
        13,
        "stream terminated by RST_STREAM: 2",
    ),
]


@pytest.mark.parametrize(("data", "code", "text"), [row[1:] for row in LOST], ids=[row[0] for row in LOST])
async def test_a_call_that_is_lost(
    autojump_clock: MockClock, network: Network, data: bytes, code: int, text: str
) -> None:
    async def serve(stream: trio.abc.Stream) -> None:
        await stream.receive_some()
        await stream.send_all(SETTINGS)
        await stream.receive_some()
        await stream.send_all(data.removeprefix(SETTINGS) or b"")

    network.servers[9000] = serve
    answer = await ask(network)
    assert (answer.code, answer.message[: len(text)]) == (code, text)


async def test_a_call_whose_connection_breaks(autojump_clock: MockClock, network: Network) -> None:
    async def dial(host: str, port: int) -> trio.abc.Stream:
        client, server = trio.testing.memory_stream_pair()
        await server.send_all(SETTINGS)
        await server.send_stream.aclose()
        return trio.StapledStream(_Breaking(), client.receive_stream)

    assert (await grpc_health_check(IP, 9000, "", dial, soon())).code == 14


@define
class _Breaking(trio.abc.SendStream):
    """Takes one piece of data and then is broken."""

    sent: int = 0

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:  # noqa: ARG002
        self.sent += 1
        if self.sent > 1:
            raise trio.BrokenResourceError

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


async def test_a_connection_that_breaks_before_the_settings_is_none(
    autojump_clock: MockClock, network: Network
) -> None:
    async def dial(host: str, port: int) -> trio.abc.Stream:
        return trio.StapledStream(_Breaking(sent=1), trio.testing.MemoryReceiveStream())

    assert await grpc_health_check(IP, 9000, "", dial, soon()) == GRPCOutcome(connected=False)


def test_long_service_names() -> None:
    assert encode_request("s" * 200) == b"\x0a\xc8\x01" + b"s" * 200


ANSWERS = [
    ("a status of two bytes", {"grpc-status": "0"}, b"\x00\x00\x00\x00\x03\x08\xac\x02", GRPCOutcome(status=300)),
    ("a message without the field", {"grpc-status": "0"}, b"\x00\x00\x00\x00\x02\x10\x01", GRPCOutcome(status=0)),
    ("a status that breaks off", {"grpc-status": "0"}, b"\x00\x00\x00\x00\x02\x08\x81", GRPCOutcome(status=1)),
    (
        "no trailers at all",
        {},
        b"",
        GRPCOutcome(code=13, message="server closed the stream without sending trailers"),
    ),
    (
        "an HTTP status without a meaning",
        {":status": "500"},
        b"",
        GRPCOutcome(code=2, message="unexpected HTTP status code received from server: 500"),
    ),
]


@pytest.mark.parametrize(("headers", "body", "expected"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_answers(headers: dict[str, str], body: bytes, expected: GRPCOutcome) -> None:
    assert read_answer(headers, body) == expected
