"""A node inside a Trio program: apply manifests, get handles, wait for what happens.

Owns the journal and the nursery of a cluster on a runtime of its own; nothing is shared with another node, and nothing
is left when it is closed. On a virtual clock (`trio.testing.MockClock`) a simulated node lives in virtual time.
"""

from __future__ import annotations

import os
import random
from contextlib import asynccontextmanager
from itertools import chain
from typing import TYPE_CHECKING, cast

import structlog
import trio
from attrs import define, evolve, field

from kubelet_emu import __version__
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.config.features import gates_for
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.config.told import tell
from kubelet_emu.control.event_log import EventLog
from kubelet_emu.embedding.arguments import check_containers, check_manifest, check_seconds
from kubelet_emu.embedding.errors import ManifestError
from kubelet_emu.embedding.manifests import name_of, read_manifests
from kubelet_emu.embedding.objects import Job, Pod, WaitError
from kubelet_emu.embedding.pod_log import PodLog, told
from kubelet_emu.embedding.worlds import open_world
from kubelet_emu.journal.encode import to_line
from kubelet_emu.journal.journal import Journal
from kubelet_emu.journal.records import HeaderRecord, ManifestRecord, NoteRecord, ObjectRef
from kubelet_emu.journal.short_names import ShortNames
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.kubelet.timing import timing_named
from kubelet_emu.lifecycle.raw_records import time_of
from kubelet_emu.lifecycle.reading.logs import log_of_entries
from kubelet_emu.scenarios.driver import Recording
from runtime.api import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.embedding.options import NodeOptions
    from kubelet_emu.embedding.pod_log import Answer
    from kubelet_emu.embedding.worlds import World
    from kubelet_emu.images.docker_config import DockerCredentials
    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.scenarios.expectations import MomentExpression

CLEAN_UP_SECONDS = 60.0
SETTLE_SECONDS = 1.0


