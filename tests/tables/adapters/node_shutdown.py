"""Graceful node shutdown: groups of a configuration, a pod's group, a pod's override."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.rules.node_shutdown import ShutdownGroup, group_of, shutdown_grace_override, shutdown_groups
from kubelet_emu.rules.termination import effective_grace_period, stop_timeout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


LISTS = ("byPodPriority", "shutdownGracePeriodByPodPriority")


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    if {"shutdownGracePeriod", *LISTS} & set(given.values):
        actual = _groups(given)
    elif "groups" in given:
        groups = [ShutdownGroup(priority, 0) for priority in given.take("groups")]
        actual = {"group": group_of(groups, given.take("pod_priority", None)).priority}
    else:
        actual = _override(given)
    row.part("out").check(actual)


def _groups(given: Fields) -> dict[str, Any]:
    by_priority = [_group(entry) for key in LISTS for entry in given.take(key, None) or []]
    groups = shutdown_groups(given.take("shutdownGracePeriod", 0), given.take("critical", 0), by_priority)
    return {"groups": [[group.priority, group.seconds] for group in groups] or None}


def _group(entry: Any) -> ShutdownGroup:  # noqa: ANN401
    if isinstance(entry, dict):
        return ShutdownGroup(entry["priority"], entry["shutdownGracePeriodSeconds"])
    priority, seconds = entry
    return ShutdownGroup(priority, seconds)


def _override(given: Fields) -> dict[str, Any]:
    tgps = given.take("tgps", None)
    override = shutdown_grace_override(given.take("group_seconds"), tgps)
    grace = effective_grace_period(0, given.take("dgps", None), override, tgps).grace
    return {"override": override, "worker_grace": grace, "stop_timeout": stop_timeout(grace)}
