"""Table `probe_worker`: what a worker sees at one tick -> whether it probes, what is stored, whether it goes on."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pod_inputs import CONTAINER_POLICIES, NOW, POD_POLICIES
from table_rows import TableError

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, ContainerRestartRule, ContainerRestartRuleOnExitCodes, Pod, PodSpec
from kubelet_emu.api.v1_handlers import Probe
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodStatus,
)
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.observed import ProbeKind
from kubelet_emu.rules.probes import ProbeStep, ProbeTick, ProbeWorkerState, step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

KINDS = {kind.value: kind for kind in ProbeKind}
PHASES = {phase: phase for phase in ("Pending", "Running", "Succeeded", "Failed")}
BY_ANOTHER = "terminated by RestartAllContainers of another container"


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given, expected = row.part("in"), row.part("out")
    kinds = given.take("kind", list(KINDS))
    pod, status = _pod(given), _status(given)
    running_for, started = given.take("running_for", 3600), given.take("started", None)
    for name in [kinds] if isinstance(kinds, str) else kinds:
        kind = KINDS[name]
        is_started = started if started is not None else kind is not ProbeKind.STARTUP
        shown = _shown(pod, status, kind, is_started=is_started, running_for=running_for)
        expected.check(
            {
                "run": shown.run,
                "stored": shown.stored[-1].value.capitalize() if shown.stored else None,
                "goes_on": shown.goes_on,
            }
        )


def _shown(pod: Pod, status: PodStatus | None, kind: ProbeKind, *, is_started: bool, running_for: float) -> ProbeStep:
    if status is not None:
        statuses = (*status.container_statuses, *status.init_container_statuses)
        status = PodStatus(
            phase=status.phase, container_statuses=tuple(_with_started(one, started=is_started) for one in statuses)
        )
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    tick = ProbeTick(
        pod=pod,
        container=next(container for container in containers if container.name == "c"),
        kind=kind,
        status=status,
        now=NOW + timedelta(seconds=running_for),
        features=FeatureGates(),
    )
    return step(ProbeWorkerState(), tick)


def _with_started(status: ContainerStatus, *, started: bool) -> ContainerStatus:
    return ContainerStatus(name=status.name, container_id=status.container_id, state=status.state, started=started)


def _pod(given: Fields) -> Pod:
    probe = Probe(initial_delay_seconds=given.take("initialDelaySeconds", 0))
    policy = given.choice("container_restartPolicy", CONTAINER_POLICIES, None)
    is_sidecar = given.flag("sidecar")
    rules = _rules(given.take("rule", None))
    container = Container(
        name="c",
        restart_policy="Always" if is_sidecar else policy,
        restart_policy_rules=rules,
        liveness_probe=probe,
        readiness_probe=probe,
        startup_probe=probe,
    )
    other = Container(
        name="other", restart_policy="Never", restart_policy_rules=_rules("RestartAllContainers on In [42]")
    )
    pod_policy = given.choice("pod_restartPolicy", POD_POLICIES, given.choice("restartPolicy", POD_POLICIES, "Always"))
    is_deleted = given.flag("deletion_seen_at_worker_creation") or given.flag("deletion")
    return Pod(
        metadata=ObjectMeta(deletion_timestamp=NOW if is_deleted else None),
        spec=PodSpec(
            restart_policy=pod_policy,
            containers=(other,) if is_sidecar else (container, other),
            init_containers=(container,) if is_sidecar else (),
        ),
    )


def _rules(text: str | None) -> tuple[ContainerRestartRule, ...]:
    if text is None:
        return ()
    if not (found := re.fullmatch(r"(\w+) on (\w+) \[([\d, ]*)\]", text)):
        raise TableError(f"unknown rule {text!r}")
    codes = tuple(int(code) for code in found[3].split(",") if code.strip())
    exit_codes = ContainerRestartRuleOnExitCodes(operator=found[2], values=codes)
    return (ContainerRestartRule(action=found[1], exit_codes=exit_codes),)


def _status(given: Fields) -> PodStatus | None:
    phase = given.choice("phase", PHASES, "Running")
    if given.choice("pod_status", {"none": True, None: False}, None):
        return None
    word = given.take("container", "running")
    if word == "not in status":
        return PodStatus(phase=phase)
    container_id = None if word.endswith("without an ID") or word == "waiting" else "stub://c1"
    statuses = [ContainerStatus(name="c", container_id=container_id, state=_state(word))]
    if word == BY_ANOTHER:
        ended = ContainerState(terminated=ContainerStateTerminated(exit_code=42))
        statuses.append(ContainerStatus(name="other", container_id="stub://o1", state=ended))
    return PodStatus(phase=phase, container_statuses=tuple(statuses))


def _state(word: str) -> ContainerState:
    if word == "running":
        return ContainerState(running=ContainerStateRunning(started_at=NOW))
    if word in {"waiting", "waiting with an ID", "waiting without an ID"}:
        return ContainerState(waiting=ContainerStateWaiting())
    if word == BY_ANOTHER:
        return ContainerState(terminated=ContainerStateTerminated(exit_code=137))
    if found := re.fullmatch(r"terminated(?: (\d+))?", word):
        return ContainerState(terminated=ContainerStateTerminated(exit_code=int(found[1] or 0)))
    raise TableError(f"unknown container {word!r}")
