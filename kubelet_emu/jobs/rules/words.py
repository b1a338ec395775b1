"""Names and texts of Jobs that users see: labels, annotations, reasons, messages. Each exists once, here.

Source: batch/v1 well-known labels and kubernetes v1.36 pkg/controller/job.
"""

from __future__ import annotations

JOB_NAME_LABEL = "batch.kubernetes.io/job-name"
LEGACY_JOB_NAME_LABEL = "job-name"
CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid"
LEGACY_CONTROLLER_UID_LABEL = "controller-uid"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
INDEX_IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"
COMPLETION_INDEX_ENV = "JOB_COMPLETION_INDEX"
TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
JOB_CONTROLLER_NAME = "kubernetes.io/job-controller"
JOB_CONTROLLER = "job-controller"

# --- condition types

COMPLETE = "Complete"
FAILED = "Failed"
FAILURE_TARGET = "FailureTarget"
SUCCESS_CRITERIA_MET = "SuccessCriteriaMet"
SUSPENDED = "Suspended"

# --- reasons and messages of conditions

COMPLETIONS_REACHED = "CompletionsReached"
COMPLETIONS_REACHED_MESSAGE = "Reached expected number of succeeded pods"
SUCCESS_POLICY = "SuccessPolicy"
BACKOFF_LIMIT_EXCEEDED = "BackoffLimitExceeded"
BACKOFF_LIMIT_EXCEEDED_MESSAGE = "Job has reached the specified backoff limit"
DEADLINE_EXCEEDED = "DeadlineExceeded"
DEADLINE_EXCEEDED_MESSAGE = "Job was active longer than specified deadline"
POD_FAILURE_POLICY = "PodFailurePolicy"
MAX_FAILED_INDEXES_EXCEEDED = "MaxFailedIndexesExceeded"
MAX_FAILED_INDEXES_EXCEEDED_MESSAGE = "Job has exceeded the specified maximal number of failed indexes"
FAILED_INDEXES = "FailedIndexes"
FAILED_INDEXES_MESSAGE = "Job has failed indexes"
JOB_SUSPENDED = "JobSuspended"
JOB_SUSPENDED_MESSAGE = "Job suspended"
JOB_RESUMED = "JobResumed"
JOB_RESUMED_MESSAGE = "Job resumed"

# --- events

NORMAL = "Normal"
WARNING = "Warning"
SUCCESSFUL_CREATE = "SuccessfulCreate"
FAILED_CREATE = "FailedCreate"
SUCCESSFUL_DELETE = "SuccessfulDelete"
SUSPENDED_EVENT = "Suspended"
RESUMED_EVENT = "Resumed"
COMPLETED = "Completed"
COMPLETED_MESSAGE = "Job completed"
TOO_MANY_SUCCEEDED_PODS = "TooManySucceededPods"
TOO_MANY_SUCCEEDED_PODS_MESSAGE = "Too many succeeded pods running after completion count reached"
UNKNOWN_COMPLETION_MODE = "UnknownCompletionMode"
UNKNOWN_COMPLETION_MODE_MESSAGE = "Skipped Job sync because completion mode is unknown"


def created_pod(name: str) -> str:
    """Say that a pod was created."""
    return f"Created pod: {name}"


def deleted_pod(name: str) -> str:
    """Say that a pod was deleted."""
    return f"Deleted pod: {name}"


def error_creating(error: str) -> str:
    """Say that a pod could not be created."""
    return f"Error creating: {error}"


def matched_success_rule(index: int) -> str:
    """Say which rule of a success policy was met."""
    return f"Matched rules at index {index}"


def failed_by_exit_code(container: str, pod: str, exit_code: int, index: int) -> str:
    """Say which exit code failed a Job; `pod` is NAMESPACE/NAME."""
    return (
        f"Container {container} for pod {pod} failed with exit code {exit_code} matching FailJob rule at index {index}"
    )


def failed_by_condition(pod: str, condition: str, index: int) -> str:
    """Say which pod condition failed a Job; `pod` is NAMESPACE/NAME."""
    return f"Pod {pod} has condition {condition} matching FailJob rule at index {index}"
