"""The pytest plugin, in a pytest of its own: one run of many tests, then what it says of each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.metadata import entry_points
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCENARIO = ROOT / "fixtures" / "scenarios" / "case-36-sidecar-prestop-runs-at-job-end"
IS_INSTALLED = any(point.value == "kubelet_emu.pytest_plugin" for point in entry_points(group="pytest11"))
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: main, image: busybox, command: [sh, -c, "trap 'exit 0' TERM; sleep 100 & wait"]}
"""
PLAIN = """
import asyncio
import pytest

def test_good(kubelet):
    pod = kubelet.run("pod.yaml")
    pod.wait_for("Ready")
    pod.delete(grace_period_seconds=5)
    assert pod.log.order("main started", "main sigterm", "main exited(0)")

def test_asyncio(kubelet):
    async def run():
        kubelet.run("pod.yaml").wait_for("Ready")
    asyncio.run(run())
    assert [pod.name for pod in kubelet.pods] == ["web"]
    kubelet.sleep(1)
    assert kubelet.pod("web").phase == "Running"

def test_job(kubelet):
    (job,) = kubelet.apply("job.yaml")
    assert kubelet.job("work").wait_for_end() == job.wait_for_end() == "Complete"

def test_bad_order(kubelet):
    pod = kubelet.run("pod.yaml")
    pod.wait_for("Ready")
    assert pod.log.order("main exited", "main started")

def test_too_late(kubelet):
    pod = kubelet.run("pod.yaml")
    pod.wait_for("main exited", timeout=3)

@pytest.mark.kubelet(version="1.30", timing="fast", seed=3, timeout=7)
def test_marker(kubelet):
    options = kubelet.options
    assert (options.kubernetes, options.timing_name, options.seed, options.timeout_seconds) == ("1.30", "fast", 3, 7)

@pytest.mark.kubelet(speed=3)
def test_unknown(kubelet):
    pass

@pytest.mark.kubelet(runtime="dokcer")
def test_misspelt(kubelet):
    pass

@pytest.mark.kubelet(runtime="docker")
def test_docker(kubelet):
    assert False
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox, command: [sleep, "1"]}]
"""
IN_TRIO = """
async def test_in_trio(kubelet, autojump_clock):
    async with kubelet.open() as node:
        pod = await node.run("pod.yaml")
        await pod.wait_for("Ready")
        await pod.delete()
        pod.log.expect("main started < main exited(0)")
"""


def run_pytest(folder: Path, *options: str) -> str:
    """Run pytest on a folder, with the plugin as an installed one and no engine; return its output."""
    plugin = () if IS_INSTALLED else ("-p", "kubelet_emu.pytest_plugin")
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *plugin, *options, "."]
    environment = {**os.environ, "DOCKER_HOST": f"unix://{folder}/none.sock", "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def run_pytest_here(folder: Path, *options: str) -> str:
    """Run pytest on a folder as `run_pytest` does, within this process, which has imported all that it needs."""
    plugin = () if IS_INSTALLED else ("-p", "kubelet_emu.pytest_plugin")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as output:
        patch.setenv("DOCKER_HOST", f"unix://{folder}/none.sock")
        patch.setenv("COLUMNS", "200")
        patch.setattr(sys, "path", list(sys.path))
        patch.chdir(folder)
        pytest.main(["-rA", "-p", "no:cacheprovider", *plugin, *options, "."])
        sys.modules.pop("test_it", None)
    return output.getvalue()


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what pytest says of a folder with tests and scenarios."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "pod.yaml").write_text(POD)
    (folder / "job.yaml").write_text(JOB)
    (folder / "test_it.py").write_text(PLAIN)
    for name, old, new in (
        ("good", "", ""),
        ("bad", "phase == Succeeded", "phase == Unknown"),
        ("odd", "needs:", "knees:"),
    ):
        shutil.copytree(SCENARIO, folder / name)
        file = folder / name / "scenario.yaml"
        file.write_text(file.read_text().replace(old, new) if old else file.read_text())
    (folder / "foreign").mkdir()
    (folder / "foreign" / "scenario.yaml").write_text("somebody: else\n")
    return run_pytest_here(folder)


@pytest.mark.parametrize(
    "line",
    [
        "PASSED test_it.py::test_good",
        "PASSED test_it.py::test_asyncio",
        "PASSED test_it.py::test_job",
        "PASSED test_it.py::test_marker",
        "PASSED good/scenario.yaml::good",
        "FAILED bad/scenario.yaml::bad - ",
        "FAILED odd/scenario.yaml::odd - ",
        "FAILED test_it.py::test_bad_order - AssertionError",
        "FAILED test_it.py::test_too_late - ",
        "ERROR test_it.py::test_unknown - ",
        "ERROR test_it.py::test_misspelt - ",
        "4 failed, 5 passed, 1 skipped, 2 errors",
    ],
)
def test_each_test_has_its_outcome(output: str, line: str) -> None:
    assert line in output


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("an order that does not hold", "main exited did not happen"),
        ("what the pod did, below the failure", "kubelet-emu: what did not hold"),
        ("the story of the pod", "what happened to web:"),
        ("a wait that was too long", "main exited: did not come in 3 s"),
        (
            "a bad marker",
            "@pytest.mark.kubelet: ['speed']: it takes registry_hosts, registry_mirrors, runtime, ",
        ),
        ("a word that no option has", "'runtime' must be in ('simulated', 'docker') (got 'dokcer')"),
        ("why a test is skipped", "no container engine: "),
        ("how much of a scenario does not hold", "FAIL  bad"),
        ("an expectation of a scenario, at its line", "bad/scenario.yaml:12: phase == Unknown"),
        ("a field of a scenario that there is not", "knees"),
    ],
)
def test_the_output_says(output: str, why: str, text: str) -> None:
    assert text in output


