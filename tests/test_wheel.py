"""The wheel: what is in it, and that it works where nothing else of the project is."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = {
    "kubelet_emu/py.typed",
    "kubelet_emu/cli/demo/job.yaml",
    "kubelet_emu/scenarios/expectations.lark",
    "runtime/py.typed",
    "runtime/docker/helper/code.py",
}
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: busybox}]}}\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with what is installed; nothing is fetched."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install it into an environment that sees our dependencies, but not this checkout; return its programs' folder."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True, text=True)
    [packages] = (folder / "lib").glob("python*/site-packages")
    # a line in a .pth file adds a folder without reading that folder's own .pth files, which name this checkout
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def names_in(wheel: Path) -> set[str]:
    """Return the wheel's files."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_top_level_is_two_packages(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names_in(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"kubelet_emu", "runtime"}


def test_every_file_of_the_packages_is_inside(wheel: Path) -> None:
    files = {path.relative_to(ROOT) for top in ("kubelet_emu", "runtime") for path in (ROOT / top).rglob("*.*")}
    wanted = {str(path) for path in files if "__pycache__" not in path.parts and (ROOT / path).is_file()}
    assert wanted | DATA <= names_in(wheel)


@pytest.mark.parametrize("program", [("kubelet-emu",), ("kemu",), ("python", "-m", "kubelet_emu")], ids=" ".join)
def test_the_programs_tell_their_version(installed: Path, tmp_path: Path, program: tuple[str, ...]) -> None:
    done = run(installed, tmp_path, *program, "--version")
    assert done.stdout.startswith("kubelet-emu ")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_manifest_is_validated(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    done = run(installed, tmp_path, "kubelet-emu", "validate", "pod.yaml")
    assert (done.returncode, done.stderr) == (0, "0 errors, 0 warnings\n")


def test_what_runs_is_the_wheels(installed: Path, tmp_path: Path) -> None:
    program = "import kubelet_emu, runtime, lark, trio; print(kubelet_emu.__file__, runtime.__file__, sep='\\n')"
    places = run(installed, tmp_path, "python", "-c", program).stdout.splitlines()
    assert [Path(place).is_relative_to(installed.parent) for place in places] == [True, True]


def run(installed: Path, folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in a folder that holds nothing of ours."""
    return subprocess.run(
        [installed / program, *words], cwd=folder, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin"}
    )
