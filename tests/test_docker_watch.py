"""Which calls are told of that the engine doesn't answer, and how they are named."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
import trio

from runtime.docker.watch import Call, Watch, name_of

if TYPE_CHECKING:
    from trio.testing import MockClock

ID = "0123456789ab" + "c" * 52

NAMES = [
    ("a version and options are left out", "GET", "/v1.41/containers/json?all=1&limit=-1", "GET /containers/json"),
    (
        "an id is as short as in docker ps",
        "POST",
        f"/v1.41/containers/{ID}/start",
        "POST /containers/0123456789ab/start",
    ),
    ("a path without a version stays", "POST", "/exec/abc/start", "POST /exec/abc/start"),
    ("only a version at the beginning is one", "GET", "/v1.41/images/v1.41/json", "GET /images/v1.41/json"),
]


@pytest.mark.parametrize(("why", "method", "path", "expected"), NAMES, ids=[row[0] for row in NAMES])
def test_names(why: str, method: str, path: str, expected: str) -> None:
    assert name_of(method, path) == expected


async def told_after(seconds: float, *names: str) -> list[str]:
    """Return what is told while calls wait, each from two seconds after the one before."""
    told: list[str] = []
    watch = Watch()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run, lambda text: told.append(f"{trio.current_time():g} {text}"))
        with ExitStack() as waits:
            for name in names:
                waits.enter_context(watch.waiting(Call(name)))
                await trio.sleep(2)
            await trio.sleep(seconds - 2 * len(names))
        await trio.sleep(100)
        nursery.cancel_scope.cancel()
    return told


TOLD = {
    "a call that is over in time is nobody's business": (30.0, ("GET /info",), []),
    "one that waits is told of once": (200.0, ("GET /info",), ["35 the engine has not answered GET /info for 30 s"]),
    "calls that wait together are told of together": (
        60.0,
        ("GET /a", "GET /b", "GET /c"),
        ["35 the engine has not answered GET /a and 2 more calls for 30 s"],
    ),
    "a later one is told of in its turn": (
        60.0,
        ("GET /a", "GET /b", "GET /c", "GET /d"),
        [
            "35 the engine has not answered GET /a and 2 more calls for 30 s",
            "40 the engine has not answered GET /d for 30 s",
        ],
    ),
}


@pytest.mark.parametrize(("seconds", "names", "expected"), TOLD.values(), ids=TOLD.keys())
async def test_what_is_told(
    autojump_clock: MockClock, seconds: float, names: tuple[str, ...], expected: list[str]
) -> None:
    assert await told_after(seconds, *names) == expected
