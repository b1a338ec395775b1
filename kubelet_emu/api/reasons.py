"""Every string that users know from a node: reasons and messages of statuses and events.

Each exists once: here, or in `reasons_images` (images), `reasons_creation` (what a container is made from) and
`reasons_node` (a node that refuses, evicts or shuts down). A message that names something is a function of it; `pod` in
a message is `labels.format_pod(pod)`, that is NAME_NAMESPACE(UID). Templates are for `str.format`; a name in them that
Kubernetes writes with %q is filled with `gotext.quote(name)`. Source: kubelet v1.36 pkg/kubelet/events,
pkg/kubelet/container, pkg/kubelet/kuberuntime, pkg/kubelet/status.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import format_duration, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

# --- event types

NORMAL = "Normal"
WARNING = "Warning"

# --- event reasons: containers

FAILED = "Failed"
BACK_OFF = "BackOff"
CREATED = "Created"
STARTED = "Started"
KILLING = "Killing"

# --- event reasons: pods

SCHEDULED = "Scheduled"
SANDBOX_CHANGED = "SandboxChanged"
FAILED_CREATE_POD_SANDBOX = "FailedCreatePodSandBox"
FAILED_POD_SANDBOX_STATUS = "FailedPodSandBoxStatus"
NETWORK_NOT_READY = "NetworkNotReady"
FAILED_CREATE_POD_CONTAINER = "FailedCreatePodContainer"
FAILED_KILL_POD = "FailedKillPod"
FAILED_SYNC = "FailedSync"
FAILED_VALIDATION = "FailedValidation"
EXCEEDED_GRACE_PERIOD = "ExceededGracePeriod"
DEADLINE_EXCEEDED = "DeadlineExceeded"
EVICTED = "Evicted"
PREEMPTING = "Preempting"
TERMINATED_BY_SHUTDOWN = "Terminated"
RESIZE_STARTED = "ResizeStarted"
RESIZE_COMPLETED = "ResizeCompleted"
RESIZE_DEFERRED = "ResizeDeferred"
RESIZE_INFEASIBLE = "ResizeInfeasible"
RESIZE_ERROR = "ResizeError"
FAILED_NODE_DECLARED_FEATURES_CHECK = "FailedNodeDeclaredFeaturesCheck"

# --- event messages

CONTAINER_CREATED = "Container created"
CONTAINER_STARTED = "Container started"
POD_SANDBOX_CHANGED = "Pod sandbox changed, it will be killed and re-created."
CONTAINER_RUNTIME_DID_NOT_KILL = "Container runtime did not kill the pod within specified grace period."
POD_DEADLINE_EXCEEDED = "Pod was active on the node longer than the specified deadline"


def assigned(pod: str, node: str) -> str:
    """Return the text of Scheduled (kube-scheduler); `pod` is NAMESPACE/NAME."""
    return f"Successfully assigned {pod} to {node}"


def failed_create_pod_sandbox(error: str) -> str:
    """Return the text of FailedCreatePodSandBox."""
    return f"Failed to create pod sandbox: {error}"


def failed_pod_sandbox_status(error: str) -> str:
    """Return the text of FailedPodSandBoxStatus."""
    return f"Unable to get pod sandbox status: {error}"


def network_not_ready(error: str) -> str:
    """Return the text of NetworkNotReady."""
    return f"network is not ready: {error}"


def failed_action(action: str, target: str, error: str, message: str) -> str:
    """Return what the kubelet says of one step of a sync or a kill that failed (kubelet v1.36 PodSyncResult.Error)."""
    return f"failed to {quote(action)} for {quote(target)} with {error}: {quote(message)}"


def error_killing_pod(errors: Sequence[str]) -> str:
    """Return the text of FailedKillPod; several errors are a list (apimachinery NewAggregate)."""
    return f"error killing pod: {errors[0] if len(errors) == 1 else '[' + ', '.join(dict.fromkeys(errors)) + ']'}"


def error_determining_status(error: str) -> str:
    """Return the text of FailedSync when the runtime's status can't be read."""
    return f"error determining status: {error}"


def unable_to_ensure_pod_container(error: str) -> str:
    """Return the text of FailedCreatePodContainer."""
    return f"unable to ensure pod container exists: {error}"


def error_making_pod_directories(error: str) -> str:
    """Return the text of Failed when a pod's directories can't be made."""
    return f"error making pod data directories: {error}"


def duplicate_pod_name(pod: str, source: str, name: str) -> str:
    """Return the text of FailedValidation."""
    return f'Error validating pod {pod} from {source} due to duplicate pod name "{name}", ignoring'


def start_error(text: str) -> str:
    """Return the text of a container's event Failed."""
    return f"Error: {text}"


