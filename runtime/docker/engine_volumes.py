"""Volumes inside the engine: labelled named volumes, filled and read through its archive calls.

For engines that do not share our file system, and where we are not root. Each volume has a small container of ours that
carries it: never started for volumes on disk, running for those in memory, whose content lives while it is mounted.
Differs: the archive calls replace files one by one, not by a rename.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import json
import stat
import tarfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import attrs
from attrs import define, frozen

from runtime.api import VOLUME_FOLDER_MODE, NotFoundError, SubPathError, VolumeConfig
from runtime.docker import naming
from runtime.docker.archives import content_of, read_end
from runtime.docker.helper_runs import HelperRuns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import VolumeFile
    from runtime.docker.bridge import Bridge
    from runtime.docker.making import Maker
    from runtime.docker.pause import PauseImages

MOUNT_POINT = "v"
_GO_MODE_DIR = 1 << 31


@frozen(kw_only=True)
class _Found:
    """Something in a volume; `link_target` is where a link leads to in the end, in the container that was asked."""

    link_target: str
    is_folder: bool


@define(eq=False)
class EngineStore:
    """Named volumes of one instance."""

    bridge: Bridge
    maker: Maker
    pause: PauseImages
    own_labels: Mapping[str, str]

    def name(self, handle: str) -> str:
        """Return the engine's name of a volume, and of the container that carries it."""
        return f"kemu_{self.own_labels[naming.INSTANCE_LABEL]}_{handle.replace('/', '_')}"

    async def create(self, config: VolumeConfig, handle: str) -> None:
        """Make the volume, or leave the one that exists as it is."""
        name = self.name(handle)
        if await self._exists(name):
            return
        labels = {
            **self.own_labels,
            naming.VOLUME_LABEL: json.dumps({"handle": handle, "config": attrs.asdict(config)}),
        }
        options = _tmpfs_options(config) if config.medium == "Memory" else {}
        await self.bridge.write(
            lambda client: client.create_volume(name, driver="local", driver_opts=options, labels=labels)
        )
        carrier = await self.pause.with_helper_image(
            lambda image: self.maker.create(
                lambda suffix: f"{name}_{suffix}" if suffix else name, self._body(name, image)
            )
        )
        if config.medium == "Memory":
            await self.bridge.write(lambda client: client.start(carrier))
        await self._put(name, "/", [_entry(MOUNT_POINT, tarfile.DIRTYPE, config.mode, gid=config.gid)])

    async def _exists(self, name: str) -> bool:
        try:
            await self.bridge.read(lambda client: client.inspect_volume(name))
        except NotFoundError:
            return False
        return True

    def _body(self, name: str, image: str) -> dict[str, Any]:
        """Return the body of the container that carries a volume."""
        mount = {
            "Type": "volume",
            "Source": name,
            "Target": f"/{MOUNT_POINT}",
            "VolumeOptions": {"NoCopy": True},
        }
        return {
            "Image": image,
            "Labels": {**self.own_labels, naming.TYPE_LABEL: naming.HELPER_TYPE},
            "HostConfig": {"Mounts": [mount], "NetworkMode": "host", "LogConfig": {"Type": "none", "Config": {}}},
        }

    async def write(self, handle: str, tree: Mapping[str, VolumeFile], remove: tuple[str, ...] = ()) -> None:
        """Put files into the volume, then remove paths; NotFoundError when there is no such volume."""
        left = {path: file for path, file in tree.items() if not await self._rewritten(handle, path, file)}
        folders: dict[str, int | None] = {}
        for path, file in left.items():
            for parent in reversed(PurePosixPath(path).parents[:-1]):
                folders.setdefault(str(parent), file.gid)
            if file.is_folder:
                folders.setdefault(path, file.gid)
        entries = [_folder_entry(folder, VOLUME_FOLDER_MODE, gid) for folder, gid in folders.items()]
        if left or not tree:
            files = (_file_entry(item) for item in left.items() if not item[1].is_folder)
            await self._put(self.name(handle), f"/{MOUNT_POINT}", [*entries, *files])
        if remove:
            await self._remove_paths(self.name(handle), remove)

    async def _remove_paths(self, name: str, paths: tuple[str, ...]) -> None:
        """Remove files, and folders with their content, by our helper in a container of its own."""
        found: list[str] = []
        for path in paths:
            with contextlib.suppress(NotFoundError):
                content = functools.partial(content_of, name=name, path=f"/{MOUNT_POINT}/{path}")
                found += [str(PurePosixPath(path).parent / inside) for inside in await self.bridge.read(content)]
        await self._run_helper(name, ["d", *(f"/{MOUNT_POINT}/{path}" for path in reversed(found))])

    async def _rewritten(self, handle: str, path: str, file: VolumeFile) -> bool:
        """Put a text into a file that is there, if that is wanted; the archive calls would make a new one."""
        name = self.name(handle)
        if not file.in_place or not await self._has(name, path):
            return False
        return await self._run_helper(name, ["w", f"/{MOUNT_POINT}/{path}", file.data.decode()])

    async def _run_helper(self, name: str, words: list[str]) -> bool:
        """Run our helper on a volume; tell whether it ended well."""
        body = self._body(name, "")
        return await HelperRuns(self.bridge, self.maker, self.pause).run(body, words) == 0

    async def _put(self, name: str, path: str, entries: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for entry, data in entries:
                archive.addfile(entry, io.BytesIO(data))
        await self.bridge.write(lambda client: client.put_archive(name, path, out.getvalue()))

    async def read(self, handle: str, path: str, last_bytes: int) -> bytes:
        """Return the end of one regular file; empty for everything else."""
        name = self.name(handle)
        try:
            return await self.bridge.read(lambda client: read_end(client, name, f"/{MOUNT_POINT}/{path}", last_bytes))
        except NotFoundError:
            return b""

    async def remove(self, handle: str) -> None:
        """Remove the volume and the container that carries it; what is gone is fine."""
        name = self.name(handle)
        await self.maker.remove(name)
        await self.remove_named(name)

    async def remove_named(self, name: str) -> None:
        """Remove a volume by the engine's name; what is gone is fine."""
        try:
            await self.bridge.write(lambda client: client.remove_volume(name, force=True))
        except NotFoundError:
            return

    async def list(self) -> list[tuple[str, VolumeConfig]]:
        """Return the volumes that are there."""
        instance = self.own_labels[naming.INSTANCE_LABEL]
        wanted = {"label": [f"{naming.INSTANCE_LABEL}={instance}", naming.VOLUME_LABEL]}
        found = await self.bridge.read(lambda client: client.volumes(filters=wanted))
        stored = [json.loads(item["Labels"][naming.VOLUME_LABEL]) for item in found.get("Volumes") or ()]
        return [(item["handle"], VolumeConfig(**item["config"])) for item in stored]

    async def mount(self, handle: str, sub_path: str) -> dict[str, Any]:
        """Return the source part of a mount; engines before API 1.45 can't name a part of a volume themselves."""
        name = self.name(handle)
        if not sub_path:
            return {"Type": "volume", "Source": name, "VolumeOptions": {"NoCopy": True}}
        sub_path, is_there = await self._real_sub_path(name, sub_path)
        if not is_there:
            folders = [str(parent) for parent in reversed(PurePosixPath(sub_path, "x").parents[:-1])]
            config = await self._config(name)
            entries = [_folder_entry(folder, config.mode, config.gid) for folder in folders]
            await self._put(name, f"/{MOUNT_POINT}", entries)
        if tuple(map(int, self.bridge.http.api_version.split("."))) >= (1, 45):
            return {"Type": "volume", "Source": name, "VolumeOptions": {"NoCopy": True, "Subpath": sub_path}}
        inspected = await self.bridge.read(lambda client: client.inspect_volume(name))
        source = f"{inspected['Mountpoint']}/{sub_path}"
        return {"Type": "bind", "Source": source, "BindOptions": {"Propagation": "rslave"}}  # all it accepts there

    async def _real_sub_path(self, name: str, sub_path: str) -> tuple[str, bool]:
        """Return a sub path without its links, and whether it is there; SubPathError when one leads out.

        The engine tells where a link leads to in the end, seen from the container that carries the volume.
        """
        real, parts = PurePosixPath(), PurePosixPath(sub_path).parts
        for count, part in enumerate(parts):
            found = await self._found(name, str(real / part))
            if found is None:
                return str(real.joinpath(*parts[count:])), False
            inside = _inside(found.link_target) if found.link_target else real / part
            if inside is None:
                raise SubPathError(f"subPath {sub_path!r} leads out of its volume", is_missing=count + 1 < len(parts))
            real = inside
            if found.link_target:
                found = await self._found(name, str(real))
            if found is None or (count + 1 < len(parts) and not found.is_folder):
                raise SubPathError(f"subPath {sub_path!r} can't be made", is_missing=True)
        return str(real), True

    async def _found(self, name: str, path: str) -> _Found | None:
        """Return what is at a path, the last link not followed; None when there is nothing."""
        try:
            return await self.bridge.read(lambda client: _stat(client, name, f"/{MOUNT_POINT}/{path}"))
        except NotFoundError:
            return None

    async def _config(self, name: str) -> VolumeConfig:
        """Return what a volume was made from."""
        inspected = await self.bridge.read(lambda client: client.inspect_volume(name))
        return VolumeConfig(**json.loads(inspected["Labels"][naming.VOLUME_LABEL])["config"])

    async def _has(self, name: str, path: str) -> bool:
        return await self._found(name, path) is not None


def _tmpfs_options(config: VolumeConfig) -> dict[str, str]:
    """Return the local driver's options for a volume in memory."""
    size = [f"size={config.size_limit_bytes}"] if config.size_limit_bytes else []
    return {"type": "tmpfs", "device": "tmpfs", "o": ",".join([f"mode={config.mode:o}", *size])}


def _entry(name: str, kind: bytes, mode: int, *, gid: int | None = None) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.gid = kind, mode, gid or 0
    return entry, b""


def _folder_entry(name: str, mode: int, gid: int | None) -> tuple[tarfile.TarInfo, bytes]:
    """Return the archive's entry of a folder; one with a group hands it on to what is made in it."""
    return _entry(name, tarfile.DIRTYPE, mode if gid is None else mode | stat.S_ISGID, gid=gid)


def _file_entry(item: tuple[str, VolumeFile]) -> tuple[tarfile.TarInfo, bytes]:
    """Return the archive's entry of one file or link."""
    path, file = item
    entry, _ = _entry(path, tarfile.REGTYPE, file.mode, gid=file.gid)
    entry.uid = file.uid or 0
    if file.target is not None:
        entry.type, entry.linkname = tarfile.SYMTYPE, file.target
        return entry, b""
    entry.size = len(file.data)
    return entry, file.data


def _inside(target: str) -> PurePosixPath | None:
    """Return a path of the carrier as one of its volume, None when it is elsewhere."""
    root = PurePosixPath(f"/{MOUNT_POINT}")
    return PurePosixPath(target).relative_to(root) if PurePosixPath(target).is_relative_to(root) else None


def _stat(client: Any, name: str, path: str) -> _Found:  # noqa: ANN401 - the SDK's client
    """Return what is at a path of a container; raise when there is nothing."""
    url = client._url("/containers/{0}/archive", name)  # noqa: SLF001
    response = client.head(url, params={"path": path}, timeout=client.timeout)
    client._raise_for_status(response)  # noqa: SLF001
    found = json.loads(base64.b64decode(response.headers["X-Docker-Container-Path-Stat"]))
    return _Found(link_target=found["linkTarget"], is_folder=bool(found["mode"] & _GO_MODE_DIR))
