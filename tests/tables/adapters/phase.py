"""Table `phase`: states of mains, sidecars and init containers -> the pod's phase."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pod_inputs import NOW, POD_POLICIES, a_pod
from table_rows import TableError

from kubelet_emu.api.v1 import Container
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
)
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.phase import get_phase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

RUNNING = ContainerState(running=ContainerStateRunning(started_at=NOW))
WAITING = ContainerState(waiting=ContainerStateWaiting())


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given = row.part("in")
    containers, statuses = [], []
    for key, kind in (("inits", "init"), ("sidecars", "sidecar"), ("mains", "main")):
        for n, state in enumerate(given.take(key, [])):
            name = f"{kind}{n}"
            containers.append((kind, Container(name=name, restart_policy="Always" if kind == "sidecar" else None)))
            statuses += _status(name, state, is_main=kind == "main")
    phase = get_phase(
        a_pod(given.choice("restartPolicy", POD_POLICIES), containers),
        statuses,
        pod_is_terminal=given.flag("terminal"),
        pod_has_initialized=given.flag("main_was_started"),
        is_static=given.flag("static"),
        features=FeatureGates(),
    )
    row.part("out").check({"phase": phase})


def _status(name: str, state: str | None, *, is_main: bool) -> list[ContainerStatus]:
    if state is None:
        return []
    if state in {"running", "started"}:
        return [ContainerStatus(name=name, state=RUNNING, started=is_main or state == "started")]
    if state == "waiting":
        return [ContainerStatus(name=name, state=WAITING)]
    if not (found := re.fullmatch(r"(exit|waiting-after):(\d+)", state)):
        raise TableError(f"unknown state {state!r}")
    ended = ContainerState(terminated=ContainerStateTerminated(exit_code=int(found[2])))
    if found[1] == "exit":
        return [ContainerStatus(name=name, state=ended)]
    return [ContainerStatus(name=name, state=WAITING, last_state=ended)]
