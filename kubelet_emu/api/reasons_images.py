"""Texts about images: event reasons, waiting reasons, messages.

`kubelet_emu.api.reasons` says how they are written. Source: kubelet v1.36 pkg/kubelet/images.
"""

from __future__ import annotations

# --- images: event reasons, waiting reasons, texts (kubelet v1.36 pkg/kubelet/images) ---

PULLING = "Pulling"
PULLED = "Pulled"
INSPECT_FAILED = "InspectFailed"
ERR_IMAGE_PULL = "ErrImagePull"
IMAGE_PULL_BACK_OFF = "ImagePullBackOff"
ERR_IMAGE_NEVER_PULL = "ErrImageNeverPull"
INVALID_IMAGE_NAME = "InvalidImageName"
IMAGE_INSPECT_ERROR = "ImageInspectError"
REGISTRY_UNAVAILABLE = "RegistryUnavailable"
SIGNATURE_VALIDATION_FAILED = "SignatureValidationFailed"
NO_IMAGE_REASONS = frozenset(
    {
        ERR_IMAGE_PULL,
        IMAGE_PULL_BACK_OFF,
        ERR_IMAGE_NEVER_PULL,
        INVALID_IMAGE_NAME,
        IMAGE_INSPECT_ERROR,
        REGISTRY_UNAVAILABLE,
        SIGNATURE_VALIDATION_FAILED,
    }
)
"""Why a container waits for its image."""
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
