"""Drills: the phases of a life, what each shutdown was like, and how it is shown; in virtual time."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.drill.driving import Drill, run_drill
from kubelet_emu.drill.machine import as_json, as_junit
from kubelet_emu.drill.outcome import Shutdown
from kubelet_emu.drill.text import format_drill
from kubelet_emu.embedding.options import NodeOptions

SLIDES = Path(__file__).parent.parent / "fixtures" / "slides"
DEAF = """\
apiVersion: v1
kind: Pod
metadata: {name: deaf}
spec:
  terminationGracePeriodSeconds: 4
  initContainers:
  - name: proxy
    image: busybox
    restartPolicy: Always
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
    lifecycle: {preStop: {exec: {command: [sleep, "10"]}}}
  containers:
  - {name: main, image: busybox, command: [sleep, "1000"]}
"""
WAITING = """\
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec:
  containers:
  - {name: main, image: busybox, envFrom: [{configMapRef: {name: none}}]}
"""
NO_READINESS = """\
apiVersion: v1
kind: Pod
metadata: {name: never-ready}
spec:
  containers:
  - name: main
    image: busybox
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
    readinessProbe: {exec: {command: ["false"]}}
"""


@cache
def deaf_drill() -> Drill:
    """Return the drill of the pod whose containers don't listen."""
    return run_drill(DEAF, NodeOptions())


def names(drill: Drill) -> list[str]:
    """Return the phases of a drill."""
    return [shutdown.phase for shutdown in drill.shutdowns]


@pytest.mark.parametrize(
    ("slide", "phases"),
    [
        (
            "slide-15-pod.yaml",
            [
                "init init-1",
                "init init-2",
                "postStart of regular-1",
                "when ready",
                "again during preStop",
                "sidecar-1 in back-off",
                "sidecar-2 in back-off",
                "kubelet restarts meanwhile",
            ],
        ),
        (
            "slide-17-pod.yaml",
            [
                "gate of sidecar-1",
                "when ready",
                "sidecar-1 in back-off",
                "sidecar-2 in back-off",
                "kubelet restarts meanwhile",
            ],
        ),
        (
            "slide-19-job.yaml",
            [
                "init init-1",
                "when ready",
                "sidecar-1 in back-off",
                "kubelet restarts meanwhile",
                "regular-1 exits itself",
            ],
        ),
    ],
)
def test_a_drill_finds_the_phases_of_a_life_and_each_goes_well(slide: str, phases: list[str]) -> None:
    drill = run_drill(str(SLIDES / slide), NodeOptions())
    assert names(drill) == phases
    assert [shutdown.faults for shutdown in drill.shutdowns] == [()] * len(phases)
    assert all(shutdown.used is not None and shutdown.used <= shutdown.grace for shutdown in drill.shutdowns)


def test_what_ignores_term_needs_sigkill_and_a_long_hook_is_cut_short() -> None:
    ready = deaf_drill().shutdowns[0]
    assert ready.phase == "when ready"
    assert ready.killed == ("main",)
    assert ready.cut_short == ("proxy",)
    assert ready.codes == (("proxy", 0), ("main", 137))
    assert ready.is_in_order
    assert ready.faults == ("main needed SIGKILL", "the preStop hook of proxy was cut short")
    assert ready.used is not None
    assert 4 <= ready.used < 7


def test_a_pod_that_never_starts_says_what_it_waits_for() -> None:
    drill = run_drill(WAITING, NodeOptions())
    assert drill.shutdowns == ()
    assert drill.waits_for == 'Failed: Error: configmap "none" not found'
    assert format_drill(drill, 80) == f"waits: nothing to drill: no container of it ever started: {drill.waits_for}\n"
    assert json.loads(as_json(drill)) == {"pod": "waits", "shutdowns": [], "waitsFor": drill.waits_for}


def test_a_pod_that_never_gets_ready_is_drilled_while_it_runs() -> None:
    drill = run_drill(NO_READINESS, NodeOptions(timeout=60), lambda name: name == "when ready")
    assert names(drill) == ["when ready"]
    assert drill.shutdowns[0].faults == ()


def test_progress_hears_of_every_phase() -> None:
    heard: list[str] = []
    run_drill(DEAF, NodeOptions(), lambda name: name == "when ready", heard.append)
    assert heard == ["undisturbed", "when ready"]


SHORT = """\
apiVersion: batch/v1
kind: Job
metadata: {name: short}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - name: helper
        image: busybox
        restartPolicy: Always
        command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
      containers: [{name: work, image: busybox, command: [sleep, "2"]}]
"""


def test_a_phase_that_is_not_reached_is_no_shutdown_that_went_badly() -> None:
    drill = run_drill(SHORT, NodeOptions())
    missed = [shutdown for shutdown in drill.shutdowns if shutdown.unreached]
    assert [shutdown.phase for shutdown in missed] == ["helper in back-off"]
    assert missed[0].faults == ()
    text = format_drill(drill, 100)
    assert "not reached" in text
    assert text.endswith("; 1 not reached: the pod was over before\n")
    suite = ET.fromstring(as_junit(drill))  # noqa: S314 - our own
    assert suite.find("testcase[@name='helper in back-off']/skipped") is not None


CRASHING = """\
apiVersion: v1
kind: Pod
metadata: {name: crashing}
spec:
  terminationGracePeriodSeconds: 10
  initContainers:
  - {name: first, image: app, restartPolicy: Always}
  - {name: second, image: busybox, restartPolicy: Always, command: [sh, -c, "exit 3"]}
  containers: [{name: main, image: app}]
"""


