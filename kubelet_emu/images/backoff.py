"""Back-off of failed pulls by pod and image, with the last failure's text.

In memory only. Source: kubelet v1.36 pkg/kubelet/images image_manager.go, client-go flowcontrol.Backoff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from datetime import datetime


@frozen
class _Failure:
    delay_seconds: float
    failed_at: datetime


@define(kw_only=True)
class PullBackoff:
    """Delays after failures of one key: initial, doubled, capped, forgotten after twice the cap without a failure.

    A success doesn't reset a key, it only drops those that are forgotten anyway.
    """

    initial_seconds: float = 10.0
    max_seconds: float = 300.0
    _failures: dict[str, _Failure] = field(factory=dict, init=False)
    _errors: dict[str, str] = field(factory=dict, init=False)

    def is_in_backoff(self, key: str, now: datetime) -> bool:
        """Tell whether a pull is refused at `now`."""
        failure = self._live(key, now)
        return failure is not None and (now - failure.failed_at).total_seconds() < failure.delay_seconds

    def last_error(self, key: str) -> str:
        """Return `KIND: MESSAGE` of the last failure, empty when none is known."""
        return self._errors.get(key, "")

    def failed(self, key: str, now: datetime, error: str) -> None:
        """Count a failure at `now`."""
        failure = self._live(key, now)
        delay = self.initial_seconds if failure is None else min(failure.delay_seconds * 2, self.max_seconds)
        self._failures[key] = _Failure(delay, now)
        self._errors[key] = error

    def succeeded(self, key: str, now: datetime) -> None:
        """Forget the error of a key, and every key that is over."""
        self._errors.pop(key, None)
        self.collect_garbage(now)

    def collect_garbage(self, now: datetime) -> None:
        """Drop the keys that no longer count."""
        self._failures = {key: failure for key, failure in self._failures.items() if self._live(key, now)}

    def _live(self, key: str, now: datetime) -> _Failure | None:
        failure = self._failures.get(key)
        if failure is None or (now - failure.failed_at).total_seconds() > 2 * self.max_seconds:
            return None
        return failure
