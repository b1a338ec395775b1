"""The lifecycle log: writing, secrets, reading back."""

from __future__ import annotations

import json
import stat
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import attrs
import pytest
from journal_makers import (
    EPOCH,
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
    terminated,
    waiting,
)

from kubelet_emu.journal.encode import Entry, decode_entry, encode_entry, to_line
from kubelet_emu.journal.journal import MOST_GONE, Journal, LogWriter
from kubelet_emu.journal.outlet import open_outlet
from kubelet_emu.journal.read import read_lines, read_log
from kubelet_emu.journal.records import (
    DeletedRecord,
    EndRecord,
    HeaderRecord,
    JobRecord,
    LogRecord,
    ManifestRecord,
    NoteRecord,
    ObjectRef,
    ObservedRecord,
    RequestRecord,
    StepRecord,
    SyncRecord,
)
from kubelet_emu.journal.redact import LAST_APPLIED, Redactor
from kubelet_emu.journal.values import decode, encode
from kubelet_emu.rules.observed import ObservedPod
from runtime.api import (
    ContainerID,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
    SandboxID,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kubelet_emu.journal.records import Record

JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
HEADER = HeaderRecord(
    at=EPOCH, version="1", epoch=EPOCH, seed=7, runtime={"name": "docker"}, features={"EnvFiles": True}
)
OBSERVED = ObservedPod(
    uid=POD.uid,
    sandboxes=(
        PodSandboxStatus(
            id=SandboxID("s1"),
            metadata=PodSandboxMetadata(name="web", namespace="default", uid=POD.uid),
            state=PodSandboxState.READY,
            created_at=at(0.25),
        ),
    ),
    containers=(
        ContainerStatus(
            id=ContainerID("c1"),
            sandbox_id=SandboxID("s1"),
            metadata=ContainerMetadata(name="main", attempt=2),
            state=ContainerState.EXITED,
            created_at=at(1),
            finished_at=at(2.123456),
            exit_code=3,
        ),
    ),
    termination_messages={"c1": "no space"},
)
EVERY: tuple[Record, ...] = (
    HEADER,
    accepted(containers=[container("main")]),
    ObservedRecord(at=at(1.5), ref=POD, observed=OBSERVED),
    startup_ok(2, "main"),
    SyncRecord(at=at(2), ref=POD, n=4, step="sync", actions={"start": ["main"]}, results=("ok",)),
    status(
        3,
        "Running",
        running("main"),
        waiting("b", "CrashLoopBackOff", "back-off 10s"),
        terminated("c", 137),
        ready=True,
    ),
    LogRecord(at=at(3.000001), ref=POD, container="main", run=1, line="caf\u00e9 \u202e"),
    start(3, "main"),
    end(9, "main", 1),
    sent(5, "main"),
    RequestRecord(at=at(5), ref=POD, what="delete", details={"gracePeriodSeconds": 5}),
    hook(6, "main", "preStop", 0.4),
    DeletedRecord(at=at(9), ref=POD),
    StepRecord(at=at(9), n=2, what="delete"),
    JobRecord(at=at(9), ref=JOB, deleted=True),
    NoteRecord(at=at(9), text="hello"),
    EndRecord(at=at(10), why="done"),
)


@pytest.mark.parametrize("entry", entries(EVERY), ids=lambda entry: entry.record.kind)
def test_every_kind_of_record_comes_back_as_it_was(entry: Entry) -> None:
    line = to_line(entry, EPOCH)
    assert line.isascii()
    assert decode_entry(json.loads(line), EPOCH) == entry


def test_a_line_leads_with_time_pod_number_and_kind() -> None:
    entry = Entry(n=17, record=start(12.345, "main"))
    assert encode_entry(entry, EPOCH) == {
        "t": 12.345,
        "pod": "uid-1",
        "name": "default/web",
        "n": 17,
        "kind": "run",
        "container": "main",
        "run": 1,
        "what": "start",
    }


def test_another_object_is_no_pod() -> None:
    line = encode_entry(Entry(n=1, record=DeletedRecord(at=EPOCH, ref=JOB)), EPOCH)
    assert line == {"t": 0.0, "uid": "job-1", "object": "Job", "name": "default/migrate", "n": 1, "kind": "deleted"}


def test_a_value_that_is_no_value_is_a_bug() -> None:
    with pytest.raises(TypeError, match="a record can't hold set"):
        encode({1, 2})


BAD_VALUES = {
    "no object": ([], "expected an object for ObjectRef"),
    "a missing field": ({"name": "web"}, "namespace is missing"),
    "another type": ({"namespace": 1, "name": "web", "uid": "u"}, "namespace: expected str, got 1"),
}


@pytest.mark.parametrize(("data", "text"), BAD_VALUES.values(), ids=BAD_VALUES.keys())
def test_what_cant_be_decoded_is_named(data: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        decode(ObjectRef, data)


def test_nested_values_are_checked_too() -> None:
    with pytest.raises(ValueError, match="containers: expected a list"):
        decode(ObservedPod, {"uid": "u", "containers": {}})
    with pytest.raises(ValueError, match="terminationMessages: expected an object"):
        decode(ObservedPod, {"uid": "u", "terminationMessages": []})


def test_unknown_fields_of_a_newer_writer_are_ignored() -> None:
    assert decode(ObjectRef, {"namespace": "a", "name": "b", "uid": "c", "colour": "red"}).name == "b"


def journal(*sinks: object, **more: object) -> Journal:
    return Journal(now=lambda: at(1), sinks=sinks, **more)  # type: ignore[arg-type]


def test_records_get_a_time_and_a_number_for_each_object() -> None:
    seen: list[Entry] = []
    book = journal(seen.append)
    for record in (NoteRecord(text="a"), DeletedRecord(ref=POD), start(5, "main"), DeletedRecord(ref=JOB)):
        book.emit(record)
    assert [(e.n, e.at) for e in seen] == [(1, at(1)), (1, at(1)), (2, at(5)), (1, at(1))]


def test_the_numbers_of_the_last_objects_that_are_gone_are_known() -> None:
    seen: list[Entry] = []
    book = journal(seen.append)
    gone = [ObjectRef(namespace="ns", name="p", uid=f"u{n}") for n in range(MOST_GONE + 1)]
    for ref in gone:
        book.emit(DeletedRecord(ref=ref))
    for ref in (gone[1], gone[0]):
        book.emit(NoteRecord(ref=ref, text="late"))
    assert [entry.n for entry in seen[-2:]] == [2, 1]


def test_every_sink_gets_the_same_entry() -> None:
    first: list[Entry] = []
    second: list[Entry] = []
    journal(first.append, second.append).emit(NoteRecord(text="a"))
    assert first == second
    assert len(first) == 1


MANIFEST: dict[str, object] = {
    "kind": "Pod",
    "metadata": {"annotations": {LAST_APPLIED: '{"env": "canary"}', "team": "blue"}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "env": [{"name": "A", "value": "canary"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "canary"}]}},
                "args": ["a", "b"],
            }
        ]
    },
}


