"""Removes what instances of kubelet-emu left in the engine: our own, and those whose owners are proven dead.

Nothing without our instance label is ever looked at, and what another state folder still knows of is left to that one:
somebody may go on with it.
"""

from __future__ import annotations

import errno
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field

from runtime.api import CRIError, NotFoundError
from runtime.docker import naming
from runtime.docker.folders import FolderStore, folder_names
from runtime.docker.nurseries import calls_side_by_side
from runtime.docker.owner import Owner
from runtime.docker.state_folder import (
    KEPT_FILE,
    OWNER_FILE,
    give_up,
    is_nobodys,
    may_be_there,
    read_owner,
    write_owner,
)
from runtime.docker.volumes import volumes_folder
from runtime.docker.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from runtime.docker.bridge import Bridge
    from runtime.docker.making import Maker
    from runtime.docker.pod_cgroups import PodCgroups
    from runtime.docker.volumes import Volumes

UNOWNED_SECONDS = 60.0
"""Whoever makes a folder writes its name into it sooner."""


@define(eq=False)
class Cleaner:
    """Finds and removes objects by instance. `troubles` are the notes of what could not be removed."""

    bridge: Bridge
    maker: Maker
    volumes: Volumes
    cgroups: PodCgroups
    owner: Owner
    instance: str
    is_kept: bool = False
    troubles: list[str] = field(factory=list, init=False)

    async def claim(self) -> None:
        """Write down that this process owns the instance: labels of adopted objects still name their first owner.

        CRIError where the folder can't be written.
        """
        root = self.volumes.root
        if root is None:
            return
        folder = trio.Path(root / "instances" / self.instance)
        try:
            await folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_owner(root / "instances" / self.instance, self.owner)
            if self.is_kept:
                write_whole(root / "instances" / self.instance / KEPT_FILE, "{}")
        except OSError as error:
            raise CRIError(f"the state folder {folder} can't be written: {error.strerror}") from error

    async def sweep_dead_owners(self, *, include_kept: bool = False) -> tuple[str, ...]:
        """Remove objects of dead owners on this host and return their instances.

        An instance whose owner file names a living process is left alone, as are those that have a folder in another
        root, and kept ones unless asked for. A folder that can't be removed is a note. CRIError.
        """
        removed = []
        known = await self._labels_by_instance()
        for name, found in known.items():
            is_wanted = (
                self._is_dead(name, found, include_kept=include_kept) and self._root_elsewhere(name, found) is None
            )
            if is_wanted and self._is_given_up(name) and await self._remove(name):
                removed.append(name)
        removed += await self._remove_unowned_folders(known, include_kept=include_kept)
        return tuple(sorted(removed))

    async def dead_elsewhere(self) -> Mapping[str, Path]:
        """Return the root of each dead instance that another root has a folder of, kept ones included."""
        found = await self._labels_by_instance()
        dead = {name: each for name, each in found.items() if self._is_dead(name, each, include_kept=True)}
        roots = {name: self._root_elsewhere(name, each) for name, each in dead.items()}
        return {name: root for name, root in sorted(roots.items()) if root is not None}

    async def _labels_by_instance(self) -> dict[str, list[Mapping[str, str]]]:
        owned: dict[str, list[Mapping[str, str]]] = {}
        for labels in [*await self._container_labels(), *await self._volume_labels(), *self._folder_labels()]:
            owned.setdefault(labels[naming.INSTANCE_LABEL], []).append(labels)
        return owned

    def _is_dead(self, instance: str, found: list[Mapping[str, str]], *, include_kept: bool) -> bool:
        """Tell whether all owners of an instance's objects are dead, and nobody else has taken it over."""
        if instance == self.instance:
            return False
        if not include_kept and any(naming.KEEP_LABEL in labels for labels in found):
            return False
        current = self._owner_of_folder(instance)
        if current is not None:
            return current.is_proven_dead(self.owner)
        owners = [Owner.of_labels(labels) for labels in found]
        return all(owner is not None and owner.is_proven_dead(self.owner) for owner in owners)

    def _root_elsewhere(self, instance: str, found: list[Mapping[str, str]]) -> Path | None:
        """Return another root that has a folder of an instance: who uses that one goes on with it, or removes it."""
        if self._owner_of_folder(instance) is not None:
            return None
        roots = [Path(labels[naming.ROOT_LABEL]) for labels in found if naming.ROOT_LABEL in labels]
        return next(
            (root for root in roots if not self._is_own(root) and may_be_there(root / "instances" / instance)), None
        )

    def _owner_of_folder(self, instance: str) -> Owner | None:
        return None if self.volumes.root is None else read_owner(self.volumes.root / "instances" / instance)

    def _is_own(self, root: Path) -> bool:
        return self.volumes.root is not None and self.volumes.root.resolve() == root.resolve()

    def _is_given_up(self, instance: str) -> bool:
        """Let nobody go on with a dead run; False when somebody was quicker, or where that can't be written down."""
        if self.volumes.root is None:
            return True
        folder = self.volumes.root / "instances" / instance
        try:
            return give_up(folder, self.owner)
        except FileNotFoundError:
            return True
        except OSError as error:
            self._tell(f"left alone what run {instance} had left: {folder}: {error.strerror}")
            return False

    async def _remove_unowned_folders(self, known: Container[str], *, include_kept: bool) -> list[str]:
        """Remove folders of nobody that the engine has nothing of, and return the names of those that held something.

        Their process was killed before it could write into them, or the machine lost its power.
        """
        removed = []
        for name in self._folder_names():
            folder = self._instances / name
            with suppress(OSError):
                is_kept = (folder / KEPT_FILE).exists() and not include_kept
                if name in known or is_kept or not is_nobodys(folder) or not _is_old(folder):
                    continue
                is_empty = not folder_names(folder)
                if await self._has_removed_folders(name) and not is_empty:
                    removed.append(name)
        return removed

    def _tell(self, trouble: str) -> None:
        self.troubles.append(trouble)
        self.volumes.on_note(trouble)

    @property
    def _instances(self) -> Path:
        """Return where the folders are; only where there is a root."""
        return cast("Path", self.volumes.root) / "instances"

    def _folder_names(self) -> list[str]:
        """Return the names of all folders of the root; CRIError."""
        if self.volumes.root is None:
            return []
        try:
            return folder_names(self._instances)
        except OSError as error:
            raise CRIError(f"{self._instances}: its runs can't be read: {error.strerror}") from error

    async def _has_removed_folders(self, instance: str) -> bool:
        """Remove an instance's folder; one that can't be removed is a note."""
        if self.volumes.root is None:
            return True
        try:
            await trio.to_thread.run_sync(_remove_folders, self.volumes.root, instance)
        except OSError as error:
            self._tell(f"{self._instances / instance} can't be removed: {error.filename}: {error.strerror or error}")
            return False
        return True

    async def _container_labels(self) -> list[Mapping[str, str]]:
        wanted = {"label": naming.INSTANCE_LABEL}
        found = await self.bridge.read(lambda client: client.containers(all=True, filters=wanted))
        return [item["Labels"] for item in found]

    async def _volume_labels(self) -> list[Mapping[str, str]]:
        wanted = {"label": naming.INSTANCE_LABEL}
        found = await self.bridge.read(lambda client: client.volumes(filters=wanted))
        return [item["Labels"] for item in found.get("Volumes") or ()]

    def _folder_labels(self) -> list[Mapping[str, str]]:
        """Return the owners of folders, in the form of labels: a run may die before it has made anything else."""
        found: list[Mapping[str, str]] = []
        for name in self._folder_names():
            owner = read_owner(self._instances / name)
            if owner is not None:
                kept = {naming.KEEP_LABEL: "true"} if (self._instances / name / KEPT_FILE).exists() else {}
                found.append({naming.INSTANCE_LABEL: name, **owner.labels(), **kept})
        return found

    async def remove_instance(self) -> None:
        """Remove every object of our own instance."""
        await self._remove(self.instance)

    async def _remove(self, instance: str) -> bool:
        """Remove containers, sandboxes last, then volumes and networks, then folders; False when one of these stays."""
        wanted = {"label": f"{naming.INSTANCE_LABEL}={instance}"}
        found = await self.bridge.read(lambda client: client.containers(all=True, filters=wanted))
        sandboxes = [item["Id"] for item in found if item["Labels"].get(naming.TYPE_LABEL) == naming.SANDBOX_TYPE]
        await self._remove_containers([item["Id"] for item in found if item["Id"] not in sandboxes])
        await self._remove_containers(sandboxes)
        parents = {item["Labels"].get(naming.POD_CGROUP_LABEL, "") for item in found} - {""}
        await self.cgroups.remove_all(parents)
        volumes = await self.bridge.read(lambda client: client.volumes(filters=wanted))
        for item in volumes.get("Volumes") or ():
            await self.volumes.engine.remove_named(item["Name"])
        for item in await self.bridge.read(lambda client: client.networks(filters=wanted)):
            await self._remove_network(item["Id"])
        return await self._has_removed_folders(instance)

    async def _remove_containers(self, ids: list[str]) -> None:
        """Remove at once, as far as the engine's limit allows."""
        async with calls_side_by_side() as nursery:
            for container_id in ids:
                nursery.start_soon(self.maker.remove, container_id)

    async def _remove_network(self, network_id: str) -> None:
        try:
            await self.bridge.write(lambda client: client.remove_network(network_id))
        except NotFoundError:
            return


def _is_old(folder: Path) -> bool:
    """Tell whether nobody is about to write into a folder: a file's time is the machine's, which may have stepped."""
    times = [folder.stat().st_mtime]
    with suppress(FileNotFoundError):
        times.append((folder / OWNER_FILE).stat().st_mtime)
    return all(abs(time.time() - each) > UNOWNED_SECONDS for each in times)  # noqa: TID251 - see above


def _remove_folders(root: Path, instance: str) -> None:
    """Remove an instance's volumes and what is written down of it; OSError.

    Its folder goes, too, if no other folder is in it.
    """
    FolderStore(volumes_folder(root, instance)).remove_all()
    folder = root / "instances" / instance
    with suppress(FileNotFoundError):
        shutil.rmtree(folder / "objects")
    with suppress(FileNotFoundError, NotADirectoryError):
        files = [each for each in folder.iterdir() if each.is_symlink() or not each.is_dir()]
        for file in sorted(files, key=lambda each: each.name == OWNER_FILE):  # whose it is stays to the last
            file.unlink(missing_ok=True)
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
