"""An engine of a test's own, which may be restarted, stopped dead or filled up: nobody else uses it.

It needs root and dockerd. Whatever becomes of the test, nothing of the engine stays: see own_engine.sh.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field
from docker import APIClient

if TYPE_CHECKING:
    from collections.abc import Iterator

KEEPER = Path(__file__).with_name("own_engine.sh")
START_SECONDS = 60.0
LOOK_SECONDS = 0.05
MAXIMUM_ENGINES = 200


def can_be_had() -> bool:
    """Tell whether this user of this machine may start one."""
    return os.geteuid() == 0 and all(shutil.which(name) for name in ("dockerd", "unshare", "ip"))


@define(eq=False)
class OwnEngine:
    """The engine; calls return when what they ask for is the case."""

    folder: Path
    bridge: str
    _keeper: subprocess.Popen[str]
    client: APIClient = field(init=False)

    @property
    def url(self) -> str:
        """Return its address in Docker's form."""
        return f"unix://{self.folder}/engine.sock"

    def start(self, *options: str) -> None:
        """Start it with more options of dockerd and wait until it answers."""
        self._order(f"start {' '.join(options)}")
        deadline = time.monotonic() + START_SECONDS  # noqa: TID251 - a limit on another process
        while not self._answers():
            if time.monotonic() > deadline:  # noqa: TID251 - the same
                raise TimeoutError(f"dockerd does not answer: {self.log()[-2000:]}")
            time.sleep(LOOK_SECONDS)  # noqa: TID251 - the same
        self.client = APIClient(base_url=self.url, version="1.41", timeout=60)

    def stop(self, signal: str = "TERM") -> None:
        """End it with a signal; TERM also ends its containers, unless live-restore is on."""
        self.client.close()
        self._order(f"signal {signal}")
        self._order("wait")

    def hang(self) -> None:
        """Let it take connections and answer nothing."""
        self._order("signal STOP")

    def go_on(self) -> None:
        """Let it answer again."""
        self._order("signal CONT")

    def inside(self, script: str) -> None:
        """Run a script in the folder of its data, which nobody else sees."""
        self._order(f"inside {script}")

    def fill(self) -> None:
        """Leave no room on its disk."""
        self.inside("dd if=/dev/zero of=ballast bs=1k")

    def make_room(self) -> None:
        """Take back what `fill` wrote."""
        self.inside("rm ballast")

    def _answers(self) -> bool:
        """Tell whether it answers; the SDK would leave its socket open where nobody listens."""
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(START_SECONDS)
            try:
                asked.connect(f"{self.folder}/engine.sock")
                asked.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b" 200 OK" in asked.recv(4096)
            except OSError:
                return False

    def log(self) -> str:
        """Return what it has logged."""
        return (self.folder / "log").read_text(errors="replace")

    def close(self) -> None:
        """End everything of it."""
        if hasattr(self, "client"):
            self.client.close()
        self._keeper.communicate(timeout=START_SECONDS)

    def _order(self, order: str) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write(order + "\n")
        self._keeper.stdin.flush()
        assert self._keeper.stdout.readline() == "done\n", self.log()


@contextmanager
def own_engine(*options: str, size: str = "512m") -> Iterator[OwnEngine]:
    """Give a running engine whose data have so much room."""
    bridge, address = _own_bridge()
    folder = Path(tempfile.mkdtemp(prefix="kemu-engine-"))
    keeper = subprocess.Popen(
        ["sh", KEEPER, folder, bridge, address, size],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    engine = OwnEngine(folder, bridge, keeper)
    try:
        engine.start(*options)
        yield engine
    finally:
        engine.close()


def _own_bridge() -> tuple[str, str]:
    """Make a bridge with a number that nobody else has and return its name and address."""
    for number in range(MAXIMUM_ENGINES):
        name = f"kemu-engine{number}"
        made = subprocess.run(["ip", "link", "add", name, "type", "bridge"], capture_output=True, check=False)
        if made.returncode == 0:
            return name, f"10.213.{number}.1/24"
    raise RuntimeError(f"no bridge can be made: {made.stderr.decode()}")
