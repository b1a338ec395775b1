"""What joining a container's streams is like, told once for both runtimes.

Source: containerd's ContainerIO.Attach; the engine keeps the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest
import trio

from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runtime.api import AttachSession, ContainerID, Runtime

ECHOES = 'while read x; do echo "got $x"; done; echo end; exit 3'


class Place(Protocol):
    """A runtime where containers of scripts can be started."""

    @property
    def runtime(self) -> Runtime: ...

    async def begin(self, script: str, **settings: object) -> ContainerID: ...


async def until(session: AttachSession, wanted: bytes) -> bytes:
    """Return what a session shows, up to what is wanted."""
    shown = b""
    while wanted not in shown:
        piece = await session.receive()
        assert piece is not None, shown
        shown += piece[1]
    return shown


async def rest(session: AttachSession) -> dict[str, bytes]:
    """Return what a session shows to its end, by stream."""
    shown: dict[str, bytes] = {}
    while (piece := await session.receive()) is not None:
        shown[piece[0]] = shown.get(piece[0], b"") + piece[1]
    return shown


async def lives(place: Place, container: ContainerID) -> bool:
    return (await place.runtime.container_status(container)).exit_code is None


async def what_is_sent_is_read_and_both_outputs_come(place: Place) -> None:
    container = await place.begin("read x; echo out $x; echo err >&2; exit 4", stdin=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"word\n")
        assert await rest(session) == {"stdout": b"out word\n", "stderr": b"err\n"}
    assert (await place.runtime.container_status(container)).exit_code == 4


async def the_end_of_the_input_ends_the_session_and_not_the_containers_input(place: Place) -> None:
    container = await place.begin(ECHOES, stdin=True)
    for word in (b"one", b"two"):
        async with place.runtime.attach(container, stdin=True) as session:
            await session.send(word + b"\n")
            assert await until(session, b"\n") == b"got " + word + b"\n"
            await session.send_eof()
            assert await rest(session) == {}
    assert await lives(place, container)


async def who_leaves_without_a_word_changes_nothing(place: Place) -> None:
    container = await place.begin(ECHOES, stdin=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"one\n")
        await until(session, b"got one")
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"two\n")
        await until(session, b"got two")


async def with_stdin_once_the_end_is_the_containers_and_its_output_goes_on(place: Place) -> None:
    container = await place.begin(ECHOES, stdin=True, stdin_once=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"one\n")
        await session.send_eof()
        assert await rest(session) == {"stdout": b"got one\nend\n"}
    assert (await place.runtime.container_status(container)).exit_code == 3


async def with_stdin_once_leaving_is_the_end_too(place: Place) -> None:
    container = await place.begin("cat; exec sleep 1000", stdin=True, stdin_once=True)
    async with place.runtime.attach(container) as listener:
        async with place.runtime.attach(container, stdin=True) as session:
            await session.send(b"first\n")
            await until(session, b"first")
        async with place.runtime.attach(container, stdin=True) as session:
            await session.send(b"too late\n")
            with trio.move_on_after(1):
                await session.receive()
                pytest.fail("a closed input took more")
        assert await until(listener, b"first\n") == b"first\n"


async def with_stdin_once_a_listener_closes_nothing(place: Place) -> None:
    container = await place.begin("read x; echo got $x", stdin=True, stdin_once=True)
    async with place.runtime.attach(container):
        pass
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"one\n")
        assert await rest(session) == {"stdout": b"got one\n"}


async def a_container_without_an_input_takes_none(place: Place) -> None:
    container = await place.begin("until [ -e /go ]; do sleep 0.1; done; cat; echo end")
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"nothing\n")
        await session.send_eof()
        await place.runtime.exec_sync(container, ("touch", "/go"))
        assert await rest(session) == {"stdout": b"end\n"}


async def who_asks_for_no_input_sends_none(place: Place) -> None:
    container = await place.begin("read x; echo got $x", stdin=True)
    async with place.runtime.attach(container) as session:
        await session.send(b"nothing\n")
        await session.send_eof()
        with trio.move_on_after(1):
            await session.receive()
            pytest.fail("input came through")


async def all_who_are_attached_see_what_comes_from_now_on(place: Place) -> None:
    container = await place.begin("echo before; read x; echo $x", stdin=True)
    async with place.runtime.container_logs(container, follow=True) as log:
        async for line in log:
            assert line.line == b"before"
            break
    async with (
        place.runtime.attach(container) as one,
        place.runtime.attach(container, stdin=True) as two,
    ):
        await two.send(b"after\n")
        assert await rest(one) == await rest(two) == {"stdout": b"after\n"}


async def every_byte_comes_through_as_it_is(place: Place) -> None:
    data = bytes(range(256)) * 2048 + b"\xff\x00\x10\x11\r\n"
    container = await place.begin("exec cat", stdin=True, stdin_once=True)
    async with place.runtime.attach(container, stdin=True) as session, trio.open_nursery() as nursery:

        async def send() -> None:
            for start in range(0, len(data), 30_000):
                await session.send(data[start : start + 30_000])
            await session.send_eof()

        nursery.start_soon(send)
        shown = await rest(session)
    assert shown == {"stdout": data}


async def a_terminal_shows_what_is_typed_and_its_keys_are_signals(place: Place) -> None:
    script = "trap 'echo INT; exit 5' INT; read x; echo got $x; while :; do sleep 0.1; done"
    container = await place.begin(script, stdin=True, tty=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"wors\x7fd\r")
        assert await until(session, b"got word\r\n") == b"wors\b \bd\r\ngot word\r\n"
        await session.send(b"\x03")
        assert await rest(session) == {"stdout": b"^CINT\r\n"}
    assert (await place.runtime.container_status(container)).exit_code == 5


async def a_terminals_end_of_file_is_no_end_of_the_session(place: Place) -> None:
    container = await place.begin("cat; echo one; cat; echo two", stdin=True, tty=True, stdin_once=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"a\x15b\r\x04")
        await until(session, b"one\r\n")
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"\x04")
        assert await rest(session) == {"stdout": b"two\r\n"}


async def a_terminals_session_ends_with_its_input_and_may_be_begun_again(place: Place) -> None:
    container = await place.begin(ECHOES, stdin=True, stdin_once=True, tty=True)
    for word in (b"one", b"two"):
        async with place.runtime.attach(container, stdin=True) as session:
            await session.send(word + b"\r")
            await until(session, b"got " + word + b"\r\n")
            await session.send_eof()
            assert await rest(session) == {}
    assert await lives(place, container)


async def keys_that_an_engine_knows_come_through(place: Place) -> None:
    container = await place.begin("read x; echo -n $x | od -An -tx1", stdin=True, tty=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await session.send(b"\x10\x11q\r")
        await until(session, b" 10")


async def a_program_is_told_that_its_terminal_has_another_size(place: Place) -> None:
    container = await place.begin("trap 'echo WINCH; exit 0' WINCH; while :; do sleep 0.1; done", stdin=True, tty=True)
    async with place.runtime.attach(container) as session:
        await trio.sleep(0.5)
        await session.resize(33, 99)
        assert await rest(session) == {"stdout": b"WINCH\r\n"}


async def a_session_ends_when_its_container_is_killed(place: Place) -> None:
    container = await place.begin("echo up; sleep 1000", stdin=True)
    async with place.runtime.attach(container, stdin=True) as session:
        await place.runtime.kill_container(container, "SIGKILL")
        with trio.fail_after(30):
            await rest(session)


async def a_container_that_has_ended_can_not_be_joined(place: Place) -> None:
    container = await place.begin("exit 0", stdin=True)
    async with place.runtime.container_logs(container, follow=True) as log:
        assert [line async for line in log] == []
    with pytest.raises(CRIError, match="CONTAINER_EXITED"):
        async with place.runtime.attach(container, stdin=True):
            pass


STORIES: tuple[Callable[[Place], Awaitable[None]], ...] = (
    what_is_sent_is_read_and_both_outputs_come,
    the_end_of_the_input_ends_the_session_and_not_the_containers_input,
    who_leaves_without_a_word_changes_nothing,
    with_stdin_once_the_end_is_the_containers_and_its_output_goes_on,
    with_stdin_once_leaving_is_the_end_too,
    with_stdin_once_a_listener_closes_nothing,
    a_container_without_an_input_takes_none,
    who_asks_for_no_input_sends_none,
    all_who_are_attached_see_what_comes_from_now_on,
    every_byte_comes_through_as_it_is,
    a_terminal_shows_what_is_typed_and_its_keys_are_signals,
    a_terminals_end_of_file_is_no_end_of_the_session,
    a_terminals_session_ends_with_its_input_and_may_be_begun_again,
    keys_that_an_engine_knows_come_through,
    a_program_is_told_that_its_terminal_has_another_size,
    a_session_ends_when_its_container_is_killed,
    a_container_that_has_ended_can_not_be_joined,
)
IDS = [story.__name__.replace("_", " ") for story in STORIES]
