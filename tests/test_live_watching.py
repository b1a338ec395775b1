"""`ps -w` on a terminal: the records of a run as they are written, and its end."""

from __future__ import annotations

import io
import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
import trio
from control_rig import FACTS, a_run
from journal_makers import EPOCH, POD, accepted, at, container, end, entries, start, status, waiting
from terminal import Terminal

from kubelet_emu.cli.live.told_pulls import hear, tell
from kubelet_emu.cli.pull_lines import PullView
from kubelet_emu.cli.remote.formats import Output
from kubelet_emu.cli.remote.live_watching import RecordTail, Watching, clock_from, is_for_view
from kubelet_emu.cli.remote.requests import GetRequest
from kubelet_emu.cli.remote.selectors import read_fields, read_selector
from kubelet_emu.cli.remote.target import Target
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.control.errors import ControlError
from kubelet_emu.images.outcome import PullState
from kubelet_emu.journal.encode import to_line
from kubelet_emu.journal.records import DeletedRecord, EventRecord, HeaderRecord, ManifestRecord, ObjectRef
from runtime.api import PullProgress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from control_rig import ControlRig
    from trio.testing import MockClock

    from kubelet_emu.control.client import ControlClient
    from kubelet_emu.control.serving import Pulls
    from kubelet_emu.journal.records import Record

HEAD = HeaderRecord(at=EPOCH, epoch=EPOCH)
MAIN = accepted(containers=[container("main")])
OTHER = ObjectRef(namespace="other", name="db", uid="uid-2")
ELSEWHERE = accepted(containers=[container("main")], ref=OTHER)
LABELLED = ManifestRecord(
    at=at(0),
    ref=ObjectRef(namespace="default", name="api", uid="uid-3"),
    manifest={"metadata": {"labels": {"app": "api"}}, "spec": {"containers": [{"name": "main"}]}},
)
TITLES = "POD CONTAINER STATE AGE RESTARTS"


def lines(*records: Record) -> str:
    return "".join(to_line(entry, EPOCH) for entry in entries(records))


def test_a_line_that_is_not_whole_waits_for_its_end() -> None:
    file = io.BytesIO()
    tail = RecordTail(file)
    text = lines(HEAD, MAIN, start(1, "main")).encode()
    for part in (text[:200], text[200:-20], text[-20:], b"no record\n"):
        position = file.tell()
        file.write(part)
        file.seek(position)
        tail_found = tail.new()
        if part is text[-20:]:
            assert [type(entry.record).__name__ for entry in tail_found] == ["RunRecord"]
    assert tail.new() == []


@asynccontextmanager
async def watched(
    path: Path, request: GetRequest, pulls: Pulls = tuple, **target: str
) -> AsyncIterator[tuple[Terminal, list[bool | str]]]:
    """Watch the records in a file until the block ends, and with it the run; give the terminal and the answers."""
    async with watched_run(path, request, pulls, **target) as (terminal, answers, rig, _):
        yield terminal, answers
        rig.server.end()
        await trio.sleep(1.1)


@asynccontextmanager
async def watched_run(
    path: Path, request: GetRequest, pulls: Pulls = tuple, **target: str
) -> AsyncIterator[tuple[Terminal, list[bool | str], ControlRig, ControlClient]]:
    """Watch the records in a file; give the run and the connection, too. An error is one of the answers."""
    terminal, answers = Terminal(), list[bool | str]()
    with path.open("rb") as file:
        async with a_run(pulls) as rig, trio.open_nursery() as nursery:
            client = await rig.connect()
            watching = Watching(
                Target(root=Path(), **target),  # type: ignore[arg-type]
                request,
                terminal,
                RecordTail(file),
                clock_from(at(10)),
            )

            async def run() -> None:
                try:
                    answers.append(await watching.run(LiveView(client, FACTS, rig.connect)))
                except ControlError as error:
                    answers.append(str(error))

            nursery.start_soon(run)
            await trio.sleep(1.1)
            yield terminal, answers, rig, client


def shown(terminal: Terminal) -> list[str]:
    return [" ".join(line.split()) for line in terminal.screen()]


async def test_records_are_shown_as_they_come_until_the_run_ends(tmp_path: Path, autojump_clock: MockClock) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(lines(HEAD, MAIN, status(5, "Pending", waiting("main", "ContainerCreating"))))
    async with watched(path, GetRequest(watches=True)) as (terminal, answers):
        assert [line[:26] for line in shown(terminal)] == [TITLES[:26], "web main ContainerCreating", ""]
        with path.open("a") as more:
            more.write(lines(start(10, "main")))
        await trio.sleep(1.1)
        assert shown(terminal)[1].startswith("web main Running")
        with path.open("a") as more:
            more.write(lines(end(11.5, "main", 3)))
        await trio.sleep(0.01)
    assert answers == [True]
    assert shown(terminal)[1].startswith("web main Error (3)"), "the last picture stays"


