"""A run as a whole, with a node of a few lines in place of Docker: files, streams, exit status."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import stat
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
import trio
from attrs import define
from journal_makers import POD, accepted, container, end, running, start, status

from kubelet_emu.cli.execution import execute
from kubelet_emu.cli.exit_status import FailOn
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.journal.records import DeletedRecord, LogRecord, NoteRecord, Record
from kubelet_emu.manifests.safety import HostPathRule, SafetyPolicy
from runtime.api import CRIError, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.cli.run_plan import Running

MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: main, image: "busybox:1"}
"""


@define(eq=False)
class Node:
    """A node whose pod has ended as soon as it is created, with `code`."""

    running: Running
    code: int = 0
    ends: bool = True

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        await trio.sleep_forever()

    def create(self) -> None:
        now = self.running.timebase.now()
        records: tuple[Record, ...] = (
            accepted(containers=[container("main", env=[{"name": "A", "value": "canary"}])]),
            start(0, "main"),
            status(0, "Running", running("main"), ready=True),
            LogRecord(ref=POD, container="main", run=1, line="hello \x1b[2J"),
            end(0, "main", self.code),
            status(0, "Failed" if self.code else "Succeeded"),
        )
        for record in records if self.ends else records[:4]:
            self.running.emit(attrs.evolve(record, at=now))

    def delete_all(self, grace_period_seconds: int | None) -> None:
        self.running.emit(NoteRecord(text=f"deleted with {grace_period_seconds}"))
        if not self.ends:
            self.running.emit(attrs.evolve(end(0, "main", 0), at=self.running.timebase.now()))
        self.running.emit(DeletedRecord(ref=POD))

    async def bring_down(self, grace_period_seconds: int | None) -> None:
        self.delete_all(grace_period_seconds)
        await trio.lowlevel.checkpoint()

    async def force(self) -> None:
        self.running.emit(NoteRecord(text="forced"))

    async def settled(self) -> None:
        await trio.lowlevel.checkpoint()

    async def remove_all(self) -> None:
        self.running.emit(status(9, "Failed"))
        self.running.emit(NoteRecord(text="removed"))

    async def answers(self) -> None:
        await trio.lowlevel.checkpoint()


def opener(code: int = 0, error: Exception | None = None, *, ends: bool = True) -> Callable[[Running], object]:
    @asynccontextmanager
    async def open_node(running: Running) -> AsyncIterator[Node]:
        assert running.plan.instance.path.is_dir()
        if error is not None:
            raise error
        yield Node(running, code, ends)

    return open_node


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    """Write a manifest."""
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    return str(tmp_path / "pod.yaml")


@define
class Result:
    """What a run returned and wrote."""

    status: int
    out: str
    err: str


def run(manifest: str, code: int = 0, error: Exception | None = None, **options: object) -> Result:
    out, err = io.StringIO(), io.StringIO()
    root = Path(manifest).parent / "root"
    given = RunOptions(manifests=(manifest,), **{"root_dir": root, **options})  # type: ignore[arg-type]
    status_code = execute(given, Streams(out=out, err=err), opener(code, error))  # type: ignore[arg-type]
    return Result(status_code, out.getvalue(), err.getvalue())


def test_a_run_shows_logs_changes_and_a_summary(manifest: str) -> None:
    result = run(manifest)
    assert result.status == 0
    assert result.out.startswith("web main 20")
    assert result.out.endswith(" hello \\e[2J\n")
    assert [line.partition("s ")[2] for line in result.err.splitlines() if line.startswith("+")] == [
        "web/main started",
        "web is Running",
        "web is ready",
        "web/main exited 0 (Completed)",
        "web is Succeeded",
        "removed",
    ]
    assert result.err.splitlines()[-2:] == ["web  Succeeded", "start  main ok 0.0s"]


def test_the_state_folder_goes_with_the_run(manifest: str) -> None:
    run(manifest)
    assert list((Path(manifest).parent / "root" / "instances").iterdir()) == []


def test_a_failed_pod_fails_the_run(manifest: str) -> None:
    result = run(manifest, code=3)
    assert result.status == 1
    assert "ended  main exited by itself with 3" in result.err


def test_what_must_not_happen_fails_the_run(manifest: str) -> None:
    assert run(manifest, fail_on=frozenset({FailOn.KILLED})).status == 0


def test_json_output_is_the_trace_and_then_the_summary(manifest: str, tmp_path: Path) -> None:
    result = run(manifest, output="json", trace=tmp_path / "trace.jsonl")
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [r["kind"] for r in records] == ["run", "status", "log", "run", "status", "end", "summary"]
    assert (tmp_path / "trace.jsonl").read_text() == "".join(result.out.splitlines(keepends=True)[:-1])
    assert all(r["pod"] == "web" for r in records[:-2])
    assert records[-1]["why"] == "everything has ended"


