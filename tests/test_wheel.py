"""The wheel and the sdist: what is in them, and that they work where nothing else of the project is."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
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
    """Build the wheel."""
    return build("wheel", ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist and unpack it."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build("sdist", ROOT, folder)) as archive:
        archive.extractall(folder, filter="data")
    [unpacked] = folder.glob("kubelet_emu-*/")
    return unpacked


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build with what is installed; nothing is fetched."""
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    [built] = folder.glob({"wheel": "*.whl", "sdist": "*.tar.gz"}[kind])
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


def test_the_sdist_makes_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    assert names_in(build("wheel", sdist, tmp_path)) == names_in(wheel)


def test_whoever_has_the_sdist_can_lint_and_test(sdist: Path) -> None:
    wanted = ["Makefile", "pyproject.toml", "tests/run_all.py", "fixtures/shop", "docs/conf.py", "CONTRIBUTING.md"]
    assert [name for name in [*wanted, "benchmarks", ".ci/run"] if not (sdist / name).exists()] == []


def run(installed: Path, folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in a folder that holds nothing of ours."""
    return subprocess.run(
        [installed / program, *words], cwd=folder, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin"}
    )
