"""Run the whole test suite: without an engine, then on one where it answers.

`--coverage` combines both and holds the limits; `--docker-all` runs the long tests and all scenarios on Docker too. The
last lines say what was run and what was not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = "tests/docker/test_scenarios.py"
"""They share one process, eight at a time, so nothing else runs beside them."""
RULES_LIMIT = 100
REST_LIMIT = 95


def engine_answers() -> bool:
    """Tell whether a Docker engine answers."""
    probe = "import docker; docker.from_env(timeout=5).ping()"
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 0


@contextmanager
def compiled_modules() -> Iterator[None]:
    """Let the processes of a run share compiled modules, in a folder for this run alone where none may be kept."""
    if not os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="compiled") as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        yield


def run_pytest(marker: str, workers: str, *extra: str) -> int:
    """Run pytest for one marker expression on some workers; return its exit status."""
    command = [sys.executable, "-m", "pytest", "-m", marker, "-n", workers, "--dist", "worksteal", *extra]
    print("$", " ".join(["pytest", *command[3:]]), flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def report_coverage() -> int:
    """Hold the limits of what the runs measured, which each has added to one file; return 0 when both are kept."""
    coverage = [sys.executable, "-m", "coverage"]
    rules = ",".join(f"kubelet_emu/{folder}/*" for folder in ("rules", "jobs/rules", "workloads/rules"))
    limits = (["--include", rules, f"--fail-under={RULES_LIMIT}"], ["--omit", rules, f"--fail-under={REST_LIMIT}"])
    return max(subprocess.run([*coverage, "report", *limit], cwd=ROOT, check=False).returncode for limit in limits)


def main() -> int:
    """Run what can be run here and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--docker-all", action="store_true")
    options = parser.parse_args()
    measure = ["--cov", "--cov-report="] if options.coverage else []
    statuses = [run_pytest("not docker", str(os.cpu_count() or 2), *measure)]
    with_engine = engine_answers()
    if with_engine:
        append = [*measure, "--cov-append"] if measure else []
        long_tests = [] if options.docker_all else ["--deselect-long"]
        statuses.append(run_pytest("docker", "4", *append, *long_tests, f"--ignore={SCENARIOS}"))
        statuses.append(run_pytest("docker", "0", *append, *long_tests, SCENARIOS))
    if options.coverage:
        statuses.append(report_coverage())
    if not with_engine:
        print("No Docker engine answers: the tests marked docker were not run (`make engine` gives one).")
    print("all green" if not any(statuses) else "FAILED", flush=True)
    return max(statuses)


if __name__ == "__main__":
    with compiled_modules():
        sys.exit(main())
