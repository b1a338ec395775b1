"""Runs on a real engine that are killed at one of their records, and what is seen of those that go on with them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field, frozen
from docker import APIClient

import kubelet_emu
from runtime.docker import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LIMIT_SECONDS = 90
KILLER = Path(__file__).parent / "killed_at.py"
PROGRAM = (sys.executable, "-m", "kubelet_emu")
CGROUPS = Path("/sys/fs/cgroup")
CONFIGURATION = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
crashLoopBackOff: {maxContainerRestartPeriod: 1s}
"""
Instance = tuple[str, str, int]
"""A pod's uid, a container's name, and which instance of it this is, counted from 0."""


@frozen
class Point:
    """When a process is killed: so many seconds after its n-th record."""

    record: int
    seconds: float = 0.0


@frozen
class Records:
    """The records of one process, or of several one after the other."""

    all: tuple[Mapping[str, object], ...]

    @classmethod
    def read(cls, *logs: Path) -> Records:
        """Read logs, whose last lines may be torn."""
        lines = [line for log in logs if log.exists() for line in log.read_text().splitlines(keepends=True)]
        return cls(tuple(json.loads(line) for line in lines if line.endswith("\n")))

    def index(self, wanted: str) -> int:
        """Return the number of the first record whose JSON has a text."""
        return next(n for n, each in enumerate(self.all, 1) if wanted in json.dumps(each, separators=(",", ":")))

    def phases(self) -> list[str]:
        """Return the last phases of all pods, sorted: pods of a Job have other names each time."""
        return sorted(str(status.get("phase")) for status in self._statuses().values())

    def jobs(self) -> list[str]:
        """Return how Jobs ended."""
        last = {str(each["name"]): each["status"] for each in self.all if each["kind"] == "job" and "status" in each}
        return sorted(f"{name} {_end_of(status)}" for name, status in last.items())

    def restarts(self) -> Mapping[tuple[str, str], int]:
        """Return the last restartCount of each container of each pod, by uid and name."""
        return {
            (uid, str(each["name"])): int(str(each.get("restartCount", 0)))
            for uid, status in self._statuses().items()
            for key in ("initContainerStatuses", "containerStatuses")
            for each in status.get(key, ())  # type: ignore[attr-defined]
        }

    def _statuses(self) -> Mapping[str, Mapping[str, object]]:
        return {str(each["pod"]): each["status"] for each in self.all if each["kind"] == "status"}  # type: ignore[misc]


def _end_of(status: object) -> str:
    conditions = status.get("conditions", ()) if isinstance(status, dict) else ()
    return next((each["type"] for each in conditions if each["type"] in {"Complete", "Failed"}), "")


@define(eq=False)
class Watch:
    """What the engine did below one state folder."""

    starts: Counter[Instance] = field(factory=Counter)
    made: set[Instance] = field(factory=set)
    uids: dict[str, set[str]] = field(factory=dict)
    most_at_once: int = 0
    _running: dict[str, tuple[str, str]] = field(factory=dict)

    def see(self, event: Mapping[str, object]) -> None:
        """Take an event of the engine."""
        actor = event["Actor"]
        assert isinstance(actor, dict)
        labels, container_id = actor["Attributes"], actor["ID"]
        parsed = naming.parse_name(labels["name"])
        if parsed is None:  # a helper of ours
            return
        whose = (parsed.pod.uid, parsed.container)
        if event["Action"] == "create":
            self.made.add((*whose, parsed.pod.attempt))
        elif event["Action"] == "start":
            self.starts[*whose, parsed.pod.attempt] += 1
            self.uids.setdefault(parsed.pod.name, set()).add(parsed.pod.uid)
            self._running[container_id] = whose
            self.most_at_once = max(self.most_at_once, *Counter(self._running.values()).values())
        else:
            self._running.pop(container_id, None)

    def never_started(self) -> Counter[tuple[str, str]]:
        """Return how many instances of each container were made and then replaced, as a kubelet does after a restart.

        What was made but not started counts as an instance all the same (kubelet v1.36 ShouldContainerBeRestarted).
        """
        return Counter((uid, container) for uid, container, _ in self.made - set(self.starts))


@contextmanager
def watched(root: Path) -> Iterator[Watch]:
    """Watch what the engine does below a state folder, to the last event at the end."""
    watch, client = Watch(), APIClient(version="auto", timeout=LIMIT_SECONDS)
    wanted = {"type": "container", "event": ["create", "start", "die"], "label": f"{naming.ROOT_LABEL}={root}"}
    events = client.events(filters=wanted, decode=True)
    reader = threading.Thread(target=_read, args=(events, watch))
    reader.start()
    try:
        yield watch
    finally:
        events.close()
        reader.join()
        client.close()


def _read(events: Iterable[Mapping[str, object]], watch: Watch) -> None:
    for event in events:
        watch.see(event)


@define(eq=False)
class Killed:
    """A manifest below a folder of its own, run by one process after the other."""

    folder: Path
    text: str
    logs: list[Path] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Write the manifest and the configuration."""
        self.folder.mkdir()
        self.manifest.write_text(self.text)
        (self.folder / "kubelet.yaml").write_text(CONFIGURATION)

    @property
    def root(self) -> Path:
        """Return the state folder."""
        return self.folder / "root"

    @property
    def manifest(self) -> Path:
        """Return the manifest."""
        return self.folder / "pods.yaml"

    def command(self, *program: str) -> list[str]:
        """Return the command of the next process, with a log of its own."""
        log = self.folder / f"{len(self.logs)}.log"
        self.logs.append(log)
        words = ("--root-dir", str(self.root), "--config", str(self.folder / "kubelet.yaml"), "--log", str(log))
        return [*program, "run", str(self.manifest), *words]

    def killed(self, point: Point) -> bool:
        """Run until the process is killed; tell whether it was: it may have ended before."""
        done = run(self.command(sys.executable, str(KILLER), str(point.record), str(point.seconds)))
        assert done.returncode in {-signal.SIGKILL, 0, 1}, done.stderr
        return done.returncode == -signal.SIGKILL

    def whole(self) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return run(self.command(*PROGRAM))

    def prune(self) -> subprocess.CompletedProcess[str]:
        """Remove what is left."""
        return run([*PROGRAM, "prune", "--root-dir", str(self.root)])

    def records(self) -> Records:
        """Return the records of all processes."""
        return Records.read(*self.logs)


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    environment = {**os.environ, "PYTHONPATH": str(Path(kubelet_emu.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS, env=environment)


def left(engine: APIClient, root: Path, uids: set[str]) -> list[str]:
    """Return what is left of runs with a state folder and of their pods."""
    mine = {"label": f"{naming.ROOT_LABEL}={root}"}
    found = [item["Names"][0] for item in engine.containers(all=True, filters=mine)]
    found += [item["Name"] for item in engine.volumes(filters=mine)["Volumes"] or ()]
    found += [item["Name"] for item in engine.networks(filters=mine)]
    found += [str(path) for path in (root / "instances").glob("**/*")]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(root) in line]
    cgroups = (name for _, names, _ in os.walk(CGROUPS) for name in names)
    return found + [name for name in cgroups if any(_bare(uid) in _bare(name) for uid in uids)]


def _bare(name: str) -> str:
    return name.replace("-", "").replace("_", "")