# --- kills decided by a sync (kubelet computePodActions)

UNKNOWN_STATE_CONTAINER = 'Container is in "unknown" state, try killing it before restart'
UNKNOWN_STATE_INIT_CONTAINER = 'Init container is in "unknown" state, try killing it before restart'
RESTART_ALL_KILL = "killing"


def definition_changed(container: str, *, is_init: bool = False) -> str:
    """Return the text of a kill because name or image differ from the running container's."""
    return f"{_kind(is_init=is_init)} {container} definition changed"


def failed_liveness_probe(container: str, *, is_init: bool = False) -> str:
    """Return the text of a kill because of the liveness probe."""
    return f"{_kind(is_init=is_init)} {container} failed liveness probe"


def failed_startup_probe(container: str, *, is_init: bool = False) -> str:
    """Return the text of a kill because of the startup probe."""
    return f"{_kind(is_init=is_init)} {container} failed startup probe"


RESIZE_IS_STARTED = "started"
RESIZE_IS_COMPLETED = "completed"
RESIZE_HAS_FAILED = "error"


def pod_resize(what: str, sizes: str) -> str:
    """Return the message of a resize's event; `what` is one of the words above, or why the resize has to wait."""
    return f"Pod resize {what}: {sizes}"


def resize_requires_restart(container: str) -> str:
    """Return the text of a kill because a resize can't be done in place."""
    return f"Container {container} resize requires restart"


def will_be_restarted(text: str) -> str:
    """Return the text of a kill that is followed by a start in the same sync."""
    return f"{text}, will be restarted"


def _kind(*, is_init: bool) -> str:
    return "Init container" if is_init else "Container"


# --- crash-loop back-off

CRASH_LOOP_BACK_OFF = "CrashLoopBackOff"


def back_off_restarting(container: str, pod: str) -> str:
    """Return the text of the event BackOff for a start that was refused."""
    return f"Back-off restarting failed container {container} in pod {pod}"


def back_off_waiting(delay_seconds: float, container: str, pod: str) -> str:
    """Return the message of waiting reason CrashLoopBackOff; the delay is the whole one, not what is left of it."""
    delay = format_duration(timedelta(seconds=delay_seconds))
    return f"back-off {delay} restarting failed container={container} pod={pod}"


# --- waiting reasons

CONTAINER_CREATING = "ContainerCreating"
POD_INITIALIZING = "PodInitializing"
CREATE_CONTAINER_ERROR = "CreateContainerError"
RUN_CONTAINER_ERROR = "RunContainerError"
POST_START_HOOK_ERROR = "PostStartHookError"
RESTARTING_ALL_CONTAINERS = "RestartingAllContainers"

# --- terminated reasons

COMPLETED = "Completed"
ERROR = "Error"
OOM_KILLED = "OOMKilled"
START_ERROR = "StartError"
CONTAINER_CANNOT_RUN = "ContainerCannotRun"
CONTAINER_STATUS_UNKNOWN = "ContainerStatusUnknown"

# --- messages of container states

RESTART_ALL_REMOVED = "The container is removed because RestartAllContainers in place"
NOT_LOCATED_WHEN_DELETED = (
    "The container could not be located when the pod was deleted.  The container used to be Running"
)
NOT_LOCATED_WHEN_TERMINATED = "The container could not be located when the pod was terminated"
INIT_STATUS_LOST = (
    "Unable to get init container status from container runtime and pod has been initialized,"
    " treat it as exited normally"
)


def no_target_container(name: str) -> str:
    """Return the error of an ephemeral container whose target isn't there."""
    return f"unable to find target container {name}"


# --- condition types

