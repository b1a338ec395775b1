"""What in a pod's start waits for something that comes only later, and so never ends waiting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.advice.entry_points import expanded
from kubelet_emu.advice.network import Awaited, awaited_by, handler_ports, image_ports, ports_of, texts_of
from kubelet_emu.advice.subjects import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.advice.subjects import Part, Subject
    from kubelet_emu.api.v1 import Container

_POD_IP = frozenset({"status.podIP", "status.podIPs"})


@frozen(kw_only=True)
class Deadlock:
    """A container that keeps all later ones from starting; `later` is what it waits for, None where nobody has it.

    `field` is where that is written, below the container; of a program that never ends `awaited` is None.
    A host that is awaited is a Service that leads to this very pod.
    """

    part: Part
    field: str
    awaited: Awaited | None = None
    later: Part | None = None


def deadlocks(subject: Subject) -> Iterator[Deadlock]:
    """Yield what never lets the start go on, in the order of the start."""
    for part in subject.parts:
        match part.role:
            case Role.INIT:
                yield from _init(subject, part)
            case Role.SIDECAR:
                yield from _post_start(subject, part)
                yield from _startup_probe(subject, part)
            case Role.MAIN:
                yield from _post_start(subject, part)


def _init(subject: Subject, part: Part) -> Iterator[Deadlock]:
    field = "command" if part.container.command else "args"
    if part.program.is_endless:
        yield Deadlock(part=part, field=field)
        return
    words = _as_local(part.container, part.program.words)
    for awaited in awaited_by(words, subject.own_names, is_init=True):
        if awaited.host:
            yield Deadlock(part=part, field=_field(part), awaited=awaited)
            return
        found = _file(subject, part, awaited) if awaited.path else _port_of_init(subject, part, awaited)
        if found is not None:
            yield found
            return


def _port_of_init(subject: Subject, part: Part, awaited: Awaited) -> Deadlock | None:
    """Return the deadlock of an init container that waits for a port which no sidecar before it can have."""
    if subject.spec.host_network or awaited.port is None:
        return None
    earlier = [each for each in subject.before(part) if each.role is Role.SIDECAR]
    if any(awaited.port in ports_of(each.container) for each in earlier):
        return None
    later = _owner(subject.after(part), awaited.port)
    if earlier and later is None:
        return None
    return Deadlock(part=part, field=_field(part), awaited=awaited, later=later)


def _field(part: Part) -> str:
    return "args" if part.container.args else "command"


def _file(subject: Subject, part: Part, awaited: Awaited) -> Deadlock | None:
    """Return the deadlock of an init container that waits for a file which only a later container writes."""
    if any(each.role is Role.SIDECAR for each in subject.before(part)) or not _is_own_folder(subject, part, awaited):
        return None
    if awaited.path in texts_of(each.container for each in subject.before(part)):
        return None
    writes = re.compile(rf"(?:touch\s+(?:\S+\s+)*|>\s*){re.escape(awaited.path)}(?![\w./-])")
    later = next((each for each in subject.after(part) if writes.search(texts_of([each.container]))), None)
    return None if later is None else Deadlock(part=part, field=_field(part), awaited=awaited, later=later)


def _is_own_folder(subject: Subject, part: Part, awaited: Awaited) -> bool:
    """Tell whether a file is in a volume that begins empty and that only this pod has."""
    empty = {volume.name for volume in subject.spec.volumes if volume.empty_dir is not None}
    mounts = [
        each for each in part.container.volume_mounts if awaited.path.startswith(each.mount_path.rstrip("/") + "/")
    ]
    return any(each.name in empty for each in mounts)


def _post_start(subject: Subject, part: Part) -> Iterator[Deadlock]:
    hooks = part.container.lifecycle
    hook = None if hooks is None else hooks.post_start
    if hook is None or hook.exec is None:
        return
    for awaited in awaited_by(_as_local(part.container, hook.exec.command), subject.own_names, is_init=False):
        if awaited.host:
            yield Deadlock(part=part, field="lifecycle.postStart", awaited=awaited)
            return
        later = _only_later(subject, part, awaited.port)
        if later is not None:
            yield Deadlock(part=part, field="lifecycle.postStart", awaited=awaited, later=later)
            return
        if awaited.path and (found := _file(subject, part, awaited)) is not None:
            yield Deadlock(part=part, field="lifecycle.postStart", awaited=awaited, later=found.later)
            return


def _startup_probe(subject: Subject, part: Part) -> Iterator[Deadlock]:
    probe = part.container.startup_probe
    host = None if probe is None or probe.http_get is None else probe.http_get.host
    if probe is None or host:
        return
    for port in handler_ports(probe, part.container):
        later = _only_later(subject, part, port, is_probe=True)
        if later is not None:
            awaited = Awaited(text=f"a probe of port {port}", port=port)
            yield Deadlock(part=part, field="startupProbe", awaited=awaited, later=later)


def _only_later(subject: Subject, part: Part, port: int | None, *, is_probe: bool = False) -> Part | None:
    """Return the later container that has a port, None where this one or an earlier one could have it, too."""
    if port is None or subject.spec.host_network:
        return None
    own = {each.container_port for each in part.container.ports} | image_ports(part.container)
    words = expanded(part.container, (*part.container.command, *part.container.args))
    if port in own or (not is_probe and port in ports_of(part.container)) or any(str(port) in word for word in words):
        return None
    if any(port in ports_of(each.container) for each in subject.before(part) if each.role is not Role.INIT):
        return None
    return _declaring(subject.after(part), port)


def _declaring(parts: Sequence[Part], port: int) -> Part | None:
    declaring = (each for each in parts if any(own.container_port == port for own in each.container.ports))
    return next((each for each in declaring if each.role is not Role.INIT), None)


def _owner(parts: Sequence[Part], port: int) -> Part | None:
    return next((each for each in parts if each.role is not Role.INIT and port in ports_of(each.container)), None)


def _as_local(container: Container, words: Sequence[str]) -> tuple[str, ...]:
    """Return words in which the pod's own address is `localhost`."""
    names = [
        each.name
        for each in container.env
        if each.value_from is not None
        and each.value_from.field_ref is not None
        and each.value_from.field_ref.field_path in _POD_IP
    ]
    if not names:
        return tuple(words)
    own = re.compile(rf"\$(?:\((?:{'|'.join(names)})\)|\{{(?:{'|'.join(names)})\}}|(?:{'|'.join(names)})\b)")
    return tuple(own.sub("localhost", word) for word in words)
