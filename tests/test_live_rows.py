"""The rows of a live view, from records and a moment; and what fits on a screen."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import attrs
import pytest
from journal_makers import (
    POD,
    accepted,
    at,
    container,
    end,
    entries,
    hook,
    running,
    sent,
    start,
    startup_ok,
    status,
    stop_call,
    waiting,
)

from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.cli.execution import execute
from kubelet_emu.cli.live.facts import LiveFacts
from kubelet_emu.cli.live.fitting import fit
from kubelet_emu.cli.live.notes import Note
from kubelet_emu.cli.live.rows import Row, Tone, rows_of
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams
from kubelet_emu.cli.pull_lines import PullView
from kubelet_emu.cli.simulation import open_simulated
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.images.outcome import PullState
from kubelet_emu.journal.fold import Facts
from kubelet_emu.journal.records import (
    DeletedRecord,
    EffectRecord,
    EventRecord,
    ManifestRecord,
    ObjectRef,
    ProbeRecord,
    RunRecord,
    StatusRecord,
    SyncRecord,
)
from runtime.api import PullProgress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.records import Record


def fold(found: Sequence[Entry]) -> LiveFacts:
    """Return what a live view knows after these entries."""
    live = LiveFacts(Facts())
    for entry in found:
        live.facts.feed(entry)
        live(entry)
    return live


def rows(*records: Record, now: float, pulls: Mapping[tuple[str, str], PullView] | None = None) -> tuple[Row, ...]:
    return rows_of(fold(entries(records)), pulls or {}, at(now))


def told(row: Row) -> str:
    """Return a row as one text."""
    probes = " ".join(text for text, _ in row.probes)
    parts = (row.container, row.state, row.age, str(row.restarts), probes, row.note.text)
    return " | ".join(part for part in parts if part)


def probe(seconds: float, kind: str, outcome: str, stored: str) -> ProbeRecord:
    return ProbeRecord(at=at(seconds), ref=POD, container="main", run=1, probe=kind, outcome=outcome, stored=stored)


def refused(seconds: float, name: str, why: str) -> SyncRecord:
    return SyncRecord(at=at(seconds), ref=POD, n=1, step="sync", results=(f"StartContainer {name}: {why}",))


def pulling(seconds: float) -> EventRecord:
    return EventRecord(at=at(seconds), ref=POD, type="Normal", reason="Pulling", message="", container="main")


MAIN = accepted(containers=[container("main")])
STARTUP = accepted(
    containers=[
        container(
            "main",
            startupProbe={"initialDelaySeconds": 5, "failureThreshold": 30},
            readinessProbe={"initialDelaySeconds": 9},
            livenessProbe={},
        )
    ]
)
READY = accepted(containers=[container("main", readinessProbe={"initialDelaySeconds": 9}, livenessProbe={})])
LOOP = (MAIN, start(1, "main"), end(2, "main", 1))
AGAIN = (*LOOP, start(3, "main", run=2), end(4, "main", 1, run=2))
GRACE = accepted(containers=[container("main")], grace=20)
STOPPED = (GRACE, start(1, "main"), status(5, "Running", running("main"), deleting=True, grace=20))
TOLD = "back-off 40s restarting failed container=main pod=web_default(uid-1)"
ROWS: list[tuple[str, float, tuple[Record, ...], str]] = [
    ("nothing is known but the manifest", 3, (MAIN,), "main | Pending | 3s | 0"),
    (
        "it is being made",
        3,
        (MAIN, status(1, "Pending", waiting("main", "ContainerCreating"))),
        "main | ContainerCreating | 3s | 0",
    ),
    (
        "its image is being pulled, which no bar tells of",
        3,
        (MAIN, status(1, "Pending", waiting("main", "ContainerCreating")), pulling(2)),
        "main | ContainerCreating | 3s | 0 | pulling",
    ),
    ("it runs", 63, (MAIN, start(3, "main"), status(4, "Running", running("main"))), "main | Running | 60s | 0"),
    (
        "a run that has just begun, whose status is old",
        5,
        (*AGAIN, status(4.5, "Running", waiting("main", "CrashLoopBackOff")), start(5, "main", run=3)),
        "main | Running | 0s | 2",
    ),
    (
        "it has ended before a status told that it had started",
        9,
        (MAIN, status(1, "Pending", waiting("main", "ContainerCreating")), start(2, "main"), end(3, "main", 3)),
        "main | Error (3) | 6s | 0",
    ),
    ("it has done its work", 9, (MAIN, start(1, "main"), end(4, "main")), "main | Completed | 5s | 0"),
    ("it has failed", 9, (MAIN, start(1, "main"), end(4, "main", 3)), "main | Error (3) | 5s | 0"),
    (
        "it was too large",
        9,
        (MAIN, start(1, "main"), end(4, "main", 137, reason="OOMKilled")),
        "main | OOMKilled (137) | 5s | 0",
    ),
    (
        "its first restart is allowed at once",
        2.5,
        LOOP,
        "main | Error (1) | 0s | 0",
    ),
    (
        "its second one is refused for ten seconds from its end",
        5,
        (*AGAIN, refused(4.5, "main", "CrashLoopBackOff")),
        "main | Error (1) | 1s | 1 | starts again in 9s",
    ),
    (
        "the delay that the status tells wins",
        5,
        (
            *AGAIN,
            status(4.6, "Running", attrs.evolve(waiting("main", "CrashLoopBackOff", TOLD), restart_count=1)),
        ),
        "main | CrashLoopBackOff | 1s | 1 | starts again in 39s",
    ),
    (
        "the delay is over",
        15,
        (*AGAIN, refused(4.5, "main", "CrashLoopBackOff")),
        "main | Error (1) | 11s | 1 | starts again now",
    ),
    (
        "its image can't be had",
        7,
        (MAIN, status(1, "Pending", waiting("main", "ErrImagePull")), refused(2, "main", "ErrImagePull")),
        "main | ErrImagePull | 7s | 0 | pulls again in 5s",
    ),
    (
        "nor at the second time",
        15,
        (
            MAIN,
            refused(2, "main", "ErrImagePull"),
            refused(13, "main", "ErrImagePull"),
            status(14, "Pending", waiting("main", "ImagePullBackOff")),
        ),
        "main | ImagePullBackOff | 15s | 0 | pulls again in 18s",
    ),
    (
        "a startup probe is not yet due",
        3,
        (STARTUP, start(1, "main")),
        "main | Running | 2s | 0 | startup … | first startup probe in 3s",
    ),
    (
        "a startup probe fails",
        9,
        (STARTUP, start(1, "main"), probe(6, "startup", "failure", ""), probe(7, "startup", "failure", "")),
        "main | Running | 8s | 0 | startup 2/30 failed",
    ),
    (
        "a startup probe has succeeded: the others count",
        8,
        (STARTUP, start(1, "main"), startup_ok(6, "main"), probe(7, "liveness", "success", "success")),
        "main | Running | 7s | 0 | live ✓ ready … | first readiness probe in 2s",
    ),
    (
        "a warning of a probe is no failure",
        20,
        (
            READY,
            start(1, "main"),
            probe(10, "readiness", "warning", "success"),
            probe(7, "liveness", "success", "success"),
        ),
        "main | Running | 19s | 0 | live ✓ ready ✓",
    ),
    (
        "a liveness probe fails while it still counts as alive",
        20,
        (
            READY,
            start(1, "main"),
            probe(9, "readiness", "success", "success"),
            probe(10, "liveness", "failure", "success"),
        ),
        "main | Running | 19s | 0 | live 1/3 failed ready ✓",
    ),
    (
        "a readiness probe has failed for good",
        40,
        (READY, start(1, "main"), *(probe(s, "readiness", "failure", "failure") for s in (10, 20, 30, 40))),
        "main | Running | 39s | 0 | live … ready ✗",
    ),
    (
        "a run knows nothing of the probes of the run before",
        20,
        (
            READY,
            start(1, "main"),
            probe(9, "readiness", "failure", "failure"),
            end(10, "main", 1),
            start(19, "main", run=2),
        ),
        "main | Running | 1s | 1 | live … ready … | first readiness probe in 8s",
    ),
    (
        "postStart runs",
        3,
        (
            MAIN,
            start(1, "main"),
            EffectRecord(at=at(2), ref=POD, call="postStart", what="started", container="main", run=1),
        ),
        "main | Running | 2s | 0 | postStart runs",
    ),
    (
        "postStart has ended",
        5,
        (
            MAIN,
            start(1, "main"),
            EffectRecord(at=at(2), ref=POD, call="postStart", what="started", container="main", run=1),
            hook(4, "main", "postStart", 2),
        ),
        "main | Running | 4s | 0",
    ),
    (
        "it waits for its turn to stop",
        7,
        STOPPED,
        "main | Running | 6s | 0 | waits for its turn to stop, SIGKILL in 18s",
    ),
    (
        "preStop runs",
        7,
        (*STOPPED, EffectRecord(at=at(6), ref=POD, call="preStop", what="started", container="main", run=1)),
        "main | Running | 6s | 0 | preStop runs, SIGKILL in 18s",
    ),
    (
        "it was told to stop, with what is left of its grace",
        12,
        (*STOPPED, hook(10, "main", "preStop", 4), stop_call(10, "main", 15), sent(10, "main")),
        "main | Running | 11s | 0 | told to stop, SIGKILL in 13s",
    ),
    (
        "its liveness probe has failed, and it is stopped to be started again",
        12,
        (MAIN, start(1, "main"), stop_call(10, "main", 30), sent(10, "main")),
        "main | Running | 11s | 0 | told to stop, SIGKILL in 28s",
    ),
    (
        "a signal from outside is no stop",
        12,
        (MAIN, start(1, "main"), sent(10, "main", own=False)),
        "main | Running | 11s | 0",
    ),
    ("its grace is over", 26, (*STOPPED, sent(6, "main")), "main | Running | 25s | 0 | told to stop, SIGKILL now"),
    (
        "it is stopped before it has started",
        8,
        (GRACE, status(5, "Pending", waiting("main", "ContainerCreating"), deleting=True, grace=20)),
        "main | ContainerCreating | 8s | 0",
    ),
]


@pytest.mark.parametrize(("why", "now", "records", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_a_container_is_a_row(why: str, now: float, records: tuple[Record, ...], expected: str) -> None:
    (row,) = rows(*records, now=now)
    assert told(row) == expected, why


def test_a_pod_that_fits_no_node_says_so_once() -> None:
    created = accepted(containers=[container("a"), container("b")])
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")
    pending = StatusRecord(at=at(1), ref=POD, status=PodStatus(phase="Pending", conditions=(condition,)))
    assert [told(row) for row in rows(created, pending, now=3)] == [
        "a | Pending | 3s | 0 | waits for a node",
        "b | Pending | 3s | 0",
    ]


def test_containers_say_what_they_are_and_what_they_wait_for() -> None:
    created = accepted(
        init=[container("setup"), container("proxy", sidecar=True)],
        containers=[container("main"), container("other")],
    )
    pending = status(2, "Pending", waiting("main", "PodInitializing"), waiting("other", "PodInitializing"))
    found = rows(created, start(1, "setup"), pending, now=3)
    assert [told(row) for row in found] == [
        "setup (init) | Running | 2s | 0",
        "proxy (sidecar) | Pending | 3s | 0",
        "main | PodInitializing | 3s | 0 | waits for init container setup",
        "other | PodInitializing | 3s | 0",
    ]
    assert {row.pod for row in found} == {"web"}


def test_a_deadline_of_the_pod_is_awaited() -> None:
    manifest = {"kind": "Pod", "spec": {"activeDeadlineSeconds": 60, "containers": [{"name": "main"}]}}
    ran = PodStatus(phase="Running", start_time=at(0), container_statuses=(running("main"),))
    records = (
        ManifestRecord(at=at(0), ref=POD, manifest=manifest),
        start(1, "main"),
        StatusRecord(at=at(2), ref=POD, status=ran),
    )
    (row,) = rows(*records, now=20)
    assert row.note == Note("activeDeadlineSeconds is over in 40s", counts_down=True)


PULLS = [
    (
        "it runs",
        PullView(
            who="", image="r.io/x:1", state=PullState.RUNNING, progress=PullProgress(done_bytes=5, total_bytes=10)
        ),
        f"{'█' * 10}{'░' * 10} 5B/10B  r.io/x:1",
    ),
    (
        "it queues",
        PullView(who="", image="r.io/x:1", state=PullState.QUEUED, running=2, limit=2),
        "pull of r.io/x:1: waiting (2 of 2 pulls running)",
    ),
    ("its name is a trick", PullView(who="", image="x\x1b[2J:1", state=PullState.RUNNING), "pulling  x\\e[2J:1"),
]


@pytest.mark.parametrize(("why", "view", "expected"), PULLS, ids=[row[0] for row in PULLS])
def test_a_pull_is_a_bar_in_the_row_of_its_container(why: str, view: PullView, expected: str) -> None:
    (row,) = rows(MAIN, now=3, pulls={("uid-1", "main"): view})
    assert row.note.text == expected, why


def test_a_pod_that_is_gone_has_no_row() -> None:
    assert rows(MAIN, start(1, "main"), end(2, "main"), DeletedRecord(at=at(3), ref=POD), now=4) == ()


def test_of_a_pod_that_is_gone_nothing_is_kept() -> None:
    live = fold(entries((*AGAIN, refused(5, "main", "ErrImagePull"), DeletedRecord(at=at(6), ref=POD))))
    assert live.crash_loop.entries == {}
    assert attrs.asdict(live, recurse=False)["_containers"] == {}
    assert attrs.asdict(live, recurse=False)["_pods"] == {}


def test_other_objects_have_no_rows() -> None:
    job = ManifestRecord(at=at(0), ref=ObjectRef(namespace="default", name="j", uid="j", kind="Job"), manifest={})
    assert rows(job, now=1) == ()


def test_names_are_harmless() -> None:
    ref = attrs.evolve(POD, name="we\x1b[2Jb")
    created = accepted(containers=[container("ma\nin")], ref=ref)
    failed = status(1, "Pending", waiting("ma\nin", "\x1b]0;t\x07"), ref=ref)
    (row,) = rows(created, failed, now=1)
    assert (row.pod, row.container, row.state) == ("we\\e[2Jb", "ma\\nin", "\\e]0;t\\x07")


TONES = [
    ("one that runs and is ready", (MAIN, start(1, "main"), status(2, "Running", running("main"))), Tone.GOOD),
    ("one that isn't ready", (MAIN, start(1, "main"), status(2, "Running", running("main", ready=False))), Tone.BUSY),
    ("one that failed", LOOP, Tone.BAD),
    ("one that has done its work", (MAIN, start(1, "main"), end(2, "main")), Tone.QUIET),
    ("one whose image can't be had", (MAIN, status(1, "Pending", waiting("main", "ErrImagePull"))), Tone.BAD),
    ("one that is refused", (MAIN, status(1, "Pending", waiting("main", "CreateContainerConfigError"))), Tone.BAD),
    ("one that is being made", (MAIN, status(1, "Pending", waiting("main", "ContainerCreating"))), Tone.BUSY),
    ("one that counts down", STOPPED, Tone.BUSY),
]


@pytest.mark.parametrize(("why", "records", "expected"), TONES, ids=[row[0] for row in TONES])
def test_a_row_wants_to_be_seen(why: str, records: tuple[Record, ...], expected: Tone) -> None:
    (row,) = rows(*records, now=5)
    assert row.rank is expected, why


def a_row(name: str, tone: Tone, state: str = "Running") -> Row:
    return Row(pod=name, container="c", state=state, tone=tone)


MANY = [
    a_row("a", Tone.GOOD),
    a_row("b", Tone.QUIET, "Completed"),
    a_row("c", Tone.BAD, "Error (1)"),
    a_row("d", Tone.BUSY, "ContainerCreating"),
    a_row("e", Tone.GOOD),
]
FITTING = [
    ("all fit", 5, "abcde", ""),
    ("one too many costs two rows", 4, "acd", "2 more: 1 Completed, 1 Running"),
    ("trouble stays longest", 2, "c", "4 more: 2 Running, 1 Completed, 1 ContainerCreating"),
    ("one line counts them", 1, "", "5 more: 2 Running, 1 Completed, 1 Error (1), 1 ContainerCreating"),
]


@pytest.mark.parametrize(("why", "most", "shown", "rest"), FITTING, ids=[row[0] for row in FITTING])
def test_what_wants_to_be_seen_most_stays_in_its_order(why: str, most: int, shown: str, rest: str) -> None:
    page = fit(MANY, most)
    assert ("".join(row.pod for row in page.rows), page.rest) == (shown, rest), why


LIFE = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 7
  initContainers:
  - name: proxy
    image: "envoy:1"
    restartPolicy: Always
    startupProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 3, periodSeconds: 2}
  containers:
  - {name: main, image: "busybox:1", command: [sh, -c, "sleep 1; exit 3"]}
  - name: app
    image: "nginx:1"
    lifecycle: {preStop: {sleep: {seconds: 3}}}
"""


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """Return what happened to a pod in virtual time, until it was deleted after 40 s."""
    manifest: Path = tmp_path_factory.mktemp("life") / "pod.yaml"
    manifest.write_text(LIFE)
    options = RunOptions(manifests=(str(manifest),), runtime="simulated", seed=1, delete_when=Trigger.parse("40"))
    seen: list[Entry] = []
    streams = Streams(out=io.StringIO(), err=io.StringIO(), listeners=(seen.append,))
    assert execute(options, streams, open_simulated) == 0
    return seen


