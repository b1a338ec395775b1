"""Logs at the edge of what can be read, and the options of the commands that read them."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.lifecycle.log import LifecycleLog, SourceFormat
from kubelet_emu.lifecycle.reading import GivenName, ReadError, read_logs
from kubelet_emu.lifecycle.reading.json_objects import JSONObjects
from kubelet_emu.lifecycle.reading.recognising import recognise
from kubelet_emu.lifecycle.reading.streams import MOST_LINE_BYTES, Line

if TYPE_CHECKING:
    from pathlib import Path

AT = "2026-01-01T00:00:0"
POD_TEXT = json.dumps(
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "creationTimestamp": f"{AT}1Z"}}, indent=4
)
EVENT_TEXT = json.dumps(
    {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Event", "apiVersion": "v1", "metadata": {}}] * 2},
    indent=4,
)


def read(*texts: str | bytes, names: tuple[str, ...] = ()) -> LifecycleLog:
    streams = [io.BytesIO(text.encode() if isinstance(text, str) else text) for text in texts]
    return read_logs(streams, names=[GivenName.parse(name) for name in names])


def faults(log: LifecycleLog) -> list[tuple[int, str]]:
    return [(fault.line, fault.text) for fault in log.faults]


HEADS = {
    "a cut Pod": (POD_TEXT[:60], SourceFormat.WATCH),
    "a cut list of events": (EVENT_TEXT[:-20], SourceFormat.EVENTS),
    "a printed Pod": (POD_TEXT, SourceFormat.WATCH),
    "a printed list of events": (EVENT_TEXT, SourceFormat.EVENTS),
    "a log behind a line of noise": (f"warning: x\n[1, 2]\nweb main {AT}1Z x\n", SourceFormat.PREFIXED_LINES),
    "a step of a trace": ('{"t": 1.0, "n": 1, "kind": "step"}\n', SourceFormat.TRACE),
    "a printed object of no API": ('{\n "a": 1\n}\n', None),
    "a printed Node": ('{\n "apiVersion": "v1",\n "kind": "Node"\n}\n', None),
    "a JSON line of something else": ('{"level": "info"}\n', None),
    "a list": ("[1]\n", None),
    "nested too deep": ('{"a":' * 100_000, None),
}


@pytest.mark.parametrize(("head", "expected"), HEADS.values(), ids=HEADS)
def test_a_file_is_recognised_by_its_beginning(head: str, expected: SourceFormat | None) -> None:
    assert recognise(head.encode()) is expected


def test_lines_of_a_cri_log_that_cant_be_read_are_named() -> None:
    log = read(f"{AT}1.0Z stdout F a\n\nnonsense\n2026-99-01T00:00:00Z stdout F b\n{AT}2.0Z std", names=("web/main",))
    assert faults(log) == [(3, "no TIME STREAM F|P LINE"), (4, "month must be in 1..12")]
    assert log.is_torn


def test_lines_of_a_docker_log_that_cant_be_read_are_named() -> None:
    good = json.dumps({"log": "a\n", "stream": "stderr", "time": f"{AT}1.0Z", "attrs": "none"})
    log = read(f'{good}\n\n{{"log": 1}}\nnonsense\n{{"lo', names=("web/main",))
    assert faults(log) == [(3, 'no {"log", "stream", "time"}'), (4, 'no {"log", "stream", "time"}')]
    assert log.is_torn
    assert [record["stream"] for record in log.trace.of_kind("log")] == ["stderr"]


def test_lines_with_a_day_that_there_isnt_are_named() -> None:
    stern = {"podName": "web", "containerName": "main", "message": "2026-13-01T00:00:00Z x"}
    plain = {**stern, "message": "no time"}
    bad = ["web main 2026-13-01T00:00:00Z x", json.dumps(stern), json.dumps(plain), '{"podName": 1', "{}"]
    log = read("\n".join([f"web main {AT}1Z a", *bad, f"a b c d {AT}1Z x", f"[x] y {AT}1Z x", f"[web] {AT}1Z x"]))
    assert [line for line, _ in faults(log)] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert {text.partition(":")[0] for _, text in faults(log)} == {"no POD CONTAINER TIME LINE"}


def test_a_long_line_that_cant_be_read_is_shown_in_part() -> None:
    log = read(f"web main {AT}1Z a\n" + "x" * 500 + "\n")
    assert faults(log) == [(2, f"no POD CONTAINER TIME LINE: {'x' * 80 + chr(8230)!r}")]


def test_a_line_beyond_all_bounds_is_cut() -> None:
    head = f"web main {AT}1Z ".encode()
    log = read(head + b"x" * (MOST_LINE_BYTES * 2 + 5) + b"\n" + head + b"next\n")
    first, second = (str(record["line"]) for record in log.trace.of_kind("log"))
    assert (len(first), second) == (MOST_LINE_BYTES - len(head), "next")


def test_a_run_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "previous.log").write_text(f"{AT}1.0Z a\n")
    (tmp_path / "now.log").write_text(f"{AT}2.0Z b\n")
    names = [GivenName.parse("previous.log=web/main#1"), GivenName.parse("now.log=web/main#2")]
    log = read_logs([tmp_path / "previous.log", tmp_path / "now.log"], names=names)
    assert [(record["line"], record["run"]) for record in log.trace.of_kind("log")] == [("a", 1), ("b", 2)]


def test_a_gzip_file_that_is_none_is_refused() -> None:
    with pytest.raises(ReadError, match="broken gzip file"):
        read(b"\x1f\x8bnothing")


def test_an_object_that_cant_be_decoded_is_no_manifest() -> None:
    pod = json.loads(POD_TEXT)
    log = read(json.dumps({**pod, "spec": {"containers": "none"}}))
    assert (log.objects, len(list(log.trace.of_kind("status")))) == ({}, 1)


def test_json_that_is_no_object_or_too_deep_is_named() -> None:
    deep = '{"a":' * 100_000 + "}" * 100_000
    log = read(f"{POD_TEXT}\n{{}} [1]\n{deep}\n{{\n  }} ] x\n}}\n")
    lines = POD_TEXT.count("\n") + 1
    assert [fault.line for fault in log.faults][:3] == [lines + 1, lines + 1, lines + 2]
    assert "nested too deep" in log.faults[2].text


def test_an_object_beyond_all_bounds_is_named() -> None:
    found: list[tuple[int, str]] = []
    objects = JSONObjects(lambda line, text: found.append((line, text)), most_bytes=20)
    lines = [Line(number, text) for number, text in enumerate((b"{", b" 'a': 'aaaaaaaaaaaaaaaaaaa'", b"}", b"{}"), 1)]
    assert [(each.line, each.value) for each in objects.read(lines)] == [(4, {})]
    assert found[0] == (1, "an object of more than 20 bytes")


def test_a_line_without_a_pod_stays_without_where_there_are_two() -> None:
    lines = read(f"web main {AT}1Z a\nother main {AT}2Z b\n", f"{AT}3.0Z c\n")
    assert [record.get("pod") for record in lines.trace.of_kind("log")] == ["web", "other", None]


def test_faults_of_a_log_of_ours_are_told() -> None:
    header = '{"t":0.0,"n":1,"kind":"header","epoch":"2026-01-01T00:00:00Z"}'
    job = {"t": 1.0, "n": 1, "uid": "j", "object": "Node", "name": "/n", "kind": "pod", "manifest": {"kind": "Node"}}
    log = read(f"{header}\n\n{json.dumps(job)}\n{{}}\n")
    assert faults(log) == [(4, "unknown kind None")]
    assert (log.objects, str(log.epoch)) == ({}, "2026-01-01 00:00:01+00:00")


def test_blank_lines_of_a_trace_say_nothing() -> None:
    log = read('{"t": 0.0, "kind": "end"}\n\n[1]\n{"t": true, "kind": "end"}\n')
    assert faults(log) == [
        (3, 'no record of a trace: a JSON object with "t" and "kind" is expected'),
        (4, 'no record of a trace: "t" is no number'),
    ]


def trace(*words: str, stdin: bytes | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["trace", *words], input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_standard_input_is_read_packed_or_not() -> None:
    line = f"web main {AT}1Z a\n".encode()
    for data in (line, gzip.compress(line)):
        status, out, err = trace("-", stdin=data)
        assert (status, err) == (0, "")
        assert json.loads(out.splitlines()[0])["line"] == "a"


def test_options_that_cant_be_used_are_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"web main {AT}1Z a\n")
    (tmp_path / "rules").write_text("nonsense\n")
    (tmp_path / "pod.yaml").write_text("kind: Pod\n")
    for words, because in (
        (("--moment", "went=x"), "is not [CONTAINER:]WHAT=REGEX"),
        (("--moments", str(tmp_path / "rules")), "rules:1: 'nonsense'"),
        (("--name", "x"), "is not [FILE=]POD/CONTAINER[#RUN]"),
        (("--manifest", str(tmp_path / "pod.yaml")), "apiVersion is missing"),
        ((str(tmp_path / "absent"),), "No such file or directory"),
        ((str(tmp_path / "rules"),), "this is none of the logs that are read; it begins with 'nonsense'"),
    ):
        status, out, err = trace(str(log), *words)
        assert (status, out) == (2, "")
        assert because in err


def test_rules_and_a_manifest_are_taken(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"web main {AT}1Z up\nweb main {AT}2Z x")
    (tmp_path / "rules").write_text("ready=^up$\n")
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: main, image: a}]}\n"
    )
    status, out, _ = trace(str(log), "--moments", str(tmp_path / "rules"), "-f", str(tmp_path / "pod.yaml"))
    assert status == 0
    assert [json.loads(line)["what"] for line in out.splitlines() if "moment" in line] == ["ready", "exited"]


def test_faults_are_told_with_file_and_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"web main {AT}1Z a\nnonsense\n")
    status, _, err = trace(str(log))
    assert status == 1
    assert err == f"{log}:2: no POD CONTAINER TIME LINE: 'nonsense'\n"
