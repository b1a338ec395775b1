"""Jobs. Source: kubernetes v1.36 ValidateJob, validateJobSpec, ValidateGeneratedSelector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.codec import encode
from kubelet_emu.manifests.validation.faults import (
    Fault,
    invalid,
    required,
    too_long,
    unsupported,
    validate_not_negative,
)
from kubelet_emu.manifests.validation.job_policies import validate_failure_policy, validate_success_policy
from kubelet_emu.manifests.validation.metadata import selector_matches, validate_metadata, validate_selector
from kubelet_emu.manifests.validation.names import domain_prefixed_errors, label_errors
from kubelet_emu.manifests.validation.pod import validate_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.batch_v1 import Job, JobSpec
    from kubelet_emu.manifests.validation.context import Gates

_MODES = ("NonIndexed", "Indexed")
_MOST_INDEXED = 100_000
_MOST_PARALLEL = 10_000
_LONGEST_MANAGED_BY = 63
_UID_LABEL = "batch.kubernetes.io/controller-uid"


def validate_job(job: Job, gates: Gates) -> Iterator[Fault]:
    """Check a Job that is created, with its defaults and its generated labels and selector set."""
    yield from validate_metadata(job.metadata)
    yield from _validate_generated_selector(job)
    yield from validate_job_spec(job.spec, "spec", gates)
    yield from validate_job_selector(job.spec, "spec")
    if job.spec.completion_mode == "Indexed" and (job.spec.completions or 0) > 0:
        last = f"{job.metadata.name or ''}-{(job.spec.completions or 0) - 1}"
        if label_errors(last):
            text = f"will not able to create pod with invalid DNS label: {last}"
            yield invalid("metadata.name", job.metadata.name or "", text)


def _validate_generated_selector(job: Job) -> Iterator[Fault]:
    spec = job.spec
    if spec.manual_selector or job.metadata.uid is None or spec.selector is None:
        return
    labels = spec.template.metadata.labels
    names = (
        ("controller-uid", job.metadata.uid),
        ("job-name", job.metadata.name or ""),
        (_UID_LABEL, job.metadata.uid),
        ("batch.kubernetes.io/job-name", job.metadata.name or ""),
    )
    for key, expected in names:
        at = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            yield required(at, f"must be '{expected}'")
        elif labels[key] != expected:
            yield invalid(at, dict(labels), f"must be '{expected}'")
    if not selector_matches(spec.selector, dict(names)):
        yield invalid("spec.selector", encode(spec.selector), "`selector` not auto-generated")


def validate_job_selector(spec: JobSpec, path: str) -> Iterator[Fault]:
    """Check that a Job selects the pods that it makes."""
    if spec.selector is None:
        if spec.manual_selector:
            yield required(f"{path}.selector")
            yield _unmatched(spec, path)
        return
    yield from validate_selector(spec.selector, f"{path}.selector")
    if not selector_matches(spec.selector, spec.template.metadata.labels):
        yield _unmatched(spec, path)


def _unmatched(spec: JobSpec, path: str) -> Fault:
    labels = dict(spec.template.metadata.labels) or None
    text = "`selector` does not match template `labels`"
    hint = "" if spec.manual_selector else "leave the selector out: a server makes it, and the labels that it selects"
    return invalid(f"{path}.template.metadata.labels", labels, text, hint=hint)


def validate_job_spec(spec: JobSpec, path: str, gates: Gates) -> Iterator[Fault]:
    """Check the spec of a Job (also that of a CronJob's template, which has no selector)."""
    numbers = (
        ("parallelism", spec.parallelism),
        ("completions", spec.completions),
        ("activeDeadlineSeconds", spec.active_deadline_seconds),
        ("backoffLimit", spec.backoff_limit),
        ("ttlSecondsAfterFinished", spec.ttl_seconds_after_finished),
        ("backoffLimitPerIndex", spec.backoff_limit_per_index),
        ("maxFailedIndexes", spec.max_failed_indexes),
    )
    yield from validate_not_negative(numbers, path)
    if spec.max_failed_indexes is not None and spec.backoff_limit_per_index is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    yield from _validate_managed_by(spec, path)
    yield from _validate_mode(spec, path)
    yield from _validate_per_index(spec, path)
    yield from validate_failure_policy(spec, path)
    yield from validate_success_policy(spec, path)
    yield from _validate_replacement(spec, path)
    yield from validate_template(spec.template, f"{path}.template", gates)
    yield from _validate_restart_policy(spec, path)


def _validate_managed_by(spec: JobSpec, path: str) -> Iterator[Fault]:
    at = f"{path}.managedBy"
    if spec.managed_by is None:
        return
    if not spec.managed_by:
        yield required(at)
        return
    for value, text in domain_prefixed_errors(spec.managed_by):
        yield invalid(at, value, text)
    if len(spec.managed_by.encode()) > _LONGEST_MANAGED_BY:
        yield too_long(at, _LONGEST_MANAGED_BY)


def _validate_mode(spec: JobSpec, path: str) -> Iterator[Fault]:
    if spec.completion_mode not in (None, *_MODES):  # a CronJob's template has no defaults of its own
        yield unsupported(f"{path}.completionMode", spec.completion_mode, _MODES)
    if spec.completion_mode != "Indexed":
        return
    if spec.completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if (spec.parallelism or 0) > _MOST_INDEXED:
        text = f"must be less than or equal to {_MOST_INDEXED} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", spec.parallelism, text)


