"""How long a container may take to stop, and in which order containers are signalled.

Two layers. The pod worker settles one grace for a termination (`effective_grace_period`); each container then has its
own arithmetic (`container_grace_period`, `remaining_grace`), which counts whole seconds and never ends below
MINIMUM_GRACE_PERIOD_SECONDS. `termination_prerequisites` says whom a sidecar waits for (KEP-753). `plan_stop` puts all
of it together for a simulated stop, as a check of the arithmetic and for explaining it.
"""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.rules.restart_policy import is_restartable_init_container

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod
    from kubelet_emu.api.v1_handlers import Probe

MINIMUM_GRACE_PERIOD_SECONDS = 2
ORPHAN_GRACE_PERIOD_SECONDS = 1
# Clocks are read twice for one length: an end that comes one unit in the last place early must not cost a whole second.
_EPSILON = 1e-6


class ContainerKillReason(enum.Enum):
    """Why one container is killed (kubelet containerKillReason); NONE is the kubelet's zero value."""

    NONE = "none"
    UNKNOWN = "unknown"
    STARTUP_PROBE = "startup probe failed"
    LIVENESS_PROBE = "liveness probe failed"
    POST_START_HOOK = "postStart hook failed"


@frozen(kw_only=True)
class GraceDecision:
    """The grace of one termination, and whether a later request made it shorter."""

    grace: int
    shortened: bool


@frozen(kw_only=True)
class ContainerStop:
    """One container of a stop that is played through.

    `exits_after` is the time from the signal to its exit (None: it ignores the signal), `pre_stop` the time its hook
    takes (None: it has no hook).
    """

    name: str
    exits_after: float | None = None
    pre_stop: float | None = None


@frozen(kw_only=True)
class StopCall:
    """When one container gets its stop signal, counted from the start of the kill, and what follows.

    SIGKILL comes `timeout` seconds after the signal if the container still runs: then `killed` is true.
    """

    pre_stop_runs: bool
    signal_at: float
    timeout: int
    gone_at: float
    killed: bool


def effective_grace_period(
    prev: int, deletion_grace: int | None, override: int | None, spec_grace: int | None
) -> GraceDecision:
    """Return the grace a termination goes on with; it only shrinks and is never 0.

    `prev` is the grace of the request before (0: there was none), `override` that of an eviction or a shutdown.
    Source: kubelet v1.36 calculateEffectiveGracePeriod.
    """
    grace, overridden = prev, False
    for asked in (deletion_grace, override):
        if asked is not None and (grace == 0 or asked < grace):
            grace, overridden = asked, True
    if not overridden and grace == 0 and spec_grace is not None:
        grace = spec_grace
    grace = max(grace, 1)
    return GraceDecision(grace=grace, shortened=prev not in {0, grace})


def container_grace_period(
    pod: Pod, container: Container | EphemeralContainer | None, reason: ContainerKillReason
) -> int:
    """Return the grace of one container before any override.

    A deletion's grace wins over everything, a probe's own over the pod's. `container` is None when its spec is lost.
    Source: kubelet v1.36 setTerminationGracePeriod.
    """
    if pod.metadata.deletion_grace_period_seconds is not None:
        return pod.metadata.deletion_grace_period_seconds
    if pod.spec.termination_grace_period_seconds is None:
        return MINIMUM_GRACE_PERIOD_SECONDS
    probe = _probe_of(container, reason)
    if probe is not None and probe.termination_grace_period_seconds is not None:
        return probe.termination_grace_period_seconds
    return pod.spec.termination_grace_period_seconds


def _probe_of(container: Container | EphemeralContainer | None, reason: ContainerKillReason) -> Probe | None:
    if container is None:
        return None
    match reason:
        case ContainerKillReason.STARTUP_PROBE:
            return container.startup_probe
        case ContainerKillReason.LIVENESS_PROBE:
            return container.liveness_probe
        case _:
            return None


def whole_seconds(seconds: float) -> int:
    """Return a measured length as the whole seconds it costs, cut downward.

    Source: kubelet v1.36 executePreStopHook and waitForTurn, which turn a length into an integer.
    """
    return math.floor(seconds + _EPSILON)


def remaining_grace(grace: int, spent_seconds: float) -> int:
    """Return what a preStop hook or a wait leaves of a grace; it costs whole seconds, at most all of it.

    Source: kubelet v1.36 killContainer.
    """
    return grace - min(whole_seconds(spent_seconds), grace)


def stop_timeout(grace: int) -> int:
    """Return the timeout of the stop call: the grace that is left, but never below the minimum.

    Source: kubelet v1.36 killContainer, minimumGracePeriodInSeconds.
    """
    return max(grace, MINIMUM_GRACE_PERIOD_SECONDS)


def termination_prerequisites(pod: Pod, running_names: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return for each sidecar the running containers that must be gone before it is signalled.

    These are all regular containers and the next sidecar after it in the spec; what doesn't run at the start counts as
    gone, so it isn't named. A pod without sidecars gives an empty mapping: nobody waits.
    Source: KEP-753, kubelet v1.36 newTerminationOrdering.
    """
    running = frozenset(running_names)
    regular = frozenset(container.name for container in pod.spec.containers)
    prerequisites: dict[str, frozenset[str]] = {}
    next_sidecar: frozenset[str] = frozenset()
    for container in reversed(pod.spec.init_containers):
        if is_restartable_init_container(container):
            prerequisites[container.name] = (regular | next_sidecar) & running
            next_sidecar = frozenset({container.name})
    return prerequisites


def plan_stop_call(grace: int, stop: ContainerStop, released_at: float | None = None) -> StopCall:
    """Play one container's stop through.

    `released_at` is when its prerequisites are gone, counted from the start of the kill (None: it doesn't wait).
    Source: kubelet v1.36 killContainer.
    """
    left, now = grace, 0.0
    runs_hook = stop.pre_stop is not None and grace > 0
    if stop.pre_stop is not None and grace > 0:
        now = float(min(stop.pre_stop, grace))
        left = remaining_grace(grace, now)
    if released_at is not None and left > 0:
        turn_at = min(max(released_at, now), now + left)
        left, now = remaining_grace(left, turn_at - now), turn_at
    timeout = stop_timeout(left)
    killed = stop.exits_after is None or stop.exits_after > timeout
    lasts = timeout if stop.exits_after is None else min(stop.exits_after, timeout)
    return StopCall(pre_stop_runs=runs_hook, signal_at=now, timeout=timeout, gone_at=now + lasts, killed=killed)


def plan_stop(
    grace: int, stops: Sequence[ContainerStop], prerequisites: Mapping[str, frozenset[str]]
) -> Mapping[str, StopCall]:
    """Play the stop of a whole pod through: each container's call by name.

    `prerequisites` is what `termination_prerequisites` gives for the names in `stops`; whom it doesn't name never
    waits. Source: KEP-753, kubelet v1.36 killContainersWithSyncResult.
    """
    waiting = {stop.name: stop for stop in stops}
    calls: dict[str, StopCall] = {}
    while waiting:
        ready = [name for name in waiting if not prerequisites.get(name, frozenset()) & waiting.keys()]
        for name in ready:
            needed = prerequisites.get(name)
            released = max((calls[other].gone_at for other in needed), default=0.0) if needed is not None else None
            calls[name] = plan_stop_call(grace, waiting.pop(name), released)
    return calls
