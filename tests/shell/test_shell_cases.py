"""Every word and construct of the simulated shell does what busybox does: same output, same exit code.

The scripts are in `cases`, parted by lines of `%%`. Where busybox of the recorded version is installed it is asked
again; elsewhere its recorded answers count.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
import trio.testing
from busybox import ask

from runtime.api import (
    ContainerConfig,
    ContainerMetadata,
    ExecResult,
    ImageID,
    Mount,
    PodSandboxConfig,
    PodSandboxMetadata,
    VolumeConfig,
)
from runtime.simulated import SimulatedImage, SimulatedRuntime

CASES = Path(__file__).parent / "cases"
RECORDED = Path(__file__).parent / "recorded.json"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
POD = PodSandboxConfig(metadata=PodSandboxMetadata(name="pod", namespace="ns", uid="u"))


def scripts() -> list[str]:
    return [script for path in sorted(CASES.glob("*.txt")) for script in path.read_text().split("\n%%\n")]


def recorded() -> dict[str, list[str | int]]:
    found: dict[str, list[str | int]] = json.loads(RECORDED.read_text())
    return found


def links(busybox: str, folder: Path) -> str:
    """Make a folder in which every word of busybox is a link to it."""
    names = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        (folder / name).symlink_to(busybox)
    return str(folder)


def simulate(script: str) -> tuple[str, int]:
    """Return output and exit code of a script in the simulation."""

    async def run() -> ExecResult:
        def now() -> datetime:
            return EPOCH + timedelta(seconds=trio.current_time())

        async with SimulatedRuntime(now, images={"busybox": SimulatedImage(is_present=True)}) as runtime:
            sandbox = await runtime.run_pod_sandbox(POD)
            work = await runtime.create_volume(VolumeConfig(pod_uid="u", name="work"))
            config = ContainerConfig(
                metadata=ContainerMetadata(name="c"),
                image=ImageID("busybox"),
                image_name="busybox",
                command=("sleep", "inf"),
                working_dir="/work",
                mounts=(Mount(container_path="/work", volume=work),),
            )
            container = await runtime.create_container(sandbox, config, POD)
            await runtime.start_container(container)
            return await runtime.exec_sync(container, ("sh", "-c", script), 600.0)

    result = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    return result.stdout.decode(errors="surrogateescape"), result.exit_code


@pytest.mark.parametrize("script", scripts())
def test_the_shell_does_what_busybox_does(script: str) -> None:
    output, code = recorded()[script]
    assert simulate(script) == (output, code)


def test_what_is_recorded_is_what_busybox_says(tmp_path: Path) -> None:
    busybox = shutil.which("busybox")
    answers = recorded()
    assert sorted(answers) == sorted(set(scripts()))
    if busybox is None or os.environ.get("KEMU_RECORDED_ONLY"):
        return
    words = links(busybox, tmp_path)
    differing = [script for script in scripts() if list(ask(busybox, script, words)[::2]) != answers[script]]
    assert differing == []


if __name__ == "__main__":
    tool = shutil.which("busybox") or "busybox"
    folder = Path("/tmp/kemu-busybox-words")  # noqa: S108 - a path of the simulation
    folder.mkdir(exist_ok=True)
    found = str(folder) if any(folder.iterdir()) else links(tool, folder)
    RECORDED.write_text(
        json.dumps({s: ask(tool, s, found)[::2] for s in scripts()}, indent=0, ensure_ascii=True) + "\n"
    )
