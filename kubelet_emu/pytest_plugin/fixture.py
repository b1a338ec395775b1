"""The fixture `kubelet`: a node that opens at its first use and is gone after the test."""

from __future__ import annotations

import re
import zlib
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, cast

import pytest
from attrs import define, evolve, field

from kubelet_emu.embedding.blocking import BlockingJob, BlockingNode, BlockingPod
from kubelet_emu.embedding.node import Node, open_node
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.embedding.rerun import simulation_of
from kubelet_emu.journal.outlet import write_private
from kubelet_emu.lifecycle.reading import ReadError, read_logs
from runtime.api import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from pathlib import Path

    from kubelet_emu.embedding.pod_log import Answer

_KEYS = frozenset(
    {"runtime", "timing", "version", "seed", "timeout", "registry_mirrors", "registry_hosts", "seccomp_profile_root"}
)


@define(eq=False, kw_only=True)
class KubeletFixture:
    """A node for one test. Blocking calls work in every test; Trio tests may open it in their own loop."""

    options: NodeOptions
    _node: BlockingNode = field(init=False, repr=False)
    _opened: list[Node] = field(factory=list, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Prepare the node; nothing is opened yet."""
        self._node = BlockingNode(self.options)

    def run(self, manifest: str | Path) -> BlockingPod:
        """Create what a manifest says and return its one pod; of a Job the first pod. ManifestError."""
        __tracebackhide__ = True
        return self._node.run(manifest)

    def apply(self, manifest: str | Path) -> tuple[BlockingPod | BlockingJob, ...]:
        """Create what manifests say and return handles on their pods and Jobs. ManifestError."""
        __tracebackhide__ = True
        return self._node.apply(manifest)

    def pod(self, name: str) -> BlockingPod:
        """Return the newest pod of a name; LookupError."""
        return self._node.pod(name)

    def job(self, name: str, namespace: str = "default") -> BlockingJob:
        """Return a Job by name; LookupError."""
        return self._node.job(name, namespace)

    @property
    def pods(self) -> tuple[BlockingPod, ...]:
        """Return every pod there has been, in the order of creation."""
        return self._node.pods

    def sleep(self, seconds: float) -> None:
        """Let the node's time pass."""
        self._node.sleep(seconds)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Node]:
        """Give a node in the Trio loop of the test: the same calls, awaited.

        A simulated node lives on the clock of the test: with `autojump_clock` of pytest-trio in virtual time.
        """
        async with open_node(self.options) as node:
            self._opened.append(node)
            yield node

    @property
    def failures(self) -> tuple[Answer, ...]:
        """Return the answers that were no, of every node of the test."""
        return (*self._node.failures, *(answer for node in self._opened for answer in node.failures))

    def write_log(self, path: Path) -> None:
        """Write the lifecycle log of the test's node, if it had one."""
        opened = [node.log_lines() for node in self._opened]
        lines = next((each for each in (self._node.log_lines(), *opened) if each), ())
        if lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_private(path, "".join(lines))

    def close(self) -> None:
        """Take everything away."""
        self._node.close()

    def check_engine(self) -> None:
        """Open the node now; RuntimeUnavailableError when no engine answers."""
        self._node.__enter__()


@contextmanager
def fixture_for(request: pytest.FixtureRequest) -> Iterator[KubeletFixture]:
    """Give the fixture of a test, as its marker wants it."""
    options, log = _options(request), log_of(request)
    if request.config.getoption("--lifecycle-replay"):
        options = _as_recorded(options, log)
    fixture = KubeletFixture(options=options)
    try:
        if not fixture.options.is_simulated:
            try:
                fixture.check_engine()
            except RuntimeUnavailableError as error:
                pytest.skip(f"no container engine: {error}")
        yield fixture
        if request.config.getoption("--lifecycle-record"):
            fixture.write_log(log)
    finally:
        fixture.close()


def log_of(request: pytest.FixtureRequest) -> Path:
    """Return where the lifecycle log of a test is kept: beside its file, in __lifecycle__/MODULE/TEST.log."""
    whole = request.node.nodeid.partition("::")[2].replace("::", ".")
    name = re.sub(r"[^\w.-]+", "_", whole)
    told_apart = "" if name == whole else f"-{zlib.crc32(whole.encode()):08x}"
    return request.path.parent / "__lifecycle__" / request.path.stem / f"{name}{told_apart}.log"


def _as_recorded(options: NodeOptions, log: Path) -> NodeOptions:
    """Return a simulated node on which containers behave as in a log; pytest.fail when there is none."""
    try:
        kept = read_logs([log])
    except ReadError as error:
        pytest.fail(f"--lifecycle-replay: {error}; run the test once with --lifecycle-record", pytrace=False)
    return evolve(options, runtime="simulated", timing=options.timing_name, simulation=simulation_of(kept))


def _options(request: pytest.FixtureRequest) -> NodeOptions:
    marker = request.node.get_closest_marker("kubelet")
    given: Mapping[str, object] = {} if marker is None else marker.kwargs
    if unknown := sorted(set(given) - _KEYS) or (marker is not None and marker.args):
        text = f"@pytest.mark.kubelet: {unknown}: it takes {', '.join(sorted(_KEYS))} by name"
        pytest.fail(text, pytrace=False)
    default = request.config.getoption("--kubelet-runtime") or "simulated"
    make = cast("Callable[..., NodeOptions]", NodeOptions)  # it checks its own words
    try:
        return make(
            runtime=given.get("runtime", default),
            timing=given.get("timing"),
            kubernetes=str(given.get("version", "1.36")),
            seed=given.get("seed", 1),
            timeout=given.get("timeout"),
            registry_mirrors=given.get("registry_mirrors", ()),
            registry_hosts=given.get("registry_hosts"),
            seccomp_profile_root=given.get("seccomp_profile_root"),
            folder=request.path.parent,
        )
    except ValueError as error:
        text = str(error.args[0]) if error.args else str(error)
        pytest.fail(f"@pytest.mark.kubelet: {text}", pytrace=False)
