"""A CronJob that is told to run now."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.journal.records import ObjectRef
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.workloads.rules import words
from kubelet_emu.workloads.rules.cron_job import job_of

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.jobs.controller import EventRecorder


def start_now(api: APIServer, events: EventRecorder, cron_job: CronJob, now: datetime, features: FeatureGates) -> Job:
    """Create the Job of a CronJob as if its schedule had named this minute; APIError.

    Source: kubernetes v1.36 pkg/controller/cronjob syncCronJob. Neither suspend nor the schedule are asked.
    """
    due = job_of(cron_job, now)
    uid = api.new_uid(f"Job/{due.metadata.namespace}/{due.metadata.name}")
    job = api.create(cast("Job", prepare(due, features, job_uid=uid)))
    message = words.created_job(job.metadata.name or "")
    ref = ObjectRef.of(cron_job.metadata, cron_job.kind)
    events.record(ref, words.NORMAL, words.SUCCESSFUL_CREATE, message, source=words.SOURCES["CronJob"])
    return job
