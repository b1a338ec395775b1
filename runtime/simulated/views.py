"""What the CRI shows of a simulated container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.api import ContainerStatus, ContainerSummary, RuntimeStatus
from runtime.simulated.signals import signal_name

if TYPE_CHECKING:
    from runtime.simulated.container import Container
    from runtime.simulated.machine import Machine


def summary_of(container: Container) -> ContainerSummary:
    """Return a container as a list shows it; made once a state, as lists are long and asked for each second."""
    known = container.summary
    if known is None or known.state is not container.state:
        known = container.summary = _make_summary(container)
    return known


def _make_summary(container: Container) -> ContainerSummary:
    config = container.config
    return ContainerSummary(
        id=container.id,
        sandbox_id=container.sandbox.id,
        metadata=config.metadata,
        state=container.state,
        created_at=container.created_at,
        image_name=config.image_name,
        labels=config.labels,
        annotations=config.annotations,
    )


def status_of(container: Container) -> ContainerStatus:
    """Return a container in full; made once a state, in which nothing of it changes."""
    known = container.status
    if known is None or known.state is not container.state:
        known = container.status = _make_status(container)
    return known


def _make_status(container: Container) -> ContainerStatus:
    config, image = container.config, container.image
    return ContainerStatus(
        id=container.id,
        sandbox_id=container.sandbox.id,
        metadata=config.metadata,
        state=container.state,
        created_at=container.created_at,
        started_at=container.started_at,
        finished_at=container.finished_at,
        exit_code=container.exit_code,
        reason=container.reason,
        message=container.message,
        image_name=config.image_name,
        image_ref=config.image_ref or (image.repo_digests[0] if image.repo_digests else image.id),
        image_id=image.id,
        labels=config.labels,
        annotations=config.annotations,
        pid=container.first.pid if container.first is not None and container.exit_code is None else None,
        stop_signal=signal_name(container.stop_signal),
        user=container.ids.user,
    )


def machine_status(machine: Machine, host_ip: str) -> RuntimeStatus:
    """Return the runtime's readiness, and what its machine has."""
    return RuntimeStatus(
        ready=True,
        network_ready=True,
        cpus=machine.cpus,
        memory_bytes=machine.memory_bytes,
        host_ip=host_ip,
        supports_supplemental_groups_policy=machine.abilities.supports_supplemental_groups_policy,
        has_app_armor=machine.abilities.has_app_armor,
    )
