"""Short calls share connections; whatever the engine does to one, no other call notices."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attrs import define, field

from runtime.api import CRIError, NotFoundError, RuntimeUnavailableError
from runtime.docker import calls
from runtime.docker.bridge import Bridge
from runtime.docker.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[12]"
CLOSING = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n"
NOTHING = b"HTTP/1.1 204 No Content\r\n\r\n"
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\n" + OK
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n[12"
NO_JSON = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[12"
DEEP = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"[" * 100_000
MISSING = b'HTTP/1.1 404 Not Found\r\nContent-Length: 21\r\n\r\n{"message":"no such"}'
FAILED = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nboom\n"


@define(eq=False)
class Engine:
    """Answers each request with the next of its answers, and holds those for which it has none."""

    path: Path
    answers: list[bytes] = field(factory=list)
    requests: list[bytes] = field(factory=list)
    opened: int = 0
    closed: int = 0
    streams: list[trio.SocketStream] = field(factory=list)

    async def serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        listener = trio.socket.socket(socket.AF_UNIX)
        await listener.bind(str(self.path))
        listener.listen()
        await trio.serve_listeners(self._connection, [trio.SocketListener(listener)], task_status=_Started(task_status))

    async def answer_late(self, answer: bytes) -> None:
        """Answer every request that waits, whoever is cancelled meanwhile."""
        with trio.CancelScope(shield=True):
            for stream in self.streams:
                await stream.send_all(answer)

    async def _connection(self, stream: trio.SocketStream) -> None:
        self.opened += 1
        self.streams.append(stream)
        data = b""
        try:
            while True:
                while not (end := _end_of_request(data)):
                    if not (part := await stream.receive_some()):
                        return
                    data += part
                self.requests.append(data[:end])
                data = data[end:]
                if self.answers:
                    await stream.send_all(answer := self.answers.pop(0))
                    if answer in {CUT, b""} or b"Connection: close" in answer:
                        await stream.aclose()
                        return
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self.closed += 1


@define
class _Started:
    """Tells the nursery nothing of the listeners."""

    status: trio.TaskStatus[None]

    def started(self, _listeners: object) -> None:
        self.status.started()


def _end_of_request(data: bytes) -> int:
    """Return where the first request ends, 0 while it hasn't come whole."""
    head, mark, _ = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    end = len(head) + 4 + (int(length[1]) if length else 0)
    return end if mark and len(data) >= end else 0


@pytest.fixture
async def engine(nursery: trio.Nursery, tmp_path: Path) -> Engine:
    """Give an engine that answers nothing by itself."""
    made = Engine(tmp_path / "s")
    await nursery.start(made.serve)
    return made


@pytest.fixture
async def bridge(engine: Engine) -> AsyncIterator[Bridge]:
    """Give a bridge to the engine."""
    made = Bridge(Endpoint(url=f"unix://{engine.path}"), engine_operations=2)
    yield made
    await made.aclose()


async def settle() -> None:
    """Wait until all that can go on has gone on."""
    await trio.testing.wait_all_tasks_blocked(0.05)


ANSWERS = [
    ("one after the other on one connection", [OK, OK, OK], [[12]] * 3, 1),
    ("pieces are put together", [CHUNKED, OK], [[1, 2], [12]], 1),
    ("no content is none", [NOTHING, OK], [None, [12]], 1),
    ("an answer on the way is none", [CONTINUED, OK], [[12], [12]], 1),
    ("one that the engine closes is not used again", [CLOSING, OK], [{}, [12]], 2),
]


@pytest.mark.parametrize(("why", "answers", "expected", "connections"), ANSWERS, ids=[row[0] for row in ANSWERS])
async def test_calls_share_a_connection(
    why: str, answers: list[bytes], expected: list[object], connections: int, engine: Engine, bridge: Bridge
) -> None:
    engine.answers += answers
    assert [await bridge.read(calls.info()) for _ in answers] == expected
    assert engine.opened == connections
    assert engine.requests[0].startswith(b"GET /v1.41/info HTTP/1.1\r\n")
    await bridge.aclose()


async def test_calls_at_once_have_each_a_connection(engine: Engine, bridge: Bridge) -> None:
    async with trio.open_nursery() as asking:
        for _ in range(3):
            asking.start_soon(bridge.read, calls.info())
        await settle()
        assert engine.opened == 3
        await engine.answer_late(OK)
    await bridge.aclose()
    await settle()
    assert engine.closed == 3