POD_SCHEDULED = "PodScheduled"
POD_READY_TO_START_CONTAINERS = "PodReadyToStartContainers"
INITIALIZED = "Initialized"
CONTAINERS_READY = "ContainersReady"
READY = "Ready"
DISRUPTION_TARGET = "DisruptionTarget"
ALL_CONTAINERS_RESTARTING = "AllContainersRestarting"
POD_RESIZE_PENDING = "PodResizePending"
POD_RESIZE_IN_PROGRESS = "PodResizeInProgress"

# --- condition reasons and messages

POD_COMPLETED = "PodCompleted"
POD_FAILED = "PodFailed"
UNKNOWN_CONTAINER_STATUSES = "UnknownContainerStatuses"
CONTAINERS_NOT_INITIALIZED = "ContainersNotInitialized"
CONTAINERS_NOT_READY = "ContainersNotReady"
READINESS_GATES_NOT_READY = "ReadinessGatesNotReady"
TERMINATION_BY_KUBELET = "TerminationByKubelet"
RESTART_ALL_CONTAINERS_STARTED = "RestartAllContainersStarted"
RESTART_ALL_CONTAINERS_EXITED = "container exited with restart policy rule"
RESIZE_PENDING_DEFERRED = "Deferred"
RESIZE_PENDING_INFEASIBLE = "Infeasible"
RESIZE_IN_PROGRESS_ERROR = "Error"


def containers_with_unknown_status(names: Sequence[str]) -> str:
    """Return the part of a condition message about containers without a status."""
    return f"containers with unknown status: [{' '.join(names)}]"


def containers_with_incomplete_status(names: Sequence[str]) -> str:
    """Return the part of a condition message about init containers that are not done."""
    return f"containers with incomplete status: [{' '.join(names)}]"


def containers_with_unready_status(names: Sequence[str]) -> str:
    """Return the part of a condition message about containers that are not ready."""
    return f"containers with unready status: [{' '.join(names)}]"


def readiness_gate_missing(gate: str) -> str:
    """Return the message about a readiness gate whose condition nobody has set."""
    return f'corresponding condition of pod readiness gate "{gate}" does not exist.'


def readiness_gate_not_true(gate: str, status: str) -> str:
    """Return the message about a readiness gate whose condition is not True."""
    return f'the status of pod readiness gate "{gate}" is not "True", but {status}'


# --- stopping containers (kubelet v1.36 killContainer) ---

FAILED_POST_START_HOOK_KILL = "FailedPostStartHook"


def stopping_container(container: str) -> str:
    """Return the text of Killing when the whole pod is stopped."""
    return f"Stopping container {container}"


# --- lifecycle hooks (kubelet v1.36 pkg/kubelet/lifecycle, executePreStopHook, startContainer) ---

FAILED_POST_START_HOOK = "FailedPostStartHook"
FAILED_PRE_STOP_HOOK = "FailedPreStopHook"
LIFECYCLE_HTTP_FALLBACK = "LifecycleHTTPFallback"
POST_START_HOOK_FAILED = "PostStartHook failed"
PRE_STOP_HOOK_FAILED = "PreStopHook failed"
SLEEP_HOOK_CUT = "container terminated before sleep hook finished"


def lifecycle_http_fallback(host: str) -> str:
    """Return the text of LifecycleHTTPFallback; `host` is HOST:PORT."""
    return f"request to HTTPS lifecycle hook {host} got HTTP response, retry with HTTP succeeded"


def hook_failed(hook: str, container: str, pod: str, error: str) -> str:
    """Return what a failed hook says; `hook` is "Exec lifecycle hook ([sh -c x])" or the like."""
    return f"{hook} for Container {quote(container)} in Pod {quote(pod)} failed - error: {error}"


# --- probes (kubelet v1.36 pkg/kubelet/prober, pkg/probe) ---

UNHEALTHY = "Unhealthy"
PROBE_WARNING = "ProbeWarning"


def probe_failed(probe: str, output: str) -> str:
    """Return the text of Unhealthy for a failed attempt; `probe` is Liveness, Readiness or Startup."""
    return f"{probe} probe failed: {output}"


def probe_errored(probe: str, state: str, error: str) -> str:
    """Return the text of Unhealthy for an attempt that could not be made; `state` is unknown or failure."""
    return f"{probe} probe errored and resulted in {state} state: {error}"


def probe_warning(probe: str, output: str) -> str:
    """Return the text of ProbeWarning."""
    return f"{probe} probe warning: {output}"
