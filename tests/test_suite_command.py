"""`kubelet-emu test` as a user calls it, in virtual time."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.lifecycle.trace import Trace
from kubelet_emu.scenarios.checks import check_all
from kubelet_emu.scenarios.scenario_file import find_scenarios

if TYPE_CHECKING:
    from click.testing import Result

GIVEN = Path(__file__).parent.parent / "fixtures" / "scenarios"
SCENARIOS = len(find_scenarios(GIVEN))
SCENARIO = """
about: a pod that ends by itself
manifest:
  apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec:
    restartPolicy: Never
    containers:
    - {name: main, image: busybox, command: [sh, -c, "echo up; sleep 2; exit 3"]}
steps:
- {after: "main started", plus: 1, do: STEP}
end: pod terminal
expect:
- main exited(3) < pod phase(Failed)
- EXPECTATION
"""


def write(folder: Path, name: str, *, step: str = "wait", expectation: str = "phase == Failed") -> Path:
    """Write a scenario of one file."""
    file = folder / f"{name}.scenario.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SCENARIO.replace("STEP", step).replace("EXPECTATION", expectation))
    return file


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["test", *map(str, words)])


def test_a_scenario_that_holds(tmp_path: Path) -> None:
    done = call(write(tmp_path, "mine"))
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].startswith("ok    mine  2 checks, ")
    assert done.stdout.splitlines()[-1].startswith("1 scenario: 1 passed (")
    assert done.stderr == ""


def test_a_failed_check_names_its_line_and_what_decided_it(tmp_path: Path) -> None:
    file = write(tmp_path, "mine", expectation="exitcode(main) == 0")
    done = call(file)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:3] == [
        "FAIL  mine  1 of 2 checks",
        f"  {file}:16: exitcode(main) == 0",
        "      exitcode(main) is 3",
    ]


def test_a_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    write(tmp_path, "good")
    bad = write(tmp_path, "bad", expectation="phase = Failed")
    done = call(tmp_path)
    assert done.exit_code == 2
    assert done.stdout.splitlines()[:4] == [
        "BAD   bad",
        f'  {bad}:16:9: error: expect[1]: Invalid: a comparison is written "=="',
        "    16 | - phase = Failed",
        "                 ^",
    ]
    assert "ok    good" in done.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nowhere"], "error: nowhere: no such file or folder\n"),
        (["."], "error: .: no scenario here: a scenario.yaml, or a file *.scenario.yaml, at any depth\n"),
        (["-k", "x and", GIVEN], "error: -k: a word is needed at the end\n"),
        (["-k", "no-such-name", GIVEN], f"error: -k: none of {SCENARIOS} scenarios has such a name\n"),
    ],
    ids=["no such path", "nothing there", "a bad filter", "nothing is wanted"],
)
def test_nothing_to_run(words: list[object], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*words)
    assert (done.exit_code, done.stderr, done.stdout) == (2, text, "")


def test_a_trace_folder_that_cant_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = call(write(tmp_path, "mine"), "--trace-dir", tmp_path / "file" / "traces")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: --trace-dir: ")


def test_a_trace_that_cant_be_written(tmp_path: Path) -> None:
    (tmp_path / "traces" / "mine.jsonl").mkdir(parents=True)
    done = call(write(tmp_path, "mine"), "--trace-dir", tmp_path / "traces")
    assert done.exit_code == 2
    assert done.stderr == f"error: --trace-dir: {tmp_path / 'traces' / 'mine.jsonl'}: Is a directory\n"


def test_a_filter_and_jobs(tmp_path: Path) -> None:
    for n in range(7):
        write(tmp_path, f"one-{n}")
    write(tmp_path, "two", expectation="phase == X")
    done = call("-k", "one and not 3", "--jobs", "2", tmp_path)
    assert done.exit_code == 0
    names = [line.split()[1] for line in done.stdout.splitlines()[:-1]]
    assert names == ["one-0", "one-1", "one-2", "one-4", "one-5", "one-6"]


def test_json_is_all_there_is_on_stdout(tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "bad", expectation="phase == X")
    done = call("-o", "json", tmp_path)
    assert [each["status"] for each in json.loads(done.stdout)["scenarios"]] == ["failed", "passed"]


def test_junit_on_stdout(tmp_path: Path) -> None:
    write(tmp_path, "bad", expectation="phase == X")
    suite = ET.fromstring(call("-o", "junit", tmp_path).stdout)[0]  # noqa: S314 - our own
    assert suite.get("failures") == "1"


def test_what_was_recorded_reads_back_the_same(tmp_path: Path) -> None:
    names = [
        "case-06-job-done-file-workaround",
        "case-40-delete-now-still-sends-term",
        "kubelet-restart-during-backoff",
    ]
    folders = [GIVEN / name for name in names if (GIVEN / name).is_dir()]
    done = call("-o", "json", "--trace-dir", tmp_path / "traces", *folders)
    kinds = set()
    for each in json.loads(done.stdout)["scenarios"]:
        file = tmp_path / "traces" / f"{each['name']}.jsonl"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        lines = file.read_text().splitlines()
        records = [json.loads(line) for line in lines]
        kinds |= {record["kind"] for record in records}
        verdicts = check_all(Trace.of(records), [check["expectation"] for check in each["checks"]])
        assert [(verdict.holds, verdict.because.splitlines()) for verdict in verdicts] == [
            (check["holds"], check["because"]) for check in each["checks"]
        ]
    assert kinds >= {"status", "event", "log", "run", "cri", "step", "job", "deleted", "end"}


def test_two_scenarios_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(tmp_path / folder, "same")
    (tmp_path / "c" / "same").mkdir(parents=True)
    (tmp_path / "c" / "same" / "scenario.yaml").write_text(write(tmp_path, "one").read_text())
    done = call("--trace-dir", tmp_path / "traces", tmp_path, tmp_path / "a")
    assert done.exit_code == 0
    assert sorted(path.stem for path in (tmp_path / "traces").iterdir()) == ["a.same", "b.same", "c.same", "one"]


EXCLUDED = "- {scenario: NAME, runtime: simulated, waits_for: weather, reason: it rains}\n"


def test_what_is_excluded_runs_and_is_told(tmp_path: Path) -> None:
    write(tmp_path, "bad", expectation="phase == X")
    (tmp_path / "EXCLUDED.yaml").write_text(EXCLUDED.replace("NAME", "bad"))
    done = call(tmp_path)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "excluded bad: waits for weather: it rains"


def test_what_is_excluded_and_holds_is_a_failure(tmp_path: Path) -> None:
    write(tmp_path, "good")
    (tmp_path / "EXCLUDED.yaml").write_text(EXCLUDED.replace("NAME", "good"))
    done = call(tmp_path)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:2] == [
        "HOLDS good",
        "  it is excluded, but nothing fails: waits for weather: it rains",
    ]


def test_an_exclusion_is_found_from_the_scenarios_own_folder(tmp_path: Path) -> None:
    (tmp_path / "set" / "bad").mkdir(parents=True)
    (tmp_path / "set" / "bad" / "scenario.yaml").write_text(write(tmp_path, "x", expectation="phase == X").read_text())
    (tmp_path / "set" / "EXCLUDED.yaml").write_text(EXCLUDED.replace("NAME", "bad"))
    assert call(tmp_path / "set" / "bad").exit_code == 0


@pytest.mark.parametrize("text", ["- {scenario: x}\n", "a: [\n", "a: 1\n"], ids=["keys", "syntax", "no list"])
def test_exclusions_that_cant_be_read(tmp_path: Path, text: str) -> None:
    write(tmp_path, "good")
    (tmp_path / "EXCLUDED.yaml").write_text(text)
    done = call(tmp_path)
    assert done.exit_code == 2
    assert "BAD   EXCLUDED.yaml" in done.stdout
    assert "ok    good" in done.stdout


STEPS = [
    ("{kill: {container: nobody}}", "step 1 (kill): pod p has no container 'nobody'"),
    ("{delete: {pod: nobody}}", "step 1 (delete): no pod 'nobody'; there are p"),
    ("{sh: {command: exit 3}}", "step 1 (sh): the command ended with 3"),
    ("{create: {apiVersion: v1, kind: Pod, metadata: {name: p}}}", 'step 1 (create): pods "p" already exists'),
    ("{static: {remove: nobody}}", "step 1 (static): no pod 'nobody' was written"),
    ("{delete: {kind: Job, name: x}}", "step 1 (delete): one Job is meant, but there are 0 with name 'x'"),
    ("{delete: {pod: '@7'}}", "step 1 (delete): no pod '@7'; there are p"),
    ("{ephemeral: {container: {nam: x}}}", 'step 1 (ephemeral): unknown field "nam"'),
]


@pytest.mark.parametrize(("step", "text"), STEPS, ids=[row[0] for row in STEPS])
def test_a_step_that_cant_be_done_is_told_with_its_line(tmp_path: Path, step: str, text: str) -> None:
    file = write(tmp_path, "mine", step=step)
    done = call(file)
    assert done.exit_code == 1
    assert f"  {file}:12: {text}" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("step", "expectation"),
    [
        ("{condition: {type: my/gate, status: true}}", "condition(my/gate) == True"),
        ("{sh: {command: test -e mine.scenario.yaml}}", "some step#1 done"),
        ("{exec: {container: main, command: [touch, /x]}}", "some main started"),
        ("{kill: {container: main, signal: SIGKILL}}", "exitcode(main) == 137"),
    ],
    ids=["condition", "sh", "exec", "kill"],
)
def test_a_step_that_can_be_done(tmp_path: Path, step: str, expectation: str) -> None:
    file = write(tmp_path, "mine", step=step, expectation=expectation)
    file.write_text(file.read_text().replace("- main exited(3) < pod phase(Failed)\n", ""))
    assert call(file).exit_code == 0


def test_a_file_that_is_no_pod_is_no_static_pod(tmp_path: Path) -> None:
    file = write(tmp_path, "mine", step="{static: {write: mine.scenario.yaml}}")
    done = call(file)
    assert f"step 1 (static): {file} is not the manifest of one pod" in done.stdout


def test_a_step_whose_moment_never_comes_is_told(tmp_path: Path) -> None:
    file = write(tmp_path, "mine")
    file.write_text(file.read_text().replace("main started", "main ready[2]") + "timeout: 20\n")
    done = call(file)
    assert done.exit_code == 1
    assert (
        f"  {file}:12: step 1 (wait) was not done within 20 s: it waits for main ready[2]" in done.stdout.splitlines()
    )


def test_an_end_that_does_not_come_is_noted(tmp_path: Path) -> None:
    file = write(tmp_path, "mine", expectation="some main started")
    file.write_text(file.read_text().replace("pod terminal", "{after: 'main ready[2]', plus: 1}") + "timeout: 20\n")
    done = call(file)
    assert done.exit_code == 0
    assert "  note: its end (main ready[2] plus 1 s) did not come within 20 s" in done.stdout.splitlines()


def test_objects_of_one_name_can_t_both_be_created(tmp_path: Path) -> None:
    file = write(tmp_path, "mine")
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: b}]}}"
    file.write_text(f"manifest: [{pod}, {pod}]\nend: pod terminal\nexpect: [some a started]\n")
    done = call(file)
    assert done.exit_code == 1
    assert "already exists" in done.stdout


@pytest.mark.parametrize(
    ("jobs", "others", "who"),
    [("1", 1, "$PPID"), ("2", 6, "$(cut -d' ' -f4 /proc/$PPID/stat)")],
    ids=["in the process itself", "with workers"],
)
def test_an_interrupt_ends_cleanly_with_what_is_known(tmp_path: Path, jobs: str, others: int, who: str) -> None:
    for n in range(others):
        write(tmp_path, f"a-{n}")
    last = write(tmp_path, "z", step=f'{{sh: {{command: "kill -INT {who}; exec sleep 5 2>/dev/null"}}}}')
    last.write_text(last.read_text().replace("end: pod terminal", "end: {seconds: 9}"))
    for file in tmp_path.glob("a-*"):
        file.write_text(file.read_text().replace("end: pod terminal", "end: {seconds: 10}"))
    command = [sys.executable, "-m", "kubelet_emu", "test", "--jobs", jobs, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "interrupted: what is told is of the scenarios that had ended\n"
    *lines, summary = done.stdout.splitlines()
    assert len(lines) >= others - 1
    assert summary.startswith(f"{len(lines)} scenario")


def test_a_worker_that_dies_is_the_outcome_of_its_scenario(tmp_path: Path) -> None:
    for n in range(5):
        write(tmp_path, f"a-{n}")
    write(tmp_path, "b", step="{sh: {command: kill -KILL $PPID}}")
    done = call("--jobs", "2", tmp_path)
    assert done.exit_code == 1
    assert "the process that ran this scenario died" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("6 scenarios: 5 passed, 1 failed ")


def test_docker_without_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert call("--runtime", "docker", write(tmp_path, "mine")).exit_code == 3
