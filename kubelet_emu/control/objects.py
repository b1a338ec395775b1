"""Methods that read and delete objects: list, get, watch, delete.

A watch begins with an ADDED event for what there is, then SYNCED, then each change. A client that reads so slowly that
`MOST_PENDING` changes wait gets an error instead (Expired, as from an API server), and may watch anew.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field, frozen

from kubelet_emu.apiserver.errors import NotFoundError
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.control.desk import DEFAULT_NAMESPACE, EVENT, Desk
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.control.event_log import KeptEvent
    from kubelet_emu.control.protocol import Message, Params
    from kubelet_emu.control.server import Exchange

MOST_PENDING = 1024
KINDS = frozenset(
    {
        "Pod",
        EVENT,
        "Job",
        "CronJob",
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "Service",
        "ConfigMap",
        "Secret",
    }
)


@frozen
class Wanted:
    """Which objects a request is about: of a kind, in one namespace or in all, of one name or of any."""

    kind: str
    namespace: str | None
    name: str | None

    @classmethod
    def of(cls, params: Params) -> Wanted:
        """Read it; ControlError for a kind that isn't served."""
        kind = params.text("kind", "Pod")
        if kind not in KINDS:
            raise ControlError(Reason.BAD_REQUEST, f"no kind {kind!r}; there are {', '.join(sorted(KINDS))}")
        return cls(kind, params.optional_text("namespace"), params.optional_text("name"))

    def accepts(self, kind: str, namespace: str, name: str) -> bool:
        """Tell whether an object is meant."""
        return kind == self.kind and self.namespace in {None, namespace} and self.name in {None, name}


@define(eq=False)
class _Pending:
    """Changes that wait for a client, up to a bound."""

    changes: deque[Message] = field(factory=deque)
    is_over: bool = False
    arrived: trio.Event = field(factory=trio.Event)

    def put(self, change: Message) -> None:
        """Keep a change; beyond the bound nothing is kept any more."""
        if len(self.changes) >= MOST_PENDING:
            self.is_over = True
            self.changes.clear()
        if not self.is_over:
            self.changes.append(change)
        self.arrived.set()


@frozen
class Objects:
    """The methods, over a run."""

    desk: Desk

    async def listed(self, params: Params, _: Exchange) -> Message:
        """Return the objects of a kind in the order of their creation; events by name."""
        return {"items": self._existing(Wanted.of(params)), "now": self.desk.now()}

    async def get(self, params: Params, _: Exchange) -> Message:
        """Return one object; NotFoundError."""
        wanted = Wanted.of(params)
        namespace, name = wanted.namespace or DEFAULT_NAMESPACE, params.text("name")
        found = self._existing(Wanted(wanted.kind, namespace, name))
        if not found:
            raise NotFoundError(wanted.kind, namespace, name)
        return {"object": found[0], "now": self.desk.now()}

    async def delete(self, params: Params, _: Exchange) -> Message:
        """Ask for the deletion of a pod, as `kubectl delete` does; returns at once. NotFoundError."""
        pod = self.desk.pod(params)
        grace = params.whole("gracePeriodSeconds", least=0)
        told = "own grace" if grace is None else f"grace {grace} s"
        self.desk.note_request(pod, f"delete pod, {told}", {"because": "kubelet-emu delete"})
        uid = pod.metadata.uid or ""
        kept = self.desk.cluster.api.delete(
            "Pod", pod.metadata.namespace or "", pod.metadata.name or "", grace_period_seconds=grace, uid=uid
        )
        await trio.lowlevel.checkpoint()
        return {"uid": uid, "gone": kept is None, "now": self.desk.now()}

    async def watch(self, params: Params, exchange: Exchange) -> Message:
        """Send what there is and each change, until the client leaves or the run ends; ControlError (Expired)."""
        wanted, pending = Wanted.of(params), _Pending()
        end = self._subscribe(wanted, pending)
        try:
            for obj in self._existing(wanted):
                await exchange.send({"type": "ADDED", "object": obj, "now": self.desk.now()})
            await exchange.send({"type": "SYNCED", "now": self.desk.now()})
            while pending.changes or not exchange.ending.is_set():
                await _hand_over(pending, exchange)
                await _either(pending, exchange.ending)
        finally:
            end()
        return {"now": self.desk.now()}

    def _existing(self, wanted: Wanted) -> list[Message]:
        """Return the objects that are meant."""
        if wanted.kind == EVENT:
            host = self.desk.cluster.node.name
            events = (each.to_json(host) for each in self.desk.events.of(wanted.namespace))
            return [each for each in events if wanted.name in {None, _name_of(each)}]
        found = self.desk.cluster.api.list(wanted.kind, wanted.namespace)
        return [self.desk.shown(each) for each in found if wanted.name in {None, each.metadata.name}]

    def _subscribe(self, wanted: Wanted, pending: _Pending) -> Callable[[], None]:
        """Have changes put into `pending`; the returned function ends that."""

        def on_event(event: KeptEvent) -> None:
            namespace = event.record.ref.namespace
            if wanted.accepts(EVENT, namespace, event.name):
                what = "ADDED" if event.count == 1 else "MODIFIED"
                json = event.to_json(self.desk.cluster.node.name)
                pending.put({"type": what, "object": json, "now": self.desk.now()})

        def on_change(event: WatchEvent) -> None:
            obj = event.object
            if wanted.accepts(obj.kind, obj.metadata.namespace or "", obj.metadata.name or ""):
                pending.put({"type": event.type.value, "object": self.desk.shown(obj), "now": self.desk.now()})

        if wanted.kind == EVENT:
            return self.desk.events.subscribe(on_event)
        return self.desk.cluster.api.subscribe(on_change)


def _name_of(obj: Message) -> str:
    return str(cast("Message", obj["metadata"])["name"])


async def _hand_over(pending: _Pending, exchange: Exchange) -> None:
    pending.arrived = trio.Event()
    while pending.changes and not pending.is_over:
        await exchange.send(pending.changes.popleft())
    if pending.is_over:
        raise ControlError(Reason.EXPIRED, f"too old: more than {MOST_PENDING} changes waited; watch anew")


async def _either(pending: _Pending, ending: trio.Event) -> None:
    """Wait for a change, or for the run's end."""
    if pending.changes or pending.is_over:
        return
    async with trio.open_nursery() as nursery:

        async def wait(event: trio.Event) -> None:
            await event.wait()
            nursery.cancel_scope.cancel()

        nursery.start_soon(wait, pending.arrived)
        nursery.start_soon(wait, ending)


def is_last(change: str) -> bool:
    """Tell whether a change is the end of its object."""
    return change == WatchEventType.DELETED.value
