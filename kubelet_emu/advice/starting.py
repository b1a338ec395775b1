"""The order in which the containers of a pod start, and what each start waits for.

Source: KEP-753, kubelet v1.36 computeInitContainerActions and SyncPod: init containers and sidecars one after the
other, then the mains, one start after the other.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.advice.advices import Advice, Rule, names_of, short, verb
from kubelet_emu.advice.network import local_ports, ports_of
from kubelet_emu.advice.subjects import Role
from kubelet_emu.advice.waiting import deadlocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.advice.subjects import Part, Subject
    from kubelet_emu.advice.waiting import Deadlock


class Gate(enum.Enum):
    """What must have happened to the container before: nothing for the first one."""

    FIRST = "first"
    EXITED = "exited"
    STARTUP_PROBE = "startupProbe"
    POST_START = "postStart"
    STARTED = "started"


@frozen(kw_only=True)
class Start:
    """One step: a container starts when `gate` is passed by `after`; `blocked_by` is who never lets it start."""

    part: Part
    gate: Gate
    after: Part | None = None
    blocked_by: str = ""


def starts(subject: Subject) -> tuple[Start, ...]:
    """Return the steps of a pod's start in their order."""
    steps: list[Start] = []
    stuck = {each.part.name: each for each in deadlocks(subject)}
    blocked_by = ""
    previous: Part | None = None
    for part in subject.parts:
        steps.append(Start(part=part, gate=gate_of(previous), after=previous, blocked_by=blocked_by))
        if not blocked_by and part.name in stuck:
            blocked_by = part.name
        previous = part
    return tuple(steps)


def gate_of(part: Part | None) -> Gate:
    """Return what of a container the next one waits for."""
    if part is None:
        return Gate.FIRST
    if part.role is Role.INIT:
        return Gate.EXITED
    container = part.container
    if part.role is Role.SIDECAR and container.startup_probe is not None:
        return Gate.STARTUP_PROBE
    has_hook = container.lifecycle is not None and container.lifecycle.post_start is not None
    return Gate.POST_START if has_hook else Gate.STARTED


def without_gate(subject: Subject) -> Iterator[Advice]:
    """Yield sidecars without a gate that a later container calls at `localhost` (KE501)."""
    for part in subject.of(Role.SIDECAR):
        if gate_of(part) is not Gate.STARTED:
            continue
        ports = ports_of(part.container)
        others = tuple(
            each for each in subject.after(part) if local_ports(each.container) & ports - ports_of(each.container)
        )
        if others:
            port = min(local_ports(others[0].container) & ports)
            who = f"{names_of(others)} {verb(others, 'uses', 'use')}"
            waits = verb(others, "doesn't", "don't")
            yield Advice(
                code="KE501",
                path=part.path,
                text=f"{who} {part.name} at localhost:{port} but {waits} wait until it is up",
                hint=f"give {part.name} a startupProbe: what follows a sidecar waits for that",
            )


def init_waits(subject: Subject) -> Iterator[Advice]:
    """Yield init containers that wait for what starts only after them (KE502)."""
    for each in deadlocks(subject):
        if each.part.role is Role.INIT and each.awaited is not None:
            yield Advice(
                code="KE502",
                path=f"{each.part.path}.{each.field}",
                text=f"{each.part.name} waits for {_of_whom(each)}, {_too_late(each, 'which starts only after it')}: "
                "the pod stays in Init",
                hint=_mend(each),
            )


def gate_waits(subject: Subject) -> Iterator[Advice]:
    """Yield gates (postStart hooks, startup probes of sidecars) that wait for what starts only after them (KE503)."""
    for each in deadlocks(subject):
        if each.part.role is not Role.INIT:
            what = "postStart hook" if each.field != "startupProbe" else "startup probe"
            yield Advice(
                code="KE503",
                path=f"{each.part.path}.{each.field}",
                text=f"the {what} of {each.part.name} waits for {_of_whom(each)}, "
                f"{_too_late(each, 'which starts only when it is passed')}",
                hint=f"{what}s hold back all containers that follow: let {each.part.name} ask for its own port alone",
            )


def init_never_ends(subject: Subject) -> Iterator[Advice]:
    """Yield plain init containers that don't end (KE504)."""
    for part in subject.of(Role.INIT):
        why = _why_init_goes_on(part)
        if not why:
            continue
        later = subject.after(part)
        yield Advice(
            code="KE504",
            path=part.path,
            text=f"{part.name} is a plain init container and doesn't end ({why}): "
            f"{names_of(later)} never {verb(later, 'starts', 'start')}",
            hint="was a sidecar meant? write restartPolicy: Always",
        )


def _why_init_goes_on(part: Part) -> str:
    container, program = part.container, part.program
    if program.is_endless:
        return f"`{short(program.text)}`"
    if program.is_server:
        return f"{container.image} is known as a server"
    is_default = not container.command and all(word.startswith("-") for word in container.args)
    return "it opens ports" if is_default and container.ports else ""


def _too_late(deadlock: Deadlock, otherwise: str) -> str:
    is_service = deadlock.awaited is not None and deadlock.awaited.host
    return "which leads to this very pod, and only when it is ready" if is_service else otherwise


def _of_whom(deadlock: Deadlock) -> str:
    awaited = deadlock.awaited
    name = "" if awaited is None else awaited.name
    if awaited is not None and awaited.host:
        return f"Service {name}"
    return f"{deadlock.later.name} ({name})" if deadlock.later is not None else name


def _mend(deadlock: Deadlock) -> str:
    later, part = deadlock.later, deadlock.part
    if deadlock.awaited is not None and deadlock.awaited.host:
        return f"wait in a container beside the one that serves, or put what {part.name} does into another pod"
    if later is None:
        return f"no container has started before {part.name} that could answer there"
    if later.role is Role.SIDECAR:
        return f"put {later.name} before {part.name}, with a startupProbe"
    return (
        f"make {later.name} a sidecar before {part.name} (restartPolicy: Always and a startupProbe), "
        f"or let {part.name} do its work in a container beside {later.name}"
    )


RULES = (
    Rule(code="KE501", title="a sidecar that others need has no gate", find=without_gate),
    Rule(code="KE502", title="an init container waits for what starts after it", find=init_waits),
    Rule(code="KE503", title="a hook or startup probe waits for what it holds back", find=gate_waits),
    Rule(code="KE504", title="a plain init container doesn't end", find=init_never_ends),
)
