"""The in-memory API server: what the kubelet and the controllers talk to.

Owns the API objects, their metadata (uid, generation, resourceVersion, deletion) and the watches; outlives a stopped
kubelet. It decides nothing about pods: defaults and validation come in as a function, the rules of deletion are in
`deletion`. Every method is synchronous: nothing else happens between two awaits of a caller. Times that it sets are cut
to whole seconds, as the API stores them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from attrs import define, evolve, field

from kubelet_emu.api.labels import CONFIG_MIRROR_ANNOTATION
from kubelet_emu.apiserver import deletion
from kubelet_emu.apiserver.errors import AlreadyExistsError, ConflictError, NotFoundError
from kubelet_emu.apiserver.objects import (
    FOREGROUND_FINALIZER,
    APIObject,
    ObjectKey,
    evolved,
    key_of,
    whole_seconds,
    with_metadata,
)
from kubelet_emu.apiserver.subresources import with_binding, with_disruption_target, with_ephemeral_container
from kubelet_emu.apiserver.watches import Broadcaster, WatchEvent, WatchEventType
from kubelet_emu.manifests.aggregates import qos_class

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import EphemeralContainer, Pod
    from kubelet_emu.apiserver.deletion import DeletionOutcome
    from kubelet_emu.apiserver.patching import PatchBody, PatchType

T = TypeVar("T", bound=APIObject)
_NAME_ATTEMPTS = 8
_MAX_GENERATED_BASE = 63 - 5


BUILT_IN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
DEFAULT_SERVICE_ACCOUNT = "default"


def _accept(_old: APIObject, new: APIObject, _subresource: str) -> APIObject:
    """Take an update as it is."""
    return new


@define(eq=False)
class APIServer:
    """The store. `new_uid` gets "Kind/namespace/name"; `suffix` gives five random characters for generateName.

    `admit_update(old, new, subresource)` returns the object to store for a patch or a replace, with its defaults, or
    raises InvalidError.
    """

    now: Callable[[], datetime]
    new_uid: Callable[[str], str]
    suffix: Callable[[], str]
    admit_update: Callable[[APIObject, APIObject, str], APIObject] = _accept
    _objects: dict[str, dict[ObjectKey, APIObject]] = field(factory=dict, init=False)
    _key_of_uid: dict[str, ObjectKey] = field(factory=dict, init=False)
    _dependents: dict[str, dict[ObjectKey, None]] = field(factory=dict, init=False)
    _resource_version: int = field(default=0, init=False)
    _broadcaster: Broadcaster = field(factory=Broadcaster, init=False)

    def create(self, obj: T) -> T:
        """Store a new object and return it as stored; AlreadyExistsError.

        Sets uid (unless it has one), creationTimestamp, generation, resourceVersion, and what
        admission gives a pod; makes the name from generateName.
        """
        obj = self._named(obj)
        key = key_of(obj)
        if key in self._objects.get(key.kind, {}):
            raise AlreadyExistsError(*key)
        obj = with_metadata(
            obj,
            namespace=key.namespace,
            uid=obj.metadata.uid or self.new_uid("/".join(key)),
            creation_timestamp=whole_seconds(self.now()),
            generation=1 if hasattr(obj, "spec") else None,
            deletion_timestamp=None,
            deletion_grace_period_seconds=None,
        )
        if obj.kind == "Pod":
            obj = _admitted(obj)
        return self._put(obj, WatchEventType.ADDED)

    def restore(self, obj: APIObject) -> None:
        """Store an object as a process before had it, deletion and status included; only its resourceVersion is new."""
        self._resource_version = max(self._resource_version, int(obj.metadata.resource_version or 0))
        self._put(obj, WatchEventType.ADDED)

    @overload
    def get(self, kind: Literal["Pod"], namespace: str, name: str) -> Pod | None: ...
    @overload
    def get(self, kind: Literal["Job"], namespace: str, name: str) -> Job | None: ...
    @overload
    def get(self, kind: str, namespace: str, name: str) -> APIObject | None: ...
    def get(self, kind: str, namespace: str, name: str) -> APIObject | None:
        """Return an object, or None."""
        return self._objects.get(kind, {}).get(ObjectKey(kind, namespace, name))

    @overload
    def get_by_uid(self, kind: Literal["Pod"], uid: str) -> Pod | None: ...
    @overload
    def get_by_uid(self, kind: Literal["Job"], uid: str) -> Job | None: ...
    @overload
    def get_by_uid(self, kind: str, uid: str) -> APIObject | None: ...
    def get_by_uid(self, kind: str, uid: str) -> APIObject | None:
        """Return the object with this uid, or None."""
        key = self._key_of_uid.get(uid)
        return None if key is None or key.kind != kind else self._objects[kind][key]

    @overload
    def list(self, kind: Literal["Pod"], namespace: str | None = None) -> tuple[Pod, ...]: ...
    @overload
    def list(self, kind: Literal["Job"], namespace: str | None = None) -> tuple[Job, ...]: ...
    @overload
    def list(self, kind: str, namespace: str | None = None) -> tuple[APIObject, ...]: ...
    def list(self, kind: str, namespace: str | None = None) -> tuple[APIObject, ...]:
        """Return the objects of a kind in the order of their creation."""
        objects = self._objects.get(kind, {})
        return tuple(obj for key, obj in objects.items() if namespace in (None, key.namespace))

    def dependents(self, uid: str) -> tuple[APIObject, ...]:
        """Return the objects that name this uid as an owner, in the order of their creation."""
        return tuple(self._objects[key.kind][key] for key in self._dependents.get(uid, ()))

    def delete(
        self,
        kind: str,
        namespace: str,
        name: str,
        *,
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        propagation: str = "Background",
    ) -> APIObject | None:
        """Do what a delete request does; return the object, or None when it is gone. NotFoundError, ConflictError.

        `propagation` is Background, Foreground or Orphan and says what becomes of dependents.
        """
        obj = self._found(kind, namespace, name, uid)
        if propagation == "Orphan":
            self._orphan_dependents(obj)
        elif propagation == "Foreground" and kind != "Pod" and FOREGROUND_FINALIZER not in obj.metadata.finalizers:
            obj = with_metadata(obj, finalizers=(*obj.metadata.finalizers, FOREGROUND_FINALIZER))
        obj = self._deleted(obj, grace_period_seconds)
        if propagation == "Foreground":
            self._collect_dependents(obj.metadata.uid or "")
            self._release_foreground(obj.metadata.uid or "")
        return self.get(kind, namespace, name)

    def update_status(self, kind: str, namespace: str, name: str, status: object, *, uid: str) -> APIObject | None:
        """Write a status; return the stored object, or None when it is gone. Writing an equal one is a no-op."""
        obj = self.get(kind, namespace, name)
        if obj is None or obj.metadata.uid != uid:
            return None
        if obj.status == status:  # type: ignore[attr-defined]
            return obj
        return self._put(obj, WatchEventType.MODIFIED, status=status)

    def replace(self, obj: T) -> T | None:
        """Write metadata and spec of an object; return it as stored, or None when that removed it. The status is kept.

        NotFoundError, ConflictError for another uid, InvalidError from `admit_update`.
        """
        old = self._found(*key_of(obj), obj.metadata.uid)
        kept = {"status": old.status} if hasattr(old, "status") else {}
        return self._update(old, evolved(obj, **kept), "")

    def patch(
        self,
        kind: str,
        namespace: str,
        name: str,
        body: PatchBody,
        *,
        type: PatchType = "strategic",  # noqa: A002 - the API's word
        subresource: str = "",
    ) -> APIObject | None:
        """Apply a patch; return the stored object, or None when it removed the object (its last finalizer went).

        NotFoundError, InvalidError. A changed spec is a new generation.
        """
        from kubelet_emu.apiserver.patching import patched  # noqa: PLC0415 - decoding is loaded by who patches

        old = self._found(kind, namespace, name, None)
        return self._update(old, patched(old, body, type, subresource), subresource)

    def bind(self, namespace: str, name: str, node_name: str) -> Pod:
        """Assign a pod to a node, as its binding subresource does; the generation stays. NotFoundError."""
        bound = with_binding(self._found_pod(namespace, name), node_name, self.now())
        return self._put(bound, WatchEventType.MODIFIED)

    def evict(self, namespace: str, name: str, *, grace_period_seconds: int | None = None) -> Pod | None:
        """Mark a pod as disrupted, then delete it, as its eviction subresource does; NotFoundError."""
        pod = self._found_pod(namespace, name)
        marked = with_disruption_target(pod, self.now())
        if marked != pod:
            self._put(marked, WatchEventType.MODIFIED)
        self.delete("Pod", namespace, name, grace_period_seconds=grace_period_seconds)
        return self.get("Pod", namespace, name)

    def add_ephemeral_container(self, namespace: str, name: str, container: EphemeralContainer) -> Pod | None:
        """Add an ephemeral container to a pod; NotFoundError, InvalidError."""
        pod = self._found_pod(namespace, name)
        return self._update(pod, with_ephemeral_container(pod, container), "ephemeralcontainers")

    def resize(self, namespace: str, name: str, body: PatchBody) -> APIObject | None:
        """Patch a pod's resources; NotFoundError, InvalidError."""
        return self.patch("Pod", namespace, name, body, subresource="resize")

    def watch(self, kind: str) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """Open a watch on a kind: first ADDED for what exists, then every change in order."""
        return self._broadcaster.open(kind, partial(self.list, kind))

    def subscribe(self, callback: Callable[[WatchEvent], None]) -> Callable[[], None]:
        """Have `callback` called with each change of any kind as it happens; the returned function ends that."""
        return self._broadcaster.subscribe(callback)

    def _named(self, obj: T) -> T:
        """Make the name from generateName, cut to fit, where there is none; a taken one is tried again."""
        metadata = obj.metadata
        if metadata.name or not metadata.generate_name:
            return obj
        base = metadata.generate_name[:_MAX_GENERATED_BASE]
        for _ in range(_NAME_ATTEMPTS):
            obj = with_metadata(obj, name=base + self.suffix())
            if key_of(obj) not in self._objects.get(obj.kind, {}):
                break
        return obj

    def _found(self, kind: str, namespace: str, name: str, uid: str | None) -> APIObject:
        """Return the object that a request means."""
        obj = self.get(kind, namespace, name)
        if obj is None:
            raise NotFoundError(kind, namespace, name)
        if uid is not None and obj.metadata.uid != uid:
            raise ConflictError(kind, namespace, name, wanted=uid, found=obj.metadata.uid or "")
        return obj

    def _found_pod(self, namespace: str, name: str) -> Pod:
        """Return a pod that must exist."""
        pod = self.get("Pod", namespace, name)
        if pod is None:
            raise NotFoundError("Pod", namespace, name)
        return pod

    def _put(self, obj: T, event: WatchEventType, **changes: object) -> T:
        """Store an object, with some of its fields replaced, under a new resourceVersion and tell everybody."""
        self._resource_version += 1
        metadata = evolve(obj.metadata, resource_version=str(self._resource_version))
        obj = evolved(obj, metadata=metadata, **changes)
        key, uid = key_of(obj), obj.metadata.uid or ""
        old = self._objects.get(key.kind, {}).get(key)
        self._objects.setdefault(key.kind, {})[key] = obj
        self._key_of_uid[uid] = key
        if old is None or old.metadata.owner_references != obj.metadata.owner_references:
            if old is not None:
                self._forget_owners(old)
            for owner in obj.metadata.owner_references:
                self._dependents.setdefault(owner.uid, {})[key] = None
        self._broadcaster.publish(WatchEvent(event, obj))
        return obj

    def _update(self, old: APIObject, new: T, subresource: str) -> T | None:
        """Store an update: the generation follows the spec, and a deleted object goes when nothing holds it."""
        admitted: T = self.admit_update(old, new, subresource)  # type: ignore[assignment]
        if admitted == old:
            return admitted
        if getattr(admitted, "spec", None) != getattr(old, "spec", None):
            admitted = with_metadata(admitted, generation=(old.metadata.generation or 0) + 1)
        stored = self._put(admitted, WatchEventType.MODIFIED)
        if deletion.is_removable(stored.metadata):
            self._remove(stored)
            return None
        return stored

    def _deleted(self, obj: T, grace_period_seconds: int | None) -> T:
        """Carry out what the rules of deletion say and return the object's last state."""
        outcome = self._deletion_outcome(obj, grace_period_seconds)
        if outcome.changed:
            generation = obj.metadata.generation
            obj = with_metadata(
                obj,
                deletion_timestamp=outcome.deletion_timestamp,
                deletion_grace_period_seconds=outcome.deletion_grace_period_seconds,
                generation=generation + 1 if generation and outcome.generation_bumped else generation,
            )
            obj = self._put(obj, WatchEventType.MODIFIED)
        if outcome.removed:
            self._remove(obj)
        return obj

    def _deletion_outcome(self, obj: APIObject, grace_period_seconds: int | None) -> DeletionOutcome:
        """Ask the rule of the object's kind."""
        pod = self.get_by_uid("Pod", obj.metadata.uid or "")
        if pod is not None:
            return deletion.delete_pod(pod, grace_period_seconds, self.now())
        return deletion.delete_object(obj.metadata, self.now())

    def _remove(self, obj: APIObject) -> None:
        """Take an object out, tell everybody, and collect what it owned."""
        key, uid = key_of(obj), obj.metadata.uid or ""
        if self._objects.get(key.kind, {}).pop(key, None) is None:
            return
        self._key_of_uid.pop(uid, None)
        self._forget_owners(obj)
        self._broadcaster.publish(WatchEvent(WatchEventType.DELETED, obj))
        self._collect_dependents(uid)
        for owner in obj.metadata.owner_references:
            self._release_foreground(owner.uid)

    def _forget_owners(self, obj: APIObject) -> None:
        """Take an object out of its owners' lists."""
        key = key_of(obj)
        for owner in obj.metadata.owner_references:
            dependents = self._dependents.get(owner.uid, {})
            dependents.pop(key, None)
            if not dependents:
                self._dependents.pop(owner.uid, None)

    def _collect_dependents(self, uid: str) -> None:
        """Delete what nothing else owns (garbagecollector attemptToDeleteItem)."""
        # Differs: the garbage collector comes to it some milliseconds later.
        for dependent in self.dependents(uid):
            others = [owner for owner in dependent.metadata.owner_references if owner.uid != uid]
            if not any(owner.uid in self._key_of_uid for owner in others):
                self._deleted(dependent, None)

    def _orphan_dependents(self, owner: APIObject) -> None:
        """Take the owner out of its dependents (garbagecollector orphanDependents)."""
        uid = owner.metadata.uid or ""
        for dependent in self.dependents(uid):
            kept = tuple(ref for ref in dependent.metadata.owner_references if ref.uid != uid)
            self._put(with_metadata(dependent, owner_references=kept), WatchEventType.MODIFIED)

    def _release_foreground(self, uid: str) -> None:
        """Let an owner go that was deleted in the foreground once its blocking dependents are gone."""
        key = self._key_of_uid.get(uid)
        owner = None if key is None else self._objects[key.kind][key]
        if owner is None or FOREGROUND_FINALIZER not in owner.metadata.finalizers:
            return
        if any(
            ref.uid == uid and ref.block_owner_deletion
            for dependent in self.dependents(uid)
            for ref in dependent.metadata.owner_references
        ):
            return
        kept = tuple(name for name in owner.metadata.finalizers if name != FOREGROUND_FINALIZER)
        stored = self._put(with_metadata(owner, finalizers=kept), WatchEventType.MODIFIED)
        if deletion.is_removable(stored.metadata):
            self._remove(stored)


def _admitted(pod: T) -> T:
    """Give a new pod its phase and QoS class, the namespace's service account and the priority of its class.

    A mirror pod has no service account. Differs: there are no service accounts whose pull secrets it could get, and
    no tolerations are added for a node that isn't ready, which nothing evicts from here.
    Source: podStrategy.PrepareForCreate; ServiceAccount, Priority and DefaultTolerationSeconds admission.
    """
    status, spec = pod.status, pod.spec  # type: ignore[attr-defined]
    if CONFIG_MIRROR_ANNOTATION not in pod.metadata.annotations and not spec.service_account_name:
        name = spec.service_account or DEFAULT_SERVICE_ACCOUNT
        spec = evolve(spec, service_account_name=name, service_account=name)
    priority = BUILT_IN_PRIORITIES.get(spec.priority_class_name, 0) if spec.priority is None else spec.priority
    spec = evolve(
        spec,
        priority=priority,
        preemption_policy=spec.preemption_policy or "PreemptLowerPriority",
    )
    phase, quality = status.phase or "Pending", status.qos_class or qos_class(spec)
    return evolved(pod, spec=spec, status=evolve(status, phase=phase, qos_class=quality))
