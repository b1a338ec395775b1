"""Table `status`: runtime instances, the status before and failed starts -> the new status."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve
from pod_inputs import (
    A_PROBE,
    NOW,
    POD_POLICIES,
    RUNTIME_STATES,
    SANDBOXES,
    a_container,
    a_pod,
    an_api_status,
    an_instance,
    an_observed_pod,
    sandboxes,
)

from kubelet_emu.api import reasons
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.conditions import has_any_regular_container_started
from kubelet_emu.rules.observed import ProbeResults, StartFailure, SyncInput
from kubelet_emu.rules.statuses import generate_api_pod_status
from runtime.api import ContainerID, SandboxID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_status import ContainerStatus as APIContainerStatus
    from runtime.api import ContainerStatus

PHASES = {phase: phase for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown", None)}
PROBES = {None: (), "startup": ("startup_probe",), "readiness": ("readiness_probe",), "liveness": ("liveness_probe",)}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given, expected = row.part("in"), row.part("out")
    host_network = given.flag("hostNetwork")
    pod = _pod(given, host_network=host_network)
    failures = given.parts("reasonCache")
    sync = SyncInput(
        pod=pod,
        observed=an_observed_pod(
            sandboxes(given.choice("sandbox", SANDBOXES), given.take("attempt", 0), host_network=host_network),
            [_instance(pod, instance) for instance in given.parts("runtime")],
        ),
        probes=ProbeResults(),
        previous_status=_previous(pod, given),
        start_failures={
            each.take("name"): StartFailure(reason=each.take("reason"), message=each.take("message", ""))
            for each in failures
        },
        now=NOW,
        features=FeatureGates(),
        is_static=given.flag("static"),
    )
    status = generate_api_pod_status(sync, pod_is_terminal=given.flag("terminal"), runtime_name="t")
    _compare_containers(status, expected)
    expected.check(_out(status, expected))


def _pod(given: Fields, *, host_network: bool) -> Pod:
    containers: list[tuple[str, Container]] = []
    for fields in given.parts("containers"):
        kind, container = a_container(fields)
        for probe in fields.choice("probe", PROBES, None):
            container = evolve(container, **{probe: A_PROBE})
        containers.append((kind, container))
    pod = a_pod(given.choice("policy", POD_POLICIES), containers, host_network=host_network)
    if given.flag("deleting"):
        pod = evolve(pod, metadata=evolve(pod.metadata, deletion_timestamp=NOW))
    return evolve(pod, status=PodStatus(phase=given.choice("apiPhase", PHASES, None)))


def _instance(pod: Pod, given: Fields) -> ContainerStatus:
    spec = pod.spec
    by_name = {c.name: c for c in (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)}
    in_old_sandbox = given.flag("oldSandbox")
    return an_instance(
        by_name[given.take("name")],
        given.choice("state", RUNTIME_STATES),
        id=ContainerID(given.take("id")),
        sandbox_id=SandboxID("sandbox-old" if in_old_sandbox else "sandbox-0"),
        created_at=NOW + timedelta(seconds=given.take("at")),
        attempt=given.take("restarts", 0),
        exit_code=given.take("exit", 0),
        reason=given.take("reason", ""),
        message=given.take("message", ""),
    )


def _previous(pod: Pod, given: Fields) -> PodStatus:
    statuses = [status for each in given.parts("old") for status in an_api_status(each)]
    conditions = []
    is_restarting = given.flag("oldRestarting")
    # A pod whose main containers ran before its restart was initialized, said or not.
    mains_ran = is_restarting and has_any_regular_container_started(pod, statuses)
    if given.flag("oldInitialized") or mains_ran:
        conditions.append(PodCondition(type=reasons.INITIALIZED, status="True"))
    if is_restarting:
        conditions.append(PodCondition(type=reasons.ALL_CONTAINERS_RESTARTING, status="True"))
    return PodStatus(
        phase=given.choice("oldPhase", PHASES, None),
        reason=given.take("oldReason", None),
        message=given.take("oldMessage", None),
        conditions=tuple(conditions),
        init_container_statuses=_of(statuses, pod.spec.init_containers),
        container_statuses=_of(statuses, pod.spec.containers),
        ephemeral_container_statuses=_of(statuses, pod.spec.ephemeral_containers),
    )


def _of(statuses: list[APIContainerStatus], containers: tuple[Any, ...]) -> tuple[APIContainerStatus, ...]:
    names = {container.name for container in containers}
    return tuple(status for status in statuses if status.name in names)


def _out(status: PodStatus, expected: Fields) -> dict[str, object]:
    return {
        "phase": status.phase,
        "reason": status.reason or "",
        "message": status.message or "",
        "conditions": {c.type: [c.status, c.reason or ""] for c in status.conditions},
        "containers": expected.values.get("containers"),
    }


def _compare_containers(status: PodStatus, expected: Fields) -> None:
    """Compare names and order, then each container by the keys that its row has."""
    shown = (*status.init_container_statuses, *status.container_statuses, *status.ephemeral_container_statuses)
    wanted = expected.parts("containers")
    assert [each.name for each in shown] == [each.take("name") for each in wanted]
    for each, fields in zip(shown, wanted, strict=True):
        actual = _container(each)
        # A reason, a message, an end that a row leaves out is one that must not be there.
        left_out = {key: value for key, value in actual.items() if key not in fields and value not in (None, False)}
        assert not left_out, f"{fields.where}: unexpected {left_out}"
        fields.check(actual)


def _container(status: APIContainerStatus) -> dict[str, object]:
    state, last = status.state, status.last_state.terminated
    words = {"waiting": state.waiting, "running": state.running, "terminated": state.terminated}
    word, found = next((word, found) for word, found in words.items() if found is not None)
    return {
        "name": status.name,
        "state": word,
        "reason": getattr(found, "reason", None),
        "message": getattr(found, "message", None),
        "exit": state.terminated.exit_code if state.terminated is not None else None,
        "last": last.exit_code if last is not None else None,
        "lastReason": (last.reason or "") if last is not None else None,
        "restarts": status.restart_count,
        "started": status.started,
        "ready": status.ready,
    }
