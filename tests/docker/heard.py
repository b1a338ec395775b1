"""A listener that keeps what became of scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from kubelet_emu.scenarios.runner import Outcome
    from kubelet_emu.scenarios.scenario_file import Scenario


@define
class Heard:
    """Keeps the outcomes by name."""

    outcomes: dict[str, Outcome] = field(factory=dict)

    def began(self, scenario: Scenario) -> None:
        """Hear nothing of it."""

    def ended(self, scenario: Scenario, outcome: Outcome) -> None:
        """Keep the outcome."""
        self.outcomes[scenario.name] = outcome
