"""Who pulls next: the node-wide bound on running pulls, the token bucket of pull requests, and the end of all pulls.

Waiters are served in the order of arrival; nothing is shared between two pulls of one image.
Source: KEP-3673, kubelet v1.36 pkg/kubelet/images/puller.go and helpers.go.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from datetime import datetime


@define(eq=False, kw_only=True)
class PullSlots:
    """At most `limit` pulls at a time (None: no limit; 1 is the serial puller)."""

    limit: int | None
    running: int = field(default=0, init=False)
    waiting: int = field(default=0, init=False)
    _semaphore: trio.Semaphore | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make the queue; Trio's semaphore hands a slot to the longest waiter."""
        self._semaphore = None if self.limit is None else trio.Semaphore(self.limit)

    @property
    def would_wait(self) -> bool:
        """Tell whether the next pull has to queue."""
        return self._semaphore is not None and self._semaphore.value == 0

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold one slot, waiting for it in order of arrival. Cancellation leaves the queue unharmed."""
        self.waiting += 1
        try:
            if self._semaphore is not None:
                await self._semaphore.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            if self._semaphore is not None:
                self._semaphore.release()


@define(eq=False, kw_only=True)
class PullEnd:
    """Ends pulls once nobody wants them any more: those that run or wait, and all that come later."""

    _scopes: set[trio.CancelScope] = field(factory=set, init=False)
    _is_given_up: bool = field(default=False, init=False)

    def give_up(self) -> None:
        """End every pull, from now on."""
        self._is_given_up = True
        for scope in self._scopes:
            scope.cancel()

    @contextmanager
    def watched(self) -> Iterator[trio.CancelScope]:
        """Give the scope of one pull; it has caught a cancellation when the pull was given up."""
        with trio.CancelScope() as scope:
            self._scopes.add(scope)
            if self._is_given_up:
                scope.cancel()
            try:
                yield scope
            finally:
                self._scopes.discard(scope)


@define(kw_only=True)
class PullRate:
    """Token bucket of registryPullQPS and registryBurst that never waits; a rate of 0 is no limit."""

    qps: float
    burst: int
    _tokens: float = field(init=False)
    _filled_at: datetime | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Start with a full bucket."""
        self._tokens = float(self.burst)

    def try_accept(self, now: datetime) -> bool:
        """Take a token if there is one (client-go flowcontrol TryAccept)."""
        if self.qps <= 0:
            return True
        if self._filled_at is not None:
            gained = (now - self._filled_at).total_seconds() * self.qps
            self._tokens = min(float(self.burst), self._tokens + gained)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
