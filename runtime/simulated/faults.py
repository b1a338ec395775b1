"""What goes wrong on purpose: pulls and calls that fail, slow stops, lost events, an engine that goes away.

All chances come from the seed, the purpose, the object and the time, so a fault of one pod does not depend on which
other pods there are. Calls and images, of which there are few, have one generator each.
"""

from __future__ import annotations

import enum
import math
import random
from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import RuntimeEvent


class PullFault(enum.Enum):
    """How a pull fails."""

    NOT_FOUND = "not found"
    UNAVAILABLE = "unavailable"
    UNAUTHORIZED = "unauthorized"
    SIGNATURE = "signature"
    HANGS = "hangs"
    BREAKS_OFF = "breaks off"


@frozen
class Period:
    """A time in seconds since the runtime was opened, and how long it lasts."""

    start: float = 0.0
    seconds: float = math.inf

    def has(self, age: float) -> bool:
        """Tell whether an age of the runtime lies in it."""
        return self.start <= age < self.start + self.seconds


ALWAYS = Period()


@frozen(kw_only=True)
class SlowStops:
    """Stops take `delay` seconds longer, each with the chance `rate`."""

    delay: float
    rate: float = 1.0
    period: Period = ALWAYS


@frozen(kw_only=True)
class LostEvents:
    """Events are never delivered, each with the chance `rate`."""

    rate: float = 1.0
    period: Period = ALWAYS


@frozen(kw_only=True)
class FailingCall:
    """A call (its name in the CRI) fails with a text: with the chance `rate`, at most `times` times."""

    call: str
    error: str
    rate: float = 1.0
    times: float = math.inf
    period: Period = ALWAYS


@frozen(kw_only=True)
class FaultPlan:
    """Faults to come.

    `pulls` lists, by image name, how its first pulls end (None succeeds), with `last_pull_repeats` also those that
    follow; `pull_failure_rate` is the chance of any other pull. `pull_delay_seconds` comes before each pull.
    `restarts` are times (seconds since the runtime was opened) from which the engine is away for some seconds;
    containers live on.
    """

    pulls: Mapping[str, tuple[PullFault | None, ...]] = field(factory=dict)
    last_pull_repeats: bool = False
    pull_failure_rate: float = 0.0
    pull_delay_seconds: float = 0.0
    slow_stops: tuple[SlowStops, ...] = ()
    lost_events: tuple[LostEvents, ...] = ()
    failing_calls: tuple[FailingCall, ...] = ()
    restarts: tuple[tuple[float, float], ...] = ()

    @property
    def breaks_calls(self) -> bool:
        """Tell whether a call may fail that would go well else."""
        return bool(self.failing_calls or self.restarts)


@define(eq=False)
class Faults:
    """Draws the plan's faults."""

    plan: FaultPlan
    seed: int
    _pulls: dict[str, int] = field(factory=dict, init=False)
    _failed: dict[FailingCall, int] = field(factory=dict, init=False)
    _generators: dict[str, random.Random] = field(factory=dict, init=False)

    def _happens(self, purpose: str, rate: float) -> bool:
        """Draw with a chance; certain ones need no draw."""
        if rate <= 0 or rate >= 1:
            return rate >= 1
        generator = self._generators.get(purpose)
        if generator is None:
            generator = self._generators[purpose] = random.Random(f"{self.seed}/{purpose}")  # noqa: S311 - no secret
        return generator.random() < rate

    def _happens_now(self, purpose: str, rate: float, age: float) -> bool:
        """Draw for one of many objects, of which nothing is kept: the time makes the difference between two draws."""
        if rate <= 0 or rate >= 1:
            return rate >= 1
        return random.Random(f"{self.seed}/{purpose}/{age:.9f}").random() < rate  # noqa: S311 - no secret

    def pull(self, name: str) -> tuple[float, PullFault | None]:
        """Return the delay and the fault of the next pull of an image."""
        number = self._pulls[name] = self._pulls.get(name, -1) + 1
        planned = self.plan.pulls.get(name, ())
        if planned and self.plan.last_pull_repeats:
            number = min(number, len(planned) - 1)
        if number < len(planned):
            return self.plan.pull_delay_seconds, planned[number]
        fails = self._happens(f"pull/{name}", self.plan.pull_failure_rate)
        return self.plan.pull_delay_seconds, PullFault.UNAVAILABLE if fails else None

    def stop_delay(self, key: str, age: float) -> float:
        """Return the seconds that a stop of a container takes longer."""
        return sum(
            slow.delay
            for slow in self.plan.slow_stops
            if slow.period.has(age) and self._happens_now(f"stop/{key}", slow.rate, age)
        )

    def is_lost(self, event: RuntimeEvent, age: float) -> bool:
        """Tell whether an event gets lost."""
        key = f"event/{event.type.value}/{event.pod_uid}/{event.container_name}"
        return any(lost.period.has(age) and self._happens_now(key, lost.rate, age) for lost in self.plan.lost_events)

    def call_error(self, call: str, age: float) -> str | None:
        """Return the error of a call that is made now, None when it goes well."""
        for fault in self.plan.failing_calls:
            count = self._failed.get(fault, 0)
            if fault.call != call or count >= fault.times or not fault.period.has(age):
                continue
            if self._happens(f"call/{call}", fault.rate):
                self._failed[fault] = count + 1
                return fault.error
        return None

    def is_away(self, age: float) -> bool:
        """Tell whether the engine is away at an age of the runtime."""
        return any(start <= age < start + seconds for start, seconds in self.plan.restarts)