def _validate_per_index(spec: JobSpec, path: str) -> Iterator[Fault]:
    """Check back-off by index (KEP-3850)."""
    most = spec.max_failed_indexes
    if spec.completion_mode == "Indexed":
        if most is not None and spec.completions is not None and most > spec.completions:
            yield invalid(f"{path}.maxFailedIndexes", most, "must be less than or equal to completions")
        if most is not None and most > _MOST_INDEXED:
            yield invalid(f"{path}.maxFailedIndexes", most, f"must be less than or equal to {_MOST_INDEXED}")
        if (spec.completions or 0) > _MOST_INDEXED and spec.backoff_limit_per_index is not None:
            yield from _validate_many(spec, path)
    elif spec.completion_mode == "NonIndexed":
        text = "requires indexed completion mode"
        for name, value in (("backoffLimitPerIndex", spec.backoff_limit_per_index), ("maxFailedIndexes", most)):
            if value is not None:
                yield invalid(f"{path}.{name}", value, text)


def _validate_many(spec: JobSpec, path: str) -> Iterator[Fault]:
    most, parallelism = spec.max_failed_indexes, spec.parallelism or 0
    suffix = f"when completions are above {_MOST_INDEXED} and used with backoff limit per index"
    if most is None:
        yield required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_MOST_INDEXED}")
    if parallelism > _MOST_PARALLEL:
        yield invalid(f"{path}.parallelism", parallelism, f"must be less than or equal to {_MOST_PARALLEL} {suffix}")
    if most is not None and most > _MOST_PARALLEL:
        yield invalid(f"{path}.maxFailedIndexes", most, f"must be less than or equal to {_MOST_PARALLEL} {suffix}")


def _validate_replacement(spec: JobSpec, path: str) -> Iterator[Fault]:
    allowed = ("Failed",) if spec.pod_failure_policy is not None else ("Failed", "TerminatingOrFailed")
    if spec.pod_replacement_policy is not None and spec.pod_replacement_policy not in allowed:
        yield unsupported(f"{path}.podReplacementPolicy", spec.pod_replacement_policy, allowed)


def _validate_restart_policy(spec: JobSpec, path: str) -> Iterator[Fault]:
    at = f"{path}.template.spec.restartPolicy"
    policy = spec.template.spec.restart_policy
    if policy in (None, "Always"):
        hint = "write restartPolicy: Never or OnFailure; Always for a sidecar stands in the init container"
        yield required(at, 'valid values: "OnFailure", "Never"', hint=hint)
    elif policy not in ("OnFailure", "Never"):
        yield unsupported(at, policy, ("OnFailure", "Never"))
    elif spec.pod_failure_policy is not None and policy != "Never":
        yield invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')
