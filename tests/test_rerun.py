"""A lifecycle log run once more: the same course where nothing changed, differences where something did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.embedding.rerun import Difference, RerunError, rerun
from kubelet_emu.lifecycle.reading import read_logs

ROOT = Path(__file__).parent.parent
CRASHES = """\
apiVersion: v1
kind: Pod
metadata: {name: crash}
spec:
  containers:
  - {name: main, image: busybox, command: [sh, -c, "echo up; sleep 2; exit 3"]}
"""

SLOW = """\
apiVersion: v1
kind: Pod
metadata: {name: slow}
spec:
  initContainers:
  - name: side
    image: app:1
    restartPolicy: Always
    startupProbe: {timeoutSeconds: 9, exec: {command: [check]}}
  containers:
  - {name: main, image: app:2}
"""


def run(manifest: Path, log: Path, *options: str) -> None:
    """Run a manifest simulated and keep its log."""
    CliRunner().invoke(main, ["run", "--runtime", "simulated", str(manifest), "--log", str(log), *options])


@pytest.mark.parametrize(
    ("manifest", "options", "compared"),
    [
        ("slide-15-pod.yaml", ("--delete-when", "ready+5"), 10),
        ("slide-19-job.yaml", (), 6),
        ("slide-19-job.yaml", ("--delete-when", "ready+1"), 6),
    ],
)
def test_a_run_goes_the_same_way_again(tmp_path: Path, manifest: str, options: tuple[str, ...], compared: int) -> None:
    run(ROOT / "fixtures" / "slides" / manifest, tmp_path / "run.log", "--seed", "3", *options)
    again = rerun(read_logs([tmp_path / "run.log"]))
    assert (again.compared, again.differences) == (compared, ())


def test_a_crash_loop_goes_the_same_way_again(tmp_path: Path) -> None:
    (tmp_path / "crash.yaml").write_text(CRASHES)
    run(tmp_path / "crash.yaml", tmp_path / "run.log", "--until", "120", "--seed", "5")
    again = rerun(read_logs([tmp_path / "run.log"]))
    assert again.differences == ()
    assert again.compared >= 10


def test_what_a_slow_probe_holds_up_comes_as_late_again(tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(SLOW)
    (tmp_path / "slow.simulate.yaml").write_text("containers: {side: {commands: {check: {takes: 7}}}}")
    run(tmp_path / "slow.yaml", tmp_path / "run.log", "--until", "30", "--seed", "5")
    again = rerun(read_logs([tmp_path / "run.log"]), tolerance_seconds=1.0)
    assert (again.compared, again.differences) == (4, ())


def test_a_log_that_tells_another_course_is_found(tmp_path: Path) -> None:
    run(ROOT / "fixtures" / "slides" / "slide-19-job.yaml", tmp_path / "run.log", "--seed", "3")
    lines = (tmp_path / "run.log").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        late = record["kind"] in {"run", "log"} and record.get("container") == "sidecar-1"
        record["t"] += 7 if late and record.get("what") != "exit" else 0
    (tmp_path / "late.log").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    ran = CliRunner().invoke(main, ["replay", "--rerun", str(tmp_path / "late.log")])
    assert ran.exit_code == 1
    assert "sidecar-1 started at " in ran.output
    ran = CliRunner().invoke(main, ["replay", "--rerun", str(tmp_path / "late.log"), "-o", "json"])
    assert json.loads(ran.output)["differences"][0]["what"] == "sidecar-1 started"


def test_the_command_counts_what_it_compared(tmp_path: Path) -> None:
    run(ROOT / "fixtures" / "slides" / "slide-19-job.yaml", tmp_path / "run.log")
    ran = CliRunner().invoke(main, ["replay", "--rerun", "--tolerance", "3", str(tmp_path / "run.log")])
    assert (ran.exit_code, ran.output) == (0, "6 of 6 starts and exits at the same time, within 3 s\n")


@pytest.mark.parametrize(
    ("recorded", "now", "text"),
    [
        (1.0, 2.5, "p: main started at 1.00 s, in the rerun at 2.50 s"),
        (1.0, None, "p: main started at 1.00 s, not in the rerun"),
        (None, 2.5, "p: main started only in the rerun, at 2.50 s"),
    ],
)
def test_a_difference_is_a_sentence(recorded: float | None, now: float | None, text: str) -> None:
    assert str(Difference(pod="p", what="main started", recorded=recorded, rerun=now)) == text


def test_only_own_logs_can_be_run_again(tmp_path: Path) -> None:
    slide = ROOT / "fixtures" / "slides" / "slide-20.log"
    with pytest.raises(RerunError, match="only lifecycle logs of kubelet-emu"):
        rerun(read_logs([slide]))
    assert CliRunner().invoke(main, ["replay", "--rerun", str(slide)]).exit_code == 2
    run(ROOT / "fixtures" / "slides" / "slide-19-job.yaml", tmp_path / "run.log")
    header = (tmp_path / "run.log").read_text().splitlines()[0]
    (tmp_path / "empty.log").write_text(header + "\n")
    ran = CliRunner().invoke(main, ["replay", "--rerun", str(tmp_path / "empty.log")])
    assert ran.exit_code == 2
