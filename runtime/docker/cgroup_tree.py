"""Pure: where the cgroup of a pod is on an engine's machine, what its files are called and what stands in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import LinuxContainerResources

MOUNT_POINT = "/c"
"""Where our helper sees the machine's cgroups."""
V1_CONTROLLERS = (
    *("blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb", "memory", "misc", "net_cls", "net_prio"),
    *("perf_event", "pids", "rdma", "systemd", "unified"),
)
_MOST_SHARES, _MOST_WEIGHT = 262144, 10000


@frozen(kw_only=True)
class CgroupTree:
    """How an engine's machine keeps cgroups: version 1 or 2, by systemd's slices or by plain folders."""

    version: int
    driver: str
    is_rootless: bool = False

    @classmethod
    def of_info(cls, info: Mapping[str, Any]) -> CgroupTree:
        """Return what the engine's `info` says."""
        return cls(
            version=int(info.get("CgroupVersion") or 1),
            driver=str(info.get("CgroupDriver") or ""),
            is_rootless="name=rootless" in (info.get("SecurityOptions") or ()),
        )

    @property
    def may_be_written(self) -> bool:
        """Tell whether cgroups can be made at all: without root they are another user's."""
        return self.driver in {"cgroupfs", "systemd"} and not self.is_rootless

    def parent(self, instance: str, pod_uid: str) -> str:
        """Return the name of a pod's cgroup as the engine takes it, the same for the same pod of an instance.

        It is below no folder that pods share: nobody removes one in which somebody else makes something.
        """
        if self.driver == "systemd":
            return f"kubelet_emu-{_word(instance, '_')}_pod{_word(pod_uid, '_')}.slice"
        return f"/kubelet-emu-{_word(instance, '-')}-pod{_word(pod_uid, '-')}"

    def folders(self, parent: str) -> tuple[str, ...]:
        """Return the folders of a pod's cgroup, one in each hierarchy."""
        roots = ("",) if self.version == 2 else tuple(f"/{name}" for name in V1_CONTROLLERS)
        return tuple(f"{MOUNT_POINT}{root}{self._path(parent)}" for root in roots)

    def _path(self, parent: str) -> str:
        """Return the path of a pod's cgroup in its hierarchy: a slice is in the one that its name begins with."""
        return f"/kubelet_emu.slice/{parent}" if self.driver == "systemd" else parent

    def settings(self, parent: str, resources: LinuxContainerResources) -> tuple[str, ...]:
        """Return files and what to write into them, in turn; what is not limited is said, too.

        Source: kubelet v1.36 cgroupV1impl.SetCgroupConfig, cgroupV2impl, libcontainer's managers.
        """
        path = self._path(parent)
        period, quota = resources.cpu_period or 100_000, resources.cpu_quota
        memory, pids = resources.memory_limit_bytes, str(resources.pids_limit or "max")
        if self.version == 2:
            own = f"{MOUNT_POINT}{path}"
            return (
                *(f"{own}/cpu.weight", str(cpu_weight(resources.cpu_shares or 2))),
                *(f"{own}/cpu.max", f"{quota or 'max'} {period}"),
                *(f"{own}/memory.max", str(memory or "max")),
                *(f"{own}/pids.max", pids),
            )
        return (
            *(f"{MOUNT_POINT}/cpu{path}/cpu.shares", str(resources.cpu_shares or 2)),
            *(f"{MOUNT_POINT}/cpu{path}/cpu.cfs_period_us", str(period)),
            *(f"{MOUNT_POINT}/cpu{path}/cpu.cfs_quota_us", str(quota or -1)),
            *(f"{MOUNT_POINT}/memory{path}/memory.limit_in_bytes", str(memory or -1)),
            *(f"{MOUNT_POINT}/pids{path}/pids.max", pids),
        )


def cpu_weight(shares: int) -> int:
    """Return cgroup v2's weight of a pod's shares (kubelet v1.36 cm.CPUSharesToCPUWeight)."""
    return 1 + (shares - 2) * (_MOST_WEIGHT - 1) // (_MOST_SHARES - 2)


def _word(text: str, joint: str) -> str:
    """Return a text as a part of a path that leads nowhere else: letters, digits and joints."""
    return re.sub(r"[^A-Za-z0-9]", joint, text)
