"""A log's decisions are taken again: none differs by the rules that made it, and a changed one is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import jsonschema
import pytest
from click.testing import CliRunner
from journal_makers import EPOCH

from kubelet_emu.cli.main import main
from kubelet_emu.journal.deferred import Deferred
from kubelet_emu.journal.read import read_lines
from kubelet_emu.journal.records import ObservedRecord, SyncRecord
from kubelet_emu.journal.schema import FILE
from kubelet_emu.journal.schema import as_text as schema_text
from kubelet_emu.journal.sync_input import describe_input, read_input, says_restarting_all
from kubelet_emu.journal.values import encode
from kubelet_emu.lifecycle.replaying import Replay, replay
from kubelet_emu.lifecycle.replaying.explaining import because
from kubelet_emu.lifecycle.replaying.fold import recorded_syncs
from kubelet_emu.lifecycle.replaying.report import as_json, as_text
from kubelet_emu.lifecycle.replaying.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: batch}
spec:
  backoffLimit: 1
  template:
    spec:
      restartPolicy: OnFailure
      initContainers:
      - {name: prepare, image: busybox, command: [sh, -c, sleep 1]}
      - name: helper
        image: busybox
        restartPolicy: Always
        command: [sh, -c, "trap 'exit 0' TERM; while true; do sleep 1; done"]
        startupProbe: {exec: {command: ["true"]}, periodSeconds: 1}
      containers:
      - {name: main, image: busybox, command: [sh, -c, "sleep 2; test -f /done || exit 3"]}
"""

