"""Table `ready_started`: a container's state and stored results -> `started`, `ready`, and a readiness run at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pod_inputs import A_PROBE, NOW, a_pod, an_instance, an_observed_pod
from table_rows import TableError

from kubelet_emu.api.v1 import Container
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodStatus,
)
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.observed import ProbeResult, ProbeResults, SyncInput
from kubelet_emu.rules.probes import needs_readiness_run
from kubelet_emu.rules.readiness import started_and_ready
from runtime.api import ContainerState as RuntimeState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from runtime.api import ContainerID

TYPES = {"main": "main", "init": "init", "sidecar": "sidecar"}
NO_PROBE, NO_VALUE = "no probe", "no value"
RESULTS: dict[str | None, ProbeResult | str] = {
    None: NO_PROBE,
    "Success": ProbeResult.SUCCESS,
    "Failure": ProbeResult.FAILURE,
    "Unknown": ProbeResult.UNKNOWN,
    "no value": NO_VALUE,
    "no value yet": NO_VALUE,
    "worker, no value yet": NO_VALUE,
}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given = row.part("in")
    kind = given.choice("type", TYPES)
    startup, readiness = given.choice("startup_probe", RESULTS, None), given.choice("readiness", RESULTS, None)
    container = Container(
        name="c",
        restart_policy="Always" if kind == "sidecar" else None,
        startup_probe=None if startup == NO_PROBE else A_PROBE,
        readiness_probe=None if readiness == NO_PROBE else A_PROBE,
    )
    pod = a_pod("Always", [(kind, container)])
    instance = an_instance(container, RuntimeState.RUNNING)
    sync = SyncInput(
        pod=pod,
        observed=an_observed_pod((), [instance]),
        probes=ProbeResults(startup=_stored(instance.id, startup), readiness=_stored(instance.id, readiness)),
        previous_status=PodStatus(),
        start_failures={},
        now=NOW,
        features=FeatureGates(),
    )
    before = ContainerStatus(name="c", container_id=f"stub://{instance.id}", state=_state(given.take("state")))
    is_main = kind == "main"
    inits, mains = started_and_ready(sync, () if is_main else (before,), (before,) if is_main else ())
    (shown,) = (*mains, *inits)
    stored = readiness if isinstance(readiness, ProbeResult) else None
    row.part("out").check(
        {
            "started": shown.started,
            "ready": shown.ready,
            "readiness_triggered_now": readiness != NO_PROBE and needs_readiness_run(shown, stored),
        }
    )


def _stored(container_id: ContainerID, result: ProbeResult | str) -> dict[ContainerID, ProbeResult]:
    return {container_id: result} if isinstance(result, ProbeResult) else {}


def _state(word: str) -> ContainerState:
    if word == "running":
        return ContainerState(running=ContainerStateRunning(started_at=NOW))
    if word == "waiting":
        return ContainerState(waiting=ContainerStateWaiting())
    if found := re.fullmatch(r"(?:terminated|exit|exited)(?:(?:,? exit)?[ :](\d+))?", word):
        return ContainerState(terminated=ContainerStateTerminated(exit_code=int(found[1] or 0)))
    raise TableError(f"unknown state {word!r}")
