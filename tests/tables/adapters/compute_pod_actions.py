"""Table `compute_pod_actions`: what one sync decides from what the runtime shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field
from pod_inputs import (
    A_PROBE,
    NOW,
    POD_POLICIES,
    RUNTIME_STATES,
    SANDBOXES,
    a_container,
    a_pod,
    an_instance,
    an_observed_pod,
    resources,
    sandboxes,
)

from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.actions import ContainerKillReason, PodActions, compute_pod_actions
from kubelet_emu.rules.observed import ProbeResult, ProbeResults, SyncInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Container, Pod, ResourceRequirements
    from runtime.api import ContainerID, ContainerStatus

PROBE_RESULTS = {"none": None, **{result.value: result for result in ProbeResult}}
GRACES = {
    ContainerKillReason.NONE: "pod",
    ContainerKillReason.LIVENESS_PROBE: "liveness",
    ContainerKillReason.STARTUP_PROBE: "startup",
    ContainerKillReason.UNKNOWN: "unknown",
}


@define
class Given:
    """What the containers of a row add up to."""

    containers: list[tuple[str, Container]] = field(factory=list)
    instances: list[ContainerStatus] = field(factory=list)
    liveness: dict[ContainerID, ProbeResult] = field(factory=dict)
    startup: dict[ContainerID, ProbeResult] = field(factory=dict)
    actuated: dict[str, ResourceRequirements] = field(factory=dict)

    def add(self, given: Fields) -> None:
        kind, container = a_container(given)
        states = {**RUNTIME_STATES, "absent": None}
        state = given.choice("state", states)
        facts: dict[str, Any] = {"exit_code": given.take("exit", 0), "reason": given.take("reason", "")}
        if given.choice("hash", {None: False, "changed": True}, None):
            facts["hash"] = "0"
        instance = an_instance(container, state, **facts) if state is not None else None
        for probe, results in (("liveness", self.liveness), ("startup", self.startup)):
            if probe not in given:
                continue
            container = evolve(container, **{f"{probe}_probe": A_PROBE})
            result = given.choice(probe, PROBE_RESULTS)
            if result is not None and instance is not None:
                results[instance.id] = result
        if "have" in given:
            self.actuated[container.name] = resources(given.part("have"))
        self.containers.append((kind, container))
        self.instances += [instance] if instance is not None else []


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given, expected = row.part("in"), row.part("out")
    pod, observed, facts = _pod_of(given)
    sync = SyncInput(
        pod=pod,
        observed=observed,
        probes=ProbeResults(liveness=facts.liveness, startup=facts.startup),
        previous_status=PodStatus(),
        start_failures={},
        now=NOW,
        features=FeatureGates(),
    )
    actions = compute_pod_actions(sync, restart_all_containers=given.flag("restartAll"), actuated=facts.actuated)
    expected.check(_out(pod, actions, expected))


def _pod_of(given: Fields) -> tuple[Pod, Any, Given]:
    facts = Given()
    for container in given.parts("containers"):
        facts.add(container)
    host_network = given.flag("hostNetwork")
    pod = a_pod(given.choice("policy", POD_POLICIES), facts.containers, host_network=host_network)
    if given.flag("deleting"):
        pod = evolve(pod, metadata=evolve(pod.metadata, deletion_timestamp=NOW))
    found = sandboxes(given.choice("sandbox", SANDBOXES), given.take("attempt", 0), host_network=host_network)
    return pod, an_observed_pod(found, facts.instances), facts


def _out(pod: Pod, actions: PodActions, expected: Fields) -> dict[str, object]:
    spec = pod.spec
    kills = [
        {"name": kill.name, "text": kill.message, "grace": GRACES[kill.reason]} for kill in actions.containers_to_kill
    ]
    resets = [{"name": reset.name, "kill": reset.kill} for reset in actions.containers_to_reset]
    # A list that the row leaves out is one that must be empty.
    assert not kills or "kill" in expected or actions.kill_pod, f"unexpected kills {kills}"
    assert not resets or "reset" in expected, f"unexpected resets {resets}"
    return {
        "killPod": actions.kill_pod,
        "newSandbox": actions.create_sandbox,
        "attempt": actions.attempt,
        "sandboxChangedEvent": actions.sandbox_changed,
        "startInit": [spec.init_containers[n].name for n in actions.init_containers_to_start],
        "startMain": [spec.containers[n].name for n in actions.containers_to_start],
        "startEph": [spec.ephemeral_containers[n].name for n in actions.ephemeral_containers_to_start],
        "kill": _in_the_order_of(expected.values.get("kill", []), kills),
        "reset": resets,
        "updateCPU": list(actions.cpu_updates),
        "updateMemory": list(actions.memory_updates),
    }


def _in_the_order_of(expected: list[object], kills: list[dict[str, str]]) -> list[Any]:
    """Return the kills in the row's order: the kubelet's own order is chance."""
    is_same = sorted(json.dumps(k, sort_keys=True) for k in expected) == sorted(
        json.dumps(k, sort_keys=True) for k in kills
    )
    return expected if is_same else kills
