"""Whose logs `logs` shows: a pod, the best or all pods of a workload or a Service, or all with some labels.

Source: kubectl v1.36 pkg/polymorphichelpers logsForObject, SelectorsForObject; kubectl util/podutils ByLogging.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

import click
import trio
from attrs import frozen

from kubelet_emu.api.codec import decode_mapping
from kubelet_emu.api.meta import LabelSelector
from kubelet_emu.cli.remote.containers import all_containers, default_container, told_containers
from kubelet_emu.cli.remote.kinds import POD, kind_of
from kubelet_emu.cli.remote.ordering import as_listed
from kubelet_emu.cli.remote.pod_cells import part, parts
from kubelet_emu.cli.remote.selectors import labels_match
from kubelet_emu.cli.remote.showing import NO_RESOURCES

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.kinds import Kind
    from kubelet_emu.cli.remote.log_reading import LogsRequest
    from kubelet_emu.cli.remote.views import Object, View

WAIT_SECONDS = 20.0
LOOK_SECONDS = 0.5
WITH_PODS = frozenset({"Job", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Service"})
_PHASES = {"Unknown": 1, "Pending": 2}


class LogsError(Exception):
    """The logs that were asked for can't be shown; the text says why."""


@frozen
class LogTarget:
    """One container of one pod."""

    pod: str
    container: str


@frozen
class Resource:
    """A kind and a name, as `NAME` or `TYPE/NAME` says it."""

    kind: Kind
    name: str

    @classmethod
    def parse(cls, word: str) -> Resource:
        """Read it; LogsError."""
        type_, slash, name = word.partition("/")
        if not slash:
            return cls(POD, word)
        kind = kind_of(type_.partition(".")[0])
        if kind is None:
            raise LogsError(f'the server doesn\'t have a resource type "{type_}"')
        if not name or "/" in name:
            raise LogsError(f"arguments in resource/name form must have a single resource and name: {word!r}")
        if kind is not POD and kind.name not in WITH_PODS:
            raise LogsError(f"cannot get the logs from *.{kind.name}: it has no pods")
        return cls(kind, name)


async def targets_of(view: View, namespace: str, request: LogsRequest) -> tuple[LogTarget, ...]:
    """Return the containers whose logs are shown, what is to be said of the choice having been said; LogsError."""
    pods = await _pods(view, namespace, request)
    targets = tuple(target for pod in pods for target in _of_pod(pod, request))
    if request.follow and len(targets) > request.most_at_once:
        text = (
            f"you are attempting to follow {len(targets)} log streams, but maximum allowed concurrency is "
            f"{request.most_at_once}, use --max-log-requests to increase the limit"
        )
        raise LogsError(text)
    return targets


def _of_pod(pod: Object, request: LogsRequest) -> tuple[LogTarget, ...]:
    name, known = _name(pod), all_containers(pod)
    if request.all_containers:
        return tuple(LogTarget(name, each) for each in known)
    if request.container is None:
        chosen, said = default_container(pod)
        if said:
            click.echo(said, err=True)
        return (LogTarget(name, chosen),)
    if request.container not in known:
        text = f"container {request.container} is not valid for pod {name} out of: {told_containers(pod)}"
        raise LogsError(text)
    return (LogTarget(name, request.container),)


async def _pods(view: View, namespace: str, request: LogsRequest) -> list[Object]:
    if request.resource is None:
        found = as_listed(pod for pod in await view.list("Pod", namespace) if labels_match(request.labels, pod))
        if not found:
            click.echo(f"{NO_RESOURCES} in {namespace} namespace.", err=True)
        return found
    kind, name = request.resource.kind, request.resource.name
    objects = await view.list(kind.name, namespace, name)
    if not objects:
        text = f'error from server (NotFound): {kind.resource} "{name}" not found in namespace "{namespace}"'
        raise LogsError(text)
    if kind is POD:
        return objects[-1:]
    pods = await pods_of(view, namespace, objects[-1], WAIT_SECONDS)
    if request.all_pods:
        return pods
    best = min(pods, key=_order)
    if len(pods) > 1:
        click.echo(f"Found {len(pods)} pods, using pod/{_name(best)}", err=True)
    return [best]


async def pods_of(view: View, namespace: str, obj: Object, seconds: float) -> list[Object]:
    """Return the pods of an object, waiting so long for the first of them; LogsError."""
    selector = part(part(obj, "spec"), "selector")
    if not selector:
        raise LogsError(f"invalid {str(obj.get('kind')).lower()} {_name(obj)!r}: it is defined without a selector")
    wanted = {"matchLabels": selector} if obj.get("kind") == "Service" else selector
    with trio.move_on_after(seconds):
        while True:
            if found := [pod for pod in await view.list("Pod", namespace) if _matches(wanted, pod)]:
                return found
            await trio.sleep(LOOK_SECONDS)
    raise LogsError("timed out waiting for the condition")


def _matches(selector: Object, pod: Object) -> bool:
    return labels_match(decode_mapping(LabelSelector, selector, ignore_unknown=True), pod)


def _name(obj: Object) -> str:
    return str(part(obj, "metadata").get("name", ""))


def _order(pod: Object) -> tuple[object, ...]:
    """Return what sorts pods so that the best one for a look comes first (ByLogging)."""
    status = part(pod, "status")
    ready = next((each for each in parts(status, "conditions") if each["type"] == "Ready"), {"status": "False"})
    is_ready = ready["status"] == "True"
    restarts = [cast("int", each.get("restartCount", 0)) for each in parts(status, "containerStatuses")]
    return (
        not part(pod, "spec").get("nodeName"),
        _PHASES.get(str(status.get("phase")), 0),
        not is_ready,
        _seconds(ready.get("lastTransitionTime")) if is_ready else 0.0,
        -max(restarts, default=0),
        _seconds(part(pod, "metadata").get("creationTimestamp")),
    )


def _seconds(stamp: object) -> float:
    return datetime.fromisoformat(str(stamp)).timestamp() if stamp else float("inf")