def test_a_sidecar_that_crashes_by_itself_is_not_killed_to_get_there() -> None:
    drill = run_drill(CRASHING, NodeOptions(), lambda name: name == "second in back-off")
    (shutdown,) = drill.shutdowns
    assert (shutdown.unreached, shutdown.by_drill, shutdown.faults) == ("", (), ())
    assert ("second", 3) in shutdown.codes
    assert "killed by the drill" not in format_drill(drill, 100)


def test_a_pod_that_does_not_go_is_a_fault() -> None:
    late = Shutdown(phase="when ready", error="pod deleted: did not come in 60 s")
    assert late.faults == ("pod deleted: did not come in 60 s",)


@pytest.mark.parametrize(("code", "is_told"), [(137, True), (0, False)])
def test_what_the_drill_killed_is_marked_where_its_code_is_shown(code: int, *, is_told: bool) -> None:
    killed = Shutdown(phase="proxy in back-off", codes=(("proxy", code),), by_drill=("proxy",))
    text = format_drill(Drill(pod="p", shutdowns=(killed,), phases=(killed.phase,)), 120)
    assert ("proxy=137*" in text) == is_told
    assert ("* killed by the drill on its way there" in text) == is_told


def test_the_matrix_names_each_fault_once() -> None:
    text = format_drill(deaf_drill(), 120)
    assert text.splitlines()[0].split() == [
        "deleted",
        "at",
        "grace",
        "killed",
        "order",
        "hooks",
        "cut",
        "exit",
        "codes",
    ]
    assert "██████████" in text
    assert text.count("main needed SIGKILL") == 1
    assert "✗ main needed SIGKILL: in every phase" in text
    assert text.endswith("\ndeaf: 0 of 4 shutdowns went well, 4 did not\n")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    rows = format_drill(deaf_drill(), width).splitlines()[: 1 + len(deaf_drill().shutdowns)]
    assert max(map(len, rows)) <= width


def test_good_and_bad_rows_are_painted() -> None:
    good = Shutdown(phase="when ready", used=0.5, deleted_at=1.0, codes=(("c", 0),))
    bad = Shutdown(phase="again", used=None, killed=("c",))
    drill = Drill(pod="p", shutdowns=(good, bad))
    text = format_drill(drill, 120, lambda line, is_good: f"{'+' if is_good else '-'}{line}")
    lines = text.splitlines()
    assert lines[1].startswith("+when ready")
    assert lines[2].startswith("-again")
    assert "all 0" in lines[1]
    assert "nothing ran" in lines[2]
    assert lines[-1] == "p: 1 of 2 shutdowns went well, 1 did not"


def test_junit_has_a_case_for_each_phase() -> None:
    suite = ET.fromstring(as_junit(deaf_drill()))  # noqa: S314 - our own
    assert suite.get("failures") == suite.get("tests") == "4"
    failure = suite.find("testcase[@name='when ready']/failure")
    assert failure is not None
    assert failure.get("message") == "main needed SIGKILL"


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["-k", "when ready"], 1, "deaf: 0 of 1 shutdowns went well"),
        (["-k", "no such"], 2, "there are when ready, again during preStop, proxy in back-off"),
        (["-k", "when ready", "-o", "json"], 1, '"killed": [\n        "main"'),
        (["-k", "when ready", "-o", "junit"], 1, "<testsuite"),
        (["--kubernetes", "1.12"], 2, "version '1.12' is not one of"),
    ],
)
def test_the_command_ends_with_the_verdict(tmp_path: Path, arguments: list[str], status: int, text: str) -> None:
    (tmp_path / "pod.yaml").write_text(DEAF)
    ran = CliRunner().invoke(main, ["drill", str(tmp_path / "pod.yaml"), *arguments])
    assert ran.exit_code == status
    assert text in ran.output


def test_a_good_drill_from_standard_input_exits_0() -> None:
    text = (SLIDES / "slide-19-job.yaml").read_text()
    ran = CliRunner().invoke(main, ["drill", "-", "-k", "when ready"], input=text)
    assert (ran.exit_code, "1 of 1 shutdowns went well" in ran.output) == (0, True)


def test_a_bad_manifest_is_named(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["drill", str(tmp_path / "none.yaml")])
    assert ran.exit_code == 2
    assert "none.yaml:1:1: error: " in ran.output


def test_without_an_engine_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    (tmp_path / "pod.yaml").write_text(DEAF)
    ran = CliRunner().invoke(main, ["drill", "--runtime", "docker", str(tmp_path / "pod.yaml")])
    assert ran.exit_code == 3
    assert "no container engine" in ran.output


@pytest.mark.parametrize(
    ("pods", "text"), [(2, "this has 2: Pod default/p0, Pod default/p1; write"), (0, "has 0: none")]
)
def test_one_pod_is_drilled_at_a_time(tmp_path: Path, pods: int, text: str) -> None:
    manifest = tmp_path / "several.yaml"
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    spec = "spec: {containers: [{name: m, image: app}]}"
    each = [f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\n{spec}\n" for n in range(pods)]
    manifest.write_text("---\n".join([config, *each]))
    ran = CliRunner().invoke(main, ["drill", str(manifest)])
    assert ran.exit_code == 2
    assert ran.stderr.startswith(f"{manifest}: one Pod or Job is taken at a time, and this has ")
    assert text in ran.stderr
