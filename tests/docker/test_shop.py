"""A folder with a database, a migration and a Deployment: started by one command, stopped in order by one Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import images
import pytest
from command_line import FIXTURES
from two_shells import default_signals

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

LIMIT_SECONDS = 90
READY = re.compile(r"web-\S+ is ready|job/migration is Complete")


def shop(folder: Path) -> Path:
    """Return a copy of the folder with an image that the engine has."""
    copy = folder / "shop"
    copy.mkdir()
    for path in sorted((FIXTURES / "shop").iterdir()):
        (copy / path.name).write_text(path.read_text().replace("busybox:1", images.BUSYBOX))
    return copy


def start(folder: Path) -> subprocess.Popen[str]:
    """Start the folder with one command."""
    command = [sys.executable, "-m", "kubelet_emu", "run", str(shop(folder)), "--pull", "missing"]
    with default_signals():
        return subprocess.Popen(
            [*command, "--root-dir", str(folder / "root")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )


def left(client: APIClient, lines: list[str]) -> list[str]:
    """Return what the engine still has of the pods that were told of."""
    pods = {match for line in lines for match in re.findall(r"\b(?:web-\w+-\w+|migration-\w+)\b", line)}
    return [item["Names"][0] for pod in pods for item in client.containers(all=True, filters={"name": f"_{pod}_"})]


def test_a_folder_starts_and_stops_in_order(engine: APIClient, tmp_path: Path) -> None:
    lines: list[str] = []
    waited_for = 3
    with start(tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            waited_for -= bool(READY.search(line))
            if waited_for == 0:
                break
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=LIMIT_SECONDS)
        lines += rest.splitlines()
    text = "\n".join(lines)
    assert process.returncode == 0, text
    assert "migrate" in text
    order = [match for line in lines for match in re.findall(r"(db-0|web)\S*/(database|server|proxy) exited 0", line)]
    assert [name for name, _ in order] == ["web"] * 4 + ["db-0"], text
    assert [name for _, name in order].index("server") < [name for _, name in order].index("proxy")
    assert "deleted when the other pods have ended: db-0" in text
    assert left(engine, lines) == []
    assert list((tmp_path / "root" / "instances").iterdir()) == []


def test_a_second_ctrl_c_ends_all_of_it_at_once(engine: APIClient, tmp_path: Path) -> None:
    lines: list[str] = []
    with start(tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if "database recovering" in line or "db-0/database started" in line:
                break
        process.send_signal(signal.SIGINT)
        for line in process.stdout:
            lines.append(line.rstrip())
            if "delete all pods" in line:
                process.send_signal(signal.SIGINT)
                break
        rest, _ = process.communicate(timeout=LIMIT_SECONDS)
        lines += rest.splitlines()
    assert process.returncode == 130, "\n".join(lines)
    assert left(engine, lines) == []
