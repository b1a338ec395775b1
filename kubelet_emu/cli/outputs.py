"""What a run writes: logs, changes, trace and lifecycle log, each to a reader who may not read.

No writer waits while pods run (see `kubelet_emu.journal.outlet`); only at the end, when nothing is left to stop, what
a reader hasn't taken is handed over. A file of records that can't be written is told once, and the run goes on.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TextIO

from attrs import define, field, frozen

from kubelet_emu.cli.failures import InputError
from kubelet_emu.cli.live_lines import LiveLines, size_of
from kubelet_emu.cli.sinks import AfterEnd, InOrder
from kubelet_emu.journal.console import Console, Stream, is_terminal, wants_colour
from kubelet_emu.journal.encode import Entry
from kubelet_emu.journal.journal import LogWriter
from kubelet_emu.journal.outlet import Outlet, open_outlet
from kubelet_emu.journal.records import NoteRecord
from kubelet_emu.journal.secret_values import SecretValues
from kubelet_emu.journal.trace import TraceWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    import trio

    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.journal.journal import Sink
    from kubelet_emu.journal.outlet import Writable

LAST_PATIENCE_SECONDS = 1.0


@frozen(kw_only=True)
class Streams:
    """Where a command writes, and who else gets the records."""

    out: TextIO = field(factory=lambda: sys.stdout)
    err: TextIO = field(factory=lambda: sys.stderr)
    listeners: tuple[Sink, ...] = ()


@define(eq=False, kw_only=True)
class Outputs:
    """The open outputs of one run."""

    streams: Streams
    out: Outlet
    err: Outlet
    log: Outlet | None = None
    trace: Outlet | None = None
    live: LiveLines | None = None
    secrets: SecretValues = field(factory=SecretValues)
    _in_order: InOrder | None = field(default=None, init=False)
    _shown: Sink | None = field(default=None, init=False)
    _told: set[Outlet] = field(factory=set, init=False)
    _has_lost: bool = field(default=False, init=False)

    def sinks(self, epoch: datetime, options: RunOptions) -> list[Sink]:
        """Return the renderers, those of the files first, each up to the run's end but the log."""
        sinks: list[Sink] = [] if self.log is None else [LogWriter(self.log, epoch, self.secrets.scrub)]
        traces = (self.trace, self.out if options.output == "json" else None)
        renderers: list[Sink] = [TraceWriter(outlet) for outlet in traces if outlet is not None]
        return [*sinks, *map(AfterEnd, (*renderers, *self.streams.listeners, self._console(options)))]

    def _console(self, options: RunOptions) -> Sink:
        logs = Stream(self._above(self.out), wants_colour(self.streams.out, os.environ))
        changes = Stream(self.diagnostics, wants_colour(self.streams.err, os.environ))
        console = Console(logs=None if options.output == "json" else logs, changes=changes)
        self._shown = console
        if options.is_simulated and options.speed is None:
            self._shown = self._in_order = InOrder(console)
        return self._shown

    @property
    def diagnostics(self) -> Writable:
        """Return where text on stderr goes."""
        return self._above(self.err)

    def _above(self, outlet: Outlet) -> Writable:
        """Return where text of an outlet goes; what is no terminal is no matter of the live lines."""
        is_shown = outlet is self.err or is_terminal(self.streams.out, os.environ)
        return outlet if self.live is None or not is_shown else self.live.above(outlet)

    def advise(self, text: str, at: datetime, *, is_warning: bool = True) -> None:
        """Show advice among what happens; it is no fact, so no record file has it."""
        if self._shown is not None:
            level = "warning" if is_warning else "info"
            self._shown(Entry(n=0, record=NoteRecord(at=at, level=level, text=text)))

    def run(self, nursery: trio.Nursery, on_stdout_lost: Callable[[str], None]) -> None:
        """Start to serve the readers in `nursery`; `on_stdout_lost` learns why stdout has ended."""

        def lost(outlet: Outlet) -> None:
            self._tell(outlet)
            if outlet is self.out:
                on_stdout_lost(_stop_reason(outlet))

        for outlet in self._all():
            nursery.start_soon(outlet.run, lost)

    def _all(self) -> list[Outlet]:
        return [outlet for outlet in (self.log, self.trace, self.out, self.err) if outlet is not None]

    def say(self, *lines: str) -> None:
        """Write lines to stderr, between what happens there."""
        self.diagnostics.write("".join(f"{line}\n" for line in lines))

    def _tell(self, outlet: Outlet) -> None:
        if self._lacks(outlet) and outlet not in self._told:
            self._told.add(outlet)
            self.say(f"error: {outlet.name}: {outlet.failure()}: nothing more is written there")

    def _lacks(self, outlet: Outlet) -> bool:
        """Tell whether something is missing that somebody wants: a reader who leaves stdout wants no more."""
        error = outlet.error
        return error is not None and outlet is not self.err and (outlet is not self.out or error.errno != errno.EPIPE)

    def check_log(self) -> None:
        """Refuse a log that doesn't even take its header; InputError."""
        if self.log is not None and self.log.error is not None:
            self._told.add(self.log)
            raise InputError(f"{self.log.name}: {self.log.failure()}")

    @property
    def has_lost(self) -> bool:
        """Tell whether something that was asked for could not be written."""
        return self._has_lost or any(self._lacks(outlet) for outlet in self._all())

    def lose(self, name: str, why: str) -> None:
        """Say that a file which was asked for could not be written."""
        self._has_lost = True
        self.say(f"error: {name}: {why}")

    def close(self, *, is_hurried: bool) -> None:
        """Hand over the rest, close the files; Ctrl-C, or a moment without a reader when in a hurry, ends the wait."""
        patience = LAST_PATIENCE_SECONDS if is_hurried else None
        if self._in_order is not None:
            self._in_order.flush()
        if self.live is not None:
            self.live.show(())
        with suppress(KeyboardInterrupt):
            for outlet in (self.log, self.trace):
                if outlet is not None:
                    outlet.close(patience)
                    self._tell(outlet)
            self.err.finish(LAST_PATIENCE_SECONDS)
            self.out.finish(patience, on_wait=self._say_waiting)
            self._tell(self.out)
            self.err.finish(patience)

    def _say_waiting(self) -> None:
        self.say("everything has ended; waiting for whoever reads stdout (Ctrl-C leaves without)")
        self.err.finish(0)

    def leave(self) -> None:
        """Hand over what goes in a moment, before the process leaves."""
        if self.live is not None:
            self.live.show(())
        self.err.finish(LAST_PATIENCE_SECONDS)


