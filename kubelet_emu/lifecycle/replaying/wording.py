"""A decision of a sync in words, with the names of the containers that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod


def in_words(pod: Pod, decision: Mapping[str, object]) -> str:
    """Return what a decision does, or the part of it that is given; "nothing" when that is so."""
    return ", ".join(_parts(pod, decision)) or "nothing"


def started_names(pod: Pod, decision: Mapping[str, object]) -> Iterator[str]:
    """Yield the containers that a decision starts, in the order of their starts."""
    spec = pod.spec
    lists: dict[str, Sequence[Container | EphemeralContainer]] = {
        "startInit": spec.init_containers,
        "start": spec.containers,
        "startEphemeral": spec.ephemeral_containers,
    }
    for key, containers in lists.items():
        for index in list_of(decision.get(key)):
            is_known = isinstance(index, int) and 0 <= index < len(containers)
            yield containers[index].name if is_known and isinstance(index, int) else f"container {index}"


def list_of(value: object) -> Sequence[object]:
    """Return a list of a decision, empty where it has none."""
    return value if isinstance(value, list | tuple) else ()


def _parts(pod: Pod, decision: Mapping[str, object]) -> Iterator[str]:
    if "podIsOver" in decision:
        yield "the pod is over" if decision["podIsOver"] else "the pod goes on"
    if decision.get("killPod"):
        yield "kill the pod"
    if decision.get("createSandbox"):
        yield "make a new sandbox"
    for name in started_names(pod, decision):
        yield f"start {name}"
    for each in list_of(decision.get("kill")):
        if isinstance(each, dict):
            yield f"kill {each.get('name')} ({each.get('message')})"
    for each in list_of(decision.get("reset")):
        if isinstance(each, dict):
            yield f"{'kill and ' if each.get('kill') else ''}remove {each.get('name')}"
    for key, what in (("updateCPU", "cpu"), ("updateMemory", "memory")):
        yield from (f"resize the {what} of {name}" for name in list_of(decision.get(key)))
    status = decision.get("status")
    if isinstance(status, dict):
        yield from (f"show {name} as {state}" for name, state in status.items())