def test_the_log_holds_everything_but_values(manifest: str, tmp_path: Path) -> None:
    run(manifest, log=tmp_path / "log.jsonl", seed=7)
    text = (tmp_path / "log.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0]["kind"] == "header"
    assert lines[0]["seed"] == 7
    assert [line["kind"] for line in lines[-3:]] == ["end", "status", "note"]
    assert "canary" not in text
    run(manifest, log=tmp_path / "log.jsonl", log_values=True)
    assert "canary" in (tmp_path / "log.jsonl").read_text()


def test_what_is_kept_can_be_pruned(manifest: str) -> None:
    result = run(manifest, keep=True)
    root = Path(manifest).parent / "root"
    assert result.err.splitlines()[-1] == f"to remove what is left: kubelet-emu prune --root-dir {root}"
    assert len(list((root / "instances").iterdir())) == 1
    assert "removed" not in result.err


BAD: dict[str, tuple[dict[str, object], str]] = {
    "a log that can't be written": (
        {"log": Path("/nowhere/log")},
        "error: --log /nowhere/log: No such file",
    ),
    "a trace that can't be written": (
        {"trace": Path("/nowhere/t")},
        "error: --trace /nowhere/t: No such file",
    ),
    "a log that doesn't even take its header": (
        {"log": Path("/dev/full")},
        "error: --log /dev/full: No space left on device\n",
    ),
    "a root that is no folder": ({"root_dir": Path("/dev/null")}, "error: --root-dir: /dev/null"),
    "a version of another age": ({"kubernetes": "1.10"}, "error: --kubernetes: version '1.10' is not one of"),
    "a moment of nobody": (
        {"delete_when": Trigger.parse("mian exited")},
        "error: --delete-when: no pod has a container 'mian'; there are main\n",
    ),
    "a configuration that isn't there": ({"config": Path("/nowhere/config")}, "/nowhere/config:1:1: error: Unreadable"),
}


@pytest.mark.parametrize(("options", "text"), BAD.values(), ids=BAD.keys())
def test_bad_options_are_explained(options: dict[str, object], text: str, manifest: str) -> None:
    result = run(manifest, **options)
    assert result.status == 2
    assert result.err.startswith(text)


def test_a_configuration_is_read_with_its_warnings(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("maxParallelImagePulls: 2\nserializeImagePulls: false\n")
    result = run(manifest, config=tmp_path / "config.yaml")
    assert result.status == 0
    assert "config.yaml:1:1: warning: apiVersion" in result.err


FAULTS = {
    "a typo": ("image:", "imag:", 2, "unknown field"),
    "what a server refuses": ("name: web", "name: Web", 2, "metadata.name: Invalid value"),
    "a kind that isn't run": ("kind: Pod", "kind: ConfigMap", 2, "nothing to run: no Pod, Job or other workload in"),
    "a privileged container": (
        'image: "busybox:1"',
        'image: "busybox:1", securityContext: {privileged: true}',
        2,
        "hint: --allow-privileged allows it",
    ),
}


@pytest.mark.parametrize(("old", "new", "code", "text"), FAULTS.values(), ids=FAULTS.keys())
def test_a_bad_manifest_runs_nothing(old: str, new: str, code: int, text: str, manifest: str) -> None:
    data = MANIFEST.replace(old, new)
    if "ConfigMap" in new:
        data = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    Path(manifest).write_text(data)
    result = run(manifest, error=AssertionError("must not open"))
    assert result.status == code
    assert text.lower() in result.err.lower()


def test_what_is_allowed_runs(manifest: str) -> None:
    Path(manifest).write_text(MANIFEST.replace("spec:", "spec:\n  hostNetwork: true"))
    assert run(manifest).status == 2
    policy = SafetyPolicy(host_paths=(HostPathRule(prefix="/srv"),), allow_host_namespaces=True)
    assert run(manifest, safety=policy).status == 0


def test_a_manifest_may_read_its_own_folder(manifest: str) -> None:
    mount = "volumeMounts: [{name: v, mountPath: /v, readOnly: true}]"
    volume = f"  volumes: [{{name: v, hostPath: {{path: {Path(manifest).parent}}}}}]\n"
    Path(manifest).write_text(MANIFEST.replace('"busybox:1"', f'"busybox:1", {mount}') + volume)
    assert run(manifest).status == 0


def test_no_engine(manifest: str) -> None:
    result = run(manifest, error=RuntimeUnavailableError("connection refused"))
    assert result.status == 3
    assert result.err.splitlines()[0] == "error: no container engine: connection refused"


def test_an_engine_that_refuses(manifest: str) -> None:
    error = CRIError("no space left on device")
    error.add_note("while making the sandbox of web")
    result = run(manifest, error=error)
    assert result.status == 1
    assert result.err == "error: no space left on device\nwhile making the sandbox of web\n"


def test_a_bug_shows_where_it_is_and_where_to_report(manifest: str) -> None:
    error = KeyError("oops")
    error.add_note("pod web, step sync")
    result = run(manifest, error=error)
    assert result.status == 1
    assert "in open_node" in result.err
    assert "pod web, step sync" in result.err
    assert result.err.splitlines()[-1].startswith("this is a bug in kubelet-emu")


class Broken(io.StringIO):
    """A stream that can't be written."""

    number = errno.EPIPE

    def write(self, _text: str, /) -> int:
        raise OSError(self.number, os.strerror(self.number))


def broken(number: int) -> Broken:
    stream = Broken()
    stream.number = number
    return stream


STOPPED: dict[str, tuple[int, int, str]] = {
    "whose reader has gone": (errno.EPIPE, 0, "nobody reads the output any more"),
    "on a disk that is full": (errno.ENOSPC, 1, "stdout: No space left on device"),
}


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize(("number", "status_code", "why"), STOPPED.values(), ids=STOPPED.keys())
def test_a_stdout_stops_the_run(output: str, number: int, status_code: int, why: str, manifest: str) -> None:
    err = io.StringIO()
    options = RunOptions(manifests=(manifest,), root_dir=Path(manifest).parent / "root", output=output)  # type: ignore[arg-type]
    streams = Streams(out=broken(number), err=err)
    assert execute(options, streams, opener(ends=False)) == status_code  # type: ignore[arg-type]
    assert f"delete all pods, own grace (because {why})" in err.getvalue()
    assert "deleted with None" in err.getvalue()
    told = "error: stdout: No space left on device: nothing more is written there\n"
    assert (told in err.getvalue()) is (number == errno.ENOSPC)


def test_a_stderr_that_cant_be_written_changes_nothing(manifest: str) -> None:
    options = RunOptions(manifests=(manifest,), root_dir=Path(manifest).parent / "root")
    assert execute(options, Streams(out=io.StringIO(), err=broken(errno.EPIPE)), opener()) == 0  # type: ignore[arg-type]


def test_a_trace_that_cant_be_written_fails_the_run_at_its_end(manifest: str) -> None:
    result = run(manifest, trace=Path("/dev/full"))
    assert result.status == 1
    assert "error: --trace /dev/full: No space left on device: nothing more is written there\n" in result.err
    assert "web  Succeeded" in result.err


def test_a_timeline_that_cant_be_written_fails_the_run_at_its_end(manifest: str) -> None:
    result = run(manifest, timeline=Path("/nowhere/timeline.svg"))
    assert result.status == 1
    assert "error: --timeline /nowhere/timeline.svg: No such file or directory\n" in result.err


def test_records_are_private(manifest: str, tmp_path: Path) -> None:
    files = {"log": tmp_path / "log.jsonl", "trace": tmp_path / "trace.jsonl"}
    files["trace"].write_text("old")
    files["trace"].chmod(0o644)
    run(manifest, **files)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o600}
    assert "old" not in files["trace"].read_text()


def test_leaving_at_once_names_what_is_left(manifest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class LeftError(Exception):
        """The process would be gone now."""

    def leave(status_code: int) -> None:
        raise LeftError(status_code)

    monkeypatch.setattr("os._exit", leave)

    @define(eq=False)
    class Hung(Node):
        """A node that doesn't stop."""

        def delete_all(self, grace_period_seconds: int | None) -> None:
            pass

        def create(self) -> None:
            self.running.emit(attrs.evolve(accepted(containers=[container("main")]), at=None))
            self.running.emit(attrs.evolve(start(0, "main"), at=None))
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.raise_signal(number)

    @asynccontextmanager
    async def open_node(running: Running) -> AsyncIterator[Node]:
        yield Hung(running)

    err = io.StringIO()
    root = Path(manifest).parent / "root"
    options = RunOptions(manifests=(manifest,), root_dir=root)
    execute(options, Streams(out=io.StringIO(), err=err), open_node)  # type: ignore[arg-type]
    assert "LeftError: 130" in err.getvalue()
    assert "SIGHUP again: leaving at once\nleft running: web/main\n" in err.getvalue()
    assert f"kubelet-emu prune --root-dir {root}" in err.getvalue()
    assert len(list((root / "instances").iterdir())) == 1