def test_plain_values_become_digests() -> None:
    seen: list[Entry] = []
    journal(seen.append).emit(ManifestRecord(ref=POD, manifest=MANIFEST))
    assert isinstance(seen[0].record, ManifestRecord)
    text = json.dumps(encode(seen[0].record.manifest))
    assert "canary" not in text
    assert '"valueFrom": {"fieldRef": {"fieldPath": "x"}}' in text
    assert '"args": ["a", "b"]' in text
    assert '"team": "blue"' in text


def test_equal_values_have_equal_digests_within_a_run_only() -> None:
    one, other = Redactor(key=b"1"), Redactor(key=b"2")
    assert one.digest("a") == one.digest("a")
    assert one.digest("a") != one.digest("b")
    assert one.digest("a") != other.digest("a")


def test_values_are_kept_when_asked_for() -> None:
    kept = Redactor(log_values=True).redact(MANIFEST)
    assert '"value": "canary"' in json.dumps(kept)
    assert '{\\"env\\"' not in json.dumps(kept)


def test_config_data_is_kept_when_asked_for_but_secret_data_never() -> None:
    for kind, kept in (("ConfigMap", True), ("Secret", False)):
        data = {"kind": kind, "data": {"key": "canary"}, "type": "Opaque"}
        assert ("canary" in json.dumps(Redactor(log_values=True).redact(data))) is kept
        assert "canary" not in json.dumps(Redactor().redact(data))


def test_secret_data_that_is_no_mapping_does_no_harm() -> None:
    assert Redactor().redact({"kind": "Secret", "data": None}) == {"kind": "Secret", "data": None}


@contextmanager
def open_log(path: Path) -> Iterator[LogWriter]:
    """Give the writer of a file, which must take everything."""
    outlet = open_outlet(path, "log")
    yield LogWriter(outlet, EPOCH)
    outlet.close()
    assert outlet.error is None


def test_a_log_file_is_private_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("old")
    path.chmod(0o644)
    with open_log(path) as file:
        book = journal(file)
        for record in EVERY:
            book.emit(record)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    log = read_log(path)
    assert [e.record for e in log.entries] == list(EVERY)
    assert not log.problems
    assert not log.is_torn


def test_the_header_says_what_times_count_from(tmp_path: Path) -> None:
    later = EPOCH + timedelta(seconds=100)
    with open_log(tmp_path / "log") as file:
        book = journal(file)
        book.emit(attrs.evolve(HEADER, at=later, epoch=later))
        book.emit(start(103, "main"))
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["t"] for line in lines] == [0.0, 3.0]


def lines() -> list[bytes]:
    return [to_line(entry, EPOCH).encode() for entry in entries(EVERY[:3])]


def test_a_torn_last_line_is_no_fault() -> None:
    log = read_lines([*lines(), b'{"t": 3.0, "pod": "uid-1", "n'])
    assert len(log.entries) == 3
    assert log.is_torn
    assert not log.problems


def test_a_last_line_without_its_newline_counts_when_it_is_whole() -> None:
    log = read_lines([*lines()[:2], lines()[2].rstrip(b"\n")])
    assert len(log.entries) == 3
    assert not log.is_torn


BAD_LINES = {
    "no JSON": (b"hello\n", "no JSON: Expecting value at column 1"),
    "no object": (b"[1]\n", "expected a JSON object, got list"),
    "an unknown kind": (b'{"t": 1, "n": 1, "kind": "colour"}\n', "unknown kind 'colour'"),
    "no time": (b'{"n": 1, "kind": "end"}\n', "t and n must be numbers"),
    "no UTF-8": (b'{"kind": "\xff"}\n', "no UTF-8 text"),
    "a newer schema": (b'{"t": 0, "n": 1, "kind": "header", "schema": 99}\n', "written with schema 99"),
}


@pytest.mark.parametrize(("line", "text"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_line_that_cant_be_read_is_named_and_the_rest_kept(line: bytes, text: str) -> None:
    log = read_lines([lines()[0], line, b"\n", lines()[1]])
    assert len(log.entries) == 2
    assert [problem.line for problem in log.problems] == [2]
    assert log.problems[0].text.startswith(text)
