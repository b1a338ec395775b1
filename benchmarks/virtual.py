"""Measure runs in virtual time: many pods, a crash loop, the whole set of scenarios. Needs no engine.

CPU seconds and peak memory are those of a process of its own, start-up included. The ratio is to as many bare Trio
tasks as the pods have containers and probes, in the same run: only that means something on another machine. Nothing
else should run meanwhile. `--quick` takes small numbers, to see that it works; `--pods` other numbers of pods.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attrs import frozen
from lives import LIVES

HERE = Path(__file__).parent
SCENARIOS = HERE.parent / "fixtures" / "scenarios"
CROWD = (sys.executable, str(HERE / "crowd.py"))
PROGRAM = (sys.executable, "-m", "kubelet_emu")
PODS = (1000, 10_000)
QUICK_PODS = (10, 100)
MIB = 1 << 10  # of what the kernel counts in KiB

CRASH_LOOP = """\
apiVersion: v1
kind: Pod
metadata: {name: crash-loop}
spec:
  containers:
  - {name: main, image: "busybox:1", command: [sh, -c, "echo up; sleep 1; exit 1"]}
"""


@frozen(kw_only=True)
class Used:
    """What one process used: CPU and wall seconds, and memory at its peak in MiB."""

    cpu: float
    wall: float
    memory: int


def used_by(command: tuple[str, ...]) -> Used:
    """Run a command to its end; its output goes nowhere, a failure is told at the end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return Used(cpu=usage.ru_utime + usage.ru_stime, wall=time.perf_counter() - began, memory=usage.ru_maxrss // MIB)


def measure_pods(variant: str, numbers: tuple[int, ...], bare: dict[int, Used]) -> None:
    """Measure the pods of one variant, fewest first, and print a line for each number."""
    for pods in numbers:
        ours = used_by((*CROWD, variant, str(pods)))
        ratio = ours.cpu / bare[pods].cpu
        say(
            f"{pods:6} pods, {variant:22} {ours.cpu:7.2f} s CPU, {ours.cpu / pods * 1000:5.1f} ms a pod,"
            f" {ours.memory:5} MiB, {ratio:5.1f} times bare tasks"
        )


def measure_commands(folder: Path) -> None:
    """Measure what a user starts: half an hour of a crash loop, and all scenarios."""
    manifest = folder / "crash-loop.yaml"
    manifest.write_text(CRASH_LOOP)
    tell("30 minutes of a crash loop", (*PROGRAM, "run", "--runtime", "simulated", "--until", "1800", str(manifest)))
    tell("all scenarios", (*PROGRAM, "test", str(SCENARIOS)))


def tell(what: str, command: tuple[str, ...]) -> None:
    """Measure one command and print a line."""
    used = used_by(command)
    say(f"{what:36} {used.cpu:7.2f} s CPU, {used.wall:.2f} s in all")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few pods, to see that it works")
    parser.add_argument("--pods", type=int, nargs="+", metavar="N", help="how many pods")
    options = parser.parse_args()
    numbers = tuple(options.pods or (QUICK_PODS if options.quick else PODS))
    with tempfile.TemporaryDirectory(prefix="kubelet-emu-bench-") as folder:
        measure_commands(Path(folder))
    bare = {pods: used_by((*CROWD, "bare", str(pods))) for pods in numbers}
    for variant in LIVES:
        measure_pods(variant, numbers, bare)
    return 0


if __name__ == "__main__":
    sys.exit(main())
