"""What a killed run leaves, and who goes on with it: the same manifests on the same node, and nobody else."""

from __future__ import annotations

import io
import json
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from attrs import define, evolve, field
from journal_makers import POD
from test_apiserver_store import a_pod, a_server
from test_cli_execution import MANIFEST, Node

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1_services import Service
from kubelet_emu.apiserver.keeping import ObjectKeeper, read_kept
from kubelet_emu.cli.execution import execute
from kubelet_emu.cli.going_on import RUN_FILE, RunFolder, digest_of, find_dead_run, take_up
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams
from kubelet_emu.embedding.instances import Instance
from kubelet_emu.journal.encode import Entry
from kubelet_emu.journal.records import EndRecord, LogRecord, RequestRecord
from runtime.api import RuntimeUnavailableError
from runtime.docker.owner import Owner
from runtime.docker.state_folder import OWNER_FILE, give_up, read_owner, write_owner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.cli.run_plan import Running

DEAD = evolve(Owner.current(), pid_start="0")
SEED = 4711


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    """Return the options of a run of one pod."""
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    return RunOptions(manifests=(str(tmp_path / "pod.yaml"),), root_dir=tmp_path / "root")


def root_of(options: RunOptions) -> Path:
    assert options.root_dir is not None
    return options.root_dir


def a_dead_run(options: RunOptions, name: str = "dead", owner: Owner = DEAD) -> Path:
    """Leave what a run leaves that is killed once it has created its pod."""
    instance = Instance(root=root_of(options), id=name)
    instance.create()
    text = Path(options.manifests[0]).read_text()
    RunFolder(instance).begin(options, digest_of({options.manifests[0]: text}), SEED, 1)
    server = a_server()
    server.subscribe(ObjectKeeper(instance.path / "objects", on_failure=pytest.fail))
    server.create(a_pod())
    (instance.path / "records.jsonl").write_text("the first process\n")
    (instance.path / "control.sock").touch()
    (instance.path / "run.json").touch()
    write_owner(instance.path, owner)
    return instance.path


@define(eq=False)
class Seen:
    """What runs are given, and what lies in their folder then."""

    runs: list[Running] = field(factory=list)
    files: list[str] = field(factory=list)

    @asynccontextmanager
    async def open(self, running: Running) -> AsyncIterator[Node]:
        """Give a node whose pod ends at once; it cleans up as the engine's does."""
        self.runs.append(running)
        self.files = sorted(path.name for path in running.plan.instance.path.iterdir())
        yield Node(running)
        (running.plan.instance.path / OWNER_FILE).unlink()


def run(options: RunOptions) -> tuple[Seen, str, int]:
    seen, err = Seen(), io.StringIO()
    status = execute(options, Streams(out=io.StringIO(), err=err), seen.open)  # type: ignore[arg-type]
    return seen, err.getvalue(), status


def test_a_run_of_the_same_manifests_goes_on(options: RunOptions) -> None:
    a_dead_run(options)
    seen, err, status = run(options)
    plan = seen.runs[0].plan
    assert (plan.instance.id, plan.seed, plan.starts) == ("dead", SEED, 2)
    assert plan.dead is not None
    assert [obj.metadata.name for obj in plan.dead.kept.objects] == ["web"]
    assert "goes on with the run dead, whose process was killed: pod/web; --replace starts anew\n" in err
    assert status == 0
    assert list((root_of(options) / "instances").iterdir()) == []


def test_the_records_of_the_process_before_stay_beside_the_new_ones(options: RunOptions) -> None:
    a_dead_run(options)
    seen, _, _ = run(options)
    assert [name for name in seen.files if name.startswith("records")] == ["records.jsonl", "records.jsonl.1"]
    assert RUN_FILE in seen.files


def test_each_process_has_a_seed_of_its_own_for_what_is_new(options: RunOptions) -> None:
    a_dead_run(options)
    plan = run(options)[0].runs[0].plan
    assert plan.dead is not None
    third = evolve(plan, dead=evolve(plan.dead, file=evolve(plan.dead.file, starts=2)))
    assert len({SEED, plan.cluster_seed, third.cluster_seed}) == 3


def _other_content(options: RunOptions) -> RunOptions:
    Path(options.manifests[0]).write_text(MANIFEST.replace("busybox:1", "busybox:2"))
    return options


def _other_place(options: RunOptions) -> RunOptions:
    copy = Path(options.manifests[0]).with_name("copy.yaml")
    copy.write_text(MANIFEST)
    return evolve(options, manifests=(str(copy),))


