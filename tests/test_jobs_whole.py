"""A Job on a whole node in virtual time: it goes as on a real node, and lasts as long.

Beside `test_jobs_recorded`, which plays recorded pods to the controller alone, here the pods are run, too.
"""

from __future__ import annotations

import json
import re
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kubelet_emu.api.codec import encode
from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.journal.records import EventRecord, JobRecord, RunRecord
from kubelet_emu.scenarios.scenario_file import load_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from kubelet_emu.journal.encode import Entry

FOLDER = Path(__file__).parents[1] / "fixtures" / "scenarios"
TRACES = [path for path in sorted(FOLDER.glob("*/trace.jsonl")) if '"kind": "job"' in path.read_text(encoding="utf-8")]
COUNTS = ("active", "ready", "terminating", "succeeded", "failed", "completedIndexes", "failedIndexes")
BATCH_SECONDS = 1.0
POD_NAME = re.compile(r"\b[a-z0-9-]+-[bcdfghjklmnpqrstvwxz2456789]{5}\b")
NAMESPACE = re.compile(r"(?<=[Pp]od )[a-z0-9-]+/")

Line = dict[str, Any]


class Story:
    """What a Job's statuses and events said, with the pods named in the order of their appearance."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.statuses: list[tuple[float, str]] = []
        self.events: list[str] = []
        self._pods: dict[str, str] = {}

    def add_status(self, at: float, status: Line) -> None:
        """Add a status without its times and uids; nothing is added when it is as before."""
        uncounted = status.get("uncountedTerminatedPods")
        shown: Line = {name: status[name] for name in COUNTS if status.get(name) is not None}
        shown["started"], shown["completed"] = "startTime" in status, "completionTime" in status
        if uncounted is not None:
            shown["uncounted"] = {name: len(uids) for name, uids in uncounted.items() if uids}
        shown["conditions"] = [
            " ".join(str(condition.get(key)) for key in ("type", "status", "reason", "message"))
            for condition in status.get("conditions", ())
        ]
        text = self._named(json.dumps(shown, sort_keys=True))
        if not self.statuses or self.statuses[-1][1] != text:
            self.statuses.append((at, text))

    def add_event(self, kind: str, reason: str, message: str) -> None:
        """Add an event."""
        self.events.append(self._named(f"{kind} {reason}: {message}"))

    def _named(self, text: str) -> str:
        text = NAMESPACE.sub("", text)
        return POD_NAME.sub(lambda found: self._pods.setdefault(found[0], f"@{len(self._pods) + 1}"), text)


def recorded(path: Path) -> Story:
    """Return what a real node's recording says of its Job."""
    story = Story()
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if line["kind"] == "job":
            story.add_status(line["t"], line.get("status") or {})
        elif line["kind"] == "event" and line.get("job"):
            story.add_event(line["type"], line["reason"], line["message"])
    return story


def lived(path: Path) -> Story:
    """Return what happens to the Job of a scenario here."""
    story = Story()

    def note(entry: Entry) -> None:
        record = entry.record
        if isinstance(record, JobRecord) and record.status is not None and not record.deleted:
            story.add_status(entry.at.timestamp(), encode(record.status))
        elif isinstance(record, EventRecord) and record.ref.kind == "Job":
            story.add_event(record.type, record.reason, record.message)

    run_simulated(load_scenario(path), SimulatedWorld(sinks=(note,)))
    return story


def lasting(statuses: Sequence[tuple[float, str]]) -> list[str]:
    """Return the statuses that were not soon followed by another: changes within a batch may show as one.

    Every one with the last of some conditions is among them, so a finished Job's last one is.
    """
    kept = [
        text
        for (at, text), (until, later) in pairwise(statuses)
        if until - at > 1.5 * BATCH_SECONDS or conditions(text) != conditions(later)
    ]
    last = statuses[-1][1]
    return [*kept, last] if conditions(last) else kept


def conditions(text: str) -> list[str]:
    """Return the conditions of a status as it is noted."""
    return list(json.loads(text)["conditions"])


def is_within(part: Iterable[str], whole: Iterable[str]) -> bool:
    """Tell whether one sequence is in another, in its order."""
    rest = iter(whole)
    return all(any(each == text for text in rest) for each in part)


FAILING = """\
manifest:
  apiVersion: batch/v1
  kind: Job
  metadata: {name: failing}
  spec:
    backoffLimit: 6
    template:
      spec:
        restartPolicy: Never
        initContainers:
        - name: proxy
          image: busybox:1
          restartPolicy: Always
          command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
        containers:
        - {name: main, image: "busybox:1", command: [sh, -c, "sleep 170; exit 1"]}
end: pod terminal
timeout: 4000
expect: [pods(Failed) == 7, job(conditionreason Failed) == BackoffLimitExceeded]
"""


def test_a_job_that_fails_for_half_an_hour_keeps_every_delay(tmp_path: Path) -> None:
    (tmp_path / "failing.scenario.yaml").write_text(FAILING, encoding="utf-8")
    created: list[datetime] = []
    ended: dict[str, datetime] = {}

    def note(entry: Entry) -> None:
        record = entry.record
        if isinstance(record, EventRecord) and record.reason == "SuccessfulCreate":
            created.append(entry.at)
        elif isinstance(record, RunRecord) and record.what == "exit":
            ended[record.ref.name] = entry.at

    outcome = run_simulated(load_scenario(tmp_path / "failing.scenario.yaml"), SimulatedWorld(sinks=(note,)))
    assert [verdict.expectation for verdict in outcome.verdicts if not verdict.holds] == []
    # A pod finishes with the last of its containers, here the sidecar; the API keeps whole seconds, and from them the
    # controller counts 10, 20, 40, ... s. The seventh failure is one too many.
    finished = [at.replace(microsecond=0) for at in ended.values()]
    assert created[1:] == [at + timedelta(seconds=10 * 2**n) for n, at in enumerate(finished[:-1])]
    assert [(later - earlier).total_seconds() for earlier, later in pairwise(created)] == [
        181.63,
        191,
        211,
        251,
        331,
        491,
    ]
    assert finished[-1] - finished[0] + timedelta(seconds=170) > timedelta(minutes=30)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.parent.name)
def test_a_job_goes_as_on_a_real_node(path: Path) -> None:
    real, ours = recorded(path), lived(path.parent / "scenario.yaml")
    assert ours.events == real.events
    assert is_within(lasting(real.statuses), [text for _, text in ours.statuses]), (real.statuses, ours.statuses)
    assert is_within(lasting(ours.statuses), [text for _, text in real.statuses]), (ours.statuses, real.statuses)
