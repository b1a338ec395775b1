"""Static pods: the folder of their manifests, which of them are wanted, and their mirrors in the API.

Owns what the folder says. Workers belong to the kubelet; one whose file is gone is ended by it, and a pod that takes
another's name waits until that one's worker is finished. Source: kubelet v1.36 pkg/kubelet/config file.go,
pod_workers.go allowPodStart, kubelet.go tryReconcileMirrorPods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.api import reasons
from kubelet_emu.api.labels import format_pod, pod_full_name
from kubelet_emu.api.v1 import Pod
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.loading import load_text
from kubelet_emu.rules.static_pods import (
    FILE_SOURCE,
    api_references,
    as_first_seen,
    is_mirror_of,
    is_mirror_pod,
    mirror_pod,
    static_pod,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.apiserver.store import APIServer


@define(eq=False)
class StaticPodFolder:
    """Manifest files by name, as a node's staticPodPath has them; it outlives a kubelet."""

    files: dict[str, str] = field(factory=dict)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    @property
    def changed(self) -> trio.Event:
        """Return the event that the next change sets."""
        return self._changed

    def write(self, name: str, text: str) -> None:
        """Put a file into the folder, or replace it."""
        self.files[name] = text
        self._tell()

    def remove(self, name: str) -> None:
        """Take a file out of the folder; KeyError."""
        del self.files[name]
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


@define(eq=False, kw_only=True)
class StaticPods:
    """The static pods that one kubelet is to run, by uid; `tell` hears of a pod that is ignored for another's name."""

    folder: StaticPodFolder
    api: APIServer
    node_name: Callable[[], str]
    now: Callable[[], datetime]
    log: FilteringBoundLogger
    tell: Callable[[Pod, str], None]
    refuses_references: bool = True
    wanted: dict[str, Pod] = field(factory=dict, init=False)
    has_had_any: bool = field(default=False, init=False)
    _waiting: list[str] = field(factory=list, init=False)

    def read(self) -> tuple[tuple[Pod, ...], tuple[Pod, ...]]:
        """Read the folder and return the pods that are new, and those of the same uid that have changed.

        A file that can't be read is told and left out. Source: kubelet v1.36 podStorage.merge.
        """
        found = self._with_names_of_their_own()
        before, self.wanted = self.wanted, {}
        for pod in found:
            uid = pod.metadata.uid or ""
            self.wanted[uid] = as_first_seen(before[uid], pod) if uid in before else pod
        new = tuple(pod for pod in self.wanted.values() if pod.metadata.uid not in before)
        changed = tuple(pod for uid, pod in self.wanted.items() if uid in before and pod != before[uid])
        self._waiting = [uid for uid in self._waiting if uid in self.wanted]
        self._waiting += [pod.metadata.uid or "" for pod in new]
        self.has_had_any = self.has_had_any or bool(found) or any(map(is_mirror_pod, self.api.list("Pod")))
        return new, changed

    def _with_names_of_their_own(self) -> list[Pod]:
        """Return the pods of the files in order; of two with one name the second is told and ignored.

        Source: kubelet v1.36 pkg/kubelet/config filterInvalidPods.
        """
        found: dict[str, Pod] = {}
        for pod in filter(None, map(self._pod, sorted(self.folder.files))):
            if found.setdefault(pod_full_name(pod), pod) is not pod:
                text = reasons.duplicate_pod_name(format_pod(pod), FILE_SOURCE, pod.metadata.name or "")
                self.tell(pod, text)
        return list(found.values())

    def _pod(self, name: str) -> Pod | None:
        if name.startswith("."):
            return None
        loaded = load_text(self.folder.files[name], file=name, letters_are_text=True)
        objects = [each.object for each in loaded.objects]
        if loaded.has_errors or len(objects) != 1 or not isinstance(objects[0], Pod):
            self.log.error("static pod ignored", file=name, why=[p.text for p in loaded.problems] or "not one Pod")
            return None
        pod: Pod = set_defaults(objects[0])
        if self.refuses_references and (references := api_references(pod)):
            self.log.error("static pod ignored", file=name, why=f"it refers to {', '.join(references)}")
            return None
        return static_pod(pod, path=name, node_name=self.node_name(), seen_at=self.now())

    def may_start(self, pod: Pod, running: tuple[Pod, ...]) -> bool:
        """Tell whether no pod of the same name is `running` or came earlier; the one that may is no longer waited for.

        Source: kubelet v1.36 allowStaticPodStart.
        """
        name, uid = pod_full_name(pod), pod.metadata.uid or ""
        if any(pod_full_name(other) == name for other in running):
            return False
        first = next((each for each in self._waiting if pod_full_name(self.wanted[each]) == name), uid)
        if first != uid:
            return False
        self._waiting = [each for each in self._waiting if each != uid]
        return True

    def reconcile_mirror(self, pod: Pod) -> bool:
        """See to it that the API has the mirror of a static pod; return whether it was made now."""
        namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
        mirror = self.api.get("Pod", namespace, name)
        if mirror is not None and is_mirror_of(mirror, pod):
            return False
        if mirror is not None and is_mirror_pod(mirror):
            self.api.delete("Pod", namespace, name, grace_period_seconds=0)
        if self.api.get("Pod", namespace, name) is None:
            self.api.create(mirror_pod(pod))
            return True
        return False

    def delete_orphaned_mirrors(self, running: tuple[Pod, ...]) -> None:
        """Delete the mirrors that stand for no pod that is wanted or still `running` (deleteOrphanedMirrorPods)."""
        kept = {pod_full_name(pod) for pod in (*self.wanted.values(), *running)}
        for pod in self.api.list("Pod"):
            mine = is_mirror_pod(pod) and pod.spec.node_name == self.node_name()
            if mine and pod_full_name(pod) not in kept:
                self.api.delete("Pod", pod.metadata.namespace or "", pod.metadata.name or "", grace_period_seconds=0)
