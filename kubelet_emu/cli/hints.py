"""What a pod waits for that won't come by itself, and what mends it. Pure.

A hint has a key that stays the same as long as the state does: how long that has been is for others to measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api import reasons, reasons_creation, reasons_images
from kubelet_emu.journal.facts import LOST_SANDBOX, LOST_SANDBOX_FIX, ContainerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.journal.facts import ContainerFacts, PodFacts

_IMAGE_FIXES = {
    reasons_images.INVALID_IMAGE_NAME: "mend the name in the manifest",
    reasons_images.ERR_IMAGE_NEVER_PULL: "load it into the engine, or set imagePullPolicy: IfNotPresent",
}
_PULL_FIX = "--pull missing takes what the engine has, --registry-mirror HOST=HOST2 pulls from elsewhere"
_LOGIN_FIX = "docker login to the registry, or name a pull secret and run its Secret together with the manifest"
_OBJECT_FIX = "run it together with the manifest that has the ConfigMap or Secret, or set optional: true"
_PORT_FIX = "stop what has the port, or name another hostPort"
_SELECTOR_FIX = "--node-label KEY=VALUE gives the node a label"
_NODE_FIXES = {
    "free ports": "a host port is for one pod of a node: take it out, or run one pod",
    "Insufficient": "ask for less, or say that the node has more: --node-capacity cpu=N,memory=N",
    "Too many pods": "run fewer, or say that the node takes more: --node-capacity pods=N",
}


@frozen
class Hint:
    """One line for the user, without its end; `key` names the state."""

    key: str
    text: str


def hints_of(pod: PodFacts, messages: Mapping[tuple[str, str], str], *, is_of_job: bool) -> Iterator[Hint]:
    """Yield what a pod waits for; `messages` has its last warnings by reason and container."""
    if pod.is_terminal or pod.stop_requested_at is not None:
        return
    name, uid = pod.ref.name, pod.ref.uid
    if text := _not_scheduled(pod):
        yield Hint(f"{uid}/schedule", f"{name} is not scheduled: {text}")
        return
    if text := _no_volumes(pod, messages):
        yield Hint(f"{uid}/volumes", f"{name} waits for its volumes{text}")
    if text := _no_sandbox(pod, messages):
        yield Hint(f"{uid}/sandbox", f"{name} has no sandbox: {text}")
    if pod.has_lost_sandbox:
        yield Hint(f"{uid}/lost", f"{name} {LOST_SANDBOX}: {LOST_SANDBOX_FIX}")
        return
    for container in pod.containers.values():
        for kind, text in (*_waiting(container), *_crashing(container, messages), *_starting(container, messages)):
            yield Hint(f"{uid}/{kind}/{container.name}", f"{name}/{container.name} {text}")
    if is_of_job and (text := _kept_alive(pod)):
        yield Hint(f"{uid}/sidecar", f"{name}: {text}")


def _not_scheduled(pod: PodFacts) -> str:
    conditions = () if pod.status is None else pod.status.conditions
    told = next((c for c in conditions if c.type == reasons.POD_SCHEDULED and c.status == "False"), None)
    if told is None:
        return ""
    message = told.message or ""
    fix = next((fix for words, fix in _NODE_FIXES.items() if words in message), _SELECTOR_FIX)
    return f"{fix}; the scheduler says: {message}"


def _no_volumes(pod: PodFacts, messages: Mapping[tuple[str, str], str]) -> str:
    message = messages.get((reasons_creation.FAILED_MOUNT, ""), "")
    if not message or any(container.runs for container in pod.containers.values()):
        return ""
    return _object_fix(message)


def _no_sandbox(pod: PodFacts, messages: Mapping[tuple[str, str], str]) -> str:
    message = messages.get((reasons.FAILED_CREATE_POD_SANDBOX, ""), "")
    if not message or any(container.runs for container in pod.containers.values()):
        return ""
    return f"{_PORT_FIX}; {_told(message)}" if "host port " in message and "has it" in message else message


def _object_fix(message: str) -> str:
    """Return a message, led by what mends it where that is known: texts of registries are long and cut at their end."""
    lowered = message.lower()
    fix = f"{_OBJECT_FIX}; " if "configmap" in lowered or "secret" in lowered else ""
    return f": {fix}{_told(message)}" if fix else f": {message}"


def _told(message: str) -> str:
    return f"the kubelet says: {message}"


def _waiting(container: ContainerFacts) -> Iterator[tuple[str, str]]:
    reason, message = container.waiting_reason, container.waiting_message
    if reason in reasons_images.NO_IMAGE_REASONS:
        yield "image", f"has no image: {_image_fix(reason, message)}; {_told(message or reason)}"
    elif reason == reasons_creation.CREATE_CONTAINER_CONFIG_ERROR:
        yield "config", f"can't be made{_object_fix(message)}"
    elif reason in {reasons.CREATE_CONTAINER_ERROR, reasons.RUN_CONTAINER_ERROR}:
        yield "start", f"can't be started: {message}"


def _image_fix(reason: str, message: str) -> str:
    """Return what mends an image that can't be had."""
    if "authorization failed" in message:
        return _LOGIN_FIX
    return _IMAGE_FIXES.get(reason, _PULL_FIX)


def _crashing(container: ContainerFacts, messages: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    """Tell of a container between two runs; its status says so only when the wait is over."""
    run = container.last_run
    if run is None or run.exited_at is None or container.waiting_reason in reasons_images.NO_IMAGE_REASONS:
        return
    if "restarting failed container" not in messages.get((reasons.BACK_OFF, container.name), ""):
        return
    text = f"exits with {run.code} again and again, and waits longer each time: its log may say why"
    if run.code == 0:
        text = "ends with 0 and is started again and again: restartPolicy Never or OnFailure would let the pod end"
    yield "crash", text


def _starting(container: ContainerFacts, messages: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    run, message = container.last_run, messages.get((reasons.UNHEALTHY, container.name), "").strip()
    is_running = run is not None and run.started_at is not None and run.exited_at is None
    if run is None or not is_running or not container.has_startup_probe or run.startup_ok_at is not None:
        return
    said = f": {message}" if message else ""
    behind = ", and the containers behind it wait" if container.kind is ContainerKind.SIDECAR else ""
    yield "startup", f"has not passed its startup probe yet{behind}{said}"


def _kept_alive(pod: PodFacts) -> str:
    """Tell of main containers that go on after another one has done its work."""
    runs = [(container.name, container.last_run) for container in pod.of_kind(ContainerKind.MAIN)]
    done = [name for name, run in runs if run is not None and run.exited_at is not None and run.code == 0]
    going = [name for name, run in runs if run is not None and run.exited_at is None]
    if not done or not going:
        return ""
    fix = "a helper belongs into initContainers, with restartPolicy: Always"
    verbs = ("has" if len(done) == 1 else "have", "runs" if len(going) == 1 else "run")
    return f"{' and '.join(done)} {verbs[0]} ended, {' and '.join(going)} still {verbs[1]}: a Job waits for all; {fix}"
