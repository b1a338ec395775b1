"""The Job that a CronJob makes for one moment of its schedule. A schedule itself is not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.workloads.rules.words import SCHEDULED_TIMESTAMP

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import CronJob


def job_of(cron_job: CronJob, at: datetime) -> Job:
    """Return the Job that is due at a time: NAME-MINUTES, owned by the CronJob; its uid and defaults are yet to come.

    Source: kubernetes v1.36 pkg/controller/cronjob getJobFromTemplate2, getJobName.
    """
    due = at.replace(second=0, microsecond=0)
    template = cron_job.spec.job_template
    metadata = ObjectMeta(
        name=f"{cron_job.metadata.name}-{int(due.timestamp()) // 60}",
        namespace=cron_job.metadata.namespace,
        labels=dict(template.metadata.labels),
        annotations={
            **template.metadata.annotations,
            SCHEDULED_TIMESTAMP: due.strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
        owner_references=(new_controller_ref(cron_job),),
    )
    return Job(metadata=metadata, spec=template.spec)
