"""What busybox itself says to a script, run in an empty folder with a plain environment."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

ENVIRONMENT = {"PATH": "/bin:/usr/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}


def ask(busybox: str, script: str, words: str) -> tuple[str, str, int]:
    """Return standard output, standard error and exit code of a script; `words` is a folder with busybox's links."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [busybox, "sh", "-c", script],
            cwd=folder,
            env={**ENVIRONMENT, "PATH": words},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        home = str(Path(folder).resolve())
    out, err = (each.decode(errors="surrogateescape").replace(home, "/work") for each in (done.stdout, done.stderr))
    return out, err, done.returncode if done.returncode >= 0 else 128 - done.returncode
