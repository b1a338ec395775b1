"""Which calls wait for the engine, and a word to the user about those that wait for long.

Calls are noted from threads and from Trio alike; only `run` reads the clock, so a time is exact to one look.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_SECONDS = 5.0
LONG_SECONDS = 30.0
_VERSION = re.compile(r"^/v\d+\.\d+(?=/)")
_ID = re.compile(r"[0-9a-f]{64}")


def name_of(method: str, path: str) -> str:
    """Return how a call is named to the user: without the API's version and options, ids as `docker ps` has them."""
    path = _VERSION.sub("", path.partition("?")[0])
    return f"{method} {_ID.sub(lambda match: match[0][:12], path)}"


@define(eq=False)
class Call:
    """One call in progress; `waits_since` is Trio time, known from the first look on."""

    name: str = ""
    waits_since: float = math.inf
    is_told: bool = False


@define(eq=False)
class Watch:
    """The calls in progress."""

    _calls: dict[int, Call] = field(factory=dict, init=False)

    @contextmanager
    def waiting(self, call: Call) -> Iterator[None]:
        """Watch a call while the block runs; it may get its name there. Any thread may use it."""
        self._calls[id(call)] = call
        try:
            yield
        finally:
            del self._calls[id(call)]

    async def run(self, on_note: Callable[[str], None]) -> None:
        """Tell once of each call that the engine has not answered for long; runs until cancelled."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            if text := self._look(trio.current_time()):
                on_note(text)

    def _look(self, now: float) -> str:
        """Return what is to be told now, nothing most of the time."""
        late: list[Call] = []
        for call in tuple(self._calls.values()):
            call.waits_since = min(call.waits_since, now)
            if now - call.waits_since >= LONG_SECONDS and not call.is_told:
                call.is_told = True
                late.append(call)
        if not late:
            return ""
        first, more = late[0], len(late) - 1
        others = f" and {more} more call{'s' if more > 1 else ''}" if more else ""
        return f"the engine has not answered {first.name}{others} for {now - first.waits_since:.0f} s"
