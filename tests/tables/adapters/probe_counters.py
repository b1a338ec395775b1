"""Table `probe_counters`: attempts of one worker -> the stored result after each."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from attrs import define, field
from pod_inputs import NOW
from table_rows import TableError

from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.api.v1_handlers import Probe
from kubelet_emu.api.v1_status import ContainerState, ContainerStateRunning, ContainerStatus, PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.observed import ProbeKind, ProbeResult
from kubelet_emu.rules.probe_times import probe_times
from kubelet_emu.rules.probes import INITIAL_RESULTS, ProbeTick, ProbeWorkerState, observe, step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

KINDS = {kind.value: kind for kind in ProbeKind}
RESULTS = {"S": ProbeResult.SUCCESS, "F": ProbeResult.FAILURE, "E": None}


@define
class _Worker:
    kind: ProbeKind
    probe: Probe
    state: ProbeWorkerState = field(factory=ProbeWorkerState)
    stored: dict[str, ProbeResult] = field(factory=dict)
    instance: int = 0

    def tick(self, result: ProbeResult | None) -> None:
        container = Container(name="c", liveness_probe=self.probe, readiness_probe=self.probe, startup_probe=self.probe)
        status = ContainerStatus(
            name="c",
            container_id=f"stub://{self.instance}",
            started=self.kind is not ProbeKind.STARTUP,
            state=ContainerState(running=ContainerStateRunning(started_at=NOW)),
        )
        decided = step(
            self.state,
            ProbeTick(
                pod=Pod(spec=PodSpec(containers=(container,))),
                container=container,
                kind=self.kind,
                status=PodStatus(phase="Running", container_statuses=(status,)),
                now=NOW + timedelta(hours=1),
                features=FeatureGates(),
            ),
        )
        self.state = decided.state
        self.stored.update({str(self.instance): value for value in decided.stored})
        if decided.run and result is not None:
            self.state, value = observe(self.state, self.kind, probe_times(self.probe), result)
            self.stored.update({str(self.instance): value} if value is not None else {})

    def shown(self) -> str:
        return self.stored.get(str(self.instance), INITIAL_RESULTS[self.kind]).value.capitalize()


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given = row.part("in")
    probe = Probe(
        success_threshold=given.take("successThreshold", 1), failure_threshold=given.take("failureThreshold", 3)
    )
    worker, shown = _Worker(given.choice("kind", KINDS), probe), []
    for attempt in given.take("attempts"):
        if attempt == "new":
            worker.instance += 1
        elif attempt in RESULTS:
            worker.tick(RESULTS[attempt])
        else:
            raise TableError(f"unknown attempt {attempt!r}")
        shown.append(worker.shown())
    row.part("out").check({"stored": shown})