def shows_live(options: RunOptions, streams: Streams) -> bool:
    """Tell whether there is a live view: on a terminal, of a run at which somebody can look on."""
    has_time = not options.is_simulated or options.speed is not None
    return has_time and not options.plain and is_terminal(streams.err, os.environ)


def open_outputs(options: RunOptions, streams: Streams) -> Outputs:
    """Open what a run writes; InputError for a file that can't be written."""
    outputs = Outputs(
        streams=streams,
        out=Outlet(name="stdout", file=streams.out, tells_loss=options.output != "json"),
        err=Outlet(name="stderr", file=streams.err),
    )
    if shows_live(options, streams):
        outputs.live = LiveLines(outputs.err, partial(size_of, streams.err))
    if options.log is not None:
        outputs.log = _open(options.log, "--log")
    if options.trace is not None:
        outputs.trace = _open(options.trace, "--trace")
    return outputs


def _open(path: Path, option: str) -> Outlet:
    try:
        return open_outlet(path, f"{option} {path}")
    except OSError as error:
        raise InputError(f"{option} {path}: {error.strerror}") from error


def _stop_reason(outlet: Outlet) -> str:
    is_gone = outlet.error is not None and outlet.error.errno == errno.EPIPE
    return "nobody reads the output any more" if is_gone else f"{outlet.name}: {outlet.failure()}"
