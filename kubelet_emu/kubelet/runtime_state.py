"""Whether the runtime answers, told once when it stops and once when it is back.

A single relist that fails is nobody's business, and a runtime that comes and goes is told of rarely.
Source: kubelet v1.36 pkg/kubelet/runtime.go, syncLoop: "Skipping pod synchronization".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.records import NoteRecord
from runtime.api import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.records import Record
    from runtime.api import CRIError

FAILING_SECONDS = 1.0
RARELY_SECONDS = 10.0


@define(eq=False)
class RuntimeState:
    """What the relists say of the runtime. Times are seconds of Trio's clock."""

    emit: Callable[[Record], None]
    _failing_since: float | None = field(default=None, init=False)
    _told_at: float | None = field(default=None, init=False)
    _is_told: bool = field(default=False, init=False)

    def failed(self, error: CRIError, began_at: float, now: float) -> None:
        """Take a relist that failed."""
        if self._failing_since is None:
            self._failing_since = began_at
        is_new = not self._is_told and (self._told_at is None or now - self._told_at >= RARELY_SECONDS)
        if not is_new or now - self._failing_since < FAILING_SECONDS:
            return
        self._is_told, self._told_at = True, now
        if isinstance(error, RuntimeUnavailableError):
            text = f"{error}; pods stay as they are until it is back"
        else:
            text = f"the runtime can't tell what runs: {error}"
        self.emit(NoteRecord(level="warning", text=text))

    def answered(self, now: float) -> None:
        """Take a relist that went well."""
        since, self._failing_since = self._failing_since, None
        if self._is_told and since is not None:
            self._is_told = False
            self.emit(NoteRecord(text=f"the runtime is back after {now - since:.0f} s"))
