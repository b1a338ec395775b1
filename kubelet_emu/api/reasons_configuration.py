"""Texts about a KubeletConfiguration that a kubelet doesn't start with.

`kubelet_emu.api.reasons` says how they are written. Source: kubelet v1.36 ValidateKubeletConfiguration.
"""

from __future__ import annotations

SERIAL_WITH_PARALLEL = (
    "invalid configuration: maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls "
    "(--serialize-image-pulls) is set to false"
)
PARALLEL_PULLS_NOT_POSITIVE = "invalid configuration: maxParallelImagePulls {value} must be a positive number"
REGISTRY_QPS_NEGATIVE = "invalid configuration: registryPullQPS (--registry-qps) {value} must not be a negative number"
