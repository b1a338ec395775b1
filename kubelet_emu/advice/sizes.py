"""What a pod asks of its node, its class, and how soon its containers are killed when memory runs out.

The numbers are those of `kubelet_emu.rules`; here they are only put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.advice.subjects import Role
from kubelet_emu.rules.qos import compute_pod_qos
from kubelet_emu.rules.resources import aggregate_requests, oom_score_adj, pod_limit, pod_request

if TYPE_CHECKING:
    from kubelet_emu.advice.subjects import Subject

DEFAULT_NODE_MEMORY = 8 << 30
_NAMES = ("cpu", "memory", "ephemeral-storage")
_UNITS = (("Gi", 30), ("Mi", 20), ("Ki", 10))


@frozen(kw_only=True)
class Sizes:
    """A pod's effective requests and limits as quantities, its class, and the OOM score adjustment of its containers.

    `because` says of a request that isn't simply the containers' sum where it comes from.
    """

    qos_class: str
    requests: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, str], ...]
    because: tuple[tuple[str, str], ...] = ()
    oom_score_adj: tuple[tuple[str, int], ...] = field(default=(), repr=False)


def sizes_of(subject: Subject, node_memory: int) -> Sizes:
    """Return what a pod asks for on a node with so many bytes of memory (KEP-753, KEP-2837)."""
    qos_class = compute_pod_qos(subject.pod, subject.gates)
    pod = subject.pod
    requests = tuple((name, written(name, value)) for name in _NAMES if (value := pod_request(pod, name)))
    limits = tuple((name, written(name, value)) for name in _NAMES if (value := pod_limit(pod, name)))
    scores = ((part.name, oom_score_adj(pod, part.container, qos_class, node_memory)) for part in subject.parts)
    return Sizes(
        qos_class=qos_class,
        requests=requests,
        limits=limits,
        because=tuple((name, why) for name, _ in requests if (why := _because(subject, name))),
        oom_score_adj=tuple(scores),
    )


def _because(subject: Subject, name: str) -> str:
    """Return why a request is what it is: the pod's own, or an init container's that is larger than what runs later."""
    own = subject.spec.resources
    if own is not None and name in own.requests:
        return "asked for by the pod as a whole (KEP-2837)"
    running = _sum(subject, name)
    if aggregate_requests(subject.pod, name) > running:
        return "of an init container and the sidecars before it, more than what runs later"
    has_sidecar = any(_asks(subject, part.name, name) for part in subject.of(Role.SIDECAR))
    return "mains and sidecars together (KEP-753)" if has_sidecar else ""


def _sum(subject: Subject, name: str) -> int:
    """Return what sidecars and mains ask for together."""
    spec = subject.spec
    sidecars = {part.name for part in subject.of(Role.SIDECAR)}
    running = type(spec)(
        containers=(*(each for each in spec.init_containers if each.name in sidecars), *spec.containers)
    )
    return aggregate_requests(type(subject.pod)(spec=running), name)


def _asks(subject: Subject, container: str, name: str) -> bool:
    found = (part.container.resources for part in subject.parts if part.name == container)
    return any(each is not None and name in each.requests for each in found)


def written(name: str, value: int) -> str:
    """Return an amount as a manifest has it: cpu of thousandths, others of bytes."""
    if name == "cpu":
        return f"{value}m" if value % 1000 else str(value // 1000)
    return next((f"{value >> bits}{unit}" for unit, bits in _UNITS if value and value % (1 << bits) == 0), str(value))
