"""The command on a real engine: run it, read its trace, judge it, and hold it to leaving nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.lifecycle.trace import Trace
from kubelet_emu.scenarios.checks import check_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from docker import APIClient

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
LIMIT_SECONDS = 120


@frozen(kw_only=True)
class Outcome:
    """What one run of the command gave."""

    status: int
    out: str
    err: str
    records: tuple[dict[str, object], ...]

    def failures(self, expectations: Iterable[str]) -> list[str]:
        """Return the expectations that do not hold in the trace, with what decided them."""
        verdicts = check_all(Trace.of(self.records), expectations)
        return [f"{verdict.expectation}: {verdict.because}" for verdict in verdicts if not verdict.holds]

    def lines(self, container: str) -> list[str]:
        """Return what a container printed."""
        words = [line.split(" ", 3) for line in self.out.splitlines()]
        return [word[3] if len(word) > 3 else "" for word in words if word[1] == container]


def run(
    folder: Path,
    manifest: Path,
    *words: str,
    environment: Mapping[str, str] | None = None,
    prefix: tuple[str, ...] = (),
) -> Outcome:
    """Run a manifest to its end; its state is in the folder, which keeps no instance afterwards."""
    root, trace = folder / "root", folder / "trace.jsonl"
    command = [
        *prefix,
        sys.executable,
        "-m",
        "kubelet_emu",
        "run",
        str(manifest),
        "--root-dir",
        str(root),
        "--trace",
        str(trace),
    ]
    done = subprocess.run(
        [*command, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
        env={**os.environ, **(environment or {})},
    )
    records = tuple(json.loads(line) for line in trace.read_text().splitlines()) if trace.exists() else ()
    instances = root / "instances"
    assert not instances.exists() or list(instances.iterdir()) == []
    return Outcome(status=done.returncode, out=done.stdout, err=done.stderr, records=records)


def write_pod(folder: Path, name: str, text: str) -> Path:
    """Write a manifest and return its path."""
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path


def containers_of(client: APIClient, pod: str) -> list[str]:
    """Return the names of a pod's containers that the engine has."""
    return [item["Names"][0] for item in client.containers(all=True, filters={"name": f"_{pod}_"})]


def image_names(client: APIClient) -> set[str]:
    """Return all tags and repository digests that the engine knows; tests beside the caller change them."""
    listed = client.images(all=True)
    return {name for item in listed for key in ("RepoTags", "RepoDigests") for name in item[key] or ()}