async def test_one_that_was_closed_while_idle_is_seen_before(engine: Engine, bridge: Bridge) -> None:
    engine.answers += [OK, OK]
    await bridge.read(calls.info())
    await engine.streams[0].aclose()
    assert await bridge.read(calls.info()) == [12]
    assert engine.opened == 2


FAILURES = [
    ("no answer at all", b"", RuntimeUnavailableError, "closed the connection", 2),
    ("half an answer", CUT, RuntimeUnavailableError, "does not answer", 2),
    ("no HTTP", b"SSH-2.0-OpenSSH\r\n\r\n", RuntimeUnavailableError, "does not answer", 2),
    ("no JSON", NO_JSON, RuntimeUnavailableError, "does not answer", 1),
    ("too deep for JSON", DEEP, RuntimeUnavailableError, "does not answer", 1),
    ("a refusal", MISSING, NotFoundError, "^no such$", 1),
    ("a refusal in plain text", FAILED, CRIError, "^boom$", 1),
]


@pytest.mark.parametrize("row", FAILURES, ids=[row[0] for row in FAILURES])
async def test_a_failure_is_that_of_one_call(
    row: tuple[str, bytes, type[CRIError], str, int], engine: Engine, bridge: Bridge
) -> None:
    _, answer, error, text, connections = row
    engine.answers += [answer, OK]
    with pytest.raises(error, match=text):
        await bridge.read(calls.info())
    assert await bridge.read(calls.info()) == [12]
    assert engine.opened == connections


async def test_nobody_listens(tmp_path: Path) -> None:
    bridge = Bridge(Endpoint(url=f"unix://{tmp_path}/nobody"))
    with pytest.raises(RuntimeUnavailableError, match="does not answer"):
        await bridge.read(calls.info())
    await bridge.aclose()


async def test_a_read_that_is_cancelled_is_given_up_at_once(engine: Engine, bridge: Bridge) -> None:
    with trio.move_on_after(0.05) as scope:
        await bridge.read(calls.info())
    assert scope.cancelled_caught
    await settle()
    assert (engine.opened, engine.closed) == (1, 1)


@pytest.mark.parametrize("way", ["write", "urgent"])
async def test_a_write_that_is_cancelled_comes_to_its_end(way: str, engine: Engine, bridge: Bridge) -> None:
    made: list[object] = []

    async def write() -> None:
        made.append(await getattr(bridge, way)(calls.create_container({"Image": "i"}, "name")))

    async with trio.open_nursery() as writing:
        writing.start_soon(write)
        await settle()
        writing.cancel_scope.cancel()
        await engine.answer_late(OK)
    assert made == [[12]]
    assert engine.requests[0].startswith(b"POST /v1.41/containers/create?name=name HTTP/1.1\r\n")
    assert engine.requests[0].endswith(b'\r\n\r\n{"Image": "i"}')


async def test_a_write_waits_for_its_turn_and_can_be_cancelled_there(engine: Engine, bridge: Bridge) -> None:
    async with trio.open_nursery() as writing:
        for _ in range(3):
            writing.start_soon(bridge.write, calls.start_container("c"))
        await settle()
        writing.cancel_scope.cancel()
        await engine.answer_late(NOTHING)
    assert len(engine.requests) == 2


async def test_a_connection_in_use_is_closed_when_its_call_ends(engine: Engine, bridge: Bridge) -> None:
    async with trio.open_nursery() as asking:
        asking.start_soon(bridge.read, calls.info())
        await settle()
        await bridge.aclose()
        await engine.answer_late(OK)
    await settle()
    assert engine.closed == 1


async def test_the_users_headers_go_with_every_call(
    engine: Engine, bridge: Bridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "config.json").write_text('{"HttpHeaders": {"X-Meta": "one"}, "auths": {}}')
    engine.answers += [OK, OK]
    await bridge.read(calls.info())
    async with bridge.http.request("GET", "/events") as connection:
        await connection.body()
    assert [request.count(b"\r\nX-Meta: one\r\n") for request in engine.requests] == [1, 1]


async def test_messages_of_a_load(engine: Engine, bridge: Bridge) -> None:
    body = b'{"stream":"Loaded image: a"}\r\n{"stream":"Loaded image: b"}\r\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    engine.answers += [head % len(body) + body, NO_JSON]
    assert [message["stream"] for message in await bridge.load_images(b"tar")] == ["Loaded image: a", "Loaded image: b"]
    assert b"Content-Type: application/x-tar\r\n" in engine.requests[0]
    with pytest.raises(CRIError, match="can't be read"):
        await bridge.load_images(b"tar")
