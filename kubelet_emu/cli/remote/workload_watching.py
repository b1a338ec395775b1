"""A watch of workloads: their rows come anew when their pods change, for their counts are those of their pods."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field

from kubelet_emu.cli.remote.other_cells import with_counts
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.cli.remote.views import LiveView, Object

    _Key = tuple[object, object]

_COUNTED = ("Pod", "ReplicaSet")


async def watch_workloads(view: LiveView, kind: str, namespace: str | None, take: Callable[[Object], bool]) -> bool:
    """Hand over changes, as `watch` of the protocol tells them, until the run ends or `take` wants no more.

    Tells whether it was the run that ended. ControlError.
    """
    counted = Counted(kind)
    failure: ControlError | None = None
    is_wanted = True

    async def follow(source: str) -> None:
        nonlocal failure, is_wanted
        client = await view.dial()
        try:
            async with aclosing(client.events("watch", kind=source, namespace=namespace)) as events:
                async for event in events:
                    is_wanted = is_wanted and all(map(take, counted.changes(source, event)))
                    if not is_wanted:
                        break
        except ControlError as error:
            failure = failure or error
        finally:
            await client.aclose()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for each in sorted({kind, *_COUNTED}):
            nursery.start_soon(follow, each)
    if failure is not None and failure.reason is not Reason.ENDED:
        raise failure
    return is_wanted


@define(eq=False)
class Counted:
    """The workloads of a watch, and the pods and ReplicaSets that count for them."""

    kind: str
    _known: dict[str, dict[_Key, Object]] = field(factory=dict, init=False)
    _shown: dict[_Key, Object] = field(factory=dict, init=False)
    _synced: set[str] = field(factory=set, init=False)

    def changes(self, source: str, event: Object) -> list[Object]:
        """Take a change of one of the kinds; return the changes of workloads that follow, with their counts."""
        objects = self._known.setdefault(source, {})
        was_synced = self._is_synced
        if event["type"] == "SYNCED":
            self._synced.add(source)
            return self._all(event) if self._is_synced and not was_synced else []
        obj = cast("Object", event["object"])
        key = _key(obj)
        if event["type"] == "DELETED":
            objects.pop(key, None)
        else:
            objects[key] = obj
        if not was_synced:
            return []
        found = []
        if source == self.kind:
            counted = self._shown[key] = self._count(obj)
            found.append({**event, "object": counted})
        return [*found, *self._recounted(event)]

    @property
    def _is_synced(self) -> bool:
        return self._synced >= {self.kind, *_COUNTED}

    def _all(self, event: Object) -> list[Object]:
        found = [{**event, "type": "ADDED", "object": each} for each in map(self._count, self._mine())]
        self._shown = {_key(each): each for each in map(self._count, self._mine())}
        return [*found, event]

    def _recounted(self, event: Object) -> list[Object]:
        """Return the workloads whose counts are others than those that were shown."""
        counted = {_key(each): self._count(each) for each in self._mine()}
        changed = [each for key, each in counted.items() if self._shown[key]["status"] != each["status"]]
        self._shown = counted
        return [{**event, "type": "MODIFIED", "object": each} for each in changed]

    def _count(self, obj: Object) -> Object:
        pods, sets = (self._known.get(kind, {}).values() for kind in _COUNTED)
        return with_counts(obj, pods, sets)

    def _mine(self) -> tuple[Object, ...]:
        return tuple(self._known.get(self.kind, {}).values())


def _key(obj: Object) -> _Key:
    metadata = part(obj, "metadata")
    return metadata.get("namespace"), metadata.get("name")
