"""What a user sees: container logs, changes, and foreign text made harmless."""

from __future__ import annotations

import io
import os
import time
from typing import TYPE_CHECKING

import pytest
from journal_makers import (
    POD,
    accepted,
    at,
    container,
    end,
    entries,
    running,
    sent,
    start,
    startup_ok,
    status,
    stop_call,
    terminated,
    waiting,
)

from kubelet_emu.api.batch_v1 import JobCondition, JobStatus
from kubelet_emu.journal.console import Console, Stream, wants_colour
from kubelet_emu.journal.records import (
    DeletedRecord,
    EventRecord,
    JobRecord,
    LogRecord,
    NoteRecord,
    ObjectRef,
    Record,
    RequestRecord,
)
from kubelet_emu.journal.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETE = JobCondition(type="Complete", status="True", reason="CompletionsReached")
CREATED = accepted(containers=[container("main")])
JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")


def shown(*records: Record, colour: bool = False) -> tuple[str, str]:
    """Return what went to the logs' and to the changes' stream."""
    logs, changes = io.StringIO(), io.StringIO()
    console = Console(logs=Stream(logs, colour), changes=Stream(changes, colour))
    for entry in entries((CREATED, *records)):
        console(entry)
    return logs.getvalue(), changes.getvalue()


def log(line: str, name: str = "main") -> LogRecord:
    return LogRecord(at=at(2.5), ref=POD, container=name, run=1, line=line)


