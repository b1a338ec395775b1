"""What goes wrong on purpose: pulls that fail, slow stops, lost events, an engine that goes away.

All chances come from one seeded generator for each purpose and object, so a fault of one pod does not depend on which
other pods there are.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from runtime.simulated.images import PullFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import RuntimeEvent


@frozen(kw_only=True)
class FaultPlan:
    """Faults to come.

    `pulls` lists, by image name, how its first pulls end (None succeeds); `pull_failure_rate` is the chance of any
    other pull. `pull_delay_seconds` comes before each pull. `slow_stop_seconds` is added to a stop with
    `slow_stop_rate`. `lost_event_rate` is the chance that an event is never delivered. `restarts` are times (seconds
    since the runtime was opened) from which the engine is away for some seconds; containers live on.
    """

    pulls: Mapping[str, tuple[PullFault | None, ...]] = field(factory=dict)
    pull_failure_rate: float = 0.0
    pull_delay_seconds: float = 0.0
    slow_stop_rate: float = 0.0
    slow_stop_seconds: float = 0.0
    lost_event_rate: float = 0.0
    restarts: tuple[tuple[float, float], ...] = ()


@define(eq=False)
class Faults:
    """Draws the plan's faults."""

    plan: FaultPlan
    seed: int
    _pulls: dict[str, int] = field(factory=dict, init=False)
    _generators: dict[str, random.Random] = field(factory=dict, init=False)

    def _draw(self, purpose: str) -> float:
        generator = self._generators.get(purpose)
        if generator is None:
            generator = self._generators[purpose] = random.Random(f"{self.seed}/{purpose}")  # noqa: S311 - no secret
        return generator.random()

    def pull(self, name: str) -> tuple[float, PullFault | None]:
        """Return the delay and the fault of the next pull of an image."""
        number = self._pulls[name] = self._pulls.get(name, -1) + 1
        planned = self.plan.pulls.get(name, ())
        if number < len(planned):
            return self.plan.pull_delay_seconds, planned[number]
        fails = bool(self.plan.pull_failure_rate) and self._draw(f"pull/{name}") < self.plan.pull_failure_rate
        return self.plan.pull_delay_seconds, PullFault.UNAVAILABLE if fails else None

    def stop_delay(self, key: str) -> float:
        """Return the seconds that a stop of a container takes longer."""
        slow = bool(self.plan.slow_stop_rate) and self._draw(f"stop/{key}") < self.plan.slow_stop_rate
        return self.plan.slow_stop_seconds if slow else 0.0

    def is_lost(self, event: RuntimeEvent) -> bool:
        """Tell whether an event gets lost."""
        if not self.plan.lost_event_rate:
            return False
        return self._draw(f"event/{event.pod_uid}/{event.container_name}") < self.plan.lost_event_rate

    def is_away(self, age: float) -> bool:
        """Tell whether the engine is away at an age of the runtime."""
        return any(start <= age < start + seconds for start, seconds in self.plan.restarts)
