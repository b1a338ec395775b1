"""The message of a container that ended: its file, the end of its log, the runtime's own text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api import reasons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime.api import ContainerStatus

DEFAULT_PATH = "/dev/termination-log"
FALLBACK_TO_LOGS = "FallbackToLogsOnError"
MAX_FILE_BYTES = 4096
MAX_LOG_BYTES = 2048
MAX_LOG_LINES = 80
MAX_POD_BYTES = 12288


def wants_log(policy: str, file: bytes, status: ContainerStatus) -> bool:
    """Tell whether the end of the log stands in for an empty file.

    Only of a container that failed; not when it could not run at all. Source: kubelet v1.36
    convertToKubeContainerStatus, getTerminationMessage.
    """
    return (
        policy == FALLBACK_TO_LOGS
        and not file
        and status.exit_code != 0
        and status.reason != reasons.CONTAINER_CANNOT_RUN
    )


def log_tail(lines: Sequence[bytes]) -> bytes:
    """Return the message made of a log: its last 80 lines, of these the last 2048 bytes.

    Source: kubelet v1.36 readLastStringFromContainerLogs.
    """
    text = b"".join(line + b"\n" for line in lines[-MAX_LOG_LINES:])
    return text[-MAX_LOG_BYTES:]


def termination_message(runtime_message: str, content: bytes) -> str:
    """Return the whole message: the runtime's text, a colon, the last 4096 bytes of the file (or the log's end).

    Source: kubelet v1.36 getTerminationMessage, convertToKubeContainerStatus.
    """
    text = content[-MAX_FILE_BYTES:].decode(errors="replace")
    return ": ".join(part for part in (runtime_message, text) if part)


def limit_message(message: str, containers: int) -> str:
    """Return the first bytes of a message that a pod of so many containers may show.

    Source: kubelet v1.36 status manager truncatePodStatus (12 KiB for all containers of a pod).
    """
    limit = MAX_POD_BYTES // max(1, containers)
    return message.encode()[:limit].decode(errors="ignore")
