"""The container runtime interface: what the kubelet asks of a runtime, in the CRI's words.

Owns the vocabulary (sandboxes, containers, images, volumes) and the `Runtime` protocol. It knows containers, not
pods' specs: whoever calls it has already decided. Every call is idempotent as the CRI demands (stopping what is stopped
or gone succeeds), may be cancelled at any await, and fails only with a `CRIError`; a call that was cancelled may still
take effect, and is found again by its deterministic name. All times are aware UTC datetimes by the runtime's clock.

The parts are loaded when somebody imports a name of them from here: rules need the states alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.api.configs import (
        VOLUME_FOLDER_MODE,
        AuthConfig,
        ContainerConfig,
        ContainerID,
        ContainerMetadata,
        DNSConfig,
        ImageID,
        LinuxContainerResources,
        LinuxSecurityContext,
        Mount,
        NamespaceMode,
        NamespaceOptions,
        PodSandboxConfig,
        PodSandboxMetadata,
        PortMapping,
        SandboxID,
        SeccompProfile,
        VolumeConfig,
        VolumeFile,
        VolumeHandle,
    )
    from runtime.api.errors import (
        AlreadyExistsError,
        CRIError,
        ExecStartError,
        ExecTimeoutError,
        ImageNotFoundError,
        ImagePullError,
        NotFoundError,
        RegistryUnavailableError,
        RuntimeUnavailableError,
        SignatureValidationError,
        StartError,
        SubPathError,
    )
    from runtime.api.services import (
        AttachSession,
        CountsChanges,
        ExecSession,
        ImageService,
        Runtime,
        RuntimeService,
        VolumeService,
    )
    from runtime.api.states import ContainerState, PodSandboxState
    from runtime.api.statuses import (
        ContainerStatus,
        ContainerSummary,
        ExecResult,
        Image,
        LinuxContainerUser,
        LogLine,
        NetworkFiles,
        PodSandboxStatus,
        PullProgress,
        RuntimeEvent,
        RuntimeEventType,
        RuntimeStatus,
        RuntimeVersion,
    )

__all__ = [
    "VOLUME_FOLDER_MODE",
    "AlreadyExistsError",
    "AttachSession",
    "AuthConfig",
    "CRIError",
    "ContainerConfig",
    "ContainerID",
    "ContainerMetadata",
    "ContainerState",
    "ContainerStatus",
    "ContainerSummary",
    "CountsChanges",
    "DNSConfig",
    "ExecResult",
    "ExecSession",
    "ExecStartError",
    "ExecTimeoutError",
    "Image",
    "ImageID",
    "ImageNotFoundError",
    "ImagePullError",
    "ImageService",
    "LinuxContainerResources",
    "LinuxContainerUser",
    "LinuxSecurityContext",
    "LogLine",
    "Mount",
    "NamespaceMode",
    "NamespaceOptions",
    "NetworkFiles",
    "NotFoundError",
    "PodSandboxConfig",
    "PodSandboxMetadata",
    "PodSandboxState",
    "PodSandboxStatus",
    "PortMapping",
    "PullProgress",
    "RegistryUnavailableError",
    "Runtime",
    "RuntimeEvent",
    "RuntimeEventType",
    "RuntimeService",
    "RuntimeStatus",
    "RuntimeUnavailableError",
    "RuntimeVersion",
    "SandboxID",
    "SeccompProfile",
    "SignatureValidationError",
    "StartError",
    "SubPathError",
    "VolumeConfig",
    "VolumeFile",
    "VolumeHandle",
    "VolumeService",
]

_PARTS = ("states", "errors", "configs", "services", "statuses")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load the part that has a name (PEP 562)."""
        for part in _PARTS if name in __all__ else ():
            module = import_module(f"runtime.api.{part}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
        raise AttributeError(name)
