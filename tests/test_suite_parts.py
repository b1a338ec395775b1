"""The parts of `kubelet-emu test`: its filter, its progress, its worker processes, and what it can't do."""

from __future__ import annotations

import io
import multiprocessing
import os
import re
import signal
import socket
from pathlib import Path

import pytest
from attrs import evolve

from kubelet_emu.cli.suite.execution import Streams, execute
from kubelet_emu.cli.suite.options import SuiteOptions
from kubelet_emu.cli.suite.progress import Progress
from kubelet_emu.cli.suite.selection import read_filter
from kubelet_emu.cli.suite.simulated import work
from kubelet_emu.cli.worlds import SimulatedWorld
from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.scenarios.results import Result
from kubelet_emu.scenarios.scenario_file import Scenario, ScenarioError, load_scenario

MANIFEST = """manifest:
  apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec:
    restartPolicy: Never
    containers: [{name: main, image: busybox, command: [sh, -c, "sleep 1"]}]
"""
REST = "end: pod terminal\nexpect: [phase == Succeeded]\n"

WANTED = [
    ("", ["sidecar-one", "sidecar-two", "Job-one"]),
    ("one", ["sidecar-one", "Job-one"]),
    ("JOB", ["Job-one"]),
    ("not one", ["sidecar-two"]),
    ("sidecar and not two", ["sidecar-one"]),
    ("two or job", ["sidecar-two", "Job-one"]),
    ("one and (job or two)", ["Job-one"]),
    ("not (one or two)", []),
    ("not not two", ["sidecar-two"]),
    ("two or one and job", ["sidecar-two", "Job-one"]),
]


@pytest.mark.parametrize(("text", "names"), WANTED, ids=[row[0] or "everything" for row in WANTED])
def test_a_filter(text: str, names: list[str]) -> None:
    wanted = read_filter(text)
    assert [name for name in ("sidecar-one", "sidecar-two", "Job-one") if wanted(name)] == names


BAD_FILTERS = [
    ("one two", "'one two': 'two' can't stand here: join words by and, or, not"),
    ("one and", "a word is needed at the end"),
    ("and one", "a word is needed before 'and'"),
    ("not )", "a word is needed before ')'"),
    ("(one", "a parenthesis isn't closed"),
    ("one)", "'one)': ')' can't stand here: join words by and, or, not"),
]


@pytest.mark.parametrize(("text", "why"), BAD_FILTERS, ids=[row[0] for row in BAD_FILTERS])
def test_a_filter_that_cant_be_read(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        read_filter(text)


def scenario(name: str) -> Scenario:
    return Scenario(name=name, path=Path(name))


def test_progress_on_a_terminal_is_a_line_that_moves() -> None:
    out = io.StringIO()
    progress = Progress(out=out, total=2, is_terminal=True, width=30)
    progress.began(scenario("one"))
    progress.began(scenario("a-name-that-is-much-longer"))
    progress.ended(Result(name="one", file="f", error="oops"))
    progress.close()
    shown = out.getvalue().split("\r\x1b[K")
    assert shown == ["", "[0/2] one", "[0/2] one, a-name-that-is-mu…", "[1/2], 1 failed a-name-that-…", ""]


def test_progress_elsewhere_is_ten_lines() -> None:
    out = io.StringIO()
    progress = Progress(out=out, total=50, is_terminal=False)
    for n in range(50):
        progress.began(scenario(str(n)))
        progress.ended(Result(name=str(n), file="f", skipped="no" if n == 1 else "", error="oops" if n > 44 else ""))
    progress.close()
    lines = out.getvalue().splitlines()
    assert len(lines) == 10
    assert (lines[0], lines[-1]) == ("[ 5/50]", "[50/50], 5 failed")


def test_progress_of_a_few_is_nothing() -> None:
    out = io.StringIO()
    progress = Progress(out=out, total=1, is_terminal=False)
    progress.ended(Result(name="x", file="f"))
    assert out.getvalue() == ""


def test_a_worker_runs_what_comes_until_its_pipe_closes(tmp_path: Path) -> None:
    (tmp_path / "one.scenario.yaml").write_text(MANIFEST + REST)
    one = load_scenario(tmp_path / "one.scenario.yaml")
    handler = signal.getsignal(signal.SIGINT)
    ours, theirs = multiprocessing.Pipe()
    for each in (one, evolve(one, name="broken", expect=("<",))):
        ours.send(each)
    with socket.socket(fileno=os.dup(ours.fileno())) as end:
        end.shutdown(socket.SHUT_WR)
    try:
        work(theirs, SimulatedWorld())
    finally:
        signal.signal(signal.SIGINT, handler)
    good, broken = ours.recv(), ours.recv()
    assert good.passed
    assert good.seconds > 0
    assert broken.error.startswith("Traceback")
    assert not broken.passed
    for pipe in (ours, theirs):
        pipe.close()


def run(tmp_path: Path, **options: object) -> tuple[int, str, str]:
    """Run the scenarios of a folder and return status, stdout and stderr."""
    streams = Streams(out=io.StringIO(), err=io.StringIO())
    given = SuiteOptions(paths=(str(tmp_path),), **options)  # type: ignore[arg-type]
    status = execute(given, streams)
    return status, streams.out.getvalue(), streams.err.getvalue()  # type: ignore[attr-defined]


def test_a_recording_that_cant_be_read_is_a_bad_file(tmp_path: Path) -> None:
    (tmp_path / "one.scenario.yaml").write_text(MANIFEST + REST)
    (tmp_path / "one.trace.jsonl").write_text('{"t": 1}\n')
    status, out, _ = run(tmp_path, compare=True)
    assert status == 2
    assert f"  {tmp_path}/one.trace.jsonl:1:1: error: Invalid: a record is an object with t and kind" in out


def test_a_scenario_with_a_recording_is_compared(tmp_path: Path) -> None:
    (tmp_path / "one.scenario.yaml").write_text(MANIFEST + REST)
    assert run(tmp_path, trace_dir=tmp_path / "traces")[0] == 0
    (tmp_path / "one.trace.jsonl").write_text((tmp_path / "traces" / "one.jsonl").read_text())
    status, out, _ = run(tmp_path, compare=True)
    assert status == 0
    moments = out.splitlines()[-1].removeprefix("real v1.36.2 node, recorded: ").split()[0]
    assert out.splitlines()[-1] == f"real v1.36.2 node, recorded: {moments} of {moments} moments in the same order"


def test_a_trace_that_cant_be_written_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "one.scenario.yaml").write_text(MANIFEST + REST)
    (tmp_path / "traces" / "one.jsonl").mkdir(parents=True)
    status, _, err = run(tmp_path, trace_dir=tmp_path / "traces")
    assert status == 2
    assert err.startswith("error: --trace-dir: ")


