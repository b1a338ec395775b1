"""`describe job`: a Job and its pod template on a page. Source: kubectl v1.36 describeJob, DescribePodTemplate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.printers.containers import describe_template_containers
from kubelet_emu.printers.describe import controlled_by
from kubelet_emu.printers.durations import human_duration, rfc1123
from kubelet_emu.printers.events import describe_events
from kubelet_emu.printers.page import Page, go_bool
from kubelet_emu.printers.scheduling import describe_spread, describe_template_scheduling, format_selector
from kubelet_emu.printers.volumes import describe_template_volumes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job, JobStatus
    from kubelet_emu.api.v1 import PodTemplateSpec
    from kubelet_emu.printers.events import Event

_SHOWN_OF_INDEXES = 50


def describe_job(job: Job, events: Iterable[Event] | None, now: datetime) -> str:
    """Return the page of a Job; `events` are the Events about it in their JSON form, None leaves their section out."""
    page = Page()
    _describe_spec(page, job)
    _describe_status(page, job)
    _describe_template(page, job.spec.template)
    if events is not None:
        describe_events(page, events, now)
    return page.text()


def _describe_spec(page: Page, job: Job) -> None:
    spec = job.spec
    page.line(0, f"Name:\t{job.metadata.name or ''}")
    page.line(0, f"Namespace:\t{job.metadata.namespace or ''}")
    if spec.selector is not None:
        page.line(0, f"Selector:\t{format_selector(spec.selector)}")
    page.labels("Labels", job.metadata.labels)
    page.annotations("Annotations", job.metadata.annotations)
    if owner := controlled_by(job.metadata):
        page.line(0, f"Controlled By:\t{owner}")
    if spec.parallelism is not None:
        page.line(0, f"Parallelism:\t{spec.parallelism}")
    page.line(0, f"Completions:\t{'<unset>' if spec.completions is None else spec.completions}")
    if spec.completion_mode is not None:
        page.line(0, f"Completion Mode:\t{spec.completion_mode}")
    if spec.suspend is not None:
        page.line(0, f"Suspend:\t{go_bool(spec.suspend)}")
    if spec.backoff_limit is not None:
        page.line(0, f"Backoff Limit:\t{spec.backoff_limit}")
    if spec.ttl_seconds_after_finished is not None:
        page.line(0, f"TTL Seconds After Finished:\t{spec.ttl_seconds_after_finished}")


def _describe_status(page: Page, job: Job) -> None:
    status = job.status
    started, completed = status.start_time, status.completion_time
    if started is not None:
        page.line(0, f"Start Time:\t{rfc1123(started)}")
    if completed is not None:
        page.line(0, f"Completed At:\t{rfc1123(completed)}")
    if started is not None and completed is not None:
        page.line(0, f"Duration:\t{human_duration((completed - started).total_seconds())}")
    if job.spec.active_deadline_seconds is not None:
        page.line(0, f"Active Deadline Seconds:\t{job.spec.active_deadline_seconds}s")
    page.line(0, f"Pods Statuses:\t{_pods(status)}")
    if job.spec.completion_mode == "Indexed":
        page.line(0, f"Completed Indexes:\t{_indexes(status.completed_indexes or '')}")


def _pods(status: JobStatus) -> str:
    ready = "" if status.ready is None else f" ({status.ready} Ready)"
    return f"{status.active or 0} Active{ready} / {status.succeeded or 0} Succeeded / {status.failed or 0} Failed"


def _indexes(text: str) -> str:
    """Return indexes, cut at the first comma from where there are too many."""
    if not text:
        return "<none>"
    comma = text.find(",", _SHOWN_OF_INDEXES)
    return text if comma < 0 else f"{text[: comma + 1]}..."


def _describe_template(page: Page, template: PodTemplateSpec) -> None:
    spec = template.spec
    page.line(0, "Pod Template:")
    page.labels("  Labels", template.metadata.labels)
    if template.metadata.annotations:
        page.annotations("  Annotations", template.metadata.annotations)
    if spec.service_account_name:
        page.line(1, f"Service Account:\t{spec.service_account_name}")
    if spec.init_containers:
        describe_template_containers(page, "Init Containers", spec.init_containers)
    describe_template_containers(page, "Containers", spec.containers)
    describe_template_volumes(page, spec.volumes)
    describe_spread(page, spec, "  ")
    if spec.priority_class_name:
        page.line(1, f"Priority Class Name:\t{spec.priority_class_name}")
    describe_template_scheduling(page, spec)
