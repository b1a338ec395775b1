"""What becomes of second terminals when their run goes away, and of the run when they do."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import images
import pytest
from attrs import frozen
from kept import nothing_else_kept
from killed_runs import Killed, left
from registry import free_port
from terminals import PROGRAM, Command, at_a_terminal, at_pipes, come_down, open_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

LIMIT_SECONDS = 60
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 9
  containers:
  - name: app
    image: IMAGE
    command:
    - sh
    - -c
    - "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"
"""
LOST = "error: lost connection to the run: its process is gone\n"
ENDED = "command terminated with exit code 137\n"


@frozen
class Run:
    """A run of one pod, in a process of its own."""

    case: Killed
    process: subprocess.Popen[str]

    def words(self, name: str, *rest: str) -> tuple[str, ...]:
        """Return the words of a command of a second terminal."""
        return (name, "--root-dir", str(self.case.root), *rest)

    def instance(self) -> str:
        """Return the run's id."""
        return str(json.loads(self.case.logs[0].read_text().splitlines()[0])["instance"])


@contextmanager
def a_run(folder: Path) -> Iterator[Run]:
    """Give a run whose pod is ready; whatever it leaves is pruned."""
    case = Killed(folder / "case", POD.replace("IMAGE", images.BUSYBOX))
    command = [*case.command(*PROGRAM), "--timeout", "120"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(" is ready" in line for line in process.stderr)
        try:
            yield Run(case, process)
        finally:
            process.terminate()
            process.stderr.read()
            process.wait(LIMIT_SECONDS)
    with nothing_else_kept():
        case.prune()


@contextmanager
def all_open(run: Run) -> Iterator[Mapping[str, Command]]:
    """Give a command of each kind that lasts, at work."""
    port = free_port()
    with ExitStack() as stack:
        opened = {
            "exec -it": stack.enter_context(at_a_terminal(*run.words("exec", "-it", "web", "--", "sh"))),
            "exec": stack.enter_context(at_pipes(*run.words("exec", "web", "--", "sh", "-c", "echo in; sleep 100"))),
            "exec -i": stack.enter_context(at_pipes(*run.words("exec", "-i", "web", "--", "cat"), stdin=b"given\n")),
            "logs -f": stack.enter_context(at_pipes(*run.words("logs", "-f", "web"))),
            "ps -w": stack.enter_context(at_pipes(*run.words("ps", "-w"))),
            "ps -w at a terminal": stack.enter_context(at_a_terminal(*run.words("ps", "-w"))),
            "get events -w": stack.enter_context(at_pipes(*run.words("get", "events", "-w"))),
            "port-forward": stack.enter_context(at_pipes(*run.words("port-forward", "web", f"{port}:8080"))),
        }
        at_work = ("/ # ", "in\n", "given\n", "up\n", "web", "Running", "Started", "Forwarding from")
        for command, text in zip(opened.values(), at_work, strict=True):
            command.until(text)
        assert opened["exec -it"].is_raw
        yield opened


def ends(opened: Mapping[str, Command]) -> dict[str, tuple[int, str]]:
    """Return how commands end: with their status, and their last line."""
    return {name: (command.end(), command.shown.splitlines(keepends=True)[-1]) for name, command in opened.items()}


def test_second_terminals_are_told_when_a_run_is_killed(tmp_path: Path, engine: APIClient) -> None:
    with a_run(tmp_path) as run, all_open(run) as opened:
        run.process.kill()
        forwarding = opened.pop("port-forward")
        found = ends(opened)
        assert {name: status for name, (status, _) in found.items()} == dict.fromkeys(opened, 1)
        assert [name for name, (_, last) in found.items() if not last.endswith(LOST)] == []
        late = subprocess.run(
            [*PROGRAM, *run.words("exec", "web", "--", "true")], capture_output=True, text=True, check=False
        )
        assert late.returncode == 2
        assert f"run {run.instance()} was killed: what it started may still run\n" in late.stderr
        assert f"to go on with it: kubelet-emu run {run.case.manifest}; to remove it: kubelet-emu prune" in late.stderr
        with nothing_else_kept():
            run.case.prune()
        assert forwarding.end() == 1
        assert forwarding.shown.endswith("error: lost connection to pod\n")
    assert left(engine, run.case.root, set()) == []


@pytest.mark.long
@pytest.mark.parametrize("number", [pytest.param(each, id=each.name) for each in (signal.SIGTERM, signal.SIGHUP)])
def test_second_terminals_end_with_a_run_that_is_stopped(
    tmp_path: Path, engine: APIClient, number: signal.Signals
) -> None:
    with a_run(tmp_path) as run, all_open(run) as opened:
        run.process.send_signal(number)
        found = ends(opened)
        assert {name: status for name, (status, _) in found.items()} == {
            **dict.fromkeys(("exec -it", "exec", "exec -i"), 137),
            **dict.fromkeys(("logs -f", "ps -w", "ps -w at a terminal", "get events -w"), 0),
            "port-forward": 1,
        }
        assert [found[name][1][-len(ENDED) :] for name in ("exec -it", "exec", "exec -i")] == [ENDED] * 3
        assert found["port-forward"][1] == "error: lost connection to pod\n"
        assert "the run has ended" in opened["ps -w at a terminal"].shown
        assert run.process.wait(LIMIT_SECONDS) == 0
    assert left(engine, run.case.root, set()) == []


def test_a_run_goes_on_when_its_second_terminals_are_killed(tmp_path: Path, engine: APIClient) -> None:
    with a_run(tmp_path) as run:
        subprocess.run([*PROGRAM, *run.words("exec", "web", "--", "true")], check=True)
        before = open_files(run.process.pid)
        with all_open(run) as opened:
            assert open_files(run.process.pid) > before
            for command in opened.values():
                command.process.kill()
            assert come_down(run.process.pid, before) <= before
        assert subprocess.run([*PROGRAM, *run.words("exec", "web", "--", "true")], check=False).returncode == 0
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(LIMIT_SECONDS) == 0
    assert left(engine, run.case.root, set()) == []


@contextmanager
def not_ignored(number: signal.Signals) -> Iterator[None]:
    """Have commands begin with the signal's default, which is theirs to change; nohup ignores SIGHUP for all below."""
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [pytest.param(each, id=each.name) for each in (signal.SIGTERM, signal.SIGHUP)])
def test_a_terminal_is_as_it_was_after_a_signal(tmp_path: Path, engine: APIClient, number: signal.Signals) -> None:
    del engine
    words = "exec", "-it", "web", "--", "sh"
    with a_run(tmp_path) as run, not_ignored(number), at_a_terminal(*run.words(*words), size=(0, 0)) as shell:
        shell.until("/ # ")
        assert shell.is_raw
        shell.process.send_signal(number)
        assert shell.end() == -number