FAULTS = [
    ("manifest: nowhere.yaml\n", "manifest", "nowhere.yaml: no such file"),
    ("manifest: []\n", "manifest", "there is no object to create"),
    ("manifest: [3]\n", "", "an object with apiVersion, kind and metadata is needed"),
    ("needs: [SidecarContainer]\n", "needs", "there is no need 'SidecarContainer'; did you mean 'SidecarContainers'?"),
    ("needs: [kubelet.noSuchField=1]\n", "needs", "KubeletConfiguration has no field 'noSuchField'"),
    ("steps: [{at: 1, do: {kubelet: sleep}}]\n", "steps[0].do.kubelet", "one of stop, start, restart, kill is needed"),
    ("steps: [{at: 1, do: {delete: now}}]\n", "steps[0].do.delete", "a mapping is needed, as in {delete: {}}"),
    ("steps: [{at: 1, do: {kill: {}}}]\n", "steps[0].do.kill", "container must be given, as in {kill: {container: c,"),
    ("steps: [{at: 1, do: {wait: {x: 1}}}]\n", "steps[0].do.wait.x", "wait takes no 'x'"),
    ("steps: [{at: 1, do: {evict: {nam: x}}}]\n", "steps[0].do.evict.nam", "did you mean 'name'?"),
    ("steps: [{at: 1, do: {node: {}}}]\n", "steps[0].do.node", "one of shutdown and label must be given"),
    ("steps: [{at: 1, do: {static: {write: no.yaml}}}]\n", "steps[0].do.static.write", "no.yaml: no such file"),
    ("steps: [{at: 1, do: {create: {apiVersion: v1, kind: Pot, metadata: {}}}}]\n", "kind", "v1 has no kind 'Pot'"),
    ("linger: x\n", "linger", "a number is needed, not 'x'"),
    ("group: 1\nabout: [1]\nexpects: []\n", "expects", "did you mean 'expect'?"),
    ('end: {after: "main strted"}\n', "end.after", "did you mean 'started'?"),
    ("expect: []\n", "expect", "a scenario without expectations proves nothing"),
    ("expect:\n- >-\n  phase =\n  Running\n", "expect[0]", "column 7"),
]


@pytest.mark.parametrize(("text", "path", "why"), FAULTS, ids=[row[2] for row in FAULTS])
def test_a_fault_of_a_scenario_file(tmp_path: Path, text: str, path: str, why: str) -> None:
    file = tmp_path / "one.scenario.yaml"
    keys = {line.partition(":")[0] for line in text.splitlines()}
    rest = "".join(line for line in REST.splitlines(keepends=True) if line.partition(":")[0] not in keys)
    file.write_text(text + rest + ("" if "manifest" in keys else MANIFEST))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    assert [problem.path for problem in caught.value.problems] == [path]
    assert why in caught.value.problems[0].text


def test_a_scenario_file_that_cant_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        load_scenario(tmp_path / "none.scenario.yaml")


PLACES = [
    ('expect: ["a \\"b\\" = 1"]\n', 'a "b" = 1', 6, 19),
    ("expect: ['it''s = 1']\n", "it's = 1", 5, 17),
    ("expect: [a = 1]\n", "a = 1", 2, 12),
]


@pytest.mark.parametrize(("text", "value", "index", "column"), PLACES, ids=["escapes", "quotes", "plain"])
def test_a_place_inside_a_text(text: str, value: str, index: int, column: int) -> None:
    documents, _ = read_plain("f", text.encode())
    assert documents[0].value == {"expect": [value]}
    assert documents[0].positions.inside("expect[0]", index) == (1, column)
    assert documents[0].positions.inside("expect", 0) is None
    assert documents[0].positions.value_node("expect[7]") is None


BLOCK = """about: |
  text
manifest: |

  apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec:
    containers: [{name: a, image: x, imge: y}]
  ---
  apiVersion: v1
  kind: ConfigMap
  metadata: {nam: c}
"""


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (BLOCK, [(9, 38), (13, 14)]),
        ('manifest: "apiVersion: v1\\nkind: Pod\\nmetadata: {name: p, x: 1}\\n"\n', [(3, 21)]),
        ("manifest: {apiVersion: v1, kind: Pod, metadata: {name: p}, x: 1}\n", [(1, 60)]),
    ],
    ids=["a block", "a quoted text", "an object"],
)
def test_a_fault_of_an_inline_manifest_has_its_own_place(
    tmp_path: Path, text: str, places: list[tuple[int, int]]
) -> None:
    file = tmp_path / "one.scenario.yaml"
    file.write_text(text + REST)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    unknown = [p for p in caught.value.problems if p.type == "Unknown field"]
    assert [(problem.line, problem.column) for problem in unknown] == places
