"""Table `get_phase`: container states as the API shows them -> phase and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve
from pod_inputs import NOW, POD_POLICIES, a_container, a_pod, an_api_status

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import PodReadinessGate
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.conditions import (
    Observation,
    complete_conditions,
    containers_ready_condition,
    initialized_condition,
    ready_condition,
)
from kubelet_emu.rules.phase import get_phase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import ContainerStatus

GATE_STATUSES = {status: status for status in ("True", "False", "Unknown")}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given, expected = row.part("in"), row.part("out")
    containers, statuses = [], []
    for container in given.parts("containers"):
        containers.append(a_container(container))
        statuses += an_api_status(container)
    pod = a_pod(given.choice("policy", POD_POLICIES), containers)
    gates = tuple(PodReadinessGate(condition_type=gate) for gate in given.take("gatesSpec", []))
    pod = evolve(pod, spec=evolve(pod.spec, readiness_gates=gates))
    phase = get_phase(
        pod,
        statuses,
        pod_is_terminal=given.flag("terminal"),
        pod_has_initialized=given.flag("hasInitialized"),
        is_static=given.flag("static"),
        features=FeatureGates(),
    )
    expected.check({"phase": phase, **_conditions(pod, given, statuses, phase)})


def _conditions(pod: Pod, given: Fields, statuses: list[ContainerStatus], phase: str) -> dict[str, list[str]]:
    gates = given.part("gates", {})
    foreign = [PodCondition(type=gate, status=gates.choice(gate, GATE_STATUSES)) for gate in gates.values]
    made = (
        initialized_condition(pod, statuses, phase, was_initialized=given.flag("oldInitialized")),
        ready_condition(pod, foreign, containers_ready_condition(pod, statuses, phase)),
        containers_ready_condition(pod, statuses, phase),
    )
    completed = complete_conditions(made, (), Observation(now=NOW, generation=None))
    assert {condition.type for condition in completed} == {
        reasons.INITIALIZED,
        reasons.READY,
        reasons.CONTAINERS_READY,
    }
    return {c.type: [c.status, c.reason or "", c.message or ""] for c in completed}
