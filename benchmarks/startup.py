"""Start-up of the commands, against Python alone with the same third-party imports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from emulated import PROGRAM
from marks import Row

if TYPE_CHECKING:
    from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  containers:
  - name: main
    image: "busybox:1"
    env:
    - {name: FIRST, value: one}
"""
MANY = 400
PADDING = "".join(f"    - {{name: VARIABLE_{n}, value: a value that is no secret at all}}\n" for n in range(40))


def measure(folder: Path, repeats: int) -> tuple[Row, ...]:
    """Return the rows of `--help`, and of `validate` with one pod and with as many as fill about a megabyte."""
    pod, many = folder / "one.yaml", folder / "many.yaml"
    pod.write_text(POD)
    many.write_text("---\n".join(POD.replace("one", f"pod-{n}") + PADDING for n in range(MANY)))
    pairs = (
        ("--help, against importing click", (*PROGRAM, "--help"), "click"),
        (
            "validate 1 pod, against importing click, attrs and yaml",
            (*PROGRAM, "validate", str(pod)),
            "click,attrs,yaml",
        ),
        (
            "validate a file of 1 MB, against reading it with PyYAML's C loader",
            (*PROGRAM, "validate", str(many)),
            f"click,attrs,yaml; list(yaml.load_all(open({str(many)!r}), yaml.CSafeLoader))",
        ),
    )
    return tuple(
        _row(what, command, (sys.executable, "-c", f"import {names}"), repeats) for what, command, names in pairs
    )


def _row(what: str, command: tuple[str, ...], bare: tuple[str, ...], repeats: int) -> Row:
    """Measure both by turns, after one run of each that fills the caches."""
    times = [(_seconds(command), _seconds(bare)) for _ in range(repeats + 1)][1:]
    return Row(f"start-up: {what}", [ours for ours, _ in times], [theirs for _, theirs in times])


def _seconds(command: tuple[str, ...]) -> float:
    began = time.perf_counter()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ)
    return time.perf_counter() - began