ANEW: list[tuple[str, Callable[[RunOptions], RunOptions], str]] = [
    ("--replace", lambda options: evolve(options, replace=True), ""),
    ("another seed", lambda options: evolve(options, seed=SEED + 1), ""),
    ("another node", lambda options: evolve(options, node_name="n2"), ""),
    ("manifests elsewhere", _other_place, ""),
    ("manifests of another content", _other_content, "starts anew: the manifests are not those of the killed run dead"),
]


@pytest.mark.parametrize(("change", "text"), [row[1:] for row in ANEW], ids=[row[0] for row in ANEW])
def test_another_run_starts_anew(options: RunOptions, change: Callable[[RunOptions], RunOptions], text: str) -> None:
    folder = a_dead_run(options)
    seen, err, _ = run(change(options))
    plan = seen.runs[0].plan
    assert plan.dead is None
    assert plan.instance.id != "dead"
    assert plan.seed != SEED
    assert text in err
    assert read_owner(folder) == DEAD


def test_the_same_seed_is_the_same_run(options: RunOptions) -> None:
    a_dead_run(options)
    assert run(evolve(options, seed=SEED))[0].runs[0].plan.dead is not None


def test_of_two_dead_runs_the_newer_one_goes_on(options: RunOptions) -> None:
    a_dead_run(options, "older")
    a_dead_run(options, "newer")
    assert run(options)[0].runs[0].plan.instance.id == "newer"


@pytest.mark.parametrize(
    "owner",
    [Owner.current(), evolve(DEAD, host="another")],
    ids=["a run that lives", "a run of another machine"],
)
def test_what_is_not_proven_dead_is_left_alone(options: RunOptions, owner: Owner) -> None:
    folder = a_dead_run(options, owner=owner)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert run(options)[0].runs[0].plan.dead is None
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_of_two_processes_that_go_on_at_once_one_starts_anew(options: RunOptions) -> None:
    a_dead_run(options)
    first, second = [find_dead_run(options, root_of(options)) for _ in range(2)]
    assert first is not None
    assert second is not None
    assert [take_up(each, pytest.fail) is not None for each in (first, second)] == [True, False]
    assert run(options)[0].runs[0].plan.instance.id != "dead"


def test_what_somebody_removes_at_the_moment_is_not_gone_on_with(options: RunOptions) -> None:
    folder = a_dead_run(options)
    dead = find_dead_run(options, root_of(options))
    assert dead is not None
    assert give_up(folder, Owner.current())
    assert take_up(dead, pytest.fail) is None
    assert run(options)[0].runs[0].plan.dead is None


def test_what_cannot_be_read_is_told_and_left_to_be_removed(options: RunOptions) -> None:
    folder = a_dead_run(options)
    kept = folder / "objects" / "00000001.json"
    kept.write_bytes(kept.read_bytes()[:-9])
    seen, err, status = run(options)
    assert seen.runs[0].plan.dead is None
    assert f"warning: the run dead can't be gone on with, and is removed: {kept}: " in err
    assert "Traceback" not in err
    assert status == 0
    assert (read_owner(folder), (folder / RUN_FILE).exists()) == (DEAD, False)


def test_a_run_that_had_created_nothing_is_not_gone_on_with(options: RunOptions) -> None:
    folder = a_dead_run(options)
    (folder / "objects" / "00000001.json").unlink()
    assert run(options)[0].runs[0].plan.dead is None


def test_a_run_whose_pods_were_all_deleted_is_not_gone_on_with(options: RunOptions) -> None:
    folder = a_dead_run(options)
    server = a_server()
    server.subscribe(ObjectKeeper(folder / "objects", on_failure=pytest.fail))
    pod = server.create(a_pod())
    server.create(Service(metadata=ObjectMeta(name="web", namespace="default")))
    server.delete("Pod", "default", pod.metadata.name or "", grace_period_seconds=0)
    assert [obj.kind for obj in read_kept(folder / "objects").objects] == ["Service"]
    assert run(options)[0].runs[0].plan.dead is None


ODD_FILES = {
    "cut short": '{"version": 1, "manif',
    "empty": "",
    "a list": "[]",
    "of another version": {"version": 2},
    "without a seed": {"seed": None},
    "with a seed of text": {"seed": "7"},
    "with one manifest as a text": {"manifests": "pod.yaml"},
    "without a digest": {"digest": None},
}


@pytest.mark.parametrize("change", ODD_FILES.values(), ids=ODD_FILES)
def test_an_odd_run_file_is_nobodys(options: RunOptions, change: str | dict[str, object]) -> None:
    file = a_dead_run(options) / RUN_FILE
    content = json.loads(file.read_text())
    file.write_text(change if isinstance(change, str) else json.dumps({**content, **change}))
    _, err, status = run(options)
    assert status == 0
    assert "goes on" not in err