async def test_a_run_whose_process_is_gone_is_told_below_the_last_picture(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(lines(HEAD, MAIN, start(10, "main")))
    async with watched_run(path, GetRequest(watches=True)) as (terminal, answers, _, client):
        await client.aclose()  # as the kernel does for a process that is killed
        await trio.sleep(1.1)
        assert answers == ["lost connection to the run: its process is gone"]
        assert shown(terminal)[1].startswith("web main Running")


PULL = PullView(
    who="",
    image="x:1",
    state=PullState.RUNNING,
    progress=PullProgress(done_bytes=5, total_bytes=10),
    bytes_per_second=2.0,
    limit=1,
    running=1,
)
QUEUED = PullView(who="", image="x:1", state=PullState.QUEUED, limit=None)


def test_pulls_come_over_a_socket_as_they_are() -> None:
    pulls = {("uid-1", "main"): PULL, ("uid-1", "other"): QUEUED}
    assert hear(json.loads(json.dumps(tell(pulls)))) == pulls


async def test_pulls_are_bars_here_too(tmp_path: Path, autojump_clock: MockClock) -> None:
    path = tmp_path / "records.jsonl"
    pulling = EventRecord(at=at(1), ref=POD, type="Normal", reason="Pulling", message="", container="main")
    path.write_text(lines(HEAD, MAIN, pulling))
    left = [{("uid-1", "main"): PULL}]
    async with watched(path, GetRequest(watches=True), lambda: tell(left[0])) as (terminal, _):
        assert shown(terminal)[1] == f"web main Pending 11s 0 {'█' * 10}{'░' * 10} 5B/10B 2B/s x:1"
        left[0] = {}
        await trio.sleep(1.1)
        assert "█" not in shown(terminal)[1]


ASKED = [
    ("all of the namespace", GetRequest(watches=True), {}, ["web", "api"]),
    ("of another one", GetRequest(watches=True), {"namespace": "other"}, ["db"]),
    ("of all", GetRequest(watches=True, everywhere=True), {}, ["web", "db", "api"]),
    ("by name", GetRequest(watches=True, names=("api",)), {}, ["api"]),
    ("by label", GetRequest(watches=True, labels=read_selector("app=api")), {}, ["api"]),
]


@pytest.mark.parametrize(("why", "request_", "target", "expected"), ASKED, ids=[row[0] for row in ASKED])
async def test_the_pods_that_were_asked_for_are_shown(
    why: str,
    request_: GetRequest,
    target: dict[str, str],
    expected: list[str],
    tmp_path: Path,
    autojump_clock: MockClock,
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(lines(HEAD, MAIN, ELSEWHERE, LABELLED))
    async with watched(path, request_, **target) as (terminal, _):
        assert [line.split()[0] for line in shown(terminal)[1:-1]] == expected, why


async def test_a_pod_that_is_not_there_is_said(
    tmp_path: Path, autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(lines(HEAD, MAIN))
    async with watched(path, GetRequest(watches=True, names=("web", "nobody"))) as (terminal, answers):
        assert answers == [False]
        assert terminal.getvalue() == ""
    assert capsys.readouterr().err == 'Error from server (NotFound): pods "nobody" not found\n'


async def test_where_nothing_is_that_is_said(tmp_path: Path, autojump_clock: MockClock) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(lines(HEAD, MAIN, DeletedRecord(at=at(1), ref=POD)))
    async with watched(path, GetRequest(watches=True)) as (terminal, _):
        assert shown(terminal) == ["No resources found in default namespace.", ""]
    assert shown(terminal) == ["the run has ended", ""]


def test_a_view_is_for_terminals_and_tables() -> None:
    class AtTerminal(io.StringIO):
        """A stream that is one."""

        def isatty(self) -> bool:
            return True

    usual = GetRequest(watches=True)
    assert is_for_view(usual, AtTerminal())
    assert not is_for_view(usual, io.StringIO())
    for other in (
        {"output": Output("json")},
        {"output": Output("wide")},
        {"has_header": False},
        {"watches": False},
        {"label_columns": ("app",)},
        {"fields": read_fields("status.phase=Running", "Pod")},
    ):
        assert not is_for_view(attrs.evolve(usual, **other), AtTerminal())  # type: ignore[arg-type]
