"""Cgroups of whole pods: what all containers of a pod together may use.

The engine makes a pod's cgroup when its first container starts below it; nothing in the engine's API limits it. So our
helper writes the limits, in a container that sees the cgroups of the engine's machine, which may be another one than
this, and has no other right. Pods without limits of their own cost no call. Each object below a pod's cgroup, and each
helper that is to remove one, names it in a label: what a killed run left is found by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from runtime.api import CRIError
from runtime.docker import naming
from runtime.docker.cgroup_tree import MOUNT_POINT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from runtime.api import LinuxContainerResources, PodSandboxConfig, SandboxID
    from runtime.docker.helper_runs import HelperRuns
    from runtime.docker.rights import PodCgroupRights

Body = dict[str, Any]

HOST_FOLDER = "/sys/fs/cgroup"
REFUSED_VALUE = 2
"""How our helper ends when a file can be opened, but doesn't take what is written."""


@define(eq=False)
class PodCgroups:
    """Makes, limits and removes the pod cgroups of one instance."""

    helpers: HelperRuns
    own_labels: Mapping[str, str]
    rights: PodCgroupRights
    _parents: dict[str, str] = field(factory=dict, init=False)
    _removed: set[str] = field(factory=set, init=False)

    def labels_for(self, config: PodSandboxConfig) -> Mapping[str, str]:
        """Return the label that puts a new sandbox below the cgroup of its pod, none where it needs none."""
        if config.resources is None or self.rights.is_refused:
            return {}
        if not self.rights.tree.may_be_written:
            self.rights.refuse("a rootless engine has no cgroups to make")
            return {}
        instance = self.own_labels[naming.INSTANCE_LABEL]
        return {naming.POD_CGROUP_LABEL: self.rights.tree.parent(instance, config.metadata.uid)}

    def labels_of(self, sandbox_id: str) -> Mapping[str, str]:
        """Return the label of the containers of a sandbox."""
        parent = self._parents.get(sandbox_id)
        return {naming.POD_CGROUP_LABEL: parent} if parent is not None else {}

    def learn(self, sandbox_id: str, labels: Mapping[str, str]) -> None:
        """Take note of a sandbox that is there: another process may have made it."""
        parent = labels.get(naming.POD_CGROUP_LABEL)
        if parent and sandbox_id not in self._removed:
            self._parents[sandbox_id] = parent

    async def limit(self, sandbox_id: SandboxID, resources: LinuxContainerResources | None) -> None:
        """Write the limits of a sandbox's pod; CRIError when the kernel doesn't take one of them.

        That is done while the sandbox runs: systemd would write its own values when the first container comes.
        """
        parent = self._parents.get(sandbox_id)
        if parent is None or resources is None:
            return
        words = ("w", *self.rights.tree.settings(parent, resources))
        try:
            code = await self.helpers.run(self._body(parent), words)
        except CRIError as error:
            self.rights.refuse(str(error))
            return
        if code == REFUSED_VALUE:
            raise CRIError(f"the limits of the pod's cgroup {parent} were refused")
        if code != 0:
            self.rights.refuse("the cgroups of the engine's machine can't be written")

    async def remove(self, sandbox_id: SandboxID, remove: Callable[[], Awaitable[None]]) -> None:
        """Remove a sandbox by `remove`, then the cgroup of its pod if nothing else is in it.

        The helper for that is made before: its label tells of the cgroup until that is gone.
        """
        parent = self._parents.get(sandbox_id)
        if parent is None or self._has_others(parent, sandbox_id):
            await remove()
            if parent is not None and not self._has_others(parent, sandbox_id):
                await self.remove_all({parent})  # another sandbox of the pod went at the same time
        else:
            async with self.helpers.made(self._body(parent), ("d", *self.rights.tree.folders(parent))) as helper:
                await remove()
                await self.helpers.finish(helper)
        if self._parents.pop(sandbox_id, None) is not None:
            self._removed.add(sandbox_id)

    def _has_others(self, parent: str, sandbox_id: str) -> bool:
        return any(each == parent for key, each in self._parents.items() if key != sandbox_id)

    async def remove_all(self, parents: set[str]) -> None:
        """Remove pod cgroups that nothing is in; CRIError."""
        folders = [folder for parent in sorted(parents) for folder in self.rights.tree.folders(parent)]
        if folders:
            await self.helpers.run(self._body(*parents), ("d", *folders))

    def _body(self, *parents: str) -> Body:
        """Return the body of a helper that sees the cgroups of the engine's machine, with no right but to write."""
        labels = {**self.own_labels, naming.TYPE_LABEL: naming.HELPER_TYPE}
        return {
            "Labels": labels | ({naming.POD_CGROUP_LABEL: parents[0]} if parents else {}),
            "HostConfig": {
                "Mounts": [{"Type": "bind", "Source": HOST_FOLDER, "Target": MOUNT_POINT}],
                "CgroupnsMode": "host",
                "UsernsMode": "host",
                "NetworkMode": "host",
                "CapDrop": ["ALL"],
                "CapAdd": ["DAC_OVERRIDE"],  # the top folder of a hierarchy can't be written, not even by its owner
                "SecurityOpt": ["label=disable", "no-new-privileges"],
                "LogConfig": {"Type": "none", "Config": {}},
            },
        }
