"""How a node inside a program is to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from attrs import field, frozen, validators
from attrs.converters import optional

from kubelet_emu.config.features import gates_for
from kubelet_emu.embedding.arguments import check_seconds, check_text, check_whole
from kubelet_emu.images.mirrors import Mirror
from kubelet_emu.kubelet.seccomp_profiles import profiles_of_machine
from kubelet_emu.manifests.safety import SafetyPolicy
from kubelet_emu.simulation.values import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from attrs import Attribute

    from kubelet_emu.rules.security import SeccompOfNode

RuntimeName = Literal["simulated", "docker"]
TimingName = Literal["fast", "kubelet"]


def _is_version(_options: object, attribute: Attribute[str], value: str) -> None:
    check_text(attribute.name, value)
    gates_for(value)


def _is_whole(_options: object, attribute: Attribute[int], value: object) -> None:
    check_whole(attribute.name, value)


def _is_seconds(_options: object, attribute: Attribute[float | None], value: object) -> None:
    check_seconds(attribute.name, value)


def _to_mirrors(given: Iterable[Mirror | str]) -> tuple[Mirror, ...]:
    """Return mirrors, reading those that are written as on the command line; ValueError."""
    if isinstance(given, str):
        raise TypeError(f"registry_mirrors is a list of HOST=HOST2[/PREFIX], not {given!r}")
    return tuple(Mirror.parse(each) if isinstance(each, str) else each for each in given)


@frozen(kw_only=True)
class NodeOptions:
    """What runs the containers and how true to a node's delays; `folder` is where relative paths begin.

    `registry_mirrors` may be texts as on the command line, `registry_hosts` is a folder or a file as containerd has
    them. `seccomp_profile_root` is where seccomp profiles are read (a node's own folder, none in virtual time).
    `simulation` says what containers of a simulated node do. `timeout_seconds` bounds every wait that has no
    bound of its own: an hour of virtual time, two minutes on an engine. ValueError for a word that is none of these.
    """

    runtime: RuntimeName = field(default="simulated", validator=validators.in_(get_args(RuntimeName)))
    timing: TimingName | None = field(default=None, validator=validators.optional(validators.in_(get_args(TimingName))))
    kubernetes: str = field(default="1.36", validator=_is_version)
    seed: int = field(default=1, validator=_is_whole)
    folder: Path = field(factory=Path, converter=Path, repr=False)
    timeout: float | None = field(default=None, validator=_is_seconds)
    registry_mirrors: tuple[Mirror, ...] = field(default=(), converter=_to_mirrors, repr=False)
    registry_hosts: Path | None = field(default=None, converter=optional(Path), repr=False)
    seccomp_profile_root: Path | None = field(default=None, converter=optional(Path), repr=False)
    simulation: Simulation = field(factory=Simulation, repr=False)
    safety: SafetyPolicy = field(factory=SafetyPolicy, repr=False)

    @property
    def seccomp(self) -> SeccompOfNode:
        """Return the seccomp profiles that the node has."""
        root = self.seccomp_profile_root
        return profiles_of_machine(None if root is None else self.folder / root, is_simulated=self.is_simulated)

    @property
    def is_simulated(self) -> bool:
        """Tell whether containers live in virtual time."""
        return self.runtime == "simulated"

    @property
    def timing_name(self) -> TimingName:
        """Return the timing: virtual time has a real node's delays unless told otherwise."""
        return self.timing or ("kubelet" if self.is_simulated else "fast")

    @property
    def timeout_seconds(self) -> float:
        """Return how long a wait may last, in seconds."""
        return self.timeout if self.timeout is not None else 3600.0 if self.is_simulated else 120.0
