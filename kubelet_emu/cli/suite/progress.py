"""How far a set of scenarios is: a line that moves on a terminal, now and then a plain one elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from attrs import define, field

from kubelet_emu.scenarios.results import Status
from kubelet_emu.scenarios.results_text import FEW

if TYPE_CHECKING:
    from kubelet_emu.scenarios.results import Result
    from kubelet_emu.scenarios.scenario_file import Scenario

PLAIN_LINES = 10
_NO_TROUBLE = frozenset({Status.PASSED, Status.EXCLUDED, Status.SKIPPED})
_ERASE = "\r\x1b[K"


@define
class Progress:
    """Writes how many scenarios have ended and which run; on a terminal `width` columns are used."""

    out: TextIO
    total: int
    is_terminal: bool
    width: int = 80
    _ended: int = field(default=0, init=False)
    _failed: int = field(default=0, init=False)
    _shown: int = field(default=0, init=False)
    _running: dict[str, None] = field(factory=dict, init=False)

    def began(self, scenario: Scenario) -> None:
        """Show that a scenario runs."""
        self._running[scenario.name] = None
        if self.is_terminal:
            self._show()

    def ended(self, result: Result) -> None:
        """Show that a scenario has ended."""
        self._ended += 1
        self._failed += result.status not in _NO_TROUBLE
        self._running.pop(result.name, None)
        if self.is_terminal:
            self._show()
        elif self.total > FEW and self._part() > self._shown:
            self._shown = self._part()
            print(self._counts(), file=self.out, flush=True)

    def close(self) -> None:
        """Take the line away."""
        if self.is_terminal:
            print(_ERASE, end="", file=self.out, flush=True)

    def _part(self) -> int:
        return self._ended * PLAIN_LINES // self.total

    def _counts(self) -> str:
        failed = f", {self._failed} failed" if self._failed else ""
        return f"[{self._ended:{len(str(self.total))}}/{self.total}]{failed}"

    def _show(self) -> None:
        line = f"{self._counts()} {', '.join(self._running)}"
        shown = line if len(line) < self.width else f"{line[: self.width - 2]}…"
        print(f"{_ERASE}{shown}", end="", file=self.out, flush=True)
