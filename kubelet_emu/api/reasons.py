"""Every string that users know from a node: reasons and messages of statuses and events.

Each exists once, here. A message that names something is a function of it; `pod` in a message is
`labels.format_pod(pod)`, that is NAME_NAMESPACE(UID). Templates are for `str.format`; a name in them that Kubernetes
writes with %q is filled with `gotext.quote(name)`. Source: kubelet v1.36 pkg/kubelet/events, pkg/kubelet/container,
pkg/kubelet/kuberuntime, pkg/kubelet/status.
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


def error_killing_pod(error: str) -> str:
    """Return the text of FailedKillPod."""
    return f"error killing pod: {error}"


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


# --- pod reasons and messages (phase Failed)

PREEMPTED_MESSAGE = "Preempted in order to admit critical pod"
PREEMPTED_CONDITION_MESSAGE = "Pod was preempted by Kubelet to accommodate a critical pod."
SHUTDOWN_MESSAGE = "Pod was terminated in response to imminent node shutdown."

# --- admission (kubelet v1.36 pkg/kubelet/lifecycle, pkg/kubelet/preemption)

SYSCTL_FORBIDDEN = "SysctlForbidden"
UNEXPECTED_ADMISSION_ERROR = "UnexpectedAdmissionError"
INVALID_NODE_INFO = "InvalidNodeInfo"
POD_OS_SELECTOR_NODE_LABEL_DOES_NOT_MATCH = "PodOSSelectorNodeLabelDoesNotMatch"
POD_OS_NOT_SUPPORTED = "PodOSNotSupported"
SUPPLEMENTAL_GROUPS_POLICY_NOT_SUPPORTED = "SupplementalGroupsPolicyNotSupported"
NODE_AFFINITY = "NodeAffinity"
NODE_NAME = "NodeName"
NODE_PORTS = "NodePorts"
TAINT_TOLERATION = "TaintToleration"
APP_ARMOR = "AppArmor"
POD_LEVEL_RESOURCES_NOT_SUPPORTED = "PodLevelResourcesNotSupported"
POD_FEATURE_UNSUPPORTED = "PodFeatureUnsupported"
NODE_SHUTDOWN = "NodeShutdown"
VOLUME_ATTACHMENT_LIMIT_EXCEEDED = "VolumeAttachmentLimitExceeded"

NO_NODE_INFO = "Kubelet cannot get node info."
OS_LABEL_MISMATCH = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
OS_FIELD_MISMATCH = "Failed to admit pod as the OS field doesn't match node OS"
SUPPLEMENTAL_GROUPS_POLICY_MESSAGE = "SupplementalGroupsPolicy=Strict is not supported in this node"
POD_LEVEL_RESOURCES_MESSAGE = "PodLevelResources is not supported on this node"
NODE_IS_SHUTTING_DOWN = "Pod was rejected as the node is shutting down."

PREDICATE_MESSAGES = {
    NODE_AFFINITY: "node(s) didn't match Pod's node affinity/selector",
    NODE_NAME: "node(s) didn't match the requested node name",
    NODE_PORTS: "node(s) didn't have free ports for the requested pod ports",
    TAINT_TOLERATION: "node(s) had taints that the pod didn't tolerate",
}


def pod_was_rejected(message: str) -> str:
    """Return the status message of a pod that admission refused; the event has `message` alone."""
    return f"Pod was rejected: {message}"


def node_had_condition(conditions: Sequence[str]) -> str:
    """Return the message of Evicted at admission; the blank at its end is the kubelet's."""
    return f"The node had condition: [{' '.join(conditions)}]. "


def forbidden_sysctl(name: str) -> str:
    """Return the message of SysctlForbidden."""
    return f'forbidden sysctl: "{name}" not allowlisted'


def sysctl_of_host_namespace(name: str, namespace: str) -> str:
    """Return the message of SysctlForbidden for a sysctl that would be the host's; `namespace` is Net or IPC."""
    return f'forbidden sysctl: "{name}" not allowed with host {namespace} enabled'


def allocate_failed(error: str) -> str:
    """Return the message of a resource manager that refused."""
    return f"Allocate failed due to {error}, which is unexpected"


def update_plugin_resources_failed(error: str) -> str:
    """Return the message of device plugin resources that could not be updated."""
    return f"Update plugin resources failed due to {error}, which is unexpected."


def out_of(resource: str) -> str:
    """Return the reason of a pod that doesn't fit: OutOfcpu, OutOfmemory, OutOfpods."""
    return f"OutOf{resource}"


