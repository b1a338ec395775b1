"""Standard streams that are closed, full or unread, as a shell gives them to the program."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 60
TALKER = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: "busybox:1", command: [sh, -c, "for i in $(seq 1500); do echo number $i of many lines; done"]}
"""
FULL = "error: stdout: No space left on device\n"
GONE = "error: stdout: its reader has gone\n"
CLOSED = "warning: stdout is closed: what belongs there is not shown\n"
SHORT = {"help": ("--help",), "a manifest that is shown": ("demo", "--show"), "json": ("validate", "-o", "json", "-")}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Write a pod that writes more than a pipe holds."""
    path = tmp_path / "pod.yaml"
    path.write_text(TALKER)
    return path


def shell(words: tuple[str, ...], redirection: str, text: str | None = TALKER) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([sys.executable, '-m', 'kubelet_emu', *words])} {redirection}"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


@pytest.mark.parametrize("words", SHORT.values(), ids=SHORT.keys())
@pytest.mark.parametrize(("redirection", "status", "told"), [(">/dev/full", 1, FULL), (">&-", 0, CLOSED)])
def test_a_stdout_that_cant_be_written_is_one_line(
    words: tuple[str, ...], redirection: str, status: int, told: str
) -> None:
    done = shell(words, redirection)
    assert (done.returncode, done.stderr) == (status, told)


@pytest.mark.parametrize("words", SHORT.values(), ids=SHORT.keys())
def test_a_reader_who_has_gone_is_one_line(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "kubelet_emu", *words],
            input=TALKER,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    assert (done.returncode, done.stderr) == (1, GONE)


def test_a_stderr_that_is_closed_or_full_changes_nothing(manifest: Path) -> None:
    for redirection in ("2>&-", "2>/dev/full"):
        done = shell(("validate", str(manifest)), redirection)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_stdin_that_is_closed_is_a_fault_of_its_own() -> None:
    done = shell(("validate", "-"), "<&-")
    assert done.returncode == 2
    assert done.stdout.startswith("<stdin>:1:1: error: Unreadable: standard input is closed\n")


def test_a_closed_stdout_is_no_file_of_ours(manifest: Path, tmp_path: Path) -> None:
    words = ("run", "--runtime", "simulated", str(manifest), "--trace", str(tmp_path / "trace"))
    done = shell(words, ">&- <&-")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(CLOSED)
    assert all(line.startswith('{"t": ') for line in (tmp_path / "trace").read_text().splitlines())


def launch(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kubelet_emu", "run", "--runtime", "simulated", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


WAITING = "everything has ended; waiting for whoever reads stdout (Ctrl-C leaves without)\n"


def until_it_waits(process: subprocess.Popen[str]) -> str:
    """Read stderr, and nothing else, until the run has ended."""
    assert process.stderr is not None
    seen = ""
    for line in process.stderr:
        seen += line
        if line == WAITING:
            break
    return seen


def test_a_run_ends_while_nobody_reads_and_every_line_comes_later(manifest: Path) -> None:
    process = launch(str(manifest))
    seen = until_it_waits(process)
    assert "web  Succeeded\n" in seen
    out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0
    assert [line.split(" ", 3)[3] for line in out.splitlines()] == [f"number {i} of many lines" for i in range(1, 1501)]


def test_ctrl_c_leaves_a_reader_who_sleeps(manifest: Path) -> None:
    process = launch(str(manifest))
    until_it_waits(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(LIMIT) == 0
    process.communicate()


def test_a_log_that_nobody_reads_loses_nothing(manifest: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    reader = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    process = launch(str(manifest), "--log", str(tmp_path / "log"), "--seed", "1")
    out, err = "", ""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(1500)]
    with os.fdopen(reader) as log:
        written = log.read()
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out) == (0, ""), err
    assert len(lines) == 1500
    launch(str(manifest), "--log", str(tmp_path / "file"), "--seed", "1").communicate(timeout=LIMIT)
    assert written == (tmp_path / "file").read_text()
