"""`logs` from its words to its end: which containers, one after the other or all at once, and how lines are shown.

Source: kubectl v1.36 pkg/cmd/logs and pkg/polymorphichelpers logsForObject.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import click
import trio
from attrs import frozen

from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.remote.containers import all_containers, default_container, told_containers
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.views import get_pod
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import Object, View


class LogsError(Exception):
    """The logs that were asked for can't be shown; the text says why."""


@frozen(kw_only=True)
class LogsRequest:
    """What was asked for. `limit_bytes` 0 is no limit."""

    pod: str
    container: str | None = None
    all_containers: bool = False
    follow: bool = False
    previous: bool = False
    since_seconds: int | None = None
    since_time: str | None = None
    tail: int | None = None
    timestamps: bool = False
    prefix: bool = False
    ignore_errors: bool = False
    limit_bytes: int = 0
    most_at_once: int = 5

    @property
    def query(self) -> dict[str, object]:
        """Return what each container is asked for."""
        return {
            "follow": self.follow,
            "previous": self.previous,
            "sinceSeconds": self.since_seconds,
            "sinceTime": self.since_time,
            "tail": self.tail,
        }


async def show_logs(target: Target, request: LogsRequest, write: Callable[[str], None]) -> bool:
    """Show the logs; tells whether all could be shown, what couldn't having been said. ControlError, LogsError."""
    async with open_view(target) as view:
        shown = Shown(view=view, namespace=target.namespace, request=request, write=write)
        return await shown.all_of(await _containers(view, target.namespace, request))


async def _containers(view: View, namespace: str, request: LogsRequest) -> tuple[str, ...]:
    """Return the containers whose logs are shown; InputError, ControlError."""
    try:
        pod = await get_pod(view, namespace, request.pod)
    except ControlError as error:
        if error.reason is not Reason.NOT_FOUND:
            raise
        text = f'error from server (NotFound): pods "{request.pod}" not found in namespace "{namespace}"'
        raise LogsError(text) from error
    known = all_containers(pod)
    if request.all_containers:
        if request.follow and len(known) > request.most_at_once:
            text = (
                f"you are attempting to follow {len(known)} log streams, but maximum allowed concurrency is "
                f"{request.most_at_once}, use --max-log-requests to increase the limit"
            )
            raise LogsError(text)
        return known
    if request.container is None:
        name, said = default_container(pod)
        if said:
            click.echo(said, err=True)
        return (name,)
    if request.container not in known:
        text = f"container {request.container} is not valid for pod {request.pod} out of: {told_containers(pod)}"
        raise LogsError(text)
    return (request.container,)


@frozen(kw_only=True)
class Shown:
    """Logs of one pod on their way to the terminal."""

    view: View
    namespace: str
    request: LogsRequest
    write: Callable[[str], None]

    async def all_of(self, containers: tuple[str, ...]) -> bool:
        """Show the logs of containers: one after the other, or when they are followed all at once."""
        if self.request.follow and len(containers) > 1:
            return await self._at_once(containers)
        is_whole = True
        for container in containers:
            is_whole &= await self._one(container)
            if not is_whole and not self.request.ignore_errors:
                break
        return is_whole

    async def _at_once(self, containers: tuple[str, ...]) -> bool:
        is_whole = True

        async def follow(container: str) -> None:
            nonlocal is_whole
            is_whole &= await self._one(container)
            if not is_whole and not self.request.ignore_errors:
                nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            for container in containers:
                nursery.start_soon(follow, container)
        return is_whole

    async def _one(self, container: str) -> bool:
        """Show one container's log; tell whether it could be shown, and say it if not."""
        left = self.request.limit_bytes or None
        try:
            async with aclosing(
                self.view.logs(self.namespace, self.request.pod, container, self.request.query)
            ) as events:
                async for event in events:
                    text = self._text(event, container)
                    if left is not None:
                        text = text.encode()[:left].decode(errors="ignore")
                        left -= len(text.encode())
                    self.write(text)
                    if left == 0:
                        break
        except ControlError as error:
            if error.reason is Reason.ENDED and self.request.follow:
                return True  # the run is over, and with it every log
            click.echo(explain(error).text, err=True)
            return False
        return True

    def _text(self, event: Object, container: str) -> str:
        """Return a line as it is shown; what a kubelet says instead of a log ends in no newline."""
        prefix = f"[pod/{self.request.pod}/{container}] " if self.request.prefix else ""
        if "text" in event:
            return f"{prefix}{event['text']}"
        stamp = f"{event['at']} " if self.request.timestamps else ""
        return f"{prefix}{stamp}{event['line']}\n"
