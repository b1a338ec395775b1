"""Scripts whose outcome in busybox is known: fixtures/shell has them by topic, and beside each what busybox did.

A line of `NAME.txt` is a script; lines that begin with "> " continue it. `NAME.json` has what busybox wrote and left
behind, made by `python tests/record_busybox.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from attrs import evolve
from two_shells import Shown

FOLDER = Path(__file__).parent.parent / "fixtures" / "shell"
ATTEMPTS = 3
"""Processes that race for real may be late on a busy machine; the simulated ones never are."""
_USAGE = ("BusyBox v", "Usage:")
_MESSAGE = re.compile(r"(?!or:|[A-Z])[\w./\[-]+: ")


def topics() -> tuple[str, ...]:
    """Return the names of all files of scripts."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))


def scripts(topic: str) -> tuple[str, ...]:
    """Return the scripts of a topic; its first line says what it is about."""
    found: list[str] = []
    for line in (FOLDER / f"{topic}.txt").read_text().split("\n")[1:-1]:
        if line.startswith("> "):
            found[-1] += "\n" + line[2:]
        else:
            found.append(line)
    return tuple(found)


def recorded(topic: str) -> dict[str, Shown]:
    """Return what busybox did with each script of a topic."""
    rows = json.loads((FOLDER / f"{topic}.json").read_text())
    return {row["script"]: Shown(row["stdout"], row["stderr"], row["code"], row["files"]) for row in rows}


def record(topic: str, outcomes: dict[str, Shown]) -> None:
    """Write what busybox did."""
    rows = [
        {"script": script, "stdout": shown.stdout, "stderr": shown.stderr, "code": shown.code, "files": shown.files}
        for script, shown in outcomes.items()
    ]
    (FOLDER / f"{topic}.json").write_text(json.dumps(rows, indent=1) + "\n")


def comparable(shown: Shown) -> Shown:
    """Return an outcome without what isn't compared: usage texts, the words of a syntax error, our own explanations."""
    files = {path: _plain(text) for path, text in shown.files.items()}
    return evolve(shown, stdout=_plain(shown.stdout), stderr=_without_usage(_plain(shown.stderr)), files=files)


def _plain(text: str) -> str:
    text = re.sub(r" \(line \d+: the simulation has no such program[^)]*\)(?=\n)", "", text)
    return re.sub(r"^(\S+: ).*syntax error.*$", r"\1syntax error", text, flags=re.MULTILINE)


def _without_usage(text: str) -> str:
    kept: list[str] = []
    in_usage = False
    for line in text.split("\n"):
        if line.startswith(_USAGE):
            in_usage = True
        elif in_usage and _MESSAGE.match(line):
            in_usage = False
        if not in_usage:
            kept.append(line)
    return "\n".join(kept).rstrip("\n")
