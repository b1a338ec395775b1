"""Containers in `describe`, of a pod with their status or of a template without.

Source: kubectl v1.36 describeContainers and what it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.printers.durations import rfc1123
from kubelet_emu.printers.environment import describe_environment
from kubelet_emu.printers.probes import describe_probe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_containers import ContainerPort, ResourceRequirements, VolumeMount
    from kubelet_emu.api.v1_security import SeccompProfile
    from kubelet_emu.api.v1_status import ContainerState, ContainerStateTerminated, ContainerStatus
    from kubelet_emu.printers.page import Page


def describe_containers(
    page: Page, title: str, containers: Sequence[AnyContainer], statuses: Sequence[ContainerStatus], pod: Pod
) -> None:
    """Add the containers of a pod under a title."""
    by_name = {status.name: status for status in statuses}
    page.line(0, f"{title}:" if containers else f"{title}: <none>")
    for container in containers:
        page.line(1, f"{container.name}:")
        _describe(page, container, by_name.get(container.name), pod)


def describe_template_containers(page: Page, title: str, containers: Sequence[AnyContainer]) -> None:
    """Add the containers of a pod template: without status, one blank deeper."""
    page.line(1, f"{title}:" if containers else f"{title}: <none>")
    for container in containers:
        page.line(1, f" {container.name}:")
        _describe(page, container, None, None)


def describe_resources(page: Page, resources: ResourceRequirements | None, level: int) -> None:
    """Add limits and requests, each by name."""
    if resources is None:
        return
    for title, amounts in (("Limits", resources.limits), ("Requests", resources.requests)):
        if amounts:
            page.line(level, f"{title}:")
            page.lines(level + 1, (f"{name}:\t{amounts[name]}" for name in sorted(amounts)))


def describe_seccomp(page: Page, profile: SeccompProfile | None, level: int) -> None:
    """Add a seccomp profile, if there is one."""
    if profile is None:
        return
    page.line(level, f"SeccompProfile:\t{profile.type}")
    if profile.type == "Localhost":
        page.line(level, f"LocalhostProfile:\t{profile.localhost_profile or ''}")


def _describe(page: Page, container: AnyContainer, status: ContainerStatus | None, pod: Pod | None) -> None:
    if status is not None:
        page.line(2, f"Container ID:\t{status.container_id or ''}")
    page.line(2, f"Image:\t{container.image or ''}")
    if status is not None:
        page.line(2, f"Image ID:\t{status.image_id}")
    _describe_ports(page, container.ports)
    context = container.security_context
    describe_seccomp(page, context.seccomp_profile if context is not None else None, 2)
    for title, words in (("Command", container.command), ("Args", container.args)):
        if words:
            page.line(2, f"{title}:")
            page.lines(3, (line for word in words for line in word.split("\n")))
    if status is not None:
        _describe_status(page, status)
    describe_resources(page, container.resources, 2)
    probes = (
        ("Liveness", container.liveness_probe),
        ("Readiness", container.readiness_probe),
        ("Startup", container.startup_probe),
    )
    page.lines(2, (f"{title}:\t{describe_probe(probe)}" for title, probe in probes if probe is not None))
    describe_environment(page, container, pod)
    _describe_mounts(page, container)


def _describe_ports(page: Page, ports: Sequence[ContainerPort]) -> None:
    shown = [_port(port, port.container_port) for port in ports]
    on_host = [_port(port, port.host_port or 0) for port in ports]
    plural = "s" if len(ports) > 1 else ""
    page.line(2, f"Port{plural}:\t{', '.join(shown) or '<none>'}")
    page.line(2, f"Host Port{plural}:\t{', '.join(on_host) or '<none>'}")


def _port(port: ContainerPort, number: int) -> str:
    text = f"{number}/{port.protocol or ''}"
    return f"{text} ({port.name})" if port.name else text


def _describe_status(page: Page, status: ContainerStatus) -> None:
    _describe_state(page, "State", status.state)
    if status.last_state.terminated is not None:
        _describe_state(page, "Last State", status.last_state)
    page.line(2, f"Ready:\t{status.ready}")
    page.line(2, f"Restart Count:\t{status.restart_count}")


def _describe_state(page: Page, title: str, state: ContainerState) -> None:
    if state.running is not None:
        page.line(2, f"{title}:\tRunning")
        page.line(3, f"Started:\t{rfc1123(state.running.started_at)}")
    elif state.terminated is not None:
        page.line(2, f"{title}:\tTerminated")
        _describe_end(page, state.terminated)
    else:
        page.line(2, f"{title}:\tWaiting")
        if state.waiting is not None and state.waiting.reason:
            page.line(3, f"Reason:\t{state.waiting.reason}")


def _describe_end(page: Page, ended: ContainerStateTerminated) -> None:
    if ended.reason:
        page.line(3, f"Reason:\t{ended.reason}")
    if ended.message:
        page.line(3, f"Message:\t{ended.message}")
    page.line(3, f"Exit Code:\t{ended.exit_code}")
    if ended.signal and ended.signal > 0:
        page.line(3, f"Signal:\t{ended.signal}")
    page.line(3, f"Started:\t{rfc1123(ended.started_at)}")
    page.line(3, f"Finished:\t{rfc1123(ended.finished_at)}")


def _describe_mounts(page: Page, container: AnyContainer) -> None:
    mounts = sorted(container.volume_mounts, key=lambda mount: mount.mount_path)
    page.line(2, "Mounts:" if mounts else "Mounts:\t<none>")
    page.lines(3, map(_mount, mounts))
    if container.volume_devices:
        devices = sorted(container.volume_devices, key=lambda device: device.device_path)
        page.line(2, "Devices:")
        page.lines(3, (f"{device.device_path} from {device.name}" for device in devices))


def _mount(mount: VolumeMount) -> str:
    flags = "ro" if mount.read_only else "rw"
    flags += f",path={quote(mount.sub_path)}" if mount.sub_path else ""
    return f"{mount.mount_path} from {mount.name} ({flags})"
