"""The method that reads a container's log, from the runtime itself, as a kubelet does."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.api.codec import parse_time
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.log_choice import container_to_read
from kubelet_emu.journal.logs import to_text
from runtime.api import ContainerID, NotFoundError

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.control.desk import Desk
    from kubelet_emu.control.protocol import Message, Params
    from kubelet_emu.control.server import Exchange
    from runtime.api import LogLine


@frozen
class Logs:
    """The method, over a run."""

    desk: Desk

    async def read(self, params: Params, exchange: Exchange) -> Message:
        """Send a log's lines, with `follow` until the container ends; ControlError (BadRequest), NotFoundError.

        A pod that has no node yet has an empty log. One whose container is gone is told in `text`, as a kubelet does.
        """
        pod, container = self.desk.pod(params), params.text("container")
        if not pod.spec.node_name:
            return {}
        full_id = container_to_read(pod, container, previous=params.flag("previous"))
        follow, tail = params.flag("follow"), params.whole("tail", least=0)
        since = self._since(params)
        try:
            async with self.desk.cluster.runtime.container_logs(
                ContainerID(full_id.partition("://")[2]), follow=follow, tail=tail, since=since
            ) as lines:
                async for line in lines:
                    if since is None or line.at >= since:
                        await exchange.send(_event(line))
        except NotFoundError:
            return {"text": f"unable to retrieve container logs for {full_id}"}
        await trio.lowlevel.checkpoint()
        return {}

    def _since(self, params: Params) -> datetime | None:
        seconds, time = params.whole("sinceSeconds", least=1), params.optional_text("sinceTime")
        if seconds is not None:
            return self.desk.cluster.timebase.now() - timedelta(seconds=seconds)
        try:
            return None if time is None else parse_time(time)
        except ValueError as error:
            raise ControlError(Reason.BAD_REQUEST, f"sinceTime: {error}") from error


def _event(line: LogLine) -> Message:
    """Return a line with its time."""
    return {"line": to_text(line.line, line.cut_bytes), "at": time_text(line.at), "stream": line.stream}


def time_text(moment: datetime) -> str:
    """Return a time with nine digits of a second, as a runtime writes it into logs."""
    at = moment.astimezone(UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}000Z"
