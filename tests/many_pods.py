"""A Job of many pods on a node that lives on, and what is left in the process after it."""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
import trio
from attrs import fields, frozen, has

from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.jobs.rules.conditions import is_job_finished
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timing import FAST
from kubelet_emu.manifests.loading import load_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from kubelet_emu.kubelet.timebase import Timebase
    from runtime.api import Runtime

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  parallelism: {parallelism}
  completions: {pods}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 5
      volumes: [{{name: scratch, emptyDir: {{}}}}]
      initContainers:
      - name: proxy
        image: {image}
        imagePullPolicy: IfNotPresent
        restartPolicy: Always
        command: [sh, -c, "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"]
        volumeMounts: [{{name: scratch, mountPath: /scratch}}]
      containers:
      - name: main
        image: {image}
        imagePullPolicy: IfNotPresent
        command: [sh, -c, "echo done > /scratch/file"]
        volumeMounts: [{{name: scratch, mountPath: /scratch}}]
"""
DESCRIPTORS = Path("/proc/self/fd")
MEMORY = Path("/proc/self/statm")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
CONTAINERS = (dict, set)
COLLECTIONS = (dict, set, list, deque, Counter, defaultdict, OrderedDict)
PLAIN = ("builtins.dict", "builtins.set")
PLAIN_OF_A_THREAD = 3
LOOK_SECONDS = 0.25
SETTLE_SECONDS = 5.0
"""A housekeeping or two, and what the engine has to tell afterwards."""
OWN = ("kubelet_emu", "runtime")


@frozen(kw_only=True)
class Residue:
    """What a process holds: threads, file descriptors, how many objects of each type of ours, and what those collect.

    `collected` says by class and field how much is in the collections of all its objects.
    """

    threads: int
    descriptors: int
    objects: Mapping[str, int]
    collected: Mapping[str, int]

    def grown(self, later: Residue, slack: int) -> dict[str, tuple[int, int]]:
        """Return what is more by over `slack` later; of plain containers each thread keeps those of its last call."""
        plain = slack + PLAIN_OF_A_THREAD * later.threads
        pairs = {name: (self.objects.get(name, 0), count) for name, count in later.objects.items()}
        pairs |= {name: (self.collected.get(name, 0), count) for name, count in later.collected.items()}
        pairs |= {"threads": (self.threads, later.threads), "descriptors": (self.descriptors, later.descriptors)}
        return {
            name: (before, after)
            for name, (before, after) in pairs.items()
            if after > before + (plain if name in PLAIN else slack)
        }


def residue() -> Residue:
    """Count."""
    gc.collect()
    objects: Counter[str] = Counter()
    collected: Counter[str] = Counter()
    for each in gc.get_objects():
        kind = type(each)
        if kind in CONTAINERS or _is_own(kind):
            name = f"{kind.__module__}.{kind.__qualname__}"
            objects[name] += 1
            for attribute in _names_of(kind):
                held = getattr(each, attribute, None)
                if type(held) in COLLECTIONS:
                    collected[f"{name}.{attribute}"] += len(held)
    return Residue(
        threads=threading.active_count(),
        descriptors=len(list(DESCRIPTORS.iterdir())),
        objects=objects,
        collected=collected,
    )


def memory_mib() -> int:
    """Return what the process has in memory (its resident set)."""
    return int(MEMORY.read_text().split()[1]) * PAGE_BYTES >> 20


def _is_own(kind: type) -> bool:
    module: object = kind.__module__
    return isinstance(module, str) and module.startswith(OWN)


def _names_of(kind: type) -> tuple[str, ...]:
    """Return the fields of a class of ours that collects things: values can't, what they have is fixed."""
    return tuple(each.name for each in fields(kind)) if has(kind) and _is_own(kind) else ()


@asynccontextmanager
async def a_cluster(
    runtime: Runtime, timebase: Timebase, furnish: Callable[[Cluster], None] = lambda _: None
) -> AsyncIterator[Cluster]:
    """Give a running cluster that keeps no records."""
    async with trio.open_nursery() as nursery:
        cluster = Cluster(
            runtime=runtime,
            timebase=timebase,
            node=Node(name="node1", milli_cpu=64000, memory_bytes=1 << 36, ephemeral_storage_bytes=1 << 40),
            settings=KubeletSettings(timing=FAST),
            seed=1,
            emit=lambda _: None,
            log=structlog.get_logger(),
        )
        furnish(cluster)
        await nursery.start(cluster.run)
        yield cluster
        nursery.cancel_scope.cancel()


async def run_job(cluster: Cluster, name: str, *, pods: int, parallelism: int, image: str) -> int:
    """Run a Job to its end and return how many pods succeeded."""
    text = JOB.format(name=name, pods=pods, parallelism=parallelism, image=image)
    (loaded,) = load_text(text).objects
    cluster.create(loaded.object)
    while (job := cluster.api.get("Job", "default", name)) is not None and not is_job_finished(job):  # noqa: ASYNC110 - the store has no event
        await trio.sleep(LOOK_SECONDS)
    return 0 if job is None else job.status.succeeded or 0


async def delete_job(cluster: Cluster, name: str) -> None:
    """Delete a Job and wait until nothing of it is left, in the runtime neither."""
    cluster.api.delete("Job", "default", name)
    await cluster.kubelet.emptied()


async def grown_since(before: Residue, slack: int) -> dict[str, tuple[int, int]]:
    """Return what is more than before by over `slack`, once that which is under way has had its time to end."""
    with trio.move_on_after(SETTLE_SECONDS):
        while before.grown(residue(), slack):  # noqa: ASYNC110 - what goes away tells nobody
            await trio.sleep(LOOK_SECONDS)
    return before.grown(residue(), slack)
