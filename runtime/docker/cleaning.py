"""Removes what instances of kubelet-emu left in the engine: our own, and those whose owners are proven dead.

Nothing without our instance label is ever looked at.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs
import trio
from attrs import define

from runtime.api import CRIError, NotFoundError
from runtime.docker import naming
from runtime.docker.folders import FolderStore, folder_names
from runtime.docker.owner import Owner
from runtime.docker.volumes import volumes_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runtime.docker.bridge import Bridge
    from runtime.docker.making import Maker
    from runtime.docker.volumes import Volumes

OWNER_FILE = "runtime-owner.json"
KEPT_FILE = "runtime-kept.json"


@define(eq=False)
class Cleaner:
    """Finds and removes objects by instance."""

    bridge: Bridge
    maker: Maker
    volumes: Volumes
    owner: Owner
    instance: str
    is_kept: bool = False

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
            await (folder / OWNER_FILE).write_text(json.dumps(attrs.asdict(self.owner)))
            if self.is_kept:
                await (folder / KEPT_FILE).write_text("{}")
        except OSError as error:
            raise CRIError(f"the state folder {folder} can't be written: {error.strerror}") from error

    async def sweep_dead_owners(self, *, include_kept: bool = False) -> tuple[str, ...]:
        """Remove objects of dead owners on this host and return their instances.

        An instance whose owner file names a living process is left alone, as are kept ones unless asked for.
        """
        owned: dict[str, list[Mapping[str, str]]] = {}
        for labels in [*await self._container_labels(), *await self._volume_labels(), *self._folder_labels()]:
            owned.setdefault(labels[naming.INSTANCE_LABEL], []).append(labels)
        dead = [name for name, found in owned.items() if self._is_dead(name, found, include_kept=include_kept)]
        for name in dead:
            await self._remove(name)
        return tuple(sorted(dead))

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

    def _owner_of_folder(self, instance: str) -> Owner | None:
        """Return who claimed an instance last, None when nobody wrote that down here."""
        root = self.volumes.root
        if root is None:
            return None
        try:
            return Owner(**json.loads((root / "instances" / instance / OWNER_FILE).read_text()))
        except (OSError, ValueError, TypeError):
            return None

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
        root = self.volumes.root
        if root is None:
            return []
        found: list[Mapping[str, str]] = []
        for name in folder_names(root / "instances"):
            owner = self._owner_of_folder(name)
            if owner is not None:
                kept = {naming.KEEP_LABEL: "true"} if (root / "instances" / name / KEPT_FILE).exists() else {}
                found.append({naming.INSTANCE_LABEL: name, **owner.labels(), **kept})
        return found

    async def remove_instance(self) -> None:
        """Remove every object of our own instance."""
        await self._remove(self.instance)

    async def _remove(self, instance: str) -> None:
        """Remove containers, sandboxes last, then volumes and networks, then folders."""
        wanted = {"label": f"{naming.INSTANCE_LABEL}={instance}"}
        found = await self.bridge.read(lambda client: client.containers(all=True, filters=wanted))
        sandboxes = [item["Id"] for item in found if item["Labels"].get(naming.TYPE_LABEL) == naming.SANDBOX_TYPE]
        await self._remove_containers([item["Id"] for item in found if item["Id"] not in sandboxes])
        await self._remove_containers(sandboxes)
        volumes = await self.bridge.read(lambda client: client.volumes(filters=wanted))
        for item in volumes.get("Volumes") or ():
            await self.volumes.engine.remove_named(item["Name"])
        for item in await self.bridge.read(lambda client: client.networks(filters=wanted)):
            await self._remove_network(item["Id"])
        if self.volumes.root is not None:
            await trio.to_thread.run_sync(_remove_folders, self.volumes.root, instance)

    async def _remove_containers(self, ids: list[str]) -> None:
        """Remove at once, as far as the engine's limit allows."""
        async with trio.open_nursery() as nursery:
            for container_id in ids:
                nursery.start_soon(self.maker.remove, container_id)

    async def _remove_network(self, network_id: str) -> None:
        try:
            await self.bridge.write(lambda client: client.remove_network(network_id))
        except NotFoundError:
            return


def _remove_folders(root: Path, instance: str) -> None:
    """Remove an instance's volumes and what is written down of it, and its folder if no other folder is in it."""
    FolderStore(volumes_folder(root, instance)).remove_all()
    folder = root / "instances" / instance
    try:
        for file in [each for each in folder.iterdir() if each.is_symlink() or not each.is_dir()]:
            file.unlink(missing_ok=True)
        folder.rmdir()
    except OSError:
        return
