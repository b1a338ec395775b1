"""The functions that `import kubelet_emu` shows."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypedDict, Unpack

from kubelet_emu.config.features import gates_for
from kubelet_emu.embedding import node as trio_node
from kubelet_emu.embedding.blocking import BlockingNode
from kubelet_emu.embedding.manifests import read_manifests
from kubelet_emu.embedding.options import NodeOptions, RuntimeName, TimingName

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from kubelet_emu.embedding.node import Node
    from kubelet_emu.embedding.pod_log import PodLog
    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.manifests.safety import SafetyPolicy
    from kubelet_emu.manifests.workloads import Stored, Workload


class Options(TypedDict, total=False):
    """How a node is to be; see `kubelet_emu.embedding.options.NodeOptions` for what each is without."""

    runtime: RuntimeName
    timing: TimingName | None
    kubernetes: str
    seed: int
    folder: str | Path
    timeout: float | None
    registry_mirrors: Iterable[Mirror | str]
    registry_hosts: str | Path | None
    seccomp_profile_root: str | Path | None
    safety: SafetyPolicy


def load(manifest: str | Path, **options: Unpack[Options]) -> tuple[Workload | Stored, ...]:
    """Return the objects of a file, a folder or a text, defaults filled in as an API server does; ManifestError."""
    chosen = NodeOptions(**options)
    read = read_manifests(manifest, chosen, gates_for(chosen.kubernetes), random.Random(chosen.seed))  # noqa: S311
    return (*read.stored, *read.runnables)


def node(**options: Unpack[Options]) -> BlockingNode:
    """Return a node for programs without Trio, a context manager; it opens at its first use.

    RuntimeUnavailableError then when `runtime` is docker and no engine answers.
    """
    return BlockingNode(NodeOptions(**options))


@asynccontextmanager
async def open_node(**options: Unpack[Options]) -> AsyncIterator[Node]:
    """Give a node inside a Trio program; a simulated one lives on the program's own clock."""
    async with trio_node.open_node(NodeOptions(**options)) as opened:
        yield opened


def run(manifest: str | Path, **options: Unpack[Options]) -> tuple[PodLog, ...]:
    """Run manifests until every pod and Job has ended, take all away, and return the log of each in their order.

    WaitError when one has not ended within the time-out: an hour of virtual time, two minutes on an engine.
    """
    with node(**options) as opened:
        made = opened.apply(manifest)
        for each in made:
            each.wait_for_end()
        return tuple(each.log for each in made)