@pytest.fixture
def tokyo() -> Iterator[None]:
    """Put this process nine hours east of Greenwich."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "JST-9"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def test_a_log_line_carries_pod_container_and_local_time(tokyo: None) -> None:
    assert shown(log("Started"))[0] == "web main 2026-01-02T12:04:07.500000000+09:00 Started\n"


def test_a_machine_in_greenwich_says_z(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        assert shown(log("Started"))[0] == "web main 2026-01-02T03:04:07.500000000Z Started\n"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_containers_have_colours_of_their_own_and_lines_stay_as_they_are() -> None:
    logs, _ = shown(log("one"), log("two", "side"), log("three"), colour=True)
    first, second, third = logs.splitlines()
    assert first.startswith("\x1b[36mweb main\x1b[0m ")
    assert second.startswith("\x1b[32mweb side\x1b[0m ")
    assert third.startswith("\x1b[36m")
    assert first.endswith(" one")


HARMLESS = {
    "plain text": ("café 日本", "café 日本"),
    "a tab": ("a\tb", "a\tb"),
    "an emoji of several code points": ("👩\u200d💻", "👩\u200d💻"),
    "a colour sequence": ("\x1b[31mred\x1b[0m", "\\e[31mred\\e[0m"),
    "a cursor move by one C1 byte": ("\x9b2J", "\\x9b2J"),
    "a bell and a null": ("\x07\x00", "\\x07\\x00"),
    "a carriage return that would hide text": ("evil\rgood", "evil\\rgood"),
    "a line break": ("a\nb", "a\\nb"),
    "reordered text": ("\u202egnp.exe", "\\u202egnp.exe"),
    "an isolate": ("\u2066x\u2069", "\\u2066x\\u2069"),
    "a line separator": ("a\u2028b", "a\\u2028b"),
    "a tag character": ("a\U000e0041", "a\\U000e0041"),
    "half a surrogate pair": ("a\udc80", "a\\udc80"),
}


@pytest.mark.parametrize(("text", "expected"), HARMLESS.values(), ids=HARMLESS.keys())
def test_foreign_text_is_made_harmless(text: str, expected: str) -> None:
    assert harmless(text) == expected


def test_a_huge_line_is_cut_with_a_mark() -> None:
    assert harmless("x" * 20, limit=5) == "xxxxx… [15 more characters]"
    assert len(shown(log("x" * 1_000_000))[0]) < 9000


CHANGES: dict[str, tuple[tuple[Record, ...], list[str]]] = {
    "starts and exits": (
        (start(1, "main"), end(6.2, "main"), start(7, "main", run=2)),
        ["+1.0s web/main started", "+6.2s web/main exited 0 (Completed)", "+7.0s web/main started (run 2)"],
    ),
    "an exit without a reason": (
        (type(end(1, "main"))(at=at(1), ref=POD, container="main", run=1, what="exit", code=1),),
        ["+1.0s web/main exited 1"],
    ),
    "signals": (
        (sent(1, "main"), sent(2, "main", "SIGKILL"), sent(3, "main", "SIGKILL", own=False)),
        ["+1.0s web/main SIGTERM sent", "+2.0s web/main SIGKILL sent", "+3.0s web/main got SIGKILL from outside"],
    ),
    "events that nothing else says": (
        (
            EventRecord(
                at=at(1), ref=POD, type="Normal", reason="Started", message="Container started", container="main"
            ),
            EventRecord(at=at(1), ref=POD, type="Normal", reason="Pulled", message="Container image a already present"),
            EventRecord(at=at(1), ref=POD, type="Normal", reason="Pulled", message="pulled a in 3s", container="main"),
            EventRecord(at=at(2), ref=POD, type="Normal", reason="Killing", message="Stopping", container="main"),
            EventRecord(at=at(3), ref=POD, type="Warning", reason="FailedMount", message="no such\x1b[2J", count=3),
        ),
        [
            "+1.0s web/main Pulled: pulled a in 3s",
            "+2.0s web/main Killing: Stopping",
            "+3.0s web FailedMount: no such\\e[2J (x3)",
        ],
    ),
    "phase and readiness, each once": (
        (
            status(1, "Pending"),
            status(2, "Running", running("main"), ready=True),
            status(3, "Running", running("main"), ready=True),
            status(4, "Running", running("main")),
            status(5, "Failed", terminated("main", 1, "Error")),
        ),
        ["+2.0s web is Running", "+2.0s web is ready", "+4.0s web is not ready", "+5.0s web is Failed"],
    ),
    "what a container waits for": (
        (
            status(1, "Pending", waiting("main", "PodInitializing")),
            status(2, "Pending", waiting("main", "ErrImagePull")),
            status(3, "Pending", waiting("main", "ErrImagePull")),
        ),
        ["+2.0s web/main waits: ErrImagePull"],
    ),
    "a Job's verdict, once": (
        (
            JobRecord(at=at(0.5), ref=JOB),
            JobRecord(at=at(1), ref=JOB, status=JobStatus(active=1)),
            *(JobRecord(at=at(n), ref=JOB, status=JobStatus(conditions=(COMPLETE,))) for n in (2, 3)),
        ),
        ["+2.0s job/migrate is Complete (CompletionsReached)"],
    ),
    "a Job that is suspended and goes on": (
        tuple(
            JobRecord(at=at(n), ref=JOB, status=JobStatus(conditions=(JobCondition(type="Suspended", status=value),)))
            for n, value in enumerate(("False", "True", "False"))
        ),
        ["+1.0s job/migrate is Suspended", "+2.0s job/migrate is no longer Suspended"],
    ),
    "requests, deletions and notes": (
        (
            RequestRecord(at=at(1), ref=POD, what="delete", details={"gracePeriodSeconds": 5}),
            RequestRecord(at=at(2), what="shutdown"),
            DeletedRecord(at=at(3), ref=JOB),
            NoteRecord(at=at(4), text="hello"),
            NoteRecord(at=at(5), ref=POD, level="warning", text="slow"),
        ),
        [
            "+1.0s web delete (gracePeriodSeconds 5) requested",
            "+2.0s shutdown",
            "+3.0s job/migrate deleted",
            "+4.0s hello",
            "+5.0s web slow",
        ],
    ),
    "nothing of the sandbox, the probes and the stop calls": (
        (start(1, "POD"), sent(1, "POD"), startup_ok(1, "main"), stop_call(1, "main", 30)),
        [],
    ),
}


@pytest.mark.parametrize(("records", "expected"), CHANGES.values(), ids=CHANGES.keys())
def test_changes(records: tuple[Record, ...], expected: list[str]) -> None:
    assert shown(*records)[1].splitlines() == expected


def test_a_reason_stands_beside_the_phase() -> None:
    refused = status(1, "Failed")
    refused = type(refused)(at=refused.at, ref=POD, status=type(refused.status)(phase="Failed", reason="Evicted"))
    assert shown(refused)[1] == "+1.0s web is Failed (Evicted)\n"


def test_changes_are_coloured_by_weight() -> None:
    _, changes = shown(start(1, "main"), sent(2, "main"), sent(3, "main", "SIGKILL"), end(4, "main", 1), colour=True)
    assert [line[:5] for line in changes.splitlines()] == ["+1.0s", "\x1b[2m+", "\x1b[33m", "\x1b[31m"]


def test_logs_may_be_somebody_elses() -> None:
    changes = io.StringIO()
    console = Console(logs=None, changes=Stream(changes))
    for entry in entries((log("a"), start(1, "main"))):
        console(entry)
    assert changes.getvalue() == "+0.0s web/main started\n"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


COLOURS = {
    "a terminal": (Terminal(), {"TERM": "xterm"}, True),
    "a terminal whose user wants none": (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
    "an empty NO_COLOR": (Terminal(), {"NO_COLOR": ""}, True),
    "a terminal without colours": (Terminal(), {"TERM": "dumb"}, False),
    "a pipe": (io.StringIO(), {"TERM": "xterm"}, False),
}


@pytest.mark.parametrize(("stream", "environ", "expected"), COLOURS.values(), ids=COLOURS.keys())
def test_who_gets_colours(stream: io.StringIO, environ: dict[str, str], expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert wants_colour(stream, environ) is expected
