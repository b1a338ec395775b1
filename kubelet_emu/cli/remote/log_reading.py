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
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.log_targets import targets_of
from kubelet_emu.cli.remote.selectors import ANY
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.cli.remote.log_targets import LogTarget, Resource
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import Object, View


@frozen(kw_only=True)
class LogsRequest:
    """What was asked for: of a pod, an object with pods, or all pods with `labels`. `limit_bytes` 0 is no limit."""

    resource: Resource | None = None
    labels: LabelSelector = ANY
    all_pods: bool = False
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
        targets = await targets_of(view, target.namespace, request)
        return await Shown(view=view, namespace=target.namespace, request=request, write=write).all_of(targets)


@frozen(kw_only=True)
class Shown:
    """Logs on their way to the terminal."""

    view: View
    namespace: str
    request: LogsRequest
    write: Callable[[str], None]

    async def all_of(self, targets: tuple[LogTarget, ...]) -> bool:
        """Show the logs of containers: one after the other, or when they are followed all at once."""
        if self.request.follow and len(targets) > 1:
            return await self._at_once(targets)
        is_whole = True
        for target in targets:
            is_whole &= await self._one(target)
            if not is_whole and not self.request.ignore_errors:
                break
        return is_whole

    async def _at_once(self, targets: tuple[LogTarget, ...]) -> bool:
        is_whole = True

        async def follow(target: LogTarget) -> None:
            nonlocal is_whole
            is_whole &= await self._one(target)
            if not is_whole and not self.request.ignore_errors:
                nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            for target in targets:
                nursery.start_soon(follow, target)
        return is_whole

    async def _one(self, target: LogTarget) -> bool:
        """Show one container's log; tell whether it could be shown, and say it if not."""
        left = self.request.limit_bytes or None
        try:
            async with aclosing(
                self.view.logs(self.namespace, target.pod, target.container, self.request.query)
            ) as events:
                async for event in events:
                    text = self._text(event, target)
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

    def _text(self, event: Object, target: LogTarget) -> str:
        """Return a line as it is shown; what a kubelet says instead of a log ends in no newline."""
        prefix = f"[pod/{target.pod}/{target.container}] " if self.request.prefix else ""
        if "text" in event:
            return f"{prefix}{event['text']}"
        stamp = f"{event['at']} " if self.request.timestamps else ""
        return f"{prefix}{stamp}{event['line']}\n"
