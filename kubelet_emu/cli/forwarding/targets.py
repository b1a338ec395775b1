"""What the words of `port-forward` mean: the pod, or whose pod, and the ports. Pure.

Source: kubectl v1.36 pkg/cmd/portforward (splitPort, translateServicePortToTargetPort, convertPodNamedPortToNumber).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.cli.remote.kinds import kind_of
from kubelet_emu.rules.service_links import target_port

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.v1 import ContainerPort
    from kubelet_emu.api.v1_services import Service

_WITH_PODS = frozenset({"Pod", "Service", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"})
_MOST = 65535


class TargetError(Exception):
    """What was asked for isn't there, or can't be forwarded to; the text says what."""


class NotRunningError(TargetError):
    """What was asked for is there and doesn't run: it may soon."""


@frozen
class Resource:
    """A kind and a name; `resource` is the kind as an API server names it: `deployments.apps`."""

    kind: str
    name: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> Resource:
        """Read `NAME` or `TYPE/NAME`; ValueError."""
        word, slash, name = text.partition("/")
        if not slash:
            word, name = "pod", text
        if not name or "/" in name:
            raise ValueError(f"{text!r} is neither NAME nor TYPE/NAME")
        kind = kind_of(word.partition(".")[0])
        if kind is None or kind.name not in _WITH_PODS:
            raise ValueError(f"no ports can be forwarded to a {word!r}: use pod, svc, deploy, rs, sts, ds or job")
        return cls(kind.name, name, kind.resource)

    @property
    def as_not_found(self) -> str:
        """Return it as an API server names what it hasn't: `deployments.apps "web"`."""
        return f'{self.resource} "{self.name}"'


@frozen
class PortWords:
    """One `[LOCAL:]REMOTE` as it was written; an empty local port is any that is free."""

    local: str
    remote: str

    @classmethod
    def parse(cls, text: str) -> PortWords:
        """Read it; ValueError. The remote port may be a name, which a local one is not."""
        local, colon, remote = text.partition(":")
        words = cls(local, remote) if colon else cls(local, local)
        if ":" in remote or not words.remote:
            raise ValueError(f"invalid port format {text!r}: use [LOCAL:]REMOTE")
        for word in (words.remote, *([words.local] if colon else [])):
            if word.isdecimal() and int(word) > _MOST:
                raise ValueError(f"{word} is no port: the last one is {_MOST}")
        if colon and local and not local.isdecimal():
            raise ValueError(f"error parsing local port {local!r}: it is no number")
        if words.remote.isdecimal() and int(words.remote) == 0:
            raise ValueError("remote port must be > 0")
        return words


@frozen
class Port:
    """Where to listen, 0 for any free port, and where that leads."""

    local: int
    remote: int


def ports_of_pod(words: Iterable[PortWords], pod: str, ports: tuple[ContainerPort, ...]) -> tuple[Port, ...]:
    """Return the ports for a pod whose containers have `ports`; TargetError for a name that none has."""
    return tuple(_port(each, _named(each.remote, pod, ports), None) for each in words)


def ports_of_service(
    words: Iterable[PortWords], service: Service, pod: str, ports: tuple[ContainerPort, ...]
) -> tuple[Port, ...]:
    """Return the ports for a Service by one of its pods: local ports are the Service's, remote ones the pod's."""
    return tuple(_of_service(each, service, pod, ports) for each in words)


def _of_service(words: PortWords, service: Service, pod: str, ports: tuple[ContainerPort, ...]) -> Port:
    wanted = words.remote
    found = next((each for each in service.spec.ports if wanted in {str(each.port), each.name}), None)
    if found is None:
        raise TargetError(f"Service {service.metadata.name} does not have a service port {wanted}")
    if (found.protocol or "TCP") != "TCP":
        raise TargetError(f"{found.protocol} protocol is not supported for {found.port}")
    if isinstance(found.target_port, str) and found.target_port:
        return _port(words, _named(found.target_port, pod, ports), found.port)
    return _port(words, target_port(found, ()), found.port)


def _named(word: str, pod: str, ports: tuple[ContainerPort, ...]) -> int:
    """Return the number of a port given by number or by name."""
    if word.isdecimal():
        number = int(word)
        found = [each for each in ports if each.container_port == number]
    else:
        found = [each for each in ports if each.name == word]
        if not found:
            raise TargetError(f"Pod {pod!r} does not have a named port {word!r}")
        number = found[0].container_port
    protocols = {each.protocol or "TCP" for each in found}
    if found and "TCP" not in protocols:
        raise TargetError(f"{min(protocols)} protocol is not supported for {word}")
    return number


def _port(words: PortWords, remote: int, own: int | None) -> Port:
    """Return a port; the local one is as written, and where the word stands for both the Service's or the pod's own."""
    if words.local == words.remote:
        return Port(remote if own is None else own, remote)
    return Port(int(words.local or 0), remote)
