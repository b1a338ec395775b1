"""`started` and `ready` of containers, from stored probe results.

Source: kubelet v1.36 prober manager UpdatePodStatus, isContainerStarted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.rules.observed import ProbeResult
from kubelet_emu.rules.restart_policy import is_restartable_init_container
from runtime.api import ContainerID

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.v1 import Container
    from kubelet_emu.api.v1_status import ContainerStatus
    from kubelet_emu.rules.observed import SyncInput


def started_and_ready(
    sync: SyncInput, inits: Iterable[ContainerStatus], mains: Iterable[ContainerStatus]
) -> tuple[tuple[ContainerStatus, ...], tuple[ContainerStatus, ...]]:
    """Return the statuses of init and of main containers with `started` and `ready` filled in (UpdatePodStatus).

    Ephemeral containers have neither. An init container that is no sidecar is ready once it exited 0, and is not made
    unready here: it stays ready while all containers are reset.
    """
    spec = {c.name: c for c in (*sync.pod.spec.init_containers, *sync.pod.spec.containers)}
    probed_inits = tuple(
        _probed(sync, spec[each.name], each)
        if is_restartable_init_container(spec[each.name])
        else _init(sync, spec[each.name], each)
        for each in inits
    )
    return probed_inits, tuple(_probed(sync, spec[each.name], each) for each in mains)


def _init(sync: SyncInput, container: Container, status: ContainerStatus) -> ContainerStatus:
    ended = status.state.terminated
    is_ready = ended is not None and ended.exit_code == 0
    return _with(status, started=_is_started(sync, container, status), ready=status.ready or is_ready)


def _probed(sync: SyncInput, container: Container, status: ContainerStatus) -> ContainerStatus:
    started = _is_started(sync, container, status)
    is_success = sync.probes.readiness.get(_container_id(sync, container)) is ProbeResult.SUCCESS
    return _with(status, started=started, ready=started and (is_success or container.readiness_probe is None))


def _with(status: ContainerStatus, *, started: bool, ready: bool) -> ContainerStatus:
    if (status.started, status.ready) == (started, ready):
        return status
    return evolve(status, started=started, ready=ready)


def _is_started(sync: SyncInput, container: Container, status: ContainerStatus) -> bool:
    """Tell whether a container has started (kubelet v1.36 isContainerStarted).

    What the status says already is believed when there is no result yet: so it survives a restart of the kubelet.
    """
    if status.state.running is None:
        return False
    result = sync.probes.startup.get(_container_id(sync, container))
    if result is not None:
        return result is ProbeResult.SUCCESS
    if status.started and not sync.features.enabled("ChangeContainerStatusOnKubeletRestart"):
        return True
    return container.startup_probe is None


def _container_id(sync: SyncInput, container: Container) -> ContainerID:
    instance = sync.observed.find(container.name)
    return instance.id if instance is not None else ContainerID("")
