"""One life of some pods under `kubelet-emu run`, as a user sees it: a process, Ctrl-C, the prompt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import frozen
from marks import Measured, read_marks

from kubelet_emu.journal.read import read_log

if TYPE_CHECKING:
    from pathlib import Path

    from shapes import Shape

PROGRAM = (sys.executable, "-m", "kubelet_emu")
LIMIT_SECONDS = 120.0
LOOK_SECONDS = 0.02
_STARTED = b'"reason":"Started"'


class MeasurementError(Exception):
    """A run did not do what is measured."""


@frozen(kw_only=True)
class EmulatedPods:
    """Runs the pods of one shape; everything it writes is in `folder`."""

    shape: Shape
    folder: Path

    def measure(self) -> Measured:
        """Live the pods' whole life once; MeasurementError."""
        manifest, log = self.folder / "pods.yaml", self.folder / "run.log"
        manifest.write_text(self.shape.manifest())
        log.unlink(missing_ok=True)
        command = [*PROGRAM, "run", str(manifest), "--log", str(log), "--root-dir", str(self.folder / "state")]
        began = datetime.now(UTC)  # noqa: TID251 - what is measured is the machine's time
        with (self.folder / "output").open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            self._wait_for_starts(process, log)
            interrupted = time.perf_counter()
            process.send_signal(signal.SIGINT)
            cpu = _end(process)
            stop = time.perf_counter() - interrupted
        finally:
            self._give_up(process)
        ended = datetime.now(UTC)  # noqa: TID251 - the same
        marks = read_marks(read_log(log).entries, self.shape.starts)
        if marks.all_started_at is None or marks.ended_at is None:
            raise MeasurementError(f"{self.shape.name}: the log has no start or no end")
        return Measured(
            start=(marks.all_started_at - began).total_seconds(),
            stop=stop,
            clean_up=(ended - marks.ended_at).total_seconds(),
            cpu=cpu,
            gaps=marks.gaps,
        )

    def _wait_for_starts(self, process: subprocess.Popen[bytes], log: Path) -> None:
        """Wait until the log tells of every start."""
        deadline = time.perf_counter() + LIMIT_SECONDS
        while not log.exists() or log.read_bytes().count(_STARTED) < self.shape.starts:
            if process.poll() is not None or time.perf_counter() > deadline:
                raise MeasurementError(f"{self.shape.name}: {(self.folder / 'output').read_text()[-500:]}")
            time.sleep(LOOK_SECONDS)  # noqa: TID251 - nothing else runs here

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        """After a failure, end the process and remove what it left."""
        if process.returncode is None:
            process.kill()
            process.wait()
            subprocess.run([*PROGRAM, "prune", "--root-dir", str(self.folder / "state")], check=False)


def _end(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process and return the CPU seconds that it used; MeasurementError when it doesn't end."""
    deadline = time.perf_counter() + LIMIT_SECONDS
    while time.perf_counter() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        time.sleep(LOOK_SECONDS / 4)  # noqa: TID251 - nothing else runs here
    raise MeasurementError("the run didn't end after Ctrl-C")
