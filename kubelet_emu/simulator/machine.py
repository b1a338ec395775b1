"""The machine of a simulated run: its images and its faults, as simulate.yaml has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from attrs import evolve

from kubelet_emu.manifests.workloads import pod_spec_of
from kubelet_emu.simulation import values
from kubelet_emu.simulation.matching import image_of
from runtime.api.references import full_name
from runtime.simulated import (
    Abilities,
    FailingCall,
    FaultPlan,
    ImageKind,
    LostEvents,
    Period,
    PullFault,
    SimulatedImage,
    SlowStops,
)
from runtime.simulated.images import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import Container, PodSpec
    from kubelet_emu.manifests.workloads import Workload
    from kubelet_emu.simulation.values import ImageEntry, PullEnd, Simulation

BYTES_PER_SECOND = float(20 << 20)
SOME_USER = 65532
"""Who an image that isn't known runs as where its container must not run as root."""

DEFAULT_IMAGE = SimulatedImage(bytes_per_second=BYTES_PER_SECOND)
_PULL_FAULTS = {
    values.PullEnd.NOT_FOUND: PullFault.NOT_FOUND,
    values.PullEnd.UNAVAILABLE: PullFault.UNAVAILABLE,
    values.PullEnd.DENIED: PullFault.UNAUTHORIZED,
    values.PullEnd.BAD_SIGNATURE: PullFault.SIGNATURE,
    values.PullEnd.HANGS: PullFault.HANGS,
    values.PullEnd.BREAKS_OFF: PullFault.BREAKS_OFF,
}


def make_images(simulation: Simulation, runnables: tuple[Workload, ...]) -> Mapping[str, SimulatedImage]:
    """Return the images of a run by name.

    Of an image that isn't known the manifest is believed: where it asks for runAsNonRoot the image has a user.
    """
    table: dict[str, SimulatedImage] = {}
    for runnable in runnables:
        for container, needs_user in _containers(pod_spec_of(runnable)):
            name = container.image or ""
            row = _row(image_of(simulation, name) or values.ImageEntry())
            has_user = row.uid is not None or bool(row.username)
            if needs_user and not has_user and kind_of(name, row) is ImageKind.UNKNOWN:
                row = _row(evolve(image_of(simulation, name) or values.ImageEntry(), user=SOME_USER))
            table[name] = row if row.uid is not None or name not in table else table[name]
    return table


def images_by_name(simulation: Simulation) -> Mapping[str, SimulatedImage]:
    """Return the images that a simulate.yaml names, for a run whose containers are not known yet."""
    return {name: _row(entry) for name, entry in simulation.images.items()}


def make_abilities(simulation: Simulation, *, oom_kills_group: bool, has_app_armor: bool) -> Abilities:
    """Return what the machine's kernel and runtime can do; `has_app_armor` is the default, with every profile."""
    node = simulation.node
    given = has_app_armor if node.app_armor is None else node.app_armor
    return Abilities(
        oom_kills_group=oom_kills_group,
        has_app_armor=given is not False,
        app_armor_profiles=frozenset(given) if isinstance(given, tuple) else None,
        supports_supplemental_groups_policy=node.supplemental_groups_policy is not False,
    )


def _containers(spec: PodSpec) -> Iterator[tuple[Container, bool]]:
    """Yield containers, and whether each must not run as root without saying as whom."""
    pod = spec.security_context
    for container in (*spec.init_containers, *spec.containers):
        own = container.security_context
        levels = [each for each in (own, pod) if each is not None]
        non_root = next((each.run_as_non_root for each in levels if each.run_as_non_root is not None), False)
        has_user = any(each.run_as_user is not None for each in levels)
        yield container, bool(non_root) and not has_user


def _row(entry: ImageEntry) -> SimulatedImage:
    kinds = {None: None, True: ImageKind.BUSYBOX, False: ImageKind.UNKNOWN}
    return SimulatedImage(
        is_present=bool(entry.present),
        size_bytes=DEFAULT_IMAGE.size_bytes if entry.size is None else entry.size,
        bytes_per_second=BYTES_PER_SECOND if entry.speed is None else entry.speed,
        kind=kinds[entry.shell],
        credentials=_credentials(entry.credentials),
        uid=entry.user if isinstance(entry.user, int) else None,
        username=entry.user if isinstance(entry.user, str) else "",
        files={path: text.encode() for path, text in entry.files.items()},
    )


def _credentials(text: str) -> tuple[str, str] | None:
    """Return user and password of `USER:PASSWORD`, None where a pull needs none."""
    user, _, password = text.partition(":")
    return (user, password) if text else None


def make_faults(simulation: Simulation, runnables: tuple[Workload, ...]) -> FaultPlan:
    """Return what goes wrong in a run."""
    pulls = {
        full_name(name): tuple(map(_pull_fault, entry.pulls))
        for name in (*make_images(simulation, runnables), *(key for key in simulation.images if "*" not in key))
        if (entry := image_of(simulation, name)) is not None and entry.pulls
    }
    slow_stops, lost_events, failing_calls, restarts = [], [], [], []
    for fault in simulation.faults:
        period = Period(fault.at, fault.seconds)
        match fault:
            case values.EngineRestart():
                restarts.append((fault.at, fault.seconds))
            case values.SlowStops():
                slow_stops.append(SlowStops(delay=fault.delay, rate=fault.rate, period=period))
            case values.LoseEvents():
                lost_events.append(LostEvents(rate=fault.rate, period=period))
            case values.FailCalls():
                failing_calls.append(
                    FailingCall(call=fault.call, error=fault.error, rate=fault.rate, times=fault.times, period=period)
                )
            case _:
                assert_never(fault)
    return FaultPlan(
        pulls=pulls,
        last_pull_repeats=True,
        slow_stops=tuple(slow_stops),
        lost_events=tuple(lost_events),
        failing_calls=tuple(failing_calls),
        restarts=tuple(restarts),
    )


def _pull_fault(end: PullEnd) -> PullFault | None:
    return _PULL_FAULTS.get(end)
