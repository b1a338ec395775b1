"""Small makers that turn the words of a table into pods and what the runtime shows of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kubelet_emu.api import labels
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.quantity import Quantity
from kubelet_emu.api.v1 import (
    Container,
    ContainerResizePolicy,
    ContainerRestartRule,
    ContainerRestartRuleOnExitCodes,
    EphemeralContainer,
    Pod,
    PodSpec,
    ResourceRequirements,
)
from kubelet_emu.api.v1_handlers import ExecAction, Probe
from kubelet_emu.api.v1_status import (
    ContainerState as APIContainerState,
)
from kubelet_emu.api.v1_status import (
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
)
from kubelet_emu.api.v1_status import (
    ContainerStatus as APIContainerStatus,
)
from kubelet_emu.rules.observed import ObservedPod
from runtime.api import (
    ContainerID,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    NamespaceMode,
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
    SandboxID,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_rows import Fields

NOW = datetime(2026, 1, 1, tzinfo=UTC)
IMAGE = "image:1"
A_PROBE = Probe(exec=ExecAction(command=("true",)))

POD_POLICIES = {policy: policy for policy in ("Always", "OnFailure", "Never")}
CONTAINER_POLICIES = {**POD_POLICIES, None: None, "": None}
KINDS = {"main": "main", "init": "init", "sidecar": "sidecar", "eph": "eph"}
SANDBOXES = {word: word for word in ("none", "ready", "notready", "noip", "twoready", "netmode")}
API_STATES = {word: word for word in ("absent", "waiting", "running", "terminated")}
RUNTIME_STATES = {state.value: state for state in ContainerState}


def restart_rules(container: Fields) -> tuple[ContainerRestartRule, ...]:
    """Read the key `rules`; operators and actions may be bogus on purpose."""
    return tuple(
        ContainerRestartRule(
            action=rule.take("action"),
            exit_codes=ContainerRestartRuleOnExitCodes(operator=rule.take("op"), values=tuple(rule.take("codes"))),
        )
        for rule in container.parts("rules")
    )


def a_container(given: Fields) -> tuple[str, Container]:
    """Read what a table says of a container's spec: its kind and the container."""
    kind = given.choice("kind", KINDS)
    policy = given.choice("policy", CONTAINER_POLICIES, None)
    policies = given.part("resizePolicy", {})
    container = Container(
        name=given.take("name"),
        image=IMAGE,
        restart_policy="Always" if kind == "sidecar" else policy,
        restart_policy_rules=restart_rules(given),
        resources=resources(given.part("want")) if "want" in given else None,
        resize_policy=tuple(
            ContainerResizePolicy(resource_name=name, restart_policy=value)
            for name in policies.values
            for value in [policies.choice(name, {"RestartContainer": "RestartContainer", "NotRequired": "NotRequired"})]
        ),
    )
    return kind, container


def resources(given: Fields) -> ResourceRequirements:
    """Read cpu and memory requests and limits."""
    words = {"cpu": ("cpuReq", "cpuLim"), "memory": ("memReq", "memLim")}
    quantities: list[dict[str, Quantity]] = [
        {name: Quantity(value) for name, keys in words.items() if (value := given.take(keys[n], None)) is not None}
        for n in (0, 1)
    ]
    return ResourceRequirements(requests=quantities[0], limits=quantities[1])


def a_pod(policy: str, containers: Sequence[tuple[str, Container]], **spec: object) -> Pod:
    """Make a pod of containers by kind, in spec order."""
    return Pod(
        metadata=ObjectMeta(name="p", namespace="ns", uid="uid"),
        spec=PodSpec(
            restart_policy=policy,
            init_containers=tuple(c for kind, c in containers if kind in {"init", "sidecar"}),
            containers=tuple(c for kind, c in containers if kind == "main"),
            ephemeral_containers=tuple(
                EphemeralContainer(name=c.name, image=c.image) for kind, c in containers if kind == "eph"
            ),
            **spec,  # type: ignore[arg-type]
        ),
    )


