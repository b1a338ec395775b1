"""Setting up a pod's volumes through the runtime, and keeping them fresh.

Owns what is mounted for which pod, and the retries. Events FailedMount are sent here. Differs: a failed volume is
tried again only while a sync of its pod waits, not beside it. Source: kubelet v1.36 pkg/kubelet/volumemanager.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import structlog
import trio
from attrs import define, field, frozen

from kubelet_emu.api import reasons, reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.api.kinds import api_type
from kubelet_emu.rules.downward_api import RuntimeFacts
from kubelet_emu.volumes.atomic_writer import PayloadError, WrittenPayload, plan_update
from kubelet_emu.volumes.content import ContentSources, Payload, SetUpError, payload_of
from kubelet_emu.volumes.empty_dir import MEMORY, check_medium, memory_size
from kubelet_emu.volumes.host_path import Creation, FileKind, check_host_path, from_root
from kubelet_emu.volumes.kubelet_files import VOLUME_NAME, KubeletFiles
from kubelet_emu.volumes.mounted import MountedVolume, used_volumes
from runtime.api import CRIError, VolumeConfig

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import ConfigMap, Pod, Secret
    from kubelet_emu.api.v1_volumes import EmptyDirVolumeSource, Volume
    from runtime.api import VolumeHandle, VolumeService

WAIT_SECONDS = 123.0
FIRST_RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 122.0
NODE_ROOT = "/var/lib/kubelet"
MAX_TEXT_BYTES = 1 << 20

log = structlog.get_logger()

_PLUGINS = {
    "empty_dir": "kubernetes.io~empty-dir",
    "config_map": "kubernetes.io~configmap",
    "secret": "kubernetes.io~secret",
    "downward_api": "kubernetes.io~downward-api",
    "projected": "kubernetes.io~projected",
}


class Clock(Protocol):
    """The wall clock of the run."""

    def now(self) -> datetime:
        """Return the wall time, aware UTC."""


class HostPaths(Protocol):
    """The host's files, as far as hostPath volumes need them."""

    def look(self, path: str) -> FileKind:
        """Return what is at a path, symbolic links followed."""

    def make(self, path: str, creation: Creation) -> None:
        """Make a directory or a file; OSError."""


class MountError(Exception):
    """The volumes of a pod are not there; a time-out is no news to the user, its causes were told as events."""

    def __init__(self, message: str, *, is_timeout: bool) -> None:
        """Keep the kind beside the message."""
        super().__init__(message)
        self.is_timeout = is_timeout


class UnsupportedVolumeError(Exception):
    """No plugin here takes a volume of this kind."""


@frozen(kw_only=True)
class VolumeSources:
    """What volumes are filled from; objects are looked up by namespace and name."""

    config_map: Callable[[str, str], ConfigMap | None]
    secret: Callable[[str, str], Secret | None]
    facts: Callable[[Pod], RuntimeFacts] = lambda _pod: RuntimeFacts()
    allocatable: Mapping[str, Quantity] = field(factory=dict)


@define(kw_only=True)
class _State:
    """One volume of one pod: what is there, and when it may be tried again."""

    mounted: MountedVolume | None = None
    written: WrittenPayload | None = None
    delay_seconds: float = 0.0
    retry_at: float = -math.inf


async def _no_turn(_key: str) -> None:
    """Let the scheduler decide."""
    await trio.lowlevel.checkpoint()


