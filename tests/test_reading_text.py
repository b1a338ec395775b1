"""Container lines of any origin are read: names, times, runs, and what the lines mean."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from kubelet_emu.lifecycle.log import LifecycleLog, SourceFormat
from kubelet_emu.lifecycle.reading import GivenName, MomentWords, ReadError, read_logs, read_moments_file
from kubelet_emu.lifecycle.reading.times import parse_wall_time

SLIDES = Path(__file__).parent.parent / "fixtures" / "slides"
AT = "2026-01-01T00:00:0"


def read(text: str | bytes, *rules: str, names: tuple[str, ...] = ()) -> LifecycleLog:
    data = text.encode() if isinstance(text, str) else text
    given = [GivenName.parse(name) for name in names]
    return read_logs([io.BytesIO(data)], MomentWords.parse(rules), names=given)


def lines_of(log: LifecycleLog) -> list[tuple[object, ...]]:
    return [(r["t"], r.get("pod"), r["container"], r["run"], r["line"]) for r in log.trace.of_kind("log")]


def moments_of(log: LifecycleLog) -> list[tuple[object, ...]]:
    found = [r for r in log.trace.of_kind("moment") if not r.get("assumed")]
    return [(r["t"], r["container"], r["run"], r["what"]) for r in found]


SPELLINGS = {
    "what run and stern print": f"web main {AT}1.5Z hello world",
    "a namespace before it": f"default web main {AT}1.5Z hello world",
    "kubectl logs --prefix --timestamps": f"[pod/web/main] {AT}1.5Z hello world",
    "stern with an arrow before the line": f"web main \u203a {AT}1.5Z hello world",
    "stern with an arrow between the names": f"web \u203a main {AT}1.5Z hello world",
    "the time before stern's names": f"{AT}1.5Z web main \u203a hello world",
    "colours": f"\x1b[32mweb\x1b[0m \x1b[1;33mmain\x1b[0m {AT}1.5Z \x1b[31mhello\x1b[0m world",
    "another zone": "web main 2026-01-01T09:00:01.500000000+09:00 hello world",
    "a CR at its end": f"web main {AT}1.5Z hello world\r",
    "a byte order mark": f"\ufeffweb main {AT}1.5Z hello world",
    "stern -o json": json.dumps(
        {"message": f"{AT}1.5Z hello world\n", "podName": "web", "containerName": "main", "namespace": "default"}
    ),
}


@pytest.mark.parametrize("line", SPELLINGS.values(), ids=SPELLINGS)
def test_a_line_is_read_in_every_spelling(line: str) -> None:
    log = read(line + "\n")
    assert lines_of(log) == [(0.0, "web", "main", 1, "hello world")]
    assert log.sources[0].format is SourceFormat.PREFIXED_LINES
    assert str(log.epoch) == "2026-01-01 00:00:01.500000+00:00"


def test_an_empty_line_of_a_container_is_a_line() -> None:
    assert lines_of(read(f"web main {AT}1Z \nweb main {AT}1Z\n")) == [(0.0, "web", "main", 1, "")] * 2


def test_nanoseconds_keep_their_order() -> None:
    log = read_logs([SLIDES / "slide-18.log"])
    terminated = [r for r in log.trace.of_kind("log") if r["line"] == "Terminated"]
    assert [r["container"] for r in terminated] == ["sidecar-1", "regular-1", "sidecar-2"]
    assert float(str(terminated[1]["t"])) - float(str(terminated[0]["t"])) == pytest.approx(3.333e-6, abs=2e-9)


def test_the_lines_of_a_slide_say_what_happened() -> None:
    log = read_logs([SLIDES / "slide-16.log"])
    assert [(c, what) for _, c, _, what in moments_of(log) if c in {"sidecar-1", "regular-1"}] == [
        ("regular-1", "poststart-start"),
        ("regular-1", "sigterm"),
        ("sidecar-1", "prestop-start"),
        ("sidecar-1", "prestop-end"),
        ("sidecar-1", "sigterm"),
    ]
    run = log.trace.runs("init-1", "*")[1]
    assert run.started is not None
    assert run.exited is not None
    assert (run.started.low, run.exited.low, run.exited.high) == (0.0, 5.000126532, 7.000126532)


def test_what_cant_be_read_is_named_and_the_rest_is_used() -> None:
    log = read(f"web main {AT}1Z a\nError from server (NotFound)\n+ web \u203a main\n\nweb main {AT}2Z b\n")
    assert [(fault.line, fault.text) for fault in log.faults] == [
        (2, "no POD CONTAINER TIME LINE: 'Error from server (NotFound)'")
    ]
    assert [line for *_, line in lines_of(log)] == ["a", "b"]


def test_beyond_a_hundred_faults_they_are_counted() -> None:
    log = read(f"web main {AT}1Z a\n" + "x\n" * 150)
    assert len(log.faults) == 101
    assert log.faults[-1].text == "50 more lines can't be read"


def test_a_clock_of_whole_seconds_has_that_resolution() -> None:
    log = read(f"web main {AT}1Z a\nweb main {AT}2Z b\n")
    assert log.resolution_seconds == 1.0
    started = log.trace.runs("main", "web")[1].started
    assert started is not None
    assert (started.low, started.high) == (0.0, 1.0)


def test_a_huge_line_and_binary_are_lines() -> None:
    log = read(f"web main {AT}1.0Z ".encode() + b"x" * 2_000_000 + f"\nweb main {AT}2.0Z ".encode() + b"\xff\x00\n")
    first, second = (str(line) for *_, line in lines_of(log))
    assert len(first) == 2_000_000
    assert second == "\\xff\x00"


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "x.log.gz"
    packed.write_bytes(gzip.compress(f"web main {AT}1Z a\n".encode()))
    assert [line for *_, line in lines_of(read_logs([packed]))] == ["a"]


def test_a_cut_gzip_file_gives_what_is_left(tmp_path: Path) -> None:
    packed = tmp_path / "x.log.gz"
    text = "".join(f"web main {AT}1.{n:09}Z line {n * 7919 % 1009}\n" for n in range(50_000))
    packed.write_bytes(gzip.compress(text.encode())[:-1000])
    assert 1000 < len(list(read_logs([packed]).trace.of_kind("log"))) < 50_000


CRI = f"""{AT}1.000000000Z stdout F one
{AT}2.000000000Z stdout P long,-
{AT}2.100000000Z stderr F between
{AT}2.200000000Z stdout F done
{AT}3.000000000Z stdout P open
"""


def test_a_cri_log_names_its_container_by_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "default_web-1_0b1f-uid" / "main" / "2.log"
    file.parent.mkdir(parents=True)
    file.write_text(CRI)
    log = read_logs([file])
    assert log.sources[0].format is SourceFormat.CRI_LOG
    assert lines_of(log) == [
        (0.0, "web-1", "main", 3, "one"),
        (1.0, "web-1", "main", 3, "long,-done"),
        (1.1, "web-1", "main", 3, "between"),
        (2.0, "web-1", "main", 3, "open"),
    ]


def test_a_link_of_a_node_names_its_container(tmp_path: Path) -> None:
    file = tmp_path / f"web-1_default_main-{'0a' * 32}.log"
    file.write_text(CRI)
    assert {line[1:3] for line in lines_of(read_logs([file]))} == {("web-1", "main")}


def docker_line(second: str, text: str, **more: object) -> str:
    return json.dumps({"log": text, "stream": "stdout", "time": f"{AT}{second}Z", **more}) + "\n"


def test_a_docker_log_joins_the_pieces_of_a_line() -> None:
    log = read(docker_line("1.5", "a long ") + docker_line("1.6", "line\n"), names=("web/main#2",))
    assert lines_of(log) == [(0.0, "web", "main", 2, "a long line")]


def test_labels_of_a_docker_log_name_the_container() -> None:
    labels = {"io.kubernetes.pod.name": "web", "io.kubernetes.container.name": "main"}
    assert lines_of(read(docker_line("1.5", "a\n", attrs=labels)))[0][1:3] == ("web", "main")


def test_a_file_without_names_is_the_container_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "main.log").write_text(f"{AT}1.0Z a\n")
    (tmp_path / "all.log").write_text(f"web helper {AT}2.0Z b\n")
    log = read_logs([tmp_path / "main.log", tmp_path / "all.log"])
    assert [line[1:3] for line in lines_of(log)] == [("web", "main"), ("web", "helper")]
    named = read_logs([tmp_path / "main.log"], names=[GivenName.parse(f"{tmp_path / 'main.log'}=pod/app")])
    assert lines_of(named)[0][1:3] == ("pod", "app")


@pytest.mark.parametrize("text", ["main", "/main", "web/", "web/main#x", ""])
def test_a_name_that_cant_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        GivenName.parse(text)


def test_rules_say_what_an_apps_lines_mean() -> None:
    text = (
        f"web main {AT}1.0Z boot\nweb main {AT}2.0Z got TERM\nweb main {AT}3.0Z Terminated\nweb x {AT}4.0Z got TERM\n"
    )
    assert moments_of(read(text, "sigterm=got TERM")) == [(1.0, "main", 1, "sigterm"), (3.0, "x", 1, "sigterm")]
    assert moments_of(read(text, "x:sigterm=got TERM")) == [(2.0, "main", 1, "sigterm"), (3.0, "x", 1, "sigterm")]


def test_only_a_rule_begins_a_new_run() -> None:
    text = f"web main {AT}1.0Z boot\nweb main {AT}2.0Z work\nweb main {AT}2.5Z boot\nweb main {AT}3.0Z work\n"
    assert {line[3] for line in lines_of(read(text))} == {1}
    log = read(text, "started=^boot$", "exited=^never")
    assert [line[3] for line in lines_of(log)] == [1, 1, 2, 2]
    runs = log.trace.runs("main", "web")
    assert [
        (run.started.low, run.exited.low, run.exited.high) for run in runs.values() if run.started and run.exited
    ] == [
        (0.0, 1.0, 1.5),
        (1.5, 2.0, 4.0),
    ]


def test_rules_stand_in_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "moments"
    file.write_text("# of our app\n\nmain:ready=^up on port \\d+$\n")
    words = read_moments_file(file)
    log = read_logs([io.BytesIO(f"web main {AT}1.0Z up on port 80\n".encode())], words)
    assert moments_of(log) == [(0.0, "main", 1, "ready")]
    file.write_text("ready=a\nready\n")
    with pytest.raises(ValueError, match=r"moments:2: 'ready' is not \[CONTAINER:\]WHAT=REGEX"):
        read_moments_file(file)


@pytest.mark.parametrize("rule", ["sigterm", "sigterm=", "went=x", "ready=["])
def test_a_rule_that_cant_be_read_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="is n"):
        MomentWords.parse([rule])


@pytest.mark.parametrize("text", ["", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00", "yesterday"])
def test_a_time_without_a_zone_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is no RFC 3339 time"):
        parse_wall_time(text)


@pytest.mark.parametrize(
    "data", [b"", b"  \n", b"apiVersion: v1\n", b"NAME READY\nweb 1/1\n", b"\x00\xff" * 100, b"[1]\n"]
)
def test_a_file_that_is_no_log_is_refused_with_what_would_do(data: bytes) -> None:
    with pytest.raises(ReadError, match=r"the file is empty|what is read:(.|\n)*kubectl get events"):
        read(data)
