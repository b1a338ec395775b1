"""Texts about what a container is made from: its configuration and its volumes.

`kubelet_emu.api.reasons` says how they are written.
Source: kubelet v1.36 pkg/kubelet/kuberuntime, pkg/kubelet/volumemanager, pkg/volume.
"""

from __future__ import annotations

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
SUB_PATH_NOT_MADE = "failed to create subPath directory for volumeMount {volume} of container {container}"
SUB_PATH_NOT_PREPARED = "failed to prepare subPath for volumeMount {volume} of container {container}"
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