@define(eq=False, kw_only=True)
class VolumeManager:
    """Makes, fills, refreshes and removes the volumes of pods.

    `poll_seconds` is how often a waiting sync looks whether all is mounted (the kubelet: 0.3; 0 looks at once). `turn`
    orders the pods whose waits end at one instant, by a key.
    """

    runtime: VolumeService
    files: KubeletFiles
    timebase: Clock
    event: Callable[[Pod, str | None, str, str, str], None]
    sources: VolumeSources
    host_paths: HostPaths
    poll_seconds: float = 0.0
    wait_seconds: float = WAIT_SECONDS
    turn: Callable[[str], Awaitable[None]] = _no_turn
    _pods: dict[str, dict[str, _State]] = field(factory=dict, init=False)

    async def wait_for_attach_and_mount(self, pod: Pod) -> Mapping[str, MountedVolume]:
        """Set up every volume that a container of the pod mounts, refresh those that are there, and return them.

        Waits up to 2m3s through the retries of each volume (0.5 s, doubled, up to 2m2s); MountError then.
        Cancellation stops waiting; what is mounted stays. Source: kubelet v1.36 WaitForAttachAndMount.
        """
        states = self._states(pod)
        volumes = [volume for volume in pod.spec.volumes if volume.name in states]
        started_at = trio.current_time()
        deadline = started_at + self.wait_seconds
        was_mounted = all(state.mounted for state in states.values())
        while True:
            await self._attempt_due(pod, volumes)
            waiting = [name for name, state in states.items() if state.mounted is None]
            if not waiting:
                break
            retry_at = min(states[name].retry_at for name in waiting)
            if retry_at >= deadline:
                await self._sleep_until(pod, deadline)
                raise MountError(_unmounted(waiting, "context deadline exceeded"), is_timeout=True)
            await self._sleep_until(pod, retry_at)
        if self.poll_seconds and not was_mounted:
            polls = max(1, math.ceil((trio.current_time() - started_at) / self.poll_seconds))
            await self._sleep_until(pod, started_at + polls * self.poll_seconds)
        return self.mounted(pod)

    async def _sleep_until(self, pod: Pod, at: float) -> None:
        await trio.sleep_until(at)
        await self.turn(f"{pod.metadata.namespace}/{pod.metadata.name}")

    async def refresh(self, pod: Pod) -> None:
        """Bring configMap, secret, downwardAPI and projected volumes of a pod up to date, one attempt each.

        A fault is told as FailedMount and leaves the old content. Source: kubelet v1.36 MarkRemountRequired.
        """
        await self._attempt_due(pod, [volume for volume in pod.spec.volumes if volume.name in self._states(pod)])

    def mounted(self, pod: Pod) -> Mapping[str, MountedVolume]:
        """Return the volumes of a pod that are there, by name."""
        states = self._pods.get(pod.metadata.uid or "", {})
        return {name: state.mounted for name, state in states.items() if state.mounted is not None}

    async def unmount(self, pod: Pod) -> None:
        """Remove the volumes of a pod whose containers have stopped, also those of an earlier process.

        The kubelet's own files stay, dead containers are still asked for their messages. What can't be removed yet
        (a dead container may hold it) is left to `remove`. Calling it again does no harm.
        """
        uid = pod.metadata.uid or ""
        self._pods.pop(uid, None)
        for handle, config in await self._listed(uid):
            if config.name != VOLUME_NAME:
                await self._remove_one(handle, config)

    async def remove(self, pod: Pod) -> None:
        """Remove all that was made for a pod, once its containers are gone."""
        uid = pod.metadata.uid or ""
        self._pods.pop(uid, None)
        self.files.forget(uid)
        for handle, config in await self._listed(uid):
            await self._remove_one(handle, config)

    async def remove_orphans(self, is_gone: Callable[[str], bool]) -> None:
        """Remove the volumes of every pod that is gone when it comes to them (kubelet cleanupOrphanedPodDirs)."""
        for handle, config in await self._listed(None):
            if is_gone(config.pod_uid):
                self._pods.pop(config.pod_uid, None)
                self.files.forget(config.pod_uid)
                await self._remove_one(handle, config)

    async def read_text(self, volume: MountedVolume, path: str) -> str:
        """Return a file of a volume as text, empty when there is none; CRIError."""
        if volume.handle is None:
            return ""
        content = await self.runtime.read_volume(volume.handle, path, last_bytes=MAX_TEXT_BYTES)
        return content.decode(errors="replace")

    async def _listed(self, uid: str | None) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return all volumes, or those of one pod; none when the runtime doesn't say."""
        try:
            return await self.runtime.list_volumes(uid)
        except CRIError as error:
            log.warning("volumes not listed", error=str(error))
            return ()

    async def _remove_one(self, handle: VolumeHandle, config: VolumeConfig) -> None:
        try:
            await self.runtime.remove_volume(handle)
        except CRIError as error:
            log.info("volume not removed", pod=config.pod_uid, volume=config.name, error=str(error))

    def _states(self, pod: Pod) -> dict[str, _State]:
        states = self._pods.setdefault(pod.metadata.uid or "", {})
        used = used_volumes(pod)
        for volume in pod.spec.volumes:
            if volume.name in used:
                states.setdefault(volume.name, _State())
        return states

    async def _attempt_due(self, pod: Pod, volumes: list[Volume]) -> None:
        """Try every volume whose time has come, in spec order: set up what is missing, refresh what can change."""
        for volume in volumes:
            state = self._pods[pod.metadata.uid or ""][volume.name]
            is_fixed = state.mounted is not None and not state.mounted.is_api_data
            if is_fixed or trio.current_time() < state.retry_at:
                continue
            try:
                state.mounted = await self._set_up(pod, volume, state)
            except UnsupportedVolumeError as error:
                self._failed(pod, volume, state, reasons_creation.MOUNT_VOLUME_FIND_PLUGIN_FAILED, error)
            except (SetUpError, PayloadError, OSError, CRIError) as error:
                self._failed(pod, volume, state, reasons_creation.MOUNT_VOLUME_SET_UP_FAILED, error)
            else:
                state.delay_seconds, state.retry_at = 0.0, -math.inf

    def _failed(self, pod: Pod, volume: Volume, state: _State, text: str, error: Exception) -> None:
        state.delay_seconds = min(state.delay_seconds * 2 or FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        state.retry_at = trio.current_time() + state.delay_seconds
        message = text.format(volume=quote(volume.name), error=error)
        self.event(pod, None, reasons.WARNING, reasons_creation.FAILED_MOUNT, message)

    async def _set_up(self, pod: Pod, volume: Volume, state: _State) -> MountedVolume:
        """Differs: images and network file systems are mounted by nobody here: no plugin matches.

        Differs: a claim is bound to nothing, its pod has an empty folder of its own.
        """
        if volume.host_path is not None:
            path = from_root(volume.host_path.path)
            self.host_paths.make(path, check_host_path(path, volume.host_path.type or "", self.host_paths.look(path)))
            return MountedVolume(name=volume.name, host_path=path, node_path=path)
        if volume.empty_dir is not None:
            return await self._set_up_empty_dir(pod, volume, volume.empty_dir)
        if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
            return await self._set_up_empty_dir(pod, volume, api_type("EmptyDirVolumeSource")())
        payload = payload_of(pod, volume, self._content_sources(pod))
        if payload is None:
            raise UnsupportedVolumeError(reasons_creation.NO_VOLUME_PLUGIN)
        return await self._set_up_content(pod, volume, state, payload)

    async def _set_up_empty_dir(self, pod: Pod, volume: Volume, source: EmptyDirVolumeSource) -> MountedVolume:
        medium = check_medium(source)
        size = memory_size(pod, source, self.sources.allocatable) if medium == MEMORY else None
        config = VolumeConfig(
            pod_uid=pod.metadata.uid or "",
            name=volume.name,
            medium=medium,
            size_limit_bytes=size,
            mode=folder_mode(pod),
            gid=fs_group(pod),
        )
        handle = await self.runtime.create_volume(config)
        return MountedVolume(name=volume.name, handle=handle, node_path=node_path(pod, volume))

    async def _set_up_content(self, pod: Pod, volume: Volume, state: _State, payload: Payload) -> MountedVolume:
        update = plan_update(payload, self.timebase.now(), state.written, gid=fs_group(pod))
        if update is None and state.mounted is not None:
            return state.mounted
        config = VolumeConfig(
            pod_uid=pod.metadata.uid or "",
            name=volume.name,
            medium="" if volume.config_map is not None else MEMORY,
            mode=folder_mode(pod),
            gid=fs_group(pod),
        )
        handle = await self.runtime.create_volume(config)
        if update is not None:
            await self.runtime.write_volume(handle, update.tree, remove=update.remove)
            state.written = update.written
        return MountedVolume(name=volume.name, handle=handle, node_path=node_path(pod, volume), is_api_data=True)

    def _content_sources(self, pod: Pod) -> ContentSources:
        sources = self.sources
        return ContentSources(
            config_map=sources.config_map,
            secret=sources.secret,
            now=self.timebase.now(),
            facts=sources.facts(pod),
            allocatable=sources.allocatable,
        )


def fs_group(pod: Pod) -> int | None:
    """Return the group that owns a pod's volumes, None without fsGroup."""
    return pod.spec.security_context.fs_group if pod.spec.security_context is not None else None


def folder_mode(pod: Pod) -> int:
    """Return the mode of a volume's root: with fsGroup what is made in it gets its group (SetVolumeOwnership)."""
    return 0o777 if fs_group(pod) is None else 0o2777


def node_path(pod: Pod, volume: Volume) -> str:
    """Return where a kubelet keeps a volume; texts show it, nothing here lies there (kubelet GetPodVolumeDir)."""
    plugin = next((plugin for source, plugin in _PLUGINS.items() if getattr(volume, source) is not None), "")
    return f"{NODE_ROOT}/pods/{pod.metadata.uid}/volumes/{plugin}/{volume.name}"


def _unmounted(names: list[str], error: str) -> str:
    return reasons_creation.UNABLE_TO_MOUNT_VOLUMES.format(
        unmounted=" ".join(names), unattached="", failed="", error=error
    )
