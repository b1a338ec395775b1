"""Back-off of failed pulls by pod and image, with the last failure's text.

In memory only. Source: kubelet v1.36 pkg/kubelet/images image_manager.go, client-go flowcontrol.Backoff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.rules.backoff import Backoff

if TYPE_CHECKING:
    from datetime import datetime


@define(kw_only=True)
class PullBackoff:
    """Delays after failed pulls of one key, each counted from its failure.

    A success doesn't reset a key, it only drops those that are over anyway.
    """

    delays: Backoff = field(factory=Backoff)
    _errors: dict[str, str] = field(factory=dict, init=False)

    def is_in_backoff(self, key: str, now: datetime) -> bool:
        """Tell whether a pull is refused at `now` (IsInBackOffSinceUpdate)."""
        entry = self.delays.entries.get(key)
        return entry is not None and self.delays.refused_until(key, entry.updated_at, now) is not None

    def last_error(self, key: str) -> str:
        """Return `KIND: MESSAGE` of the last failure, empty when none is known."""
        return self._errors.get(key, "")

    def failed(self, key: str, now: datetime, error: str) -> None:
        """Count a failure at `now`."""
        self.delays = self.delays.next(key, now, now)
        self._errors[key] = error

    def succeeded(self, key: str, now: datetime) -> None:
        """Forget the error of a key, and every key that is over."""
        self._errors.pop(key, None)
        self.collect_garbage(now)

    def collect_garbage(self, now: datetime) -> None:
        """Drop the keys that no longer count, with their errors."""
        self.delays = self.delays.collect_garbage(now)
        for key in self._errors.keys() - self.delays.entries.keys():
            del self._errors[key]
