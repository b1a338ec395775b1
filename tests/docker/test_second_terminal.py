"""Commands of a second terminal beside a run on a real engine, as a user types them."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import images
import pytest
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

LIMIT_SECONDS = 60
PROGRAM = [sys.executable, "-u", "-m", "kubelet_emu"]
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 20
  initContainers:
  - {name: setup, image: IMAGE, command: [sh, -c, "echo ready"]}
  containers:
  - {name: app, image: IMAGE, command: [sh, -c, "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"]}
  - {name: helper, image: IMAGE, command: [sh, -c, "trap 'exit 3' USR1 TERM; echo on; while :; do sleep 0.1; done"]}
"""
STOPS_WHEN_TOLD = POD.replace(
    "trap 'echo bye; exit 0' TERM", "trap 'until [ -e /go ]; do sleep 0.1; done; exit 0' TERM"
)


@frozen
class Run:
    """A run, and the commands beside it."""

    root: Path
    process: subprocess.Popen[str]

    def ask(self, *words: str, stdin: str | None = None) -> tuple[int, str, str]:
        """Do a command; return its status, what it wrote and what it complained of."""
        name, *rest = words
        done = subprocess.run(
            [*PROGRAM, name, "--root-dir", str(self.root), *rest],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )
        return done.returncode, done.stdout, done.stderr

    def completed(self, *words: str) -> list[str]:
        """Return what a shell is offered for the last of these words."""
        name, *rest = words
        given = ["kubelet-emu", name, "--root-dir", str(self.root), *rest]
        environ = {"_KUBELET_EMU_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(given)}
        done = subprocess.run(
            PROGRAM,
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_SECONDS,
            env={**os.environ, **environ, "COMP_CWORD": str(len(given) - 1)},
        )
        return [line.removeprefix("plain,") for line in done.stdout.split()]


@contextmanager
def running(folder: Path, *options: str, pod: str = POD) -> Iterator[Run]:
    """Give a run whose pod is ready."""
    manifest, root = folder / "web.yaml", folder / "root"
    manifest.write_text(pod.replace("IMAGE", images.BUSYBOX))
    command = [*PROGRAM, "run", str(manifest), "--root-dir", str(root), "--timeout", "120", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(" is ready" in line for line in process.stderr)
        reader = threading.Thread(target=process.stderr.read)
        reader.start()
        try:
            yield Run(root, process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT_SECONDS)
            reader.join()


def test_a_pod_is_shown_asked_and_deleted_from_a_second_terminal(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path) as run:
        status, out, err = run.ask("ps")
        head, row = out.splitlines()
        assert (status, err, head.split()) == (0, "", ["NAME", "READY", "STATUS", "RESTARTS", "AGE"])
        assert row.split()[:4] == ["web", "2/2", "Running", "0"]
        assert run.ask("get", "pod/web", "-o", "name")[1] == "pod/web\n"
        assert json.loads(run.ask("ps", "web", "-o", "json")[1])["status"]["phase"] == "Running"
        assert "Started" in run.ask("get", "events", "--for", "web")[1]

        assert run.completed("logs", "w") == ["web"]
        assert run.completed("delete", "pod/") == ["pod/web"]
        assert run.completed("describe", "pod", "") == ["web"]
        assert run.completed("logs", "web", "-c", "") == ["app", "helper", "setup"]
        assert run.completed("get", "pods", "") == ["web"]

        defaulted = 'Defaulted container "app" out of: app, helper, setup (init)\n'
        assert run.ask("logs", "web") == (0, "up\n", defaulted)
        assert run.ask("logs", "web", "--all-containers", "--prefix")[1] == (
            "[pod/web/setup] ready\n[pod/web/app] up\n[pod/web/helper] on\n"
        )
        told = "command terminated with exit code 4\n"
        assert run.ask("exec", "web", "-c", "app", "--", "sh", "-c", "echo out; exit 4") == (4, "out\n", told)
        assert run.ask("exec", "-i", "web", "-c", "app", "--", "cat", stdin="through") == (0, "through", "")
        status, _, err = run.ask("exec", "web", "-c", "app", "--", "nosuch")
        assert (status, err[:74]) == (
            1,
            "error: Internal error occurred: error executing command in container: fail",
        )

        assert run.ask("kill", "web", "-c", "helper", "-s", "usr1")[1] == (
            'SIGUSR1 sent to container "helper" of pod "web"\n'
        )
        follow = [*PROGRAM, "logs", "--root-dir", str(run.root), "-f", "web", "-c", "app"]
        with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as follower:
            assert follower.stdout is not None
            assert follower.stdout.readline() == "up\n"
            assert run.ask("delete", "pod", "web")[:2] == (0, 'pod "web" deleted from default namespace\n')
            assert follower.communicate(timeout=LIMIT_SECONDS)[0] == "bye\n"
        assert follower.returncode == 0
        run.process.wait(LIMIT_SECONDS)
    assert run.ask("ps")[0] == 2
    assert list((run.root / "instances").iterdir()) == []


SECRETIVE = """\
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {token: CANARY-5up3r}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - &app
    name: app
    image: IMAGE
    env: [{name: T, valueFrom: {secretKeyRef: {name: keys, key: token}}}]
    command: [sh, -c, 'echo "$T" > /dev/termination-log; [ -e /files/1 ] || { touch /files/1; exit 3; }; sleep 100']
    volumeMounts: [{name: files, mountPath: /files}]
    readinessProbe:
      periodSeconds: 1
      exec: {command: [sh, -c, 'echo "$T"; [ -e /files/2 ] || { touch /files/2; exit 1; }']}
  volumes: [{name: files, emptyDir: {}}]
"""


def test_a_second_terminal_and_the_state_folder_have_no_value_of_a_secret(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path, pod=SECRETIVE) as run:
        asked = [
            run.ask(*words)
            for words in (
                ("get", "pods", "-o", "yaml"),
                ("ps", "web", "-o", "json"),
                ("describe", "pod", "web"),
                ("get", "events"),
                ("why", "web"),
            )
        ]
        folder = next((run.root / "instances").iterdir())
        kept = [file.read_text() for file in (*(folder / "objects").iterdir(), *folder.glob("*.json*"))]
    assert [status for status, *_ in asked] == [0] * 5
    assert [out for _, out, err in asked if "CANARY" in out + err] == []
    for shown in asked[:3]:
        assert "***" in shown[1]
    assert len(kept) > 2
    assert [text for text in kept if "CANARY" in text or "Q0FOQVJZ" in text] == []


def size(fd: int, rows: int, columns: int) -> None:
    """Give a terminal a size."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def seen(fd: int, wanted: bytes) -> bytes:
    """Return what a terminal shows, up to what is wanted."""
    shown = b""
    while wanted not in shown:
        ready, _, _ = select.select([fd], [], [], LIMIT_SECONDS)
        assert ready, shown
        try:
            shown += os.read(fd, 4096)
        except OSError as error:  # the command has ended
            raise AssertionError(shown) from error
    return shown


def test_a_shell_has_a_real_terminal(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path) as run:
        pid, fd = pty.fork()
        if pid == 0:
            words = ["exec", "--root-dir", str(run.root), "-it", "web", "-c", "app", "--", "sh"]
            os.execv(PROGRAM[0], [*PROGRAM, *words])  # noqa: S606 - our own program
        size(fd, 33, 99)
        seen(fd, b"/ # ")
        os.kill(pid, signal.SIGWINCH)
        os.write(fd, b"until stty size | grep '33 99'; do :; done\n")
        seen(fd, b"\n33 99\r\n")
        size(fd, 40, 120)
        os.write(fd, b"until stty size | grep '40 120'; do :; done\n")
        seen(fd, b"\n40 120\r\n")
        os.write(fd, b"echo be''gin; sleep 50\n")
        seen(fd, b"\nbegin\r\n")
        os.write(fd, b"\x03")
        seen(fd, b"^C")
        os.write(fd, b"exit 7\n")
        seen(fd, b"command terminated with exit code 7")
        _, status = os.waitpid(pid, 0)
        os.close(fd)
    assert os.waitstatus_to_exitcode(status) == 7


READS = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: shell, image: IMAGE, command: [sh], stdin: true, tty: true}
  - {name: once, image: IMAGE, command: [sh, -c, "cat; echo end; exit 3"], stdin: true, stdinOnce: true}
  - {name: reads, image: IMAGE, command: [sh, -c, "while read x; do echo got $x; done"], stdin: true}
"""
NOTED = "All commands and output from this session will be recorded in container logs, including credentials and "
PROMPT = "\nIf you don't see a command prompt, try pressing enter.\n"


def attached(run: Run, *words: str) -> tuple[int, int]:
    """Attach in a terminal; return the process and the terminal's other end."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(PROGRAM[0], [*PROGRAM, "attach", "--root-dir", str(run.root), *words])  # noqa: S606 - our own program
    return pid, fd


def test_a_terminal_is_attached_to_a_shell(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path, pod=READS) as run:
        pid, fd = attached(run, "-it", "web")
        size(fd, 33, 99)
        assert b'Defaulted container "shell" out of: shell, once, reads\r\n' in seen(fd, b"/ # ")
        os.kill(pid, signal.SIGWINCH)
        os.write(fd, b"until stty size | grep '33 99'; do :; done\r")
        seen(fd, b"\n33 99\r\n")
        os.write(fd, b"a=kept; echo be''gin; sleep 50\r")
        seen(fd, b"\nbegin\r\n")
        os.write(fd, b"\x03")
        seen(fd, b"^C")
        os.write(fd, b"\x10\x11")
        seen(fd, b"Session ended, resume using 'kubelet-emu attach web -c shell -n default -i -t' command\r\n")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        os.close(fd)

        pid, fd = attached(run, "-it", "-q", "web", "-c", "shell")  # the same shell goes on; who hangs up ends nothing
        os.write(fd, b"echo $a''!\r")
        assert b"Session" not in seen(fd, b"\nkept!\r\n")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)

        pid, fd = attached(run, "-it", "web", "-c", "shell")
        seen(fd, b"try pressing enter.")
        os.write(fd, b"exit 7\r")
        seen(fd, b"Session ended, resume using")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        os.close(fd)
        assert seen_exit(run, "shell") == 7


def seen_exit(run: Run, container: str) -> int:
    """Return the code that a container ended with, once its status tells."""
    while True:
        pod = json.loads(run.ask("ps", "web", "-o", "json")[1])
        (status,) = [each for each in pod["status"]["containerStatuses"] if each["name"] == container]
        ended = status["state"].get("terminated") or status["lastState"].get("terminated")
        if ended:
            return int(ended["exitCode"])


def test_what_is_piped_reaches_a_container_once(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path, pod=READS) as run:
        status, out, err = run.ask("attach", "-i", "web", "-c", "once", stdin="one\n")
        assert (status, out, err[: len(NOTED)], err[-len(PROMPT) :]) == (0, "one\nend\n", NOTED, PROMPT)
        assert seen_exit(run, "once") == 3
        told = "error: Unable to use a TTY - container reads did not allocate one\n"
        status, out, err = run.ask("attach", "-it", "web", "-c", "reads", stdin="two\n")
        assert (status, err[: len(told)], out) in {(0, told, ""), (0, told, "got two\n")}
        command = [*PROGRAM, "attach", "--root-dir", str(run.root), "-q", "web", "-c", "reads"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listening:
            assert listening.stdout is not None
            while run.ask("attach", "-i", "-q", "web", "-c", "reads", stdin="more\n")[0] == 0:
                if select.select([listening.stdout], [], [], 1)[0]:
                    break
            assert listening.stdout.readline() == "got more\n"
            listening.send_signal(signal.SIGINT)
            assert listening.wait(LIMIT_SECONDS) == 130


def test_a_session_ends_with_its_container_when_the_run_does(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path, pod=READS) as run:
        command = [*PROGRAM, "attach", "--root-dir", str(run.root), "-q", "-i", "web", "-c", "reads"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            assert session.stdin is not None
            assert session.stdout is not None
            session.stdin.write("word\n")
            session.stdin.flush()
            assert session.stdout.readline() == "got word\n"
            run.process.send_signal(signal.SIGINT)
            assert session.stdout.read() == ""
            assert session.wait(LIMIT_SECONDS) == 0
        status, _, err = run.ask("attach", "web")
    assert (status, err.split(":")[0]) == (2, "error") or "no run keeps its state" in err


def test_a_pod_is_debugged_among_the_processes_of_a_container(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path) as run:
        pid, fd = pty.fork()
        if pid == 0:
            words = [
                "--image",
                images.BUSYBOX,
                "--image-pull-policy",
                "Never",
                "--target",
                "app",
                "-c",
                "look",
                "--",
                "sh",
            ]
            told = [*PROGRAM, "debug", "--root-dir", str(run.root), "-it", "web", *words]
            os.execv(PROGRAM[0], told)  # noqa: S606 - our own program
        assert b'Targeting container "app".' in seen(fd, b"/ # ")
        os.write(fd, b"ps -o args | grep -c '[t]rap .echo bye'; echo do''ne\r")
        assert b"\n1\r\n" in seen(fd, b"\ndone\r\n")
        os.write(fd, b"exit 5\r")
        seen(fd, b"Session ended, the ephemeral container will not be restarted but may be reattached using")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        os.close(fd)
        command = ["--image", images.BUSYBOX, "--image-pull-policy", "Never", "-q", "--attach", "-c", "once"]
        assert run.ask("debug", "web", *command, "--", "sh", "-c", "sleep 2; echo seen; exit 4") == (0, "seen\n", "")
        status, _, err = run.ask("debug", "web", *command, "--", "true")
        assert (status, "Duplicate value" in err) == (1, True)


def test_a_terminal_shows_the_containers_as_they_live_and_stop(tmp_path: Path, engine: APIClient) -> None:
    del engine
    with running(tmp_path, pod=STOPS_WHEN_TOLD) as run:
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(PROGRAM[0], [*PROGRAM, "ps", "--root-dir", str(run.root), "-w"])  # noqa: S606 - our own program
        size(fd, 30, 120)
        shown = seen(fd, b"helper")
        assert b"setup (init)" in shown
        assert run.ask("delete", "web", "--wait=false")[0] == 0
        seen(fd, b"SIGKILL in ")
        assert run.ask("exec", "web", "-c", "app", "--", "touch", "/go")[0] == 0
        seen(fd, b"the run has ended")
        assert os.waitpid(pid, 0)[1] == 0
        os.close(fd)


def test_a_run_that_was_kept_answers_from_its_records(tmp_path: Path, engine: APIClient, kept_alone: None) -> None:
    del engine
    with running(tmp_path, "--keep") as run:
        assert run.ask("delete", "web", "--grace-period", "9")[0] == 0
        run.process.wait(LIMIT_SECONDS)
        status, out, err = run.ask("ps", "web")
        assert (status, out.splitlines()[1].split()[0]) == (0, "web")
        assert " has ended: this is what its records tell\n" in err
        assert run.ask("logs", "web", "-c", "app")[1] == "up\nbye\n"
        assert "Killing" in run.ask("get", "events")[1]
        assert run.ask("kill", "web")[0] == 2
        assert run.ask("prune")[0] == 0
    assert list((run.root / "instances").iterdir()) == []