def not_enough(resource: str, requested: int, used: int, capacity: int) -> str:
    """Return the message of a pod that doesn't fit; cpu is in milli-units, memory in bytes."""
    return f"Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {capacity}"


def predicate_failed(reason: str) -> str:
    """Return the message of a failed predicate other than resources."""
    return f"Predicate {reason} failed: {PREDICATE_MESSAGES[reason]}"


def cannot_enforce_apparmor(error: str) -> str:
    """Return the message of AppArmor."""
    return f"Cannot enforce AppArmor: {error}"


def node_features_not_available(features: Sequence[str]) -> str:
    """Return the message of PodFeatureUnsupported and of FailedNodeDeclaredFeaturesCheck."""
    return f"Pod requires node features that are not available: {', '.join(features)}"


# --- images: event reasons, waiting reasons, texts (kubelet v1.36 pkg/kubelet/images) ---

PULLING = "Pulling"
PULLED = "Pulled"
FAILED = "Failed"
BACK_OFF = "BackOff"
INSPECT_FAILED = "InspectFailed"
ERR_IMAGE_PULL = "ErrImagePull"
IMAGE_PULL_BACK_OFF = "ImagePullBackOff"
ERR_IMAGE_NEVER_PULL = "ErrImageNeverPull"
INVALID_IMAGE_NAME = "InvalidImageName"
IMAGE_INSPECT_ERROR = "ImageInspectError"
REGISTRY_UNAVAILABLE = "RegistryUnavailable"
SIGNATURE_VALIDATION_FAILED = "SignatureValidationFailed"
FAILED_TO_RETRIEVE_IMAGE_PULL_SECRET = "FailedToRetrieveImagePullSecret"  # noqa: S105 - the name of an event

PULLING_IMAGE = "Pulling image {image}"
PULLED_IMAGE = "Successfully pulled image {image} in {pull} ({total} including waiting). Image size: {size} bytes."
IMAGE_PRESENT = "Container image {image} already present on machine"
IMAGE_PRESENT_VERIFIED = "Container image {image} already present on machine and can be accessed by the pod"
IMAGE_NEVER_PULL = "Container image {image} is not present with pull policy of Never"
BACK_OFF_PULLING = "Back-off pulling image {image}"
FAILED_TO_PULL_IMAGE = "Failed to pull image {image}: {error}"
FAILED_TO_INSPECT_IMAGE = "Failed to inspect image {image}: {error}"
FAILED_TO_APPLY_DEFAULT_TAG = "Failed to apply default image tag {image}: {error}"
COULD_NOT_PARSE_IMAGE_NAME = "couldn't parse image name {image}: {error}"
REGISTRY_IS_UNAVAILABLE = "image pull failed for {image} because the registry is unavailable{rest}"
SIGNATURE_IS_INVALID = "image pull failed for {image} because the signature validation failed{rest}"
PULL_QPS_EXCEEDED = "pull QPS exceeded"
IMAGE_REF_NOT_SET = "imageRef of image {image} is not set"
IMAGE_PULL_SECRETS_MISSING = (
    "Unable to retrieve some image pull secrets ({names}); attempting to pull the image may not succeed."
)

# --- container creation: waiting reasons and texts (kubelet v1.36 pkg/kubelet/kuberuntime) ---

CREATE_CONTAINER_CONFIG_ERROR = "CreateContainerConfigError"

