"""The hosts files of pods: the kubelet's own lines, and the names of Services, which follow what becomes of the pods.

Owns what was written last. Without a Service a file is what a kubelet writes, and stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field

from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.hostname import pod_hostname
from kubelet_emu.rules.hosts import managed_hosts
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.rules.service_names import service_names
from runtime.api import CRIError

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.node_files import NodeFiles
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.volumes.kubelet_files import KubeletFiles
    from runtime.api import Mount


@define(eq=False, kw_only=True)
class HostsFiles:
    """Writes the hosts files of a node's pods, and again when the names of Services change."""

    api: APIServer
    files: KubeletFiles
    timebase: Timebase
    node: Node
    node_files: NodeFiles
    log: FilteringBoundLogger
    _ips: dict[str, tuple[str, ...]] = field(factory=dict, init=False)
    _written: dict[str, str] = field(factory=dict, init=False)
    _node_hosts: str = field(default="", init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    async def mount(self, pod: Pod, pod_ips: tuple[str, ...]) -> Mount:
        """Write a pod's file, with the names that there are now, and return its mount; CRIError."""
        self._ips[pod.metadata.uid or ""] = pod_ips
        return await self._write(pod)

    async def run(self) -> None:
        """Rewrite files whose names have changed, until cancelled; a write that fails is tried at the next change."""
        unsubscribe = self.api.subscribe(self._on_change)
        try:
            while True:
                await self._changed.wait()
                self._changed = trio.Event()
                await self.timebase.turn(Lane.CONTROLLER, "hosts files")
                async with trio.open_nursery() as nursery:
                    for uid in self._outdated():
                        nursery.start_soon(self._rewrite, uid)
        finally:
            unsubscribe()

    def _on_change(self, event: WatchEvent) -> None:
        """Note a change that names may follow from."""
        if event.object.kind == "Pod" and event.type is WatchEventType.DELETED:
            self._ips.pop(event.object.metadata.uid or "", None)
            self._written.pop(event.object.metadata.uid or "", None)
        if event.object.kind == "Service" or (event.object.kind == "Pod" and self.api.list("Service")):
            self._changed.set()

    def _outdated(self) -> list[str]:
        """Return the pods whose file doesn't say what it should; a new kubelet doesn't know what they say."""
        pods = {pod.metadata.uid or "": pod for pod in self.api.list("Pod") if is_known(pod, self.node)}
        return [uid for uid, pod in pods.items() if self._content(pod) != self._written.get(uid)]

    async def _rewrite(self, uid: str) -> None:
        pod = self.api.get_by_uid("Pod", uid)
        try:
            if pod is not None:
                await self._write(pod)
        except CRIError as error:
            self._written[uid] = ""
            self.log.warning("names of services not written", pod=uid, error=str(error))

    async def _write(self, pod: Pod) -> Mount:
        """Write what a pod's file has to say, again while that changes: of two writers the last one is right."""
        uid = pod.metadata.uid or ""
        if pod.spec.host_network and not self._node_hosts:
            self._node_hosts = await self.node_files.hosts()
        while True:
            content = self._content(pod)
            is_live = bool(self.api.list("Service"))
            self._written[uid] = content
            mount = await self.files.hosts(pod, content, in_place=is_live)
            if self._content(pod) == content:
                return mount

    def _content(self, pod: Pod) -> str:
        services = cast("tuple[Service, ...]", self.api.list("Service"))
        domain = self.node_files.cluster_domain
        ips = self._ips.get(pod.metadata.uid or "") or tuple(each.ip or "" for each in pod.status.pod_ips)
        own_lines = managed_hosts(pod, ips, pod_hostname(pod, domain), self._node_hosts)
        if not services:
            return own_lines
        return own_lines + service_names(pod, services, self.api.list("Pod"), domain)


def is_known(pod: Pod, node: Node) -> bool:
    """Tell whether a pod of a node has a hosts file by now."""
    return pod.spec.node_name == node.name and bool(pod.status.pod_ips) and not is_phase_terminal(pod.status.phase)