Line = dict[str, object]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """Return a log of a Job whose main container fails and is restarted."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "job.yaml").write_text(JOB)
    words = ["run", "--runtime", "simulated", "--seed", "7", "--until", "60", "--log", str(folder / "log")]
    CliRunner().invoke(main, [*words, str(folder / "job.yaml")])
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def again(lines: list[Line]) -> Replay:
    log = read_lines(json.dumps(line).encode() + b"\n" for line in lines)
    assert log.problems == ()
    return replay(log.entries)


def changed(lines: list[Line], kind: str, change: Callable[[Line], Line | None]) -> list[Line]:
    """Return the lines with the first one of a kind changed for which `change` gives another."""
    for index, line in enumerate(lines):
        if line["kind"] == kind and (new := change(json.loads(json.dumps(line)))) is not None:
            return [*lines[:index], new, *lines[index + 1 :]]
    raise AssertionError(f"no {kind} record could be changed")


def actions_of(line: Line) -> dict[str, object]:
    return cast("dict[str, object]", line["actions"])


def test_a_log_is_replayed_as_recorded(lines: list[Line]) -> None:
    found = again(lines)
    assert found.syncs > 5
    assert (found.differences, found.skipped) == ((), ())


def without_start(line: Line) -> Line | None:
    return {**line, "actions": {**actions_of(line), "start": []}} if "start" in actions_of(line) else None


def with_kill(line: Line) -> Line | None:
    kill = [{"id": "c", "name": "helper", "message": "why not", "reason": "NONE"}]
    return None if "createSandbox" in actions_of(line) else {**line, "actions": {**actions_of(line), "kill": kill}}


def as_terminal(line: Line) -> Line | None:
    return {**line, "step": "terminal", "actions": {}} if line["step"] == "sync" else None


def as_restarted(line: Line) -> Line | None:
    statuses = cast("dict[str, list[dict[str, object]]]", line["status"]).get("containerStatuses", [])
    if not any("running" in cast("dict[str, object]", each.get("state") or {}) for each in statuses):
        return None
    for each in statuses:
        each["restartCount"] = 9
    return line


MUTATIONS: dict[str, tuple[str, Callable[[Line], Line | None], str, str]] = {
    "a start left out": ("sync", without_start, "nothing", "start main"),
    "a container killed for nothing": ("sync", with_kill, "kill helper (why not)", "nothing"),
    "a pod that was over too early": ("sync", as_terminal, "the pod is over", "the pod goes on"),
    "another restart count": ("status", as_restarted, "restarts=9", "restarts=0"),
}


@pytest.mark.parametrize(("kind", "change", "was", "now"), MUTATIONS.values(), ids=MUTATIONS)
def test_another_decision_is_found(
    lines: list[Line], kind: str, change: Callable[[Line], Line | None], was: str, now: str
) -> None:
    first = again(changed(lines, kind, change)).differences[0]
    assert was in first.was
    assert now in first.now


def test_what_was_given_is_told(lines: list[Line]) -> None:
    difference = again(changed(lines, "sync", without_start)).differences[0]
    assert difference.because[0].startswith("pod: restartPolicy OnFailure, sandbox ready")
    assert difference.because[1] == "main: not there"


def test_a_log_without_input_is_skipped_and_told(lines: list[Line]) -> None:
    found = again([{key: value for key, value in line.items() if key != "input"} for line in lines])
    assert found.syncs == 0
    assert {each.why for each in found.skipped} == {
        "the log was written by a version that didn't record what syncs decided from"
    }


def test_a_log_without_its_manifest_is_skipped_and_told(lines: list[Line]) -> None:
    found = again([line for line in lines if line["kind"] != "pod"])
    assert {each.why for each in found.skipped} == {"the log has no manifest of this pod"}


@pytest.mark.parametrize("data", [{"now": "2026"}, {"now": "2026-01-01", "probes": 1, "startFailures": {"a": {}}}])
def test_an_input_that_cant_be_read_is_told(data: Line) -> None:
    if "probes" not in data:
        assert read_input(data | {"now": "2026-01-01T00:00:00Z"}).probes is None
    with pytest.raises(ValueError, match=r"no input of a sync|Invalid isoformat"):
        read_input(data)


def test_what_is_read_back_describes_itself_as_it_was_written(lines: list[Line]) -> None:
    entries = read_lines(json.dumps(line).encode() + b"\n" for line in lines).entries
    before = None
    for each in recorded_syncs(entries):
        assert each.sync is not None
        written = cast("dict[str, object]", each.record.input)
        behind = read_input(written).behind
        assert describe_input(each.sync, before, behind) == written
        before = each.sync


def test_an_input_is_made_only_when_it_is_written() -> None:
    made: list[str] = []

    def make() -> dict[str, object]:
        made.append("made")
        return {"now": "x"}

    deferred = Deferred(make)
    assert made == []
    assert encode(deferred) == {"now": "x"}
    assert made == ["made"]


def test_a_sync_decides_from_what_was_seen_when_it_began(lines: list[Line]) -> None:
    entries = read_lines(json.dumps(line).encode() + b"\n" for line in lines).entries
    seen = [entry.record.observed for entry in entries if isinstance(entry.record, ObservedRecord)]
    syncs = list(recorded_syncs(entries))
    first = next(each for each in syncs if isinstance(each.record, SyncRecord) and each.record.n == 1)
    assert first.sync is not None
    assert first.sync.observed.sandboxes == ()
    assert any(each.sync is not None and each.sync.observed in seen for each in syncs)


def invoke(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["replay", *words])
    return result.exit_code, result.stdout, result.stderr


def write(path: Path, lines: list[Line]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_the_command_tells_what_differs(tmp_path: Path, lines: list[Line]) -> None:
    status, out, _ = invoke(write(tmp_path / "log", lines))
    assert (status, out.splitlines()[-1].partition(" ")[2]) == (
        0,
        "syncs taken again: today's rules decide as recorded",
    )
    status, out, _ = invoke(write(tmp_path / "log", changed(lines, "sync", without_start)))
    assert status == 1
    assert "  recorded: nothing\n  today:    start main\n  given     pod: " in out


def test_the_command_writes_json(tmp_path: Path, lines: list[Line]) -> None:
    status, out, _ = invoke("-o", "json", write(tmp_path / "log", changed(lines, "sync", without_start)))
    told = json.loads(out)
    assert status == 1
    assert (told["differences"][0]["recorded"], told["differences"][0]["today"]) == ({"start": []}, {"start": [0]})
    assert told["skipped"] == []


def test_what_cant_be_replayed_is_refused(tmp_path: Path, lines: list[Line]) -> None:
    (tmp_path / "lines").write_text("web main 2026-01-01T00:00:00Z x\n")
    status, _, err = invoke(str(tmp_path / "lines"))
    assert status == 2
    assert "nothing to replay: only lifecycle logs" in err
    other = [{**line, "kubernetes": "v9.9"} if line["kind"] == "header" else line for line in lines]
    status, _, err = invoke(write(tmp_path / "log", other))
    assert status == 2
    assert "version 'v9.9' is not one of" in err


def test_the_schema_is_that_of_the_records() -> None:
    assert FILE.read_text() == schema_text(), "write it anew: python -m kubelet_emu.journal.schema"


def test_a_log_fulfils_the_schema(lines: list[Line]) -> None:
    schema = json.loads(FILE.read_text())
    validator = jsonschema.Draft202012Validator(schema)
    assert [error.message for line in lines for error in validator.iter_errors(line)] == []
    assert {str(line["kind"]) for line in lines} > {"header", "pod", "observed", "sync", "probe", "status", "job"}


@pytest.mark.parametrize("kind", ["header", "observed", "sync", "status", "run"])
def test_the_schema_refuses_what_a_reader_would(lines: list[Line], kind: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(FILE.read_text()))
    line = next(line for line in lines if line["kind"] == kind)
    key = next(key for key in line if key not in {"t", "n", "kind", "name", "pod"} and line[key] != 0)
    assert not validator.is_valid({**line, key: object})
    assert not validator.is_valid({**line, "n": "x"})


def test_every_part_of_a_decision_has_words(lines: list[Line]) -> None:
    entries = read_lines(json.dumps(line).encode() + b"\n" for line in lines).entries
    sync = next(each.sync for each in recorded_syncs(entries) if each.sync is not None)
    decision = {
        "killPod": True,
        "createSandbox": True,
        "startInit": [1],
        "start": [0, 7],
        "reset": [{"id": "a", "name": "helper", "kill": True}, {"id": "b", "name": "main"}],
        "updateCPU": ["main"],
        "updateMemory": ["helper"],
    }
    assert in_words(sync.pod, decision) == (
        "kill the pod, make a new sandbox, start helper, start main, start container 7, kill and remove helper, "
        "remove main, resize the cpu of main, resize the memory of helper"
    )
    assert [line.partition(":")[0] for line in because(sync, decision, {})] == [
        "pod",
        "helper",
        "main",
        "container 7",
    ]


def as_unreadable(line: Line) -> Line:
    manifest = cast("dict[str, object]", line["manifest"])
    return {**line, "manifest": {**manifest, "spec": "none"}} if line.get("object") is None else line


def test_a_manifest_that_cant_be_read_is_told(lines: list[Line]) -> None:
    found = again([as_unreadable(line) if line["kind"] == "pod" else line for line in lines])
    assert {each.why for each in found.skipped} == {"its manifest can't be read: spec: 'none' is not a PodSpec"}
    told = as_json(found, EPOCH)["skipped"]
    assert isinstance(told, list)
    assert len(told) == len(found.skipped)
    assert "can't be taken again: its manifest" in as_text(found, EPOCH)


@pytest.mark.parametrize("is_said", [True, False])
def test_the_restart_of_all_containers_is_as_the_sync_saw_it(lines: list[Line], is_said: bool) -> None:  # noqa: FBT001
    condition = {"type": "AllContainersRestarting", "status": "True" if not is_said else "False"}
    new: list[Line] = []
    for line in lines:
        if line["kind"] == "sync":
            given = cast("dict[str, object]", line["input"])
            new.append({**line, "input": {**given, "restartingAll": is_said}})
        elif line["kind"] == "status":
            status = cast("dict[str, object]", line["status"])
            others = cast("list[object]", status.get("conditions", []))
            new.append({**line, "status": {**status, "conditions": [*others, condition]}})
        else:
            new.append(line)
    entries = read_lines(json.dumps(line).encode() + b"\n" for line in new).entries
    syncs = [each.sync for each in recorded_syncs(entries) if each.sync is not None]
    assert {says_restarting_all(sync.previous_status) for sync in syncs} == {is_said}