OBJECT_NOT_FOUND = "{kind} {name} not found"
KEY_NOT_FOUND = "couldn't find key {key} in {kind} {namespace}/{name}"
ENV_FILE_VOLUME_NOT_FOUND = "cannot find the volume {volume} referenced by FileKeyRef"
ENV_FILE_KEY_NOT_FOUND = "environment variable key {key} not found in file {path}"
ENV_FILE_NOT_PARSED = "couldn't parse env file"
NON_ROOT_RUN_AS_USER = "container's runAsUser breaks non-root policy (pod: {pod}, container: {container})"
NON_ROOT_USER_NAME = (
    "container has runAsNonRoot and image has non-numeric user ({user}), cannot verify user is non-root"
    " (pod: {pod}, container: {container})"
)
NON_ROOT_IMAGE_IS_ROOT = "container has runAsNonRoot and image will run as root (pod: {pod}, container: {container})"
NON_ROOT_BAD_USER_ID = (
    "container has runAsNonRoot and image has an invalid user id ({uid}). (Must be 1-(2147483647)): {detail}"
    " (pod: {pod}, container: {container})"
)
SECCOMP_LOCALHOST_MISSING = "localhostProfile must be set if seccompProfile type is Localhost."
UNSUPPORTED_SUPPLEMENTAL_GROUPS_POLICY = "unsupported supplementalGroupsPolicy: {policy}"
SUB_PATH_ABSOLUTE = "error SubPath `{path}` must not be an absolute path"
SUB_PATH_BACKSTEPS = "unable to provision SubPath `{path}`: must not contain '..'"
SUB_PATH_VALUE_MISSING = "missing value for {name}"
VOLUME_TO_MOUNT_NOT_FOUND = "cannot find volume {volume} to mount into container {container}"
RECURSIVE_READ_ONLY_UNSUPPORTED = (
    "failed to resolve recursive read-only mode: volume {volume} requested recursive read-only mode,"
    " but it is not supported by the runtime"
)
FQDN_TOO_LONG = (
    "failed to construct FQDN from pod hostname and cluster domain, FQDN {fqdn} is too long"
    " (64 characters is the max, {length} characters requested)"
)
MISSING_CLUSTER_DNS = "MissingClusterDNS"
CLUSTER_DNS_NOT_CONFIGURED = (
    'pod: {pod}. kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy.'
    ' Falling back to "Default" policy.'
)
DNS_CONFIG_FORMING = "DNSConfigForming"
NAMESERVERS_EXCEEDED = (
    "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: {line}"
)
SEARCHES_EXCEEDED = (
    "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: {line}"
)
ERROR_READING_LOGS = "Error on reading termination message from logs: {error}"

# --- volumes (kubelet v1.36 pkg/kubelet/volumemanager, pkg/volume) ---

FAILED_MOUNT = "FailedMount"
MOUNT_VOLUME_SET_UP_FAILED = "MountVolume.SetUp failed for volume {volume} : {error}"
MOUNT_VOLUME_FIND_PLUGIN_FAILED = "MountVolume.FindPluginBySpec failed for volume {volume} : {error}"
UNABLE_TO_MOUNT_VOLUMES = (
    "unmounted volumes=[{unmounted}], unattached volumes=[{unattached}], failed to process volumes=[{failed}]: {error}"
)
NO_VOLUME_PLUGIN = "no volume plugin matched"
CONFIG_MAP_KEY_NOT_FOUND = "configmap references non-existent config key: {key}"
SECRET_KEY_NOT_FOUND = "references non-existent secret key: {key}"  # noqa: S105
UNKNOWN_STORAGE_MEDIUM = "unknown storage medium {medium}"
HOST_PATH_TYPE_CHECK_FAILED = "hostPath type check failed: {path} is not a {kind}"
HOST_PATH_TYPE_INVALID = "{type} is an invalid volume type"
FETCH_TOKEN_FAILED = "failed to fetch token: {error}"  # noqa: S105

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


# --- eviction and node shutdown (kubelet v1.36 pkg/kubelet/eviction, pkg/kubelet/nodeshutdown) ---

SHUTDOWN = "Shutdown"
SHUTDOWN_DETECTED = "Shutdown manager detected shutdown event"
SHUTDOWN_CANCELLED = "Shutdown manager detected shutdown cancellation"
KUBELET_NOT_READY = "KubeletNotReady"
NODE_IS_SHUTTING_DOWN_CONDITION = "node is shutting down"


def node_low_on_resource(resource: str) -> str:
    """Return the first sentence of an eviction's message; each sentence ends with a blank."""
    return f"The node was low on resource: {resource}. "


def eviction_threshold(quantity: str, available: str) -> str:
    """Return the sentence about the threshold that was met."""
    return f"Threshold quantity: {quantity}, available: {available}. "


def eviction_container_usage(container: str, usage: str, request: str, resource: str) -> str:
    """Return the sentence about one container that used more than it asked for."""
    return f"Container {container} was using {usage}, request is {request}, has larger consumption of {resource}. "


def empty_dir_over_limit(volume: str, limit: str) -> str:
    """Return the message of an emptyDir that outgrew its sizeLimit."""
    return f"Usage of EmptyDir volume {quote(volume)} exceeds the limit {quote(limit)}. "


def pod_over_ephemeral_storage_limit(limit: str) -> str:
    """Return the message of a pod that outgrew the sum of its limits."""
    return f"Pod ephemeral local storage usage exceeds the total limit of containers {limit}. "


def container_over_ephemeral_storage_limit(container: str, limit: str) -> str:
    """Return the message of a container that outgrew its limit."""
    return f"Container {container} exceeded its local ephemeral storage limit {quote(limit)}. "
