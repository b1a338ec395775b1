"""What busybox itself says to a script, run in an empty folder with a plain environment."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from pathlib import Path

ENVIRONMENT = {"PATH": "/bin:/usr/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}


def _default_signals() -> None:
    """Undo what whoever runs the tests ignores: a shell can't trap a signal that was ignored when it began."""
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


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
            preexec_fn=_default_signals,
        )
        home = str(Path(folder).resolve())
    out, err = (each.decode(errors="surrogateescape").replace(home, "/work") for each in (done.stdout, done.stderr))
    return out, err, done.returncode if done.returncode >= 0 else 128 - done.returncode
