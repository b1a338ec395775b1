"""A queue of keys to look at, each at a time of its own; several reasons to look at one key become one look.

Source: client-go workqueue (delaying and rate limiting queues) as the Job controller sets them up.
"""

from __future__ import annotations

import trio
from attrs import define, field

RETRY_BASE_SECONDS = 1.0
RETRY_MAX_SECONDS = 60.0


@define(eq=False)
class WorkQueue:
    """Keys with the Trio time at which each is due."""

    _due_at: dict[str, float] = field(factory=dict, init=False)
    _retries: dict[str, int] = field(factory=dict, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def add(self, key: str, after_seconds: float = 0.0) -> None:
        """Have a key looked at after some seconds; an earlier look that is waiting stays."""
        due_at = trio.current_time() + max(0.0, after_seconds)
        if due_at < self._due_at.get(key, float("inf")):
            self._due_at[key] = due_at
            self._changed.set()

    def retry(self, key: str) -> None:
        """Have a key looked at again after a failure: 1 s, then twice as long each time, at most 60 s."""
        retries = self._retries.get(key, 0)
        self._retries[key] = retries + 1
        self.add(key, min(RETRY_BASE_SECONDS * 2.0**retries, RETRY_MAX_SECONDS))

    def forget(self, key: str) -> None:
        """Begin anew with the delays of retries: a look went well."""
        self._retries.pop(key, None)

    async def get(self) -> str:
        """Wait for the next due key and take it out. Cancellation leaves the queue as it is."""
        while True:
            await trio.lowlevel.checkpoint()
            key = min(self._due_at, key=lambda key: (self._due_at[key], key), default=None)
            if key is not None and self._due_at[key] <= trio.current_time():
                del self._due_at[key]
                return key
            self._changed = trio.Event()
            with trio.move_on_at(self._due_at[key] if key is not None else float("inf")):
                await self._changed.wait()
