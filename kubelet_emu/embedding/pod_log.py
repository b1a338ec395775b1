"""What happened to one pod or Job, to be asked in a test: orders, expectations, lines, and a story of it as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.embedding.story import story_of
from kubelet_emu.journal.outlet import write_private
from kubelet_emu.lifecycle.raw_records import time_of
from kubelet_emu.lifecycle.trace import MissingError, Trace
from kubelet_emu.scenarios.checks import check
from kubelet_emu.scenarios.moments import find_moment, occurrences

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubelet_emu.lifecycle.raw_records import Interval, RawRecord
    from kubelet_emu.scenarios.checks import Verdict
    from kubelet_emu.scenarios.expectations import MomentExpression


def _ignore(_: object) -> None:
    """Hear nothing."""


@frozen(kw_only=True, repr=False)
class Answer:
    """Whether something holds: a truth value that says why. `story` is what happened, for one that doesn't hold."""

    expectation: str
    holds: bool
    because: str
    story: str = ""

    def __bool__(self) -> bool:
        """Tell whether it holds."""
        return self.holds

    def __repr__(self) -> str:
        """Return the expectation and what decided it, in one line."""
        return f"<{self.expectation}: {'holds' if self.holds else 'does not hold'}: {self.because}>"

    def __str__(self) -> str:
        """Return why, and for what doesn't hold all that happened."""
        if self.holds:
            return f"{self.expectation}: {self.because}"
        return f"{self.expectation}\n  does not hold: {self.because}\n{self.story}"


@frozen(kw_only=True)
class PodLog:
    """The records of one object up to a moment, in seconds since its creation; `name` is the object's.

    `on_failure` hears of every answer that is no.
    """

    name: str
    records: tuple[RawRecord, ...] = field(repr=False)
    on_failure: Callable[[Answer], None] = field(default=_ignore, repr=False, eq=False)
    _trace: Trace = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        """Make the records ready to be asked."""
        object.__setattr__(self, "_trace", Trace.of(self.records))

    def order(self, *moments: str) -> Answer:
        """Tell whether moments came in this order, each once at least.

        Moments are those of the grammar of expectations, such as `init-1 exited(0)` or `pod ready`; ExpectationError.
        """
        return self._answer(check(self._trace, " < ".join(moments)))

    def holds(self, expectation: str) -> Answer:
        """Tell whether an expectation holds, any of the grammar of scenarios; ExpectationError."""
        return self._answer(check(self._trace, expectation))

    def expect(self, *expectations: str) -> None:
        """Raise AssertionError, with what decided it and what happened, unless every expectation holds."""
        failed = [answer for answer in map(self.holds, expectations) if not answer]
        if failed:
            raise AssertionError("\n".join(map(str, failed)))

    def find(self, moment: MomentExpression) -> Interval | None:
        """Return when a moment was, None where it has not been."""
        try:
            return find_moment(self._trace, moment)
        except MissingError:
            return None

    def count(self, moment: MomentExpression) -> int:
        """Return how often a moment was."""
        return len(occurrences(self._trace, moment))

    def lines(self, container: str, run: int | None = None) -> tuple[str, ...]:
        """Return what a container wrote, of one run (from 1) or of all, in order."""
        return tuple(
            str(record["line"])
            for record in self._trace.of_kind("log")
            if record.get("container") == container and run in {None, record.get("run")}
        )

    def events(self) -> tuple[str, ...]:
        """Return the events as `REASON MESSAGE`, in order."""
        return tuple(f"{record['reason']} {record['message']}" for record in self._trace.of_kind("event"))

    @property
    def seconds(self) -> float:
        """Return when the last record was, in seconds since creation."""
        return time_of(self._trace.records[-1]) if self._trace.records else 0.0

    def story(self) -> str:
        """Return what happened, a line a moment."""
        return story_of(self._trace)

    def write(self, path: Path) -> None:
        """Write the trace as JSON lines (docs/SCENARIOS.md), mode 0600, for `kubelet-emu verify` and its like."""
        write_private(path, "".join(json.dumps(record) + "\n" for record in self.records))

    def _answer(self, verdict: Verdict) -> Answer:
        answer = Answer(
            expectation=verdict.expectation,
            holds=verdict.holds,
            because=verdict.because,
            story="" if verdict.holds else told(self.name, self.story()),
        )
        if not answer:
            self.on_failure(answer)
        return answer


def told(name: str, story: str) -> str:
    """Return the story of an object below a heading, indented as part of an error."""
    lines = "\n".join(f"    {line}" for line in story.splitlines())
    return f"  what happened to {name}:\n{lines or '    nothing'}"
