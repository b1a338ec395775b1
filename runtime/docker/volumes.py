"""Volumes of pods: folders of the host where engine and tool share a file system, else named volumes of the engine."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

import trio
from attrs import define, field

from runtime.api import CRIError, VolumeHandle
from runtime.docker import naming
from runtime.docker.archives import read_end
from runtime.docker.engine_volumes import MOUNT_POINT, EngineStore
from runtime.docker.folders import FolderStore
from runtime.docker.sub_paths import real_sub_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runtime.api import Mount, VolumeConfig, VolumeFile
    from runtime.docker.bridge import Bridge
    from runtime.docker.making import Maker
    from runtime.docker.pause import PauseImages

_PROPAGATION = {"None": "rprivate", "HostToContainer": "rslave", "Bidirectional": "rshared"}

TOKEN_BYTES = 32

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


def volumes_folder(root: Path, instance: str) -> Path:
    """Return where an instance keeps its volumes."""
    return root / "instances" / instance / "volumes"


def list_folders(store: FolderStore) -> list[tuple[str, VolumeConfig]]:
    """Return the volumes of a store; blocks."""
    return list(store.list())


@define(eq=False)
class Volumes:
    """The volumes of one instance; where they live is found out at the first one."""

    bridge: Bridge
    maker: Maker
    pause: PauseImages
    own_labels: Mapping[str, str]
    root: Path | None = None
    on_note: Callable[[str], None] = field(default=lambda _note: None)
    engine: EngineStore = field(init=False)
    _folders: FolderStore | None = field(default=None, init=False)
    _is_known: bool = field(default=False, init=False)
    _lock: trio.Lock = field(factory=trio.Lock, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the store that always works; the engine wants to know the whole path of the other one."""
        if self.root is not None:
            self.root = self.root.absolute()
        self.engine = EngineStore(self.bridge, self.maker, self.pause, self.own_labels)

    @property
    def instance(self) -> str:
        """Return the instance whose volumes these are."""
        return self.own_labels[naming.INSTANCE_LABEL]

    async def folders(self) -> FolderStore | None:
        """Return the store of folders, None where only the engine's volumes can be used; found out once."""
        async with self._lock:
            if not self._is_known:
                self._folders = await self._find_folders()
                self._is_known = True
            return self._folders

    async def _find_folders(self) -> FolderStore | None:
        if self.root is None or os.geteuid() != 0:
            return None
        folder = volumes_folder(self.root, self.instance)
        try:
            is_shared = await self._is_shared(folder)
        except OSError as error:
            raise CRIError(f"volumes can't be made in {folder}: {error.strerror or error}") from error
        if is_shared:
            return FolderStore(folder)
        self.on_note("the engine does not share this machine's files: volumes live in the engine")
        return None

    async def _is_shared(self, folder: Path) -> bool:
        """Tell whether the engine sees a file that we write, by having it mounted and read back."""
        token = secrets.token_hex(TOKEN_BYTES // 2)
        probe = trio.Path(folder / f".probe-{token[:8]}")
        await probe.mkdir(mode=0o700, parents=True)
        try:
            await (probe / "token").write_text(token)
            return await self._seen_by_engine(str(probe)) == token.encode()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 5):
                await (probe / "token").unlink(missing_ok=True)
                await probe.rmdir()

    async def _seen_by_engine(self, path: str) -> bytes:
        """Return what the engine reads in our probe's place; empty when it can't mount it."""
        body = {
            "Labels": {**self.own_labels, naming.TYPE_LABEL: naming.HELPER_TYPE},
            "HostConfig": {
                "NetworkMode": "none",
                "Mounts": [{"Type": "bind", "Source": path, "Target": f"/{MOUNT_POINT}"}],
            },
        }

        async def create(image: str) -> str:
            named = {**body, "Image": image}
            return await self.bridge.write(lambda client: str(client.create_container_from_config(named)["Id"]))

        try:
            created = await self.pause.with_helper_image(create)
        except CRIError:
            return b""
        try:
            return await self.bridge.read(
                lambda client: read_end(client, created, f"/{MOUNT_POINT}/token", TOKEN_BYTES)
            )
        except CRIError:
            return b""
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 5):
                await self.maker.remove(created)

    async def create(self, config: VolumeConfig) -> VolumeHandle:
        """Make a volume, or return the one that exists for this pod and name."""
        handle = VolumeHandle(f"{config.pod_uid}/{config.name}")
        folders = await self.folders()
        if folders is not None:
            await _on_disk(folders.create, config, handle)
        else:
            await self.engine.create(config, handle)
        return handle

    async def write(self, handle: VolumeHandle, tree: Mapping[str, VolumeFile], remove: tuple[str, ...]) -> None:
        """Put files into a volume, then remove paths."""
        folders = await self.folders()
        if folders is not None:
            await _on_disk(folders.write, handle, tree, remove)
        else:
            await self.engine.write(handle, tree, remove)

    async def read(self, handle: VolumeHandle, path: str, last_bytes: int) -> bytes:
        """Return the end of one file; empty when there is none."""
        folders = await self.folders()
        if folders is not None:
            return await _on_disk(folders.read, handle, path, last_bytes)
        return await self.engine.read(handle, path, last_bytes)

    async def usage(self, handle: VolumeHandle) -> int:
        """Return the bytes of the files in a volume; 0 when the engine keeps them where we can't look."""
        folders = await self.folders()
        return 0 if folders is None else await trio.to_thread.run_sync(folders.usage, handle)

    async def remove(self, handle: VolumeHandle) -> None:
        """Remove a volume with its content; what is gone is fine."""
        folders = await self.folders()
        if folders is not None:
            await _on_disk(folders.remove, handle)
        else:
            await self.engine.remove(handle)

    async def list(self) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return the volumes of this instance."""
        folders = await self.folders()
        if folders is not None:
            found = await _on_disk(list_folders, folders)
        else:
            found = await self.engine.list()
        return tuple((VolumeHandle(handle), config) for handle, config in found)

    async def mounts(self, mounts: Sequence[Mount]) -> Sequence[dict[str, Any]]:
        """Return the engine's form of a container's mounts."""
        return [await self._mount(mount) for mount in mounts]

    async def _mount(self, mount: Mount) -> dict[str, Any]:
        """Return one mount; read-only does not reach mounts below it, as in cri-dockerd."""
        body = await self._source(mount)
        body |= {"Target": mount.container_path, "ReadOnly": mount.readonly}
        if body["Type"] == "bind":
            options = {"Propagation": _PROPAGATION.get(mount.propagation, "rprivate"), **body.get("BindOptions", {})}
            if mount.readonly and self._api_version() >= (1, 44):
                options["ReadOnlyNonRecursive"] = True
            body["BindOptions"] = options
        return body

    async def _source(self, mount: Mount) -> dict[str, Any]:
        if mount.host_path is not None:
            is_whole = not mount.sub_path
            source = mount.host_path if is_whole else await self._below_host_path(mount.host_path, mount.sub_path)
            return {"Type": "bind", "Source": source}
        handle = mount.volume or ""
        folders = await self.folders()
        if folders is None:
            return await self.engine.mount(handle, mount.sub_path)
        return {"Type": "bind", "Source": await _on_disk(folders.source, handle, mount.sub_path)}

    async def prepare(self, mount: Mount) -> None:
        """Make what a mount's sub path names; SubPathError."""
        await self._source(mount)

    async def _below_host_path(self, path: str, sub_path: str) -> str:
        return await _on_disk(real_sub_path, Path(path), sub_path)

    def _api_version(self) -> tuple[int, ...]:
        return tuple(map(int, self.bridge.http.api_version.split(".")))


async def _on_disk(call: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Run what blocks in a thread; what the disk refuses is a CRIError."""
    try:
        return await trio.to_thread.run_sync(call, *arguments)
    except OSError as error:
        raise CRIError(f"{error.filename or 'a volume'}: {error.strerror or error}") from error
