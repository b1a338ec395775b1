"""Reading what a container left as its last words.

Source: kubelet v1.36 kuberuntime_container.go getTerminationMessage, readLastStringFromContainerLogs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import define

from kubelet_emu.api import reasons
from kubelet_emu.api.labels import parse_container_annotations, parse_container_labels
from kubelet_emu.rules.termination_message import MAX_LOG_LINES, log_tail, termination_message, wants_log
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from kubelet_emu.volumes.kubelet_files import KubeletFiles
    from runtime.api import ContainerID, ContainerStatus, LogLine


class Logs(Protocol):
    """The runtime's logs."""

    def container_logs(
        self, container_id: ContainerID, *, follow: bool = False, tail: int | None = None, since: datetime | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[LogLine]]:
        """Open a log at its last `tail` lines."""


@define(eq=False)
class TerminationMessageReader:
    """Reads message files, and logs where these stand in for them."""

    runtime: Logs
    files: KubeletFiles

    async def read(self, status: ContainerStatus) -> str:
        """Return the whole message of an instance that has exited; what can't be read is told in it.

        Everything that matters was written to the instance's labels, so that a container of an earlier process is
        read the same way.
        """
        facts = parse_container_annotations(status.annotations)
        identity = parse_container_labels(status.labels)
        content = b""
        if facts.termination_message_path:
            attempt = status.metadata.attempt
            try:
                content = await self.files.read_termination_message(identity.pod_uid, status.metadata.name, attempt)
            except CRIError as error:
                content = f"Error on reading termination log {facts.termination_message_path}: {error}".encode()
        if wants_log(facts.termination_message_policy, content, status):
            content = await self._log(status.id)
        return termination_message(status.message, content)

    async def _log(self, container_id: ContainerID) -> bytes:
        try:
            async with self.runtime.container_logs(container_id, tail=MAX_LOG_LINES) as lines:
                return log_tail([line.line async for line in lines])
        except CRIError as error:
            return reasons.ERROR_READING_LOGS.format(error=error).encode()