MOMENTS = [
    (2.0, "proxy (sidecar)", "proxy (sidecar) | Running | 1s | 0 | startup … | first startup probe in 2s"),
    (2.0, "main", "main | PodInitializing | 2s | 0 | waits for the startup probe of proxy"),
    (12.0, "proxy (sidecar)", "proxy (sidecar) | Running | 11s | 0 | startup ✓"),
    (41.0, "app", "app | Running | 36s | 0 | preStop runs, SIGKILL in 6s"),
    (
        41.0,
        "proxy (sidecar)",
        "proxy (sidecar) | Running | 40s | 0 | startup ✓ | waits for its turn to stop, SIGKILL in 6s",
    ),
]


@pytest.mark.parametrize(("seconds", "name", "expected"), MOMENTS, ids=[f"{m[1]} at {m[0]:g} s" for m in MOMENTS])
def test_a_pod_in_virtual_time_is_seen_as_it_is(seconds: float, name: str, expected: str, life: list[Entry]) -> None:
    assert told(_at(life, seconds)[name]) == expected


def _at(life: list[Entry], seconds: float) -> dict[str, Row]:
    began = life[0].at
    past = [entry for entry in life if (entry.at - began).total_seconds() <= seconds]
    now = began + (at(seconds) - at(0))
    return {row.container: row for row in rows_of(fold(past), {}, now)}


def test_what_is_counted_down_to_happens_then(life: list[Entry]) -> None:
    began = life[0].at
    starts = [
        (entry.at - began).total_seconds()
        for entry in life
        if isinstance(entry.record, RunRecord) and entry.record.container == "main" and entry.record.what == "start"
    ]
    assert len(starts) == 3
    for seconds in range(int(starts[1]) + 3, int(starts[2])):
        note = _at(life, seconds)["main"].note.text
        told_left = note.removeprefix("starts again ").removesuffix("s")
        left = 0 if told_left == "now" else int(told_left.removeprefix("in "))
        assert 0 <= starts[2] - (seconds + left) < 6, "no earlier, and when the kubelet looks: up to half as late again"
