"""CronJobs. Source: kubernetes v1.36 ValidateCronJobCreate, validateCronJobSpec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.codec import encode
from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.validation.cron_schedule import schedule_error
from kubelet_emu.manifests.validation.faults import (
    Fault,
    invalid,
    required,
    too_short,
    unsupported,
    validate_not_negative,
)
from kubelet_emu.manifests.validation.job import validate_job_spec
from kubelet_emu.manifests.validation.metadata import validate_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.batch_v1 import CronJob, CronJobSpec, JobSpec
    from kubelet_emu.manifests.validation.context import Gates

_LONGEST_NAME = 52
_POLICIES = ("Allow", "Forbid", "Replace")
_ZONE_PART = r"[A-Za-z.\-_0-9+]{1,14}"


def validate_cron_job(cron_job: CronJob, gates: Gates) -> Iterator[Fault]:
    """Check a CronJob that is created, with its defaults set."""
    yield from validate_metadata(cron_job.metadata)
    spec = cron_job.spec
    yield from _validate_schedule(spec, "spec.schedule")
    yield from validate_not_negative((("startingDeadlineSeconds", spec.starting_deadline_seconds),), "spec")
    if spec.time_zone is not None:
        yield from _validate_time_zone(spec.time_zone, "spec.timeZone")
    if spec.concurrency_policy not in _POLICIES:
        yield unsupported("spec.concurrencyPolicy", spec.concurrency_policy or "", _POLICIES)
    at = "spec.jobTemplate.spec"
    yield from validate_job_spec(spec.job_template.spec, at, gates)
    yield from _validate_no_selector(spec.job_template.spec, at)
    limits = (
        ("successfulJobsHistoryLimit", spec.successful_jobs_history_limit),
        ("failedJobsHistoryLimit", spec.failed_jobs_history_limit),
    )
    yield from validate_not_negative(limits, "spec")
    name = cron_job.metadata.name or ""
    if len(name.encode()) > _LONGEST_NAME:
        yield invalid("metadata.name", name, f"must be no more than {_LONGEST_NAME} characters")


def refused_jobs(cron_job: CronJob, gates: Gates) -> Iterator[Fault]:
    """Warn of what a server takes in a CronJob and then refuses in each Job of it, where defaults are set."""
    spec, at = cron_job.spec.job_template.spec, "spec.jobTemplate.spec"
    told = {fault.path for fault in validate_job_spec(spec, at, gates)}
    job = set_defaults(api_type("Job")(spec=spec))
    for fault in validate_job_spec(job.spec, at, gates):
        if fault.path not in told:
            text = f"the CronJob is taken, but each Job of it is refused: {fault.text}"
            yield Fault(fault.path, "Warning", text, fault.at, fault.hint)


def _validate_schedule(spec: CronJobSpec, path: str) -> Iterator[Fault]:
    if not spec.schedule:
        yield required(path)
        return
    if error := schedule_error(spec.schedule):
        yield invalid(path, spec.schedule, error)
    if "TZ" in spec.schedule:
        yield invalid(path, spec.schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def _validate_time_zone(zone: str, path: str) -> Iterator[Fault]:
    if not zone:
        yield too_short(path, zone, 1)
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not re.fullmatch(_ZONE_PART, part):
            yield invalid(path, zone, f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid(path, zone, text)
    elif not _is_zone(zone):
        yield invalid(path, zone, f"unknown time zone {zone}")


def _is_zone(name: str) -> bool:
    import zoneinfo  # noqa: PLC0415 - only a CronJob with a time zone pays for it

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _validate_no_selector(spec: JobSpec, path: str) -> Iterator[Fault]:
    """Check that the Jobs select their pods by generated labels."""
    if spec.selector is not None:
        yield invalid(f"{path}.selector", encode(spec.selector), "`selector` will be auto-generated")
    if spec.manual_selector:
        yield unsupported(f"{path}.manualSelector", value=True, supported=("nil", "false"))