@pytest.mark.parametrize("module", ["blocking.py", "fixture.py", "scenario_items.py", "foreign"])
def test_the_output_does_not_show(output: str, module: str) -> None:
    assert module not in output


def test_trio_tests_await_the_same_calls_and_scenarios_go_along(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "test_it.py").write_text(IN_TRIO)
    shutil.copytree(SCENARIO, tmp_path / "good")
    text = run_pytest(tmp_path, "-o", "trio_mode=true")
    assert "2 passed" in text


IN_ANYIO = """
import pytest
from trio.testing import MockClock

@pytest.fixture
def anyio_backend():
    return "trio", {"clock": MockClock(autojump_threshold=0)}

@pytest.mark.anyio
async def test_awaited(kubelet):
    async with kubelet.open() as node:
        pod = await node.run("pod.yaml")
        await pod.wait_for("Ready")
        await pod.delete(grace_period_seconds=5)
        assert pod.log.order("main started", "main sigterm", "main exited(0)")

@pytest.mark.anyio
async def test_blocking(kubelet):
    kubelet.run("pod.yaml").wait_for("Ready")
"""


def test_tests_of_anyio_run_on_trio_as_well(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "test_it.py").write_text(IN_ANYIO)
    text = run_pytest_here(tmp_path, "-W", "error")
    assert "PASSED test_it.py::test_awaited" in text
    assert "PASSED test_it.py::test_blocking" in text


def test_the_plugin_imports_nothing_of_the_emulator() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import kubelet_emu.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.strip() == "['kubelet_emu', 'kubelet_emu.pytest_plugin']"


RECORDED = """
import pytest

@pytest.mark.parametrize("grace", [5, None])
def test_kept(kubelet, grace):
    pod = kubelet.run("pod.yaml")
    pod.wait_for("Ready")
    pod.delete(grace_period_seconds=grace)
    assert pod.log.order("main started", "main sigterm", "main exited(0)")

class TestA:
    def test_kept(self, kubelet):
        kubelet.run("pod.yaml").wait_for("Ready")

def test_unused(kubelet):
    pass
"""


def test_a_kept_log_stands_for_the_containers(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "test_it.py").write_text(RECORDED)
    assert "4 passed" in run_pytest_here(tmp_path, "--lifecycle-record")
    kept = sorted(path.name for path in (tmp_path / "__lifecycle__" / "test_it").iterdir())
    assert [name.partition("-")[0] for name in kept] == ["TestA.test_kept.log", "test_kept_5_", "test_kept_None_"]
    (tmp_path / "pod.yaml").write_text(POD.replace("trap 'exit 0' TERM; sleep 100 & wait", "exit 9"))
    text = run_pytest_here(tmp_path, "--lifecycle-replay")
    assert "3 passed" in text
    assert "run the test once with --lifecycle-record" in text
