"""docs/LOGS.md: its commands print what it shows, and every spelling of a line is read."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kubelet_emu.lifecycle.reading import GivenName, read_logs
from kubelet_emu.lifecycle.reading.moments import MomentKind

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "LOGS.md").read_text()
SESSIONS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
SPELLINGS = re.findall(r"^(?:.*LINE.*)$", re.findall(r"```\n(.*?)```", TEXT, re.DOTALL)[0], re.MULTILINE)


@pytest.mark.parametrize("session", SESSIONS, ids=[session.splitlines()[0][:60] for session in SESSIONS])
def test_a_command_prints_what_is_shown(session: str, tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    shown = [line for line in session.splitlines() if not line.startswith("$ ")]
    commands = [line.removeprefix("$ ") for line in session.splitlines() if line.startswith("$ ")]
    program = f'kubelet-emu() {{ "{sys.executable}" -m kubelet_emu "$@"; }}'
    done = subprocess.run(
        ["bash", "-c", "\n".join([program, *commands])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == shown


@pytest.mark.parametrize("line", SPELLINGS)
def test_a_spelling_of_a_line_is_read(line: str) -> None:
    real = line.replace("NAMESPACE", "default").replace("POD", "web").replace("CONTAINER", "main")
    log = read_logs([io.BytesIO(f"{real}\n".encode())], names=[GivenName.parse("web/main")])
    assert [(r["pod"], r["container"], r["line"]) for r in log.trace.of_kind("log")] == [("web", "main", "LINE")]


@pytest.mark.parametrize("kind", MomentKind, ids=lambda kind: kind.value)
def test_every_kind_of_moment_is_there(kind: MomentKind) -> None:
    assert f"`{kind.value}`" in TEXT
