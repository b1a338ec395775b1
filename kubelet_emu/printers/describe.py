"""`describe pod`: all of a pod on a page.

Source: kubectl v1.36 describePod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.printers.containers import describe_containers, describe_resources, describe_seccomp
from kubelet_emu.printers.durations import age, rfc1123
from kubelet_emu.printers.events import describe_events
from kubelet_emu.printers.page import Page
from kubelet_emu.printers.scheduling import describe_scheduling, describe_spread
from kubelet_emu.printers.volumes import describe_volumes
from kubelet_emu.rules.qos import compute_pod_qos

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.api.object_meta import ObjectMeta
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.printers.events import Event

_ENDED = frozenset({"Failed", "Succeeded"})


def describe_pod(pod: Pod, events: Iterable[Event] | None, now: datetime) -> str:
    """Return the page of a pod; `events` are the Events about it in their JSON form, None leaves their section out."""
    page = Page()
    _describe_head(page, pod)
    _describe_state(page, pod, now)
    _describe_addresses(page, pod)
    _describe_all_containers(page, pod)
    _describe_conditions(page, pod)
    describe_volumes(page, pod.spec.volumes)
    page.line(0, f"QoS Class:\t{compute_pod_qos(pod, FeatureGates())}")
    describe_scheduling(page, pod.spec)
    describe_spread(page, pod.spec)
    if pod.spec.scheduling_group is not None:
        page.line(0, "SchedulingGroup:")
        page.line(1, f"PodGroupName:\t{pod.spec.scheduling_group.pod_group_name or ''}")
    if events is not None:
        describe_events(page, events, now)
    return page.text()


def controlled_by(metadata: ObjectMeta) -> str:
    """Return kind and name of the controller that owns an object, empty without one."""
    return next((f"{each.kind}/{each.name}" for each in metadata.owner_references if each.controller), "")


def _describe_head(page: Page, pod: Pod) -> None:
    spec = pod.spec
    page.line(0, f"Name:\t{pod.metadata.name or ''}")
    page.line(0, f"Namespace:\t{pod.metadata.namespace or ''}")
    if spec.priority is not None:
        page.line(0, f"Priority:\t{spec.priority}")
    rest = (
        ("Priority Class Name", spec.priority_class_name),
        ("Runtime Class Name", spec.runtime_class_name),
        ("Service Account", spec.service_account_name),
    )
    page.lines(0, (f"{title}:\t{value}" for title, value in rest if value))
    page.line(0, f"Node:\t{spec.node_name}/{pod.status.host_ip or ''}" if spec.node_name else "Node:\t<none>")
    if pod.status.start_time is not None:
        page.line(0, f"Start Time:\t{rfc1123(pod.status.start_time)}")
    page.labels("Labels", pod.metadata.labels)
    page.annotations("Annotations", pod.metadata.annotations)


def _describe_state(page: Page, pod: Pod, now: datetime) -> None:
    status, deleted_at = pod.status, pod.metadata.deletion_timestamp
    if deleted_at is not None and status.phase not in _ENDED:
        page.line(0, f"Status:\tTerminating (lasts {age(deleted_at, now)})")
        page.line(0, f"Termination Grace Period:\t{pod.metadata.deletion_grace_period_seconds or 0}s")
    else:
        page.line(0, f"Status:\t{status.phase or ''}")
    if status.reason:
        page.line(0, f"Reason:\t{status.reason}")
    if status.message:
        page.line(0, f"Message:\t{status.message}")
    context = pod.spec.security_context
    describe_seccomp(page, context.seccomp_profile if context is not None else None, 0)


def _describe_addresses(page: Page, pod: Pod) -> None:
    status = pod.status
    page.line(0, f"IP:\t{status.pod_ip or ''}")
    page.line(0, "IPs:" if status.pod_ips else "IPs:\t<none>")
    page.lines(1, (f"IP:\t{each.ip}" for each in status.pod_ips))
    if owner := controlled_by(pod.metadata):
        page.line(0, f"Controlled By:\t{owner}")
    if status.nominated_node_name:
        page.line(0, f"NominatedNodeName:\t{status.nominated_node_name}")


def _describe_all_containers(page: Page, pod: Pod) -> None:
    spec, status = pod.spec, pod.status
    if spec.resources is not None:
        page.line(0, "Resources:")
        describe_resources(page, spec.resources, 1)
    if spec.init_containers:
        describe_containers(page, "Init Containers", spec.init_containers, status.init_container_statuses, pod)
    describe_containers(page, "Containers", spec.containers, status.container_statuses, pod)
    if spec.ephemeral_containers:
        statuses = status.ephemeral_container_statuses
        describe_containers(page, "Ephemeral Containers", spec.ephemeral_containers, statuses, pod)


def _describe_conditions(page: Page, pod: Pod) -> None:
    conditions = pod.status.conditions
    if pod.spec.readiness_gates:
        page.line(0, "Readiness Gates:")
        page.line(1, "Type\tStatus")
        for gate in pod.spec.readiness_gates:
            found = (each.status for each in conditions if each.type == gate.condition_type)
            page.line(1, f"{gate.condition_type} \t{next(found, '<none>')} ")
    if conditions:
        page.line(0, "Conditions:")
        page.line(1, "Type\tStatus")
        page.lines(1, (f"{each.type} \t{each.status} " for each in conditions))