def sandboxes(word: str, attempt: int, *, host_network: bool) -> tuple[PodSandboxStatus, ...]:
    """Return the sandboxes that a word of the tables stands for, newest first."""
    if word == "none":
        return ()
    on_the_node = host_network != (word == "netmode")
    newest = PodSandboxStatus(
        id=SandboxID(f"sandbox-{attempt}"),
        metadata=PodSandboxMetadata(name="p", namespace="ns", uid="uid", attempt=attempt),
        state=PodSandboxState.NOT_READY if word == "notready" else PodSandboxState.READY,
        created_at=NOW,
        ip="" if word == "noip" or on_the_node else "10.0.0.1",
        network=NamespaceMode.NODE if on_the_node else NamespaceMode.POD,
    )
    if word != "twoready":
        return (newest,)
    older = PodSandboxStatus(
        id=SandboxID("sandbox-old"),
        metadata=PodSandboxMetadata(name="p", namespace="ns", uid="uid", attempt=max(attempt - 1, 0)),
        state=PodSandboxState.READY,
        created_at=NOW - timedelta(minutes=1),
        ip="10.0.0.2",
    )
    return (newest, older)


def an_instance(container: Container | EphemeralContainer, state: ContainerState, **facts: object) -> ContainerStatus:
    """Make one instance of a container as the runtime shows it."""
    created_at = facts.pop("created_at", NOW)
    attempt = facts.pop("attempt", 0)
    hash_text = facts.pop("hash", f"{labels.hash_container(container):x}")
    known: dict[str, object] = {
        "id": ContainerID(f"id-{container.name}"),
        "sandbox_id": SandboxID("sandbox-0"),
        "metadata": ContainerMetadata(name=container.name, attempt=attempt),  # type: ignore[arg-type]
        "created_at": created_at,
        "started_at": None if state is ContainerState.CREATED else created_at,
        "finished_at": created_at if state is ContainerState.EXITED else None,
        "annotations": {
            labels.CONTAINER_HASH_ANNOTATION: hash_text,
            labels.RESTART_COUNT_ANNOTATION: str(attempt),
        },
    }
    return ContainerStatus(state=state, **(known | facts))  # type: ignore[arg-type]


def an_observed_pod(
    pod_sandboxes: tuple[PodSandboxStatus, ...], instances: Sequence[ContainerStatus] = ()
) -> ObservedPod:
    """Make what the runtime shows of a pod, newest instance first."""
    newest_first = sorted(instances, key=lambda status: status.created_at, reverse=True)
    return ObservedPod(uid="uid", name="p", namespace="ns", sandboxes=pod_sandboxes, containers=tuple(newest_first))


def an_api_status(given: Fields) -> list[APIContainerStatus]:
    """Read a container status as the API shows it; none for state absent."""
    state = given.choice("state", API_STATES)
    if state == "absent":
        return []
    last = given.take("last", None)
    ended = ContainerStateTerminated(exit_code=last or 0, reason=given.take("lastReason", None))
    status = APIContainerStatus(
        name=given.take("name"),
        container_id=given.take("id", None),
        started=given.take("started", None),
        ready=given.flag("ready"),
        restart_count=given.take("restarts", 0),
        state=_api_state(state, given),
        last_state=APIContainerState(terminated=ended) if last is not None else APIContainerState(),
    )
    return [status]


def _api_state(state: str, given: Fields) -> APIContainerState:
    exit_code, reason, message = given.take("exit", 0), given.take("reason", None), given.take("message", None)
    match state:
        case "waiting":
            return APIContainerState(waiting=ContainerStateWaiting(reason=reason, message=message))
        case "running":
            return APIContainerState(running=ContainerStateRunning(started_at=NOW))
        case _:
            ended = ContainerStateTerminated(
                exit_code=exit_code, reason=reason, message=message, container_id=given.take("id", None)
            )
            return APIContainerState(terminated=ended)