@define(eq=False)
class PodsSeen:
    """A sink of the journal: which pods there have been, by uid in the order of creation, and who made them."""

    refs: dict[str, ObjectRef] = field(factory=dict, init=False)
    owners: dict[str, str] = field(factory=dict, init=False)
    names: ShortNames = field(factory=ShortNames, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry: a pod is known from its first record on."""
        self.names.told(entry.record)
        match entry.record:
            case ManifestRecord(ref=ref, manifest=manifest) if ref.kind == "Pod" and ref.uid not in self.refs:
                self.refs[ref.uid] = ref
                metadata = cast("Mapping[str, Sequence[Mapping[str, str]]]", manifest.get("metadata") or {})
                self.owners[ref.uid] = next((owner["name"] for owner in metadata.get("ownerReferences", ())), "")


@define(eq=False, kw_only=True)
class Node:
    """A running node. Its methods are called in the Trio program that opened it.

    `failures` are the answers of its logs that were no, for whoever reports a test that failed.
    """

    options: NodeOptions
    cluster: Cluster = field(repr=False)
    recording: Recording = field(repr=False)
    seen: PodsSeen = field(repr=False)
    events: EventLog = field(repr=False)
    entries: list[Entry] = field(repr=False)
    failures: list[Answer] = field(factory=list, repr=False)
    _rng: random.Random = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Derive the random numbers of names from the seed."""
        self._rng = random.Random(f"{self.options.seed}/manifests")  # noqa: S311 - names, no secrets

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Return every pod there has been, in the order of creation."""
        return tuple(self._pod(ref) for ref in self.seen.refs.values())

    def _pod(self, ref: ObjectRef) -> Pod:
        return Pod(name=ref.name, namespace=ref.namespace, uid=ref.uid, node=self)

    def owner_of(self, uid: str) -> str:
        """Return the name of the Job that made a pod, empty for a pod by itself."""
        return self.seen.owners.get(uid, "")

    def pod(self, name: str) -> Pod:
        """Return the newest pod of a name; LookupError names those that there are."""
        found = [pod for pod in self.pods if pod.name == name]
        if not found:
            raise LookupError(f"no pod {name!r}; there are {', '.join(p.name for p in self.pods) or 'none'}")
        return found[-1]

    def job(self, name: str, namespace: str = "default") -> Job:
        """Return a Job by name; LookupError."""
        if self.cluster.api.get("Job", namespace, name) is None:
            raise LookupError(f"no Job {name!r} in namespace {namespace!r}")
        return Job(name=name, namespace=namespace, node=self)

    async def apply(self, manifest: str | Path) -> tuple[Pod | Job, ...]:
        """Create what a file, a folder or a text of manifests says, and return handles on its pods and Jobs.

        Of another workload, such as a Deployment, the pods that it makes at once. ManifestError, which names every
        fault; nothing is created then.
        """
        return tuple(chain.from_iterable(await self._create(manifest)))

    async def _create(self, manifest: str | Path) -> tuple[tuple[Pod | Job, ...], ...]:
        """Create what manifests say, and return handles for each of their workloads."""
        check_manifest(manifest)
        read = read_manifests(manifest, self.options, self.cluster.settings.features, self._rng)
        created = [self.cluster.create(obj) for obj in (*read.stored, *read.runnables)]
        await trio.lowlevel.checkpoint()
        return tuple([await self._handles(obj) for obj in created[len(read.stored) :]])

    async def _handles(self, obj: APIObject) -> tuple[Pod | Job, ...]:
        """Return the handles of what was created."""
        if obj.kind == "Job":
            return (self.job(obj.metadata.name or "", obj.metadata.namespace or "default"),)
        if obj.kind == "Pod":
            return (self._pod(ObjectRef.of(obj.metadata)),)
        uid, wanted = obj.metadata.uid or "", getattr(obj.spec, "replicas", 1)  # type: ignore[attr-defined]
        with trio.move_on_after(self.options.timeout_seconds):
            while wanted and not self._made_by(uid):
                await self.recording.more.wait()
        return self._made_by(uid)

    def _made_by(self, uid: str) -> tuple[Pod, ...]:
        """Return the pods of a workload, and those of a ReplicaSet that it has."""
        owned = self.cluster.api.dependents(uid)
        below = (pod for each in owned if each.kind != "Pod" for pod in self._made_by(each.metadata.uid or ""))
        return (*(self._pod(ObjectRef.of(each.metadata)) for each in owned if each.kind == "Pod"), *below)

    async def run(self, manifest: str | Path) -> Pod:
        """Create what a manifest says and return its one pod; of a workload the first pod that it makes.

        ManifestError also when there isn't exactly one Pod or workload in it: `apply` takes more.
        """
        made = tuple(each[0] for each in await self._create(manifest) if each)
        if len(made) != 1:
            names = ", ".join(f"{type(each).__name__} {each.namespace}/{each.name}" for each in made) or "none"
            raise ManifestError(
                f"{name_of(manifest)}: one Pod or Job is taken at a time, and this has {len(made)}: {names}; "
                "write the one that is meant to a file of its own"
            )
        only = made[0]
        if isinstance(only, Pod):
            return only
        with trio.move_on_after(self.options.timeout_seconds):
            while not only.pods:
                await self.recording.more.wait()
        if not only.pods:
            raise WaitError(f"Job {only.name} has made no pod in {self.options.timeout_seconds:g} s")
        return only.pods[0]

    async def sleep(self, seconds: float) -> None:
        """Let time pass, virtual on a virtual clock."""
        check_seconds("seconds", seconds)
        await trio.sleep(seconds)

    def log_of(self, about: Pod | Job) -> PodLog:
        """Return what has happened to a pod, or to a Job and its pods, in seconds since its first record."""
        told = self.told_names(about)
        mine = [record for record in self.recording.records if any(record.get(key) in told[key] for key in told)]
        origin = time_of(mine[0]) if mine else 0.0
        records = tuple({**record, "t": round(time_of(record) - origin, 6)} for record in mine)
        return PodLog(name=about.name, records=records, on_failure=self.failures.append)

    def told_names(self, about: Pod | Job) -> Mapping[str, frozenset[str]]:
        """Return the names that records have for an object, and for the pods of a Job, by the records' keys."""
        label = self.seen.names.label
        if isinstance(about, Pod):
            return {"pod": frozenset({label("Pod", about.namespace, about.name)})}
        pods = frozenset(label("Pod", pod.namespace, pod.name) for pod in about.pods)
        return {"job": frozenset({label("Job", about.namespace, about.name)}), "pod": pods}

    def lifecycle_log(self) -> LifecycleLog:
        """Return everything that has happened on the node, for whoever judges or draws it."""
        return log_of_entries(tuple(self.entries), file="<node>")

    def log_lines(self) -> tuple[str, ...]:
        """Return the lines of the lifecycle log (docs/LIFECYCLE-LOG.md) of everything that has happened."""
        return tuple(to_line(entry, self.entries[0].at) for entry in self.entries)

    async def wait_for(self, target: Pod | Job, moments: tuple[MomentExpression, ...], timeout: float | None) -> float:  # noqa: ASYNC109 - see Pod.wait_for
        """Wait until one of some moments of a pod or Job was, and return when; WaitError, LookupError."""
        __tracebackhide__ = True  # a failed test shows its own line
        check_seconds("timeout", timeout)
        check_containers(target.name, moments, target.container_names)
        seconds = self.options.timeout_seconds if timeout is None else timeout
        found: float | None = None
        can_come = True
        with trio.move_on_after(seconds):
            while (found := _first(target, moments)) is None and can_come:
                more = self.recording.more
                can_come = any(target.can_change(moment) for moment in moments)
                if can_come:
                    await more.wait()
            if not can_come:
                await self._settle(target, moments)
        found = _first(target, moments)
        if found is None:
            text = " or ".join(moment.source.removeprefix("some ") for moment in moments)
            why = f"did not come in {seconds:g} s" if can_come else "can't come any more"
            raise WaitError(f"{text}: {why}\n{told(target.name, target.log.story())}")
        await self.cluster.timebase.turn(Lane.CONTROLLER, target.name)
        return found

    async def _settle(self, target: Pod | Job, moments: tuple[MomentExpression, ...]) -> None:
        """Give what is on its way, such as the last lines of a container, a moment to arrive."""
        with trio.move_on_after(SETTLE_SECONDS):
            while _first(target, moments) is None:
                await self.recording.more.wait()


def _first(target: Pod | Job, moments: tuple[MomentExpression, ...]) -> float | None:
    """Return when the earliest of some moments was, None when none has been."""
    log = target.log
    return min((found.high for moment in moments if (found := log.find(moment)) is not None), default=None)


@asynccontextmanager
async def open_node(options: NodeOptions) -> AsyncIterator[Node]:
    """Give a node, and take everything away at the end: pods, containers, volumes.

    RuntimeUnavailableError when no engine answers, be it for the clean-up: a failure of the body has that as a note.
    Cancellation ends the kubelet, too: what it ran is then removed without a stop, within a minute. KeyboardInterrupt
    comes in no group, whichever task Ctrl-C has hit.
    """
    failure: Exception | KeyboardInterrupt | None = None
    try:
        async with _ungrouped_interrupts(), open_world(options) as world:
            node = _node(options, world)
            async with trio.open_nursery() as nursery:
                has_ended = trio.Event()
                await nursery.start(_be, node.cluster, has_ended)
                try:
                    yield node
                except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the caller's own: raised below, in no group
                    failure = error
                await _remove_all(node.cluster, has_ended)
                nursery.cancel_scope.cancel()
    except RuntimeUnavailableError as error:
        if failure is None:
            raise
        failure.add_note(str(error))
    if failure is not None:
        raise failure


def _mirrors(options: NodeOptions, journal: Journal) -> tuple[Mirror, ...]:
    """Return where images come from instead; ValueError for a hosts file that can't be followed."""
    if options.registry_hosts is None:
        return options.registry_mirrors
    from kubelet_emu.images.hosts_files import read_registry_hosts  # noqa: PLC0415 - few need it

    found = read_registry_hosts(options.folder / options.registry_hosts)
    for warning in found.warnings:
        journal.emit(NoteRecord(level="warning", text=warning))
    return (*options.registry_mirrors, *found.mirrors)


def _credentials(options: NodeOptions, journal: Journal) -> DockerCredentials | None:
    """Return the user's own pull credentials; a simulated node reads nothing of this machine."""
    if options.is_simulated:
        return None
    from kubelet_emu.images.docker_config import DockerCredentials, docker_config_path  # noqa: PLC0415 - half need it

    def warn(text: str) -> None:
        journal.emit(NoteRecord(level="warning", text=text))

    return DockerCredentials(path=docker_config_path(os.environ), warn=warn)


@asynccontextmanager
async def _ungrouped_interrupts() -> AsyncIterator[None]:
    """Raise KeyboardInterrupt for a group of nothing else: Ctrl-C hits whichever task runs, maybe the kubelet."""
    try:
        yield
    except BaseExceptionGroup as group:
        _, rest = group.split(KeyboardInterrupt)
        if rest is None:
            raise KeyboardInterrupt from group
        raise


def _node(options: NodeOptions, world: World) -> Node:
    recording, seen, events = Recording(), PodsSeen(), EventLog()
    entries: list[Entry] = []
    journal = Journal(world.timebase.now, (recording, seen, entries.append, events))
    configuration = KubeletConfiguration()
    features = gates_for(options.kubernetes, configuration.feature_gates.overrides)
    world.timebase.seconds()
    journal.emit(
        HeaderRecord(
            at=world.timebase.epoch,
            version=__version__,
            kubernetes=f"v{options.kubernetes.removeprefix('v')}",
            epoch=world.timebase.epoch,
            seed=options.seed,
            timing=options.timing_name,
            runtime={"name": options.runtime},
            features=features.overrides,
            config=tell(configuration),
        )
    )
    cluster = Cluster(
        runtime=world.runtime,
        timebase=world.timebase,
        node=world.node,
        settings=KubeletSettings(
            configuration=configuration,
            features=features,
            timing=timing_named(options.timing_name),
            mirrors=_mirrors(options, journal),
            node_credentials=_credentials(options, journal),
        ),
        seed=options.seed,
        emit=journal.emit,
        log=structlog.get_logger(),
    )
    world.furnish(cluster)
    return Node(options=options, cluster=cluster, recording=recording, seen=seen, events=events, entries=entries)


async def _be(cluster: Cluster, has_ended: trio.Event, *, task_status: trio.TaskStatus[None]) -> None:
    """Run a cluster until it is cancelled, and say so."""
    try:
        await cluster.run(task_status=task_status)
    finally:
        has_ended.set()


async def _remove_all(cluster: Cluster, has_ended: trio.Event) -> None:
    """Delete every pod with the least grace and wait until the runtime holds nothing, or the cluster has ended."""
    _delete_all(cluster)
    cluster.give_up_pulls()
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_after, has_ended, nursery.cancel_scope)
            await cluster.kubelet.emptied()
            nursery.cancel_scope.cancel()


async def _cancel_after(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _delete_all(cluster: Cluster) -> None:
    """Delete every workload, and every pod with the least grace, finalizers or not."""
    cluster.delete_workloads()
    for pod in cluster.api.list("Pod"):
        cluster.api.delete("Pod", pod.metadata.namespace or "", pod.metadata.name or "", grace_period_seconds=1)
        if pod.metadata.finalizers:
            current = cluster.api.get_by_uid("Pod", pod.metadata.uid or "")
            if current is not None:
                cluster.api.replace(evolve(current, metadata=evolve(current.metadata, finalizers=())))
