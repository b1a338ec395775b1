"""Parts of the control socket without a node: which log is read, events, the records that are kept, places."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attrs import evolve
from click.testing import CliRunner
from pod_makers import a_container, a_pod

from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodStatus,
)
from kubelet_emu.cli.main import main
from kubelet_emu.control.client import ControlClient, connect
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.event_log import MOST_EVENTS, EventLog
from kubelet_emu.control.keeping import RecordKeeper
from kubelet_emu.control.log_choice import container_to_read
from kubelet_emu.control.places import RECORDS, SOCKET, RunFacts, folders
from kubelet_emu.control.server import ControlServer, Exchange, Streaming, open_socket
from kubelet_emu.journal.encode import Entry
from kubelet_emu.journal.read import read_log
from kubelet_emu.journal.records import EventRecord, HeaderRecord, LogRecord, ObjectRef

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.control.protocol import Params

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
REF = ObjectRef(namespace="default", name="web", uid="u")
RUNNING = ContainerState(running=ContainerStateRunning())


def ended(container_id: str | None) -> ContainerState:
    return ContainerState(terminated=ContainerStateTerminated(container_id=container_id, exit_code=1))


def waits(reason: str | None) -> ContainerState:
    return ContainerState(waiting=ContainerStateWaiting(reason=reason))


WAITS = 'container "c" in pod "p" is waiting to start'
PREVIOUS = 'previous terminated container "c" in pod "p" not found'
# kubelet v1.36 validateContainerLogStatus, and what a node was seen to say
CHOICES = [
    ("a running one is read", RUNNING, ContainerState(), False, "docker://now"),
    ("one that has ended is read", ended("docker://end"), ended("docker://old"), False, "docker://end"),
    ("one that never began: the one before", ended(None), ended("docker://old"), False, "docker://old"),
    ("none of both", ended(None), ContainerState(), False, 'container "c" in pod "p" is terminated'),
    ("in back-off the last one", waits("CrashLoopBackOff"), ended("docker://old"), False, "docker://old"),
    ("whose id is lost", waits("CrashLoopBackOff"), ended(""), False, 'container "c" in pod "p" is terminated'),
    ("before the start", waits("PodInitializing"), ContainerState(), False, f"{WAITS}: PodInitializing"),
    ("no image", waits("ErrImagePull"), ContainerState(), False, f"{WAITS}: image can't be pulled"),
    (
        "no image again",
        waits("ImagePullBackOff"),
        ContainerState(),
        False,
        f"{WAITS}: trying and failing to pull image",
    ),
    ("no state at all", ContainerState(), ContainerState(), False, f"{WAITS} - no logs yet"),
    ("the one before", RUNNING, ended("docker://old"), True, "docker://old"),
    ("the one before, in back-off", waits("CrashLoopBackOff"), ended("docker://old"), True, "docker://old"),
    ("there was none before", RUNNING, ContainerState(), True, PREVIOUS),
    ("a made-up one before", RUNNING, ended(None), True, PREVIOUS),
]


@pytest.mark.parametrize(("why", "state", "last", "previous", "expected"), CHOICES, ids=[row[0] for row in CHOICES])
def test_which_log_is_read(
    why: str,
    state: ContainerState,
    last: ContainerState,
    previous: bool,  # noqa: FBT001 - a column
    expected: str,
) -> None:
    status = ContainerStatus(name="c", state=state, last_state=last, container_id="docker://now")
    pod = a_pod(a_container("c"), status=PodStatus(container_statuses=(status,)))
    try:
        found = container_to_read(pod, "c", previous=previous)
    except ControlError as error:
        found = str(error) if error.reason is Reason.BAD_REQUEST else error.reason.value
    assert found == expected


def test_a_container_without_a_status_is_not_available() -> None:
    with pytest.raises(ControlError, match=r'^container "c" in pod "p" is not available$'):
        container_to_read(a_pod(a_container("c")), "c", previous=False)


def event(at: float, reason: str = "Pulled", message: str = "m", count: int = 1, **facts: str) -> Entry:
    record = EventRecord(ref=REF, type="Normal", reason=reason, message=message, count=count, **facts)
    return Entry(n=1, record=record, at=EPOCH + timedelta(seconds=at))


def test_an_event_that_comes_again_is_counted() -> None:
    log = EventLog()
    for entry in (event(1), event(2, "Started"), event(5, count=2)):
        log(entry)
    pulled, started = log.of("default")
    assert [pulled.to_json("n")[key] for key in ("count", "firstTimestamp", "lastTimestamp")] == [
        2,
        "2026-01-01T00:00:01Z",
        "2026-01-01T00:00:05Z",
    ]
    assert started.count == 1
    assert log.of("other") == ()


def test_a_new_kubelet_counts_from_one_again() -> None:
    log = EventLog()
    for entry in (event(1), event(2, count=2), event(9)):
        log(entry)
    (kept,) = log.of()
    assert (kept.count, kept.first_at) == (1, EPOCH + timedelta(seconds=9))


def test_combined_events_are_one_with_the_newest_message() -> None:
    log = EventLog()
    for n in (1, 2):
        log(event(n, message=f"(combined from similar events): {n}", count=n))
    (kept,) = log.of()
    assert (kept.count, kept.record.message) == (2, "(combined from similar events): 2")


def test_events_are_forgotten_after_an_hour_and_beyond_a_number() -> None:
    log = EventLog()
    log(event(0, message="old"))
    for n in range(MOST_EVENTS):
        log(event(1, message=str(n)))
    assert len(log.of()) == MOST_EVENTS
    log(event(3700, message="late"))
    assert [each.record.message for each in log.of()] == ["late"]


def test_an_event_of_a_workload_names_its_api() -> None:
    log = EventLog()
    entry = event(1)
    assert isinstance(entry.record, EventRecord)
    log(evolve(entry, record=evolve(entry.record, ref=evolve(REF, kind="Job"), source="job-controller")))
    (kept,) = log.of()
    found = json.loads(json.dumps(kept.to_json("n")))
    assert (found["involvedObject"]["apiVersion"], found["source"], found["reportingInstance"]) == (
        "batch/v1",
        {"component": "job-controller"},
        "",
    )


def line(n: int) -> Entry:
    return Entry(n=n, record=LogRecord(ref=REF, container="c", run=1, line="x" * 100), at=EPOCH)


def test_records_from_before_the_folder_are_kept_too(tmp_path: Path) -> None:
    keeper = RecordKeeper(EPOCH)
    keeper(Entry(n=1, record=HeaderRecord(epoch=EPOCH + timedelta(seconds=5)), at=EPOCH))
    keeper(event(7))
    keeper.open(tmp_path)
    keeper(event(8))
    assert keeper.close() == ""
    read = read_log(tmp_path / RECORDS)
    assert [(entry.record.kind, entry.at) for entry in read.entries][1:] == [
        ("event", EPOCH + timedelta(seconds=7)),
        ("event", EPOCH + timedelta(seconds=8)),
    ]
    assert stat.S_IMODE((tmp_path / RECORDS).stat().st_mode) == 0o600


def test_container_logs_are_kept_up_to_a_bound_and_facts_beyond_it(tmp_path: Path) -> None:
    keeper = RecordKeeper(EPOCH, most_log_bytes=1000)
    keeper.open(tmp_path)
    for n in range(20):
        keeper(line(n))
    keeper(event(1))
    keeper.close()
    kinds = [entry.record.kind for entry in read_log(tmp_path / RECORDS).entries]
    assert kinds == ["log"] * (len(kinds) - 2) + ["note", "event"]
    assert 3 < len(kinds) < 10


def test_records_that_can_not_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / RECORDS).symlink_to("/dev/full")
    keeper = RecordKeeper(EPOCH)
    keeper.open(tmp_path)
    keeper(event(1))
    assert keeper.close() == "No space left on device"
    assert RecordKeeper(EPOCH).close() == ""


FACTS = RunFacts(id="1a2b", pid=os.getpid(), started_at="2026-01-01T00:00:00Z", manifests=("a.yaml",), version="1")


def test_a_run_says_who_it_is_to_its_user_alone(tmp_path: Path) -> None:
    FACTS.write(tmp_path)
    assert RunFacts.read(tmp_path) == FACTS
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o600
    (tmp_path / "run.json").write_text('{"run": 1}')
    assert RunFacts.read(tmp_path) == RunFacts(id=tmp_path.name, pid=0, started_at="")


def test_runs_are_the_folders_below_a_root(tmp_path: Path) -> None:
    assert folders(tmp_path) == ()
    for name in ("b", "a"):
        (tmp_path / "instances" / name).mkdir(parents=True)
    (tmp_path / "instances" / "file").touch()
    assert [each.name for each in folders(tmp_path)] == ["a", "b"]


def listener(folder: Path) -> trio.SocketListener:
    """Listen at the socket of a folder."""
    return trio.SocketListener(trio.socket.from_stdlib_socket(open_socket(folder)))


async def test_who_comes_before_a_run_serves_waits_for_its_greeting(tmp_path: Path) -> None:
    place = open_socket(tmp_path)
    server = ControlServer(methods={}, greeting=FACTS.to_json)
    clients: list[ControlClient] = []

    async def come() -> None:
        clients.append(await connect(tmp_path))

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as first:
            first.start_soon(come)
            await trio.testing.wait_all_tasks_blocked()
            assert clients == []
            await nursery.start(server.run, trio.SocketListener(trio.socket.from_stdlib_socket(place)))
        assert clients[0].greeting["run"] == "1a2b"
        nursery.cancel_scope.cancel()
    await clients[0].aclose()


def asked_for_pods(root: Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["ps", "--root-dir", str(root)])
    return result.exit_code, result.stderr


def test_a_run_that_can_not_be_looked_at_is_told(tmp_path: Path) -> None:
    (tmp_path / "instances").touch()
    assert asked_for_pods(tmp_path) == (2, f"error: {tmp_path}: its runs can't be read: Not a directory\n")
    (tmp_path / "instances").unlink()
    assert asked_for_pods(tmp_path)[1].startswith(f"error: no run keeps its state in {tmp_path}")
    folder = tmp_path / "instances" / "1a2b"
    folder.mkdir(parents=True)
    (folder / SOCKET).symlink_to(folder / SOCKET)
    told = f"error: {folder}: its run can't be reached: Too many levels of symbolic links\n"
    assert asked_for_pods(tmp_path) == (2, told)


@pytest.mark.parametrize("name", ["short", "n" * 150], ids=["a path", "a path too long for a socket"])
async def test_a_socket_is_its_users_alone_and_is_left_when_the_run_ends(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir(mode=0o700)
    server = ControlServer(methods={}, greeting=FACTS.to_json)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.run, listener(folder))
        assert stat.S_IMODE((folder / SOCKET).stat().st_mode) == 0o600
        client = await connect(folder)
        assert client.greeting["run"] == "1a2b"
        nursery.cancel_scope.cancel()
    await client.aclose()
    with pytest.raises(ConnectionRefusedError):  # what a dead run leaves
        await connect(folder)


async def test_a_stream_may_say_its_last_word_when_the_run_ends(tmp_path: Path) -> None:
    asked = trio.Event()

    async def wait(_: Params, exchange: Exchange) -> dict[str, object]:
        asked.set()
        await exchange.ending.wait()
        return {"last": "word"}

    server = ControlServer(methods={"wait": Streaming(wait)}, greeting=FACTS.to_json)
    async with trio.open_nursery() as clients, trio.open_nursery() as nursery:
        await nursery.start(server.run, listener(tmp_path))
        client = await connect(tmp_path)
        clients.start_soon(client.call, "wait")
        await asked.wait()
        nursery.cancel_scope.cancel()
    assert client.result == {"last": "word"}
    await client.aclose()
