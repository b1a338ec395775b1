"""Why a pod waits: recordings of a real node, cut at a moment, and what is said of them."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from kubelet_rig import a_node, a_pod, container

from kubelet_emu.cli.main import main
from kubelet_emu.journal.facts import LOST_SANDBOX
from kubelet_emu.kubelet.timing import KUBELET
from kubelet_emu.lifecycle.explaining import endings_of, explain
from kubelet_emu.lifecycle.reading import read_logs
from kubelet_emu.lifecycle.reading.logs import log_of_entries
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.manifests import load

if TYPE_CHECKING:
    from trio.testing import MockClock

    from kubelet_emu.lifecycle.history import PodHistory

FOLDER = Path(__file__).parent.parent / "fixtures" / "scenarios"


def cut(scenario: str, lines: int) -> PodHistory:
    """Return the first pod of a recording that was stopped after so many lines; 0 is the whole."""
    folder = FOLDER / scenario
    text = (folder / "trace.jsonl").read_text().splitlines(keepends=True)[: lines or None]
    objects = [loaded.object for loaded in load((str(folder / "manifest.yaml"),)).objects]
    return recount(read_logs([BytesIO("".join(text).encode())], manifests=objects)).pods[0]


WAITS = [
    ("case-48-first-crash-restarts-at-once", 6, "is starting"),
    ("case-48-first-crash-restarts-at-once", 26, "crash has ended 2 times, last with 1, and is in back-off 10s"),
    ("crashloop-exit-0", 43, "a has ended 4 times, last with 0, and is in back-off 20s"),
    ("case-56-termination-message-file", 16, "a is done; the pod ends when b does"),
    ("case-57-termination-message-from-logs", 17, "runs and waits for good to end"),
    ("case-68-sidecar-readiness-counts-for-the-pod", 51, "proxy is not ready: Readiness probe failed (6 times)"),
    ("cfg-missing-configmap", 11, 'a can\'t start: configmap "cm" not found'),
    (
        "cfg-missing-secret-volume",
        8,
        'can\'t start: MountVolume.SetUp failed for volume "s" : secret "sec" not found',
    ),
    ("conditions-in-order-with-init", 13, "init container first runs and has not ended"),
    ("container-never-in-always-pod", 16, "main exited 1 and is about to be restarted"),
    ("init-fails-always", 17, "init container first exited 1"),
    (
        "deleted-containers-stopped-together",
        30,
        "is being deleted and waits for fast, slow, stuck to end; 4 s of 5 s grace are left, then SIGKILL",
    ),
    ("prestop-hangs-obeys-term", 24, "is being deleted and waits for the preStop hook of a"),
    (
        "e2e-sidecar-startup-probe-fails",
        21,
        "sidecar sidecar-1 has not passed its startup probe: Startup probe failed (once)",
    ),
    (
        "sidecar-exceeds-grace",
        9,
        "the postStart hook of sidecar sidecar-1 has not ended; nothing behind it starts before",
    ),
    ("probe-all-three", 13, "a has not passed its startup probe"),
    ("job-sidecar-ignores-term", 16, "its mains have ended and it waits for s1 to stop"),
    ("never-one-fails-one-running", 17, "runs and waits for bad, good to end"),
    ("grace-delete-force-0", 20, "was deleted"),
    ("delete-again-with-less-grace", 29, "Failed: main exited 137"),
    (
        "refused-wrong-os",
        4,
        "Failed: PodOSNotSupported, Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
    ),
    ("case-36-sidecar-prestop-runs-at-job-end", 0, "Succeeded"),
]


@pytest.mark.parametrize(("scenario", "lines", "text"), WAITS, ids=[f"{row[0]}@{row[1]}" for row in WAITS])
def test_a_pod_says_what_it_waits_for(scenario: str, lines: int, text: str) -> None:
    answer = explain(cut(scenario, lines))
    assert answer.text == text
    assert answer.since is None or answer.since >= 0


def test_an_image_that_cant_be_had_is_told_with_the_registrys_words() -> None:
    answer = explain(cut("image-not-found-delete", 20))
    assert answer.text.startswith(
        "a can't start, its image 127.0.0.1:5000/kemu/nosuch:1 can't be had: Failed to pull image"
    )
    assert answer.is_stuck


@pytest.mark.parametrize(
    ("policy", "text"),
    [("Never", LOST_SANDBOX), ("OnFailure", "init container i runs and has not ended")],
)
async def test_a_pod_without_a_sandbox_says_whether_it_gets_another(
    policy: str, text: str, autojump_clock: MockClock
) -> None:
    async with a_node(timing=KUBELET) as node:
        node.create(a_pod(container("main"), init=(container("i"),), restart_policy=policy))
        await node.until(5)
        await node.runtime.kill_pod_sandbox((await node.runtime.list_pod_sandboxes())[0].id)
        await node.until(90)
        answer = explain(recount(log_of_entries(tuple(node.entries), file="<node>")).pods[0])
        assert answer.text == text
        assert answer.is_stuck is (policy == "Never")


def test_a_pod_that_has_just_ended_has_not_lost_its_sandbox() -> None:
    assert explain(cut("plain-failure-never", 0)).text.startswith("Failed")


def test_a_plain_sidecar_that_keeps_a_job_alive_is_told_with_the_change() -> None:
    answer = explain(cut("case-01-job-plain-sidecar-never-ends", 0))
    assert answer.text == "report is done; the pod ends when proxy does"
    assert answer.fix == (
        (
            "if proxy is a helper that doesn't end by itself, move it from containers to initContainers "
            "and give it restartPolicy: Always"
        ),
    )
    assert answer.is_stuck


ENDINGS = [
    (
        "case-36-sidecar-prestop-runs-at-job-end",
        (
            ("uploader", "exited 0: stopped by the kubelet since the pod's mains had ended"),
            ("export", "exited 0 by itself"),
        ),
    ),
    (
        "deleted-killed-always",
        (
            (
                "main",
                "exited 137: killed by the kubelet when its grace of 1 s was over, stopped since the pod was deleted",
            ),
        ),
    ),
]


@pytest.mark.parametrize(("scenario", "endings"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_each_run_says_who_ended_it(scenario: str, endings: tuple[tuple[str, str], ...]) -> None:
    assert endings_of(cut(scenario, 0)) == endings


def test_an_out_of_memory_kill_is_told() -> None:
    pod = cut("oom-killed-init", 0)
    assert any("out of memory" in ending for _, ending in endings_of(pod))


@pytest.mark.parametrize("folder", sorted(FOLDER.glob("*/trace.jsonl"))[::7], ids=lambda path: path.parent.name)
def test_every_recording_is_explained_wherever_it_is_cut(folder: Path) -> None:
    lines = folder.read_text().splitlines(keepends=True)
    objects = [loaded.object for loaded in load((str(folder.parent / "manifest.yaml"),)).objects]
    for end in range(5, len(lines), max(1, len(lines) // 6)):
        log = read_logs([BytesIO("".join(lines[:end]).encode())], manifests=objects)
        for pod in recount(log).pods:
            answer = explain(pod)
            assert answer.text
            assert answer.since is None or answer.since <= pod.ended_at
            endings_of(pod)


def why(*arguments: str) -> tuple[int, str]:
    """Run the command and return its exit status and output."""
    ran = CliRunner().invoke(main, ["why", *arguments])
    return ran.exit_code, ran.output


def test_the_command_says_since_when_and_exits_1_when_it_is_stuck() -> None:
    folder = FOLDER / "case-01-job-plain-sidecar-never-ends"
    status, text = why(str(folder / "trace.jsonl"), "-f", str(folder / "manifest.yaml"))
    assert status == 1
    assert ": report is done; the pod ends when proxy does (since " in text
    assert "\n  fix: if proxy is a helper" in text
    assert "\n  report exited 0 by itself" in text


def test_the_command_writes_json() -> None:
    folder = FOLDER / "case-36-sidecar-prestop-runs-at-job-end"
    status, text = why(str(folder / "trace.jsonl"), "-f", str(folder / "manifest.yaml"), "-o", "json")
    (row,) = json.loads(text)
    assert status == 0
    assert (row["text"], row["isStuck"]) == ("Succeeded", False)
    assert row["endings"]["export"] == "exited 0 by itself"


def test_a_pod_that_is_not_in_the_log_is_named() -> None:
    folder = FOLDER / "case-36-sidecar-prestop-runs-at-job-end"
    status, text = why(str(folder / "trace.jsonl"), "--pod", "other")
    assert status == 2
    assert "no pod other in this log; there are export-" in text


SLIDES = FOLDER.parent / "slides"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["slide-16.log"], "pod-with-sidecar: all its containers have ended"),
        (["slide-20.log", "-f", str(SLIDES / "slide-19-job.yaml")], "all its containers have ended"),
    ],
)
def test_lines_alone_tell_only_who_has_ended(arguments: list[str], text: str) -> None:
    status, output = why(str(SLIDES / arguments[0]), *arguments[1:])
    assert status == 0
    assert text in output


def test_a_log_without_pods_says_so(tmp_path: Path) -> None:
    (tmp_path / "cut.log").write_text('{"t":0.0,"n":1,"kind":"header","epoch":"2026-01-01T00:00:00Z"}\n')
    status, output = why(str(tmp_path / "cut.log"))
    assert (status, output) == (2, "error: the log tells of no pod\n")
