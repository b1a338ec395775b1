"""Table `sidecar_actions`: a pod of three sidecars and three mains in some state -> what the next sync does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from attrs import evolve
from pod_inputs import A_PROBE, IMAGE, NOW, POD_POLICIES, a_pod, an_instance, an_observed_pod, sandboxes
from table_rows import TableError

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import Container
from kubelet_emu.api.v1_handlers import Probe
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.actions import compute_pod_actions
from kubelet_emu.rules.observed import ProbeResult, ProbeResults, SyncInput
from kubelet_emu.rules.termination import container_grace_period
from runtime.api import ContainerState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.rules.pod_actions import PodActions
    from runtime.api import ContainerID, ContainerStatus

SIDECARS, MAINS = ("s1", "s2", "s3"), ("m1", "m2", "m3")
PROBED = {"s2", "s3"}
TGPS, PROBE_GRACE = 60, 10
OWN_GRACE = Probe(exec=A_PROBE.exec, termination_grace_period_seconds=PROBE_GRACE)
SANDBOXES = {"ready": "ready", "not ready": "notready", "none": "none"}
LIVENESS_FAILED, STARTUP_FAILED, IMAGE_CHANGED = ", liveness Failure", ", startup Failure", ", image changed"
RESULTS: dict[str, ProbeResult | None] = {
    "no value": None,
    "Unknown": ProbeResult.UNKNOWN,
    "Success": ProbeResult.SUCCESS,
    "Failure": ProbeResult.FAILURE,
}
GRACE_TEXTS = {TGPS: "TGPS, not the probe value", PROBE_GRACE: "livenessProbe value or TGPS"}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given = row.part("in")
    pod = _pod(given)
    states = _states(given)
    instances = [_instance(pod, name, state, given) for name, state in states.items()]
    liveness, startup = _results(given, "liveness"), _results(given, "startup")
    liveness |= {name: ProbeResult.FAILURE for name, state in states.items() if state.endswith(LIVENESS_FAILED)}
    startup |= {name: ProbeResult.FAILURE for name, state in states.items() if state.endswith(STARTUP_FAILED)}
    ids = {instance.metadata.name: instance.id for instance in instances}
    sync = SyncInput(
        pod=pod,
        observed=an_observed_pod(
            sandboxes(given.choice("sandbox", SANDBOXES, "ready"), 0, host_network=False),
            instances,
        ),
        probes=ProbeResults(liveness=_by_id(liveness, ids), startup=_by_id(startup, ids)),
        previous_status=PodStatus(),
        start_failures={},
        now=NOW,
        features=FeatureGates(),
    )
    row.part("out").check(_shown(pod, compute_pod_actions(sync), states))


def _pod(given: Fields) -> Pod:
    sidecars = [
        Container(
            name=name,
            image=IMAGE,
            restart_policy="Always",
            liveness_probe=A_PROBE if name in PROBED else None,
            startup_probe=A_PROBE if name in PROBED else None,
        )
        for name in SIDECARS
    ]
    mains = [Container(name=name, image=IMAGE, liveness_probe=OWN_GRACE) for name in MAINS]
    containers = [("sidecar", sidecar) for sidecar in sidecars] + [("main", main) for main in mains]
    policy = given.choice("restartPolicy", POD_POLICIES, "Always")
    pod = a_pod(policy, containers, termination_grace_period_seconds=TGPS)
    if given.flag("deleting"):
        pod = evolve(pod, metadata=evolve(pod.metadata, deletion_timestamp=NOW))
    return pod


def _states(given: Fields) -> dict[str, str]:
    """Return the state of every container that the runtime knows."""
    states = dict.fromkeys(SIDECARS, "running")
    if only := given.take("only", None):
        if not (found := re.fullmatch(r"((?:s\d,?)+) running", only)):
            raise TableError(f"unknown `only` {only!r}")
        states = dict.fromkeys(found[1].split(","), "running")
    if given.choice("statuses", {"none": True, None: False}, None):
        states = {}
    states.update({name: state for name in (*SIDECARS, *MAINS) if (state := given.take(name, None)) is not None})
    mains = given.take("mains", None)
    if mains is not None:
        states.update(dict.fromkeys(MAINS, mains) if isinstance(mains, str) else dict(zip(MAINS, mains, strict=True)))
    return {name: state for name, state in states.items() if state not in {"absent", "not created"}}


def _instance(pod: Pod, name: str, state: str, given: Fields) -> ContainerStatus:
    container = _container(pod, name)
    is_changed = given.choice(f"{name}_image", {"changed": True, None: False}, None)
    if is_changed or state.endswith(IMAGE_CHANGED):
        container = evolve(container, image="image:old")
    if state in {"running", f"running{LIVENESS_FAILED}", f"running{STARTUP_FAILED}", f"running{IMAGE_CHANGED}"}:
        return an_instance(container, ContainerState.RUNNING)
    if state in {"created, never started", "created"}:
        return an_instance(container, ContainerState.CREATED)
    if state == "unknown":
        return an_instance(container, ContainerState.UNKNOWN)
    if found := re.fullmatch(r"exited(?: (\d+))?", state):
        return an_instance(container, ContainerState.EXITED, exit_code=int(found[1] or 0))
    raise TableError(f"unknown state {state!r} of {name}")


def _container(pod: Pod, name: str) -> Container:
    return next(c for c in (*pod.spec.init_containers, *pod.spec.containers) if c.name == name)


def _results(given: Fields, kind: str) -> dict[str, ProbeResult]:
    """Return the stored results by container name: all healthy, but for what the row says."""
    results = dict.fromkeys(PROBED, ProbeResult.SUCCESS)
    for name in (*SIDECARS, *MAINS):
        if f"{name}_{kind}" not in given:
            continue
        result = given.choice(f"{name}_{kind}", RESULTS)
        if result is None:
            results.pop(name, None)
        else:
            results[name] = result
    return results


def _by_id(results: Mapping[str, ProbeResult], ids: Mapping[str, ContainerID]) -> dict[ContainerID, ProbeResult]:
    return {ids[name]: result for name, result in results.items() if name in ids}


def _shown(pod: Pod, actions: PodActions, states: Mapping[str, str]) -> dict[str, Any]:
    inits = [pod.spec.init_containers[index].name for index in actions.init_containers_to_start]
    mains = [pod.spec.containers[index].name for index in actions.containers_to_start]
    shown: dict[str, Any] = {
        "start": inits + mains,
        "kill": [kill.name for kill in actions.containers_to_kill],
        "kill_pod": actions.kill_pod,
        "new_sandbox": actions.create_sandbox,
    }
    if actions.kill_pod:
        running = [name for name in MAINS if states.get(name, "").startswith("running")]
        shown |= {"message": reasons.stopping_container(running[0]) if running else None, "grace": GRACE_TEXTS[TGPS]}
    elif actions.containers_to_kill:
        kill = actions.containers_to_kill[0]
        grace = container_grace_period(pod, _container(pod, kill.name), kill.reason)
        shown |= {"message": kill.message, "grace": GRACE_TEXTS[grace]}
    return shown
