"""`ps -w` on a terminal: the live view of a run in another terminal, from the records in its state folder.

The records are read as they are written; the run's socket tells when it ends.
"""

from __future__ import annotations

import os
import sys
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, BinaryIO, cast

import trio
from attrs import define, field

from kubelet_emu.cli.failures import InputError
from kubelet_emu.cli.live.facts import LiveFacts
from kubelet_emu.cli.live.screen import Screen
from kubelet_emu.cli.live.told_pulls import hear
from kubelet_emu.cli.live_lines import LiveLines, size_of
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.showing import NO_RESOURCES, say_not_found
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.places import RECORDS
from kubelet_emu.journal.console import is_terminal, wants_colour
from kubelet_emu.journal.fold import Facts
from kubelet_emu.journal.outlet import Outlet
from kubelet_emu.journal.read import LogReader
from kubelet_emu.manifests.validation.metadata import selector_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import TextIO

    from kubelet_emu.cli.pull_lines import PullView
    from kubelet_emu.cli.remote.requests import GetRequest
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.control.protocol import Message
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.facts import PodFacts

LOOK_SECONDS = 0.2
PULLS_SECONDS = 0.5
LAST_PATIENCE_SECONDS = 1.0


def is_for_view(request: GetRequest, stream: TextIO) -> bool:
    """Tell whether a watch is shown as a live view: of no special form, and on a terminal."""
    is_usual = not request.output.name and request.has_header and not request.shows_labels
    is_usual = is_usual and not (request.fields or request.label_columns or request.shows_kind)
    return request.watches and is_usual and is_terminal(stream, os.environ)


async def watch(target: Target, request: GetRequest, stream: TextIO | None = None) -> bool:
    """Show a run that lives until it ends; tells whether all pods that were named are there. InputError, Refusal."""
    async with open_view(target) as view:
        if not isinstance(view, LiveView):
            raise Refusal("a run that has ended can't be watched")
        path = target.root / "instances" / view.facts.id / RECORDS
        try:
            file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path}: its records can't be read: {error.strerror}") from error
        with file:
            watching = Watching(target, request, stream or sys.stdout, RecordTail(file), clock_from(await view.now()))
            return await watching.run(view)


def clock_from(now: datetime) -> Callable[[], datetime]:
    """Return the run's clock, of which a time is known now."""
    asked_at = trio.current_time()
    return lambda: now + timedelta(seconds=trio.current_time() - asked_at)


@define
class RecordTail:
    """Records as they are written: each look gives those that have come since the last one."""

    file: BinaryIO
    _reader: LogReader = field(factory=LogReader, init=False)
    _rest: bytes = field(default=b"", init=False)

    def new(self) -> list[Entry]:
        """Return the records that have come; a line that isn't whole yet waits for its end."""
        *whole, self._rest = (self._rest + self.file.read()).split(b"\n")
        for text in whole:
            self._reader.read(0, text + b"\n")
        found, self._reader.entries = self._reader.entries, []
        self._reader.lines.clear()
        return found


@define(eq=False)
class Watching:
    """One live view of a run in another terminal."""

    target: Target
    request: GetRequest
    stream: TextIO
    tail: RecordTail
    now: Callable[[], datetime]
    _pulls: Mapping[tuple[str, str], PullView] = field(factory=dict, init=False)
    _live: LiveFacts = field(factory=lambda: LiveFacts(Facts()), init=False)

    async def run(self, view: LiveView) -> bool:
        """Show it until the run ends or nobody reads any more; ControlError when the run was killed."""
        outlet = Outlet(name="stdout", file=self.stream)
        lines = LiveLines(outlet, lambda: size_of(self.stream))
        screen = Screen(
            live=self._live,
            lines=lines,
            now=self.now,
            size=lines.size,
            pulls=lambda: self._pulls,
            wanted=self._wants,
            has_colour=wants_colour(self.stream, os.environ),
            share=1.0,
            stays=True,
            empty=NO_RESOURCES + ("" if self.request.everywhere else f" in {self.target.namespace} namespace."),
        )
        self._read(screen)
        if not self._has_all():
            return False
        lost = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outlet.run, lambda _: nursery.cancel_scope.cancel())
            nursery.start_soon(screen.run)
            nursery.start_soon(self._follow, screen)
            nursery.start_soon(self._ask_of_pulls, view, screen)
            lost = await _end_of(view)
            nursery.cancel_scope.cancel()
        self._read(screen)
        screen.empty = "the run has ended"
        screen.draw()
        outlet.finish(LAST_PATIENCE_SECONDS)
        if lost is not None:
            raise lost
        return True

    def _has_all(self) -> bool:
        names = {pod.ref.name.rpartition("/")[2] for pod in self._live.facts.pods.values() if self._is_within(pod)}
        missing = [name for name in self.request.names if name not in names]
        say_not_found(self.request.kind, missing)
        return not missing

    def _is_within(self, pod: PodFacts) -> bool:
        return self.request.everywhere or pod.ref.namespace == self.target.namespace

    def _wants(self, pod: PodFacts) -> bool:
        """Tell whether a pod is among those that were asked for."""
        name, labels = pod.ref.name.rpartition("/")[2], cast("Mapping[str, str]", self._live.pod(pod).labels)
        is_named = not self.request.names or name in self.request.names
        return self._is_within(pod) and is_named and selector_matches(self.request.labels, labels)

    async def _follow(self, screen: Screen) -> None:
        while True:
            await trio.sleep(LOOK_SECONDS)
            self._read(screen)

    async def _ask_of_pulls(self, view: LiveView, screen: Screen) -> None:
        """Ask how far pulls have come, as long as there are some; a run that can't say is not asked again."""
        with suppress(ControlError):
            client = await view.dial()
            try:
                while True:
                    await trio.sleep(PULLS_SECONDS)
                    if self._pulls or self._is_pulling():
                        answer = await client.call("pulls")
                        self._pulls = hear(cast("list[Message]", answer["items"]))
                        screen.wake()
            finally:
                await client.aclose()

    def _is_pulling(self) -> bool:
        return any(each.is_pulling for pod in self._live.facts.pods.values() for each in pod.containers.values())

    def _read(self, screen: Screen) -> None:
        for entry in self.tail.new():
            self._live.facts.feed(entry)
            screen(entry)


async def _end_of(view: LiveView) -> ControlError | None:
    """Return when the run has ended, with the error where its process is gone without a word."""
    while True:
        try:
            async with aclosing(view.client.events("watch", kind="Job")) as events:
                async for _ in events:
                    pass
        except ControlError as error:
            if error.reason is not Reason.EXPIRED:
                return error
        else:
            return None
