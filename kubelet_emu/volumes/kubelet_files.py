"""The files that the kubelet itself gives to containers: /etc/hosts and termination messages.

They live in one volume a pod, under a name that no manifest can use; a container's message file is found again by its
name and attempt after a restart. Source: kubelet v1.36 makeHostsMount, makeBindMounts (termination log).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.rules.hosts import HOSTS_PATH
from kubelet_emu.rules.termination_message import MAX_FILE_BYTES
from runtime.api import Mount, VolumeConfig, VolumeFile

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod
    from runtime.api import VolumeHandle, VolumeService

VOLUME_NAME = "kubelet.files"
_HOSTS_FILE = "etc-hosts"


@define(eq=False)
class KubeletFiles:
    """Writes and reads the kubelet's own files of pods."""

    runtime: VolumeService
    _handles: dict[str, VolumeHandle] = field(factory=dict, init=False)

    async def hosts(self, pod: Pod, content: str, *, in_place: bool = False) -> Mount:
        """Write a pod's hosts file and return its mount: mode 0644, writable for containers; CRIError.

        In place: containers that have it mounted already see the new content.
        """
        handle = await self._handle(pod.metadata.uid or "")
        file = VolumeFile(data=content.encode(), mode=0o644, in_place=in_place)
        await self.runtime.write_volume(handle, {_HOSTS_FILE: file})
        return Mount(container_path=HOSTS_PATH, volume=handle, sub_path=_HOSTS_FILE)

    async def termination_log(self, pod: Pod, container: Container | EphemeralContainer, attempt: int) -> Mount | None:
        """Make the empty message file (mode 0666) of one instance and return its mount; CRIError.

        None for a container without a terminationMessagePath; one that is not absolute is taken from the root on
        (volume util MakeAbsolutePath).
        """
        if not container.termination_message_path:
            return None
        handle = await self._handle(pod.metadata.uid or "")
        path = _message_file(container.name, attempt)
        await self.runtime.write_volume(handle, {path: VolumeFile(mode=0o666)})
        place = container.termination_message_path
        return Mount(container_path=place if place.startswith("/") else f"/{place}", volume=handle, sub_path=path)

    async def read_termination_message(self, pod_uid: str, container: str, attempt: int) -> bytes:
        """Return the last 4096 bytes of an instance's message file, empty when there is none; CRIError.

        Makes nothing: the pod may be gone with its volumes.
        """
        handle = self._handles.get(pod_uid) or await self._find(pod_uid)
        if handle is None:
            return b""
        return await self.runtime.read_volume(handle, _message_file(container, attempt), last_bytes=MAX_FILE_BYTES)

    def forget(self, pod_uid: str) -> None:
        """Drop what is kept of a pod whose volumes are gone."""
        self._handles.pop(pod_uid, None)

    async def _find(self, pod_uid: str) -> VolumeHandle | None:
        """Return the volume that a kubelet before this one has made."""
        found = await self.runtime.list_volumes(pod_uid)
        return next((handle for handle, config in found if config.name == VOLUME_NAME), None)

    async def _handle(self, pod_uid: str) -> VolumeHandle:
        if pod_uid not in self._handles:
            config = VolumeConfig(pod_uid=pod_uid, name=VOLUME_NAME, mode=0o755)
            self._handles[pod_uid] = await self.runtime.create_volume(config)
        return self._handles[pod_uid]


def _message_file(container: str, attempt: int) -> str:
    return f"termination-log/{container}/{attempt}"
