"""The background jobs of a shell, numbered as ash numbers them: a job that was waited for leaves its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_CURRENT = frozenset({"%%", "%+", "%"})


@define
class Jobs:
    """Jobs by number, from 1, None for a number that is free."""

    slots: list[Process | None] = field(factory=list)
    waited: set[int] = field(factory=set)

    def add(self, job: Process) -> None:
        """Give a new job the lowest number that is free, or whose job has ended and was waited for."""
        for place, old in enumerate(self.slots):
            if old is None or (old.exit_code is not None and old.pid in self.waited):
                self.slots[place] = job
                return
        self.slots.append(job)

    def copy(self) -> Jobs:
        """Return the jobs that a subshell knows of."""
        return Jobs(list(self.slots), set(self.waited))

    def newest_first(self) -> list[tuple[int, Process]]:
        """Return all jobs with their numbers."""
        found = [(number, job) for number, job in enumerate(self.slots, start=1) if job is not None]
        return sorted(found, key=lambda each: -each[1].pid)

    def forget(self, number: int) -> None:
        """Free a number."""
        self.slots[number - 1] = None

    def find(self, word: str) -> Process | None:
        """Return the job that a process id, `%n` or `%%` means."""
        if word in _CURRENT:
            newest = self.newest_first()
            return newest[0][1] if newest else None
        if not word.removeprefix("%").isdecimal():
            return None
        number = int(word.removeprefix("%"))
        if word.startswith("%"):
            return self.slots[number - 1] if 0 < number <= len(self.slots) else None
        return next((job for job in self.slots if job is not None and job.pid == number), None)
