"""What the checks of one pod spec share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1 import AnyContainer, PodSpec
    from kubelet_emu.api.v1_volumes import Volume


class Gates(Protocol):
    """Answers which feature gates are on, and of which version they are."""

    @property
    def minor(self) -> int:
        """The version: the N of Kubernetes 1.N."""
        ...

    def enabled(self, name: str) -> bool:
        """Tell whether a gate is on."""
        ...

    def on_since(self, name: str) -> int | None:
        """Return the first minor version in which a gate is on by default, None where it isn't yet in any."""
        ...


@frozen(kw_only=True)
class Context:
    """One pod spec under check: itself, its metadata, the gates, and the volumes that are fine."""

    spec: PodSpec
    metadata: ObjectMeta
    gates: Gates
    is_template: bool = False
    volumes: Mapping[str, Volume] = field(factory=dict)

    @property
    def grace_period_seconds(self) -> int:
        """The pod's termination grace period; 30 where it isn't said."""
        grace = self.spec.termination_grace_period_seconds
        return 30 if grace is None else grace


def containers_of(spec: PodSpec, path: str) -> Iterator[tuple[str, AnyContainer]]:
    """Yield each container with its path, in the order in which a server visits them (VisitContainersWithPath)."""
    lists: tuple[tuple[str, Sequence[AnyContainer]], ...] = (
        ("initContainers", spec.init_containers),
        ("containers", spec.containers),
        ("ephemeralContainers", spec.ephemeral_containers),
    )
    for field_name, containers in lists:
        for index, container in enumerate(containers):
            yield f"{path}.{field_name}[{index}]", container