def test_a_run_of_stdin_cannot_be_found_again(options: RunOptions) -> None:
    given = evolve(options, manifests=("-",))
    instance = Instance(root=root_of(options), id="dead")
    instance.create()
    RunFolder(instance).begin(given, "", SEED, 1)
    write_owner(instance.path, DEAD)
    assert [path.name for path in instance.path.iterdir()] == [OWNER_FILE]
    assert find_dead_run(given, root_of(options)) is None


def test_a_run_whose_engine_is_gone_can_be_gone_on_with_later(options: RunOptions) -> None:
    folder = a_dead_run(options)

    @asynccontextmanager
    async def no_engine(_running: Running) -> AsyncIterator[Node]:
        raise RuntimeUnavailableError("no engine answers")
        yield  # type: ignore[unreachable]

    err = io.StringIO()
    assert execute(options, Streams(out=io.StringIO(), err=err), no_engine) == 3  # type: ignore[arg-type]
    assert f"to remove what is left: kubelet-emu prune --root-dir {root_of(options)}" in err.getvalue()
    write_owner(folder, DEAD)
    assert run(options)[0].runs[0].plan.starts == 3


ENDS = {
    "it has ended": (EndRecord(why="everything has ended"), False),
    "all pods are to go": (RequestRecord(what="delete all pods, own grace"), False),
    "one pod is to go": (RequestRecord(what="delete", ref=POD), True),
    "a container said something": (LogRecord(ref=POD, container="c", run=1, line=""), True),
}


@pytest.mark.parametrize(("record", "expected"), ENDS.values(), ids=ENDS)
def test_a_run_that_was_to_end_is_not_gone_on_with(
    options: RunOptions,
    record: EndRecord | RequestRecord | LogRecord,
    expected: bool,  # noqa: FBT001 - a table's column
) -> None:
    folder = a_dead_run(options)
    RunFolder(Instance(root=root_of(options), id="dead"))(Entry(n=1, record=record))
    assert (find_dead_run(options, root_of(options)) is not None) is expected
    assert (folder / "logs-read").exists() is isinstance(record, LogRecord)


def test_logs_are_read_on_from_a_second_before_the_last_line(options: RunOptions) -> None:
    folder = a_dead_run(options)
    RunFolder(Instance(root=root_of(options), id="dead"))(
        Entry(n=1, record=LogRecord(ref=POD, container="c", run=1, line=""))
    )
    read_at = (folder / "logs-read").stat().st_mtime
    dead = find_dead_run(options, root_of(options))
    assert dead is not None
    taken = take_up(dead, pytest.fail)
    assert taken is not None
    assert taken.logs_since is not None
    assert taken.logs_since.timestamp() == pytest.approx(read_at - 1)


def test_after_the_clock_was_set_back_logs_are_read_from_their_beginning(options: RunOptions) -> None:
    mark = a_dead_run(options) / "logs-read"
    mark.touch()
    ahead = mark.stat().st_mtime + 3600
    os.utime(mark, (ahead, ahead))
    dead = find_dead_run(options, root_of(options))
    assert dead is not None
    taken = take_up(dead, pytest.fail)
    assert taken is not None
    assert taken.logs_since is None


def _no_room_for(folder: Path, name: str) -> None:
    (folder / f"{name}.new").symlink_to("/dev/full")


def _no_room_for_what_was(folder: Path, name: str) -> None:
    (folder / f"{name}.1").mkdir()


REFUSED: list[tuple[str, Callable[[Path, str], None], str, str]] = [
    ("whose it is", _no_room_for, OWNER_FILE, "No space left on device"),
    ("what it is known by", _no_room_for, RUN_FILE, "No space left on device"),
    ("the records of the process before", _no_room_for_what_was, "records.jsonl", "Is a directory"),
]


@pytest.mark.parametrize(("refuse", "name", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_folder_that_cannot_be_written_is_told_and_stays(
    options: RunOptions, refuse: Callable[[Path, str], None], name: str, why: str
) -> None:
    folder = a_dead_run(options)
    refuse(folder, name)
    seen, err, status = run(options)
    assert (status, seen.runs) == (2, [])
    assert err.splitlines()[-2].startswith(f"error: --root-dir: {folder / name}")
    assert err.splitlines()[-2].endswith(f": {why}")
    assert err.splitlines()[-1] == f"to remove what is left: kubelet-emu prune --root-dir {root_of(options)}"
    assert (folder / "objects" / "00000001.json").exists()


def test_an_owner_is_written_before_anything_else(options: RunOptions) -> None:
    seen, _, _ = run(options)
    assert OWNER_FILE in seen.files
    assert attrs.asdict(seen.runs[0].plan.instance) == {"root": root_of(options), "id": seen.runs[0].plan.instance.id}
