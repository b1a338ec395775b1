"""The states of sandboxes and containers."""

from __future__ import annotations

import enum


class PodSandboxState(enum.Enum):
    """Whether a sandbox's own process runs."""

    READY = "ready"
    NOT_READY = "notready"


class ContainerState(enum.Enum):
    """State of one container instance."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"
