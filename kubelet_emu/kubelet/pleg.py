"""The pod lifecycle event generator: what the runtime shows, as the workers may know it.

Owns the pod cache. A relist lists sandboxes and containers, looks closer at the pods in which something changed, and
wakes their workers; a wake carries no data. A worker may only decide from an entry that is newer than its last step.
Looks are numbered, since at one instant of virtual time a clock can't tell what came first.
The relist each second is the truth; runtime events and requests merely bring it forward, one pod at a time.
In virtual time a relist that would see nothing new, as the runtime can tell, is counted and not made.
Only the relist loop writes the cache. Source: kubelet v1.36 pkg/kubelet/pleg/generic.go, container/cache.go.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field, frozen

from kubelet_emu.api.labels import parse_container_labels
from kubelet_emu.journal.records import ObjectRef, ObservedRecord
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.observed import ObservedPod
from kubelet_emu.rules.pleg import diff, wakes_worker
from runtime.api import ContainerState, CountsChanges, CRIError, NotFoundError, PodSandboxState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.run_journal import RunJournal
    from kubelet_emu.kubelet.runtime_state import RuntimeState
    from kubelet_emu.kubelet.timebase import Appointment, Timebase
    from kubelet_emu.kubelet.timing import Timing
    from runtime.api import ContainerID, ContainerStatus, ContainerSummary, PodSandboxStatus, Runtime, SandboxID

UID_LABEL = "io.kubernetes.pod.uid"
Shape = tuple[tuple[str, PodSandboxState | ContainerState], ...]


@frozen
class CacheEntry:
    """A pod as last seen, the listed states it was made from, the number of the look, and how often it changed."""

    observed: ObservedPod
    shape: Shape
    look: int
    changes: int = 0


@define(eq=False)
class PLEG:
    """Relists the runtime and keeps the pod cache."""

    runtime: Runtime
    timebase: Timebase
    timing: Timing
    emit: Callable[[Record], None]
    runs: RunJournal
    on_change: Callable[[str], None]
    read_termination_message: Callable[[ContainerStatus], Awaitable[str]]
    state: RuntimeState
    _cache: dict[str, CacheEntry] = field(factory=dict, init=False)
    _looks: int = field(default=0, init=False)
    _complete_look: int = field(default=0, init=False)
    _requested: set[str] = field(factory=set, init=False)
    _visits: Appointment = field(init=False)
    _next_at: float = field(default=0.0, init=False)
    _count_changes: Callable[[], int | None] = field(init=False)
    _seen_changes: int | None = field(default=None, init=False)
    _waiters: dict[str, trio.Event] = field(factory=dict, init=False)
    _exited: dict[ContainerID, tuple[ContainerStatus, str]] = field(factory=dict, init=False)
    _sandboxes: dict[SandboxID, PodSandboxStatus] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Find out how to wait, and whether the runtime counts its changes."""
        self._visits = self.timebase.appointment(Lane.RELIST, "")
        self._count_changes = self.runtime.changes if isinstance(self.runtime, CountsChanges) else _count_nothing

    def get(self, uid: str) -> ObservedPod:
        """Return the pod as last seen; empty for one that the runtime doesn't have."""
        entry = self._cache.get(uid)
        return entry.observed if entry else ObservedPod(uid=uid)

    def changes(self, uid: str) -> int:
        """Return how many times the pod was recorded as changed."""
        entry = self._cache.get(uid)
        return entry.changes if entry else 0

    def known(self) -> tuple[ObservedPod, ...]:
        """Return every pod that the runtime has anything of."""
        return tuple(e.observed for e in self._cache.values() if e.observed.sandboxes or e.observed.containers)

    def pods(self) -> Iterable[str]:
        """Return the uids of the pods that something is kept of, whether or not the runtime has anything of them."""
        return self._cache.keys()

    def request(self, uid: str) -> None:
        """Ask for a relist of one pod at once."""
        self._requested.add(uid)
        self._visits.hasten()

    def forget(self, uid: str) -> None:
        """Drop a pod that is over for good; what the runtime still has of it is news to the next relist."""
        self._cache.pop(uid, None)
        self._seen_changes = None

    def last_look(self) -> int:
        """Return the number of the look that began last; one with a higher number sees all that happened by now."""
        return self._looks

    def has_newer(self, uid: str, look: int) -> bool:
        """Tell whether the pod was seen by a look with a higher number."""
        entry = self._cache.get(uid)
        return self._complete_look > look or (entry is not None and entry.look > look)

    async def newer_than(self, uid: str, look: int) -> ObservedPod:
        """Wait until the pod was seen by a look with a higher number and return it.

        Cancellation leaves nothing behind. Source: kubelet v1.36 cache.GetNewerThan.
        """
        while not self.has_newer(uid, look):
            if self.timing.relist_on_events:
                self.request(uid)
            await self._waiters.setdefault(uid, trio.Event()).wait()
        return self.get(uid)

    async def look_before_removal(self, container_id: ContainerID) -> None:
        """Record the end of a run that is about to be removed, in case no relist sees it any more."""
        if container_id in self._exited:
            return
        try:
            status = await self.runtime.container_status(container_id)
        except CRIError:
            return
        pod = parse_container_labels(status.labels)
        self.runs.record(ObjectRef(namespace=pod.pod_namespace, name=pod.pod_name, uid=pod.pod_uid), status)

    async def relist_loop(self) -> None:
        """Relist each second and, one pod at a time, whenever asked; runs until cancelled.

        A runtime that doesn't answer is tried again at the next second.
        """
        self._next_at = trio.current_time()
        while True:
            await self._visits.keep(self._next_at, self._put_off)
            self._visits.catch_up()
            requested, self._requested = self._requested, set()
            began_at = trio.current_time()
            try:
                if began_at >= self._next_at:
                    await self._relist_all()
                    self._next_at = trio.current_time() + self.timing.relist_seconds
                else:
                    await self._relist(sorted(requested), self._begin())
                self.state.answered(trio.current_time())
            except CRIError as error:
                self.state.failed(error, began_at, trio.current_time())
                self._next_at = trio.current_time() + self.timing.relist_seconds
                self._requested |= requested

    def _put_off(self) -> float | None:
        """Count the relist that is due and return when the next one is; None when it may see something new.

        That takes no time and is no call that may fail, else the runtime would not tell how often it has changed.
        """
        is_idle = self._seen_changes is not None and self._seen_changes == self._count_changes()
        if not is_idle or self._requested or self._waiters:
            return None
        self._complete_look = self._begin()
        self._next_at = trio.current_time() + self.timing.relist_seconds
        return self._next_at

    def _begin(self) -> int:
        self._looks += 1
        return self._looks

    async def _relist_all(self) -> None:
        look, seen_changes = self._begin(), self._count_changes()
        self._seen_changes = None
        sandboxes = await self.runtime.list_pod_sandboxes()
        containers = await self.runtime.list_containers()
        shapes = _shapes(sandboxes, containers)
        changed = [
            uid
            for uid in sorted(shapes.keys() | self._cache.keys())
            if (entry := self._cache.get(uid)) is None or entry.shape != shapes.get(uid, ())
        ]
        await self._relist(changed, look)
        self._complete_look, self._seen_changes = look, seen_changes
        self._tell_waiters(tuple(self._waiters))

    async def _relist(self, uids: Sequence[str], number: int) -> None:
        """Look at pods side by side, then take in what was seen in the order of their uids."""
        seen: dict[str, CacheEntry] = {}
        errors: list[CRIError] = []

        async def look(uid: str) -> None:
            try:
                seen[uid] = await self._look(uid, number)
            except CRIError as error:
                errors.append(error)

        match uids:
            case [uid]:
                await look(uid)
            case _:
                async with trio.open_nursery() as nursery:
                    for uid in uids:
                        nursery.start_soon(look, uid)
        for uid in sorted(seen):
            self._take_in(uid, seen[uid])
        self._tell_waiters(seen)
        if errors:
            raise errors[0]

    async def _look(self, uid: str, number: int) -> CacheEntry:
        """Inspect what one pod has (kubelet updateCache, GetPodStatus)."""
        listed_sandboxes = await self.runtime.list_pod_sandboxes(uid)
        listed = await self.runtime.list_containers(uid)
        sandboxes = [s for s in [await self._sandbox(x) for x in listed_sandboxes] if s]
        inspected = [c for c in [await self._container(x) for x in listed] if c]
        name, namespace = "", ""
        if sandboxes:
            name, namespace = sandboxes[0].metadata.name, sandboxes[0].metadata.namespace
        observed = ObservedPod(
            uid=uid,
            name=name,
            namespace=namespace,
            sandboxes=tuple(sandboxes),
            containers=tuple(status for status, _ in inspected),
            termination_messages={status.id: text for status, text in inspected if text},
        )
        return CacheEntry(observed, _shapes(listed_sandboxes, listed).get(uid, ()), number)

    async def _sandbox(self, listed: PodSandboxStatus) -> PodSandboxStatus | None:
        known = self._sandboxes.get(listed.id)
        if known is None or (not known.ip and listed.state is PodSandboxState.READY):
            try:
                known = await self.runtime.pod_sandbox_status(listed.id)
            except NotFoundError:
                return None
            self._sandboxes[listed.id] = known
        return known if known.state is listed.state else evolve(known, state=listed.state)

    async def _container(self, listed: ContainerSummary) -> tuple[ContainerStatus, str] | None:
        """Inspect a container; what exited doesn't change any more and is looked at once."""
        if (known := self._exited.get(listed.id)) is not None:
            return known
        try:
            status = await self.runtime.container_status(listed.id)
        except NotFoundError:
            return None
        if status.state is not ContainerState.EXITED:
            return status, ""
        self._exited[listed.id] = (status, await self.read_termination_message(status))
        return self._exited[listed.id]

    def _take_in(self, uid: str, entry: CacheEntry) -> None:
        old = self._cache.get(uid)
        if old is not None and old.observed == entry.observed:
            self._cache[uid] = CacheEntry(old.observed, entry.shape, entry.look, old.changes)
            return
        is_told = old is not None or bool(entry.observed.sandboxes)
        changes = (old.changes if old else 0) + is_told
        self._cache[uid] = CacheEntry(entry.observed, entry.shape, entry.look, changes)
        self._forget_removed(old.observed if old else None, entry.observed)
        if is_told:
            before = old.observed if old else None
            self._record(before, entry.observed)
            if any(wakes_worker(event) for event in diff(before, entry.observed)):
                self.on_change(uid)

    def _forget_removed(self, old: ObservedPod | None, new: ObservedPod) -> None:
        if old is None:
            return
        for container in {c.id for c in old.containers} - {c.id for c in new.containers}:
            self._exited.pop(container, None)
            self.runs.forget(container)
        for sandbox in {s.id for s in old.sandboxes} - {s.id for s in new.sandboxes}:
            self._sandboxes.pop(sandbox, None)

    def _record(self, old: ObservedPod | None, new: ObservedPod) -> None:
        named = new if new.name else (old or new)
        ref = ObjectRef(namespace=named.namespace, name=named.name, uid=new.uid)
        for container in reversed(new.containers):
            self.runs.record(ref, container)
        self.emit(ObservedRecord(ref=ref, observed=new))

    def _tell_waiters(self, uids: Iterable[str]) -> None:
        for uid in uids:
            if uid in self._waiters:
                self._waiters.pop(uid).set()


def _count_nothing() -> None:
    """Stand for a count of changes where the runtime has none."""


def _shapes(sandboxes: Iterable[PodSandboxStatus], containers: Iterable[ContainerSummary]) -> dict[str, Shape]:
    """Return, by pod uid, the ids and states that a list shows."""
    shapes: dict[str, list[tuple[str, PodSandboxState | ContainerState]]] = {}
    for sandbox in sandboxes:
        shapes.setdefault(sandbox.metadata.uid, []).append((sandbox.id, sandbox.state))
    for container in containers:
        shapes.setdefault(container.labels.get(UID_LABEL, ""), []).append((container.id, container.state))
    return {uid: tuple(sorted(shape, key=itemgetter(0))) for uid, shape in shapes.items()}
