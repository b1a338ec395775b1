"""Names and texts of workloads that users see: labels, annotations, reasons, messages. Each exists once, here.

Source: apps/v1 well-known labels and kubernetes v1.36 pkg/controller (deployment, replicaset, statefulset, daemon,
cronjob).
"""

from __future__ import annotations

POD_TEMPLATE_HASH = "pod-template-hash"
CONTROLLER_REVISION_HASH = "controller-revision-hash"
POD_TEMPLATE_GENERATION = "pod-template-generation"
STATEFUL_POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
REVISION_ANNOTATION = "deployment.kubernetes.io/revision"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
NOT_COPIED = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", "deprecated.deployment.rollback.to"}
    | {"deployment.kubernetes.io/revision-history", REVISION_ANNOTATION, DESIRED_REPLICAS, MAX_REPLICAS}
)
"""Annotations of a Deployment that its ReplicaSet doesn't take over."""
POD_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SCHEDULED_TIMESTAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp"

SOURCES = {
    "Deployment": "deployment-controller",
    "ReplicaSet": "replicaset-controller",
    "StatefulSet": "statefulset-controller",
    "DaemonSet": "daemonset-controller",
    "CronJob": "cronjob-controller",
}
"""Kind to the name of its controller in events."""

NORMAL = "Normal"
WARNING = "Warning"
SUCCESSFUL_CREATE = "SuccessfulCreate"
FAILED_CREATE = "FailedCreate"
SUCCESSFUL_DELETE = "SuccessfulDelete"
SCALING_REPLICA_SET = "ScalingReplicaSet"
FAILED_DAEMON_POD = "FailedDaemonPod"
SUCCEEDED_DAEMON_POD = "SucceededDaemonPod"
RECREATING_FAILED_POD = "RecreatingFailedPod"
RECREATING_TERMINATED_POD = "RecreatingTerminatedPod"
REPLICA_SET_CREATE_ERROR = "ReplicaSetCreateError"
SAW_COMPLETED_JOB = "SawCompletedJob"

NODE_REFUSES = "the node refuses its pods: each next one waits longer than the one before"
NO_ROLLING_UPDATE = "its pod template was changed: a rolling update is not done, its pods stay as they are"


def created_pod(kind: str, owner: str, pod: str) -> str:
    """Say that a pod was created; a StatefulSet has words of its own."""
    return f"create Pod {pod} in StatefulSet {owner} successful" if kind == "StatefulSet" else f"Created pod: {pod}"


def deleted_pod(kind: str, owner: str, pod: str) -> str:
    """Say that a pod was deleted; a StatefulSet has words of its own."""
    return f"delete Pod {pod} in StatefulSet {owner} successful" if kind == "StatefulSet" else f"Deleted pod: {pod}"


def error_creating(kind: str, owner: str, pod: str, error: str) -> str:
    """Say that a pod could not be created."""
    if kind == "StatefulSet":
        return f"create Pod {pod} in StatefulSet {owner} failed error: {error}"
    return f"Error creating: {error}"


def error_creating_replica_set(name: str, error: str) -> str:
    """Say that a Deployment could not make its ReplicaSet."""
    return f'Failed to create new replica set "{name}": {error}'


def scaled(replica_set: str, old: int, new: int) -> str:
    """Say that a Deployment changed the size of a ReplicaSet."""
    return f"Scaled {'up' if new > old else 'down'} replica set {replica_set} from {old} to {new}"


def failed_daemon_pod(pod: str, node: str) -> str:
    """Say that a daemon pod failed and is replaced; `pod` is NAMESPACE/NAME."""
    return f"Found failed daemon pod {pod} on node {node}, will try to kill it"


def succeeded_daemon_pod(pod: str, node: str) -> str:
    """Say that a daemon pod ended well and is replaced; `pod` is NAMESPACE/NAME."""
    return f"Found succeeded daemon pod {pod} on node {node}, will try to delete it"


def recreating_pod(set_name: str, pod: str, phase: str) -> str:
    """Say that a pod of a StatefulSet has ended and is made anew; `set_name` is NAMESPACE/NAME."""
    return f"StatefulSet {set_name} is recreating {phase.lower() if phase == 'Failed' else 'terminated'} Pod {pod}"


def created_job(job: str) -> str:
    """Say that a CronJob made a Job."""
    return f"Created job {job}"


def saw_completed_job(job: str, condition: str) -> str:
    """Say that a Job of a CronJob has its verdict."""
    return f"Saw completed job: {job}, condition: {condition}"


def no_pod_here(node: str) -> str:
    """Say that a DaemonSet has no pod because its template is for other nodes."""
    return (
        f"it makes no pod: node {node} is none of those that its nodeSelector, nodeName or required node affinity "
        "name; --node-label KEY=VALUE gives the node a label"
    )
