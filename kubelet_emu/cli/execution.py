"""A run as a whole: read, refuse, open the records, run the session, sum up, choose the exit status."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, evolve, field

from kubelet_emu.cli.diagnostics import send_diagnostics
from kubelet_emu.cli.exit_status import BAD_INPUT, Why, exit_status, outcome_of
from kubelet_emu.cli.failures import InputError, explain
from kubelet_emu.cli.going_on import RunFolder, digest_of, how_to_remove
from kubelet_emu.cli.hint_watch import HintWatch
from kubelet_emu.cli.outputs import open_outputs
from kubelet_emu.cli.planning import make_plan
from kubelet_emu.cli.pull_watch import PullWatch
from kubelet_emu.cli.reach import Reach
from kubelet_emu.cli.run_plan import Plan, Running
from kubelet_emu.cli.session import Session
from kubelet_emu.cli.sinks import AfterEnd
from kubelet_emu.cli.wait_watch import WaitWatch
from kubelet_emu.config.told import tell
from kubelet_emu.journal.console import wants_colour
from kubelet_emu.journal.journal import Journal
from kubelet_emu.journal.records import HeaderRecord, NoteRecord
from kubelet_emu.journal.redact import Redactor
from kubelet_emu.journal.summary import summarize
from kubelet_emu.journal.summary_text import format_summary
from kubelet_emu.kubelet.timebase import Timebase
from kubelet_emu.rules.backoff import crash_loop_backoff

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from kubelet_emu.cli.live.screen import Screen
    from kubelet_emu.cli.live_lines import LiveLines
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.cli.outputs import Outputs, Streams
    from kubelet_emu.cli.session import Emulator
    from kubelet_emu.control.protocol import Message
    from kubelet_emu.control.serving import Control
    from kubelet_emu.images.outcome import PullUpdate
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.journal import Sink
    from kubelet_emu.journal.records import Record


def execute(
    options: RunOptions, streams: Streams, open_emulator: Callable[[Running], AbstractAsyncContextManager[Emulator]]
) -> int:
    """Do a run and return its exit status; every error ends here as text."""
    send_diagnostics(streams.err)
    try:
        plan = make_plan(options, streams)
        if plan is None:
            return BAD_INPUT
        return trio.run(run_plan, plan, streams, open_emulator, clock=clock_of(options))
    except BaseException as error:  # noqa: BLE001 - the edge of the program
        failure = explain(error)
        print(failure.text, file=streams.err)
        return failure.status


def clock_of(options: RunOptions) -> trio.abc.Clock | None:
    """Return the clock of a simulated run, None for the machine's."""
    if not options.is_simulated:
        return None
    from kubelet_emu.cli.simulation import virtual_clock

    return virtual_clock(options.speed)


def _timebase(options: RunOptions) -> Timebase:
    """Return the timebase of a run, its epoch settled."""
    if options.is_simulated:
        from kubelet_emu.simulator.opening import virtual_timebase

        return virtual_timebase()
    timebase = Timebase.real()
    timebase.seconds()
    return timebase


class Companion(Protocol):
    """What accompanies a run, and may end it."""

    async def during(self, session: Session, say: Callable[[str], None]) -> None:
        """Be with a run until cancelled; `say` tells the user something."""


async def run_plan(
    plan: Plan,
    streams: Streams,
    open_emulator: Callable[[Running], AbstractAsyncContextManager[Emulator]],
    companion: Companion | None = None,
) -> int:
    """Run a plan with its records open; returns the exit status."""
    outputs = open_outputs(plan.options, streams)
    send_diagnostics(outputs.diagnostics, outputs.secrets.scrub)
    run = _Run(plan=plan, outputs=outputs, timebase=_timebase(plan.options), companion=companion)
    is_hurried = True
    try:
        why = await run.to_its_end(open_emulator)
        is_hurried = why in {Why.TIMEOUT, Why.FORCED}
    finally:
        outputs.close(is_hurried=is_hurried)
    outcome = outcome_of(run.session.facts, why)
    return exit_status(evolve(outcome, has_lost_records=outputs.has_lost), plan.options.fail_on)


@define(eq=False, kw_only=True)
class _Run:
    """The journal of a run and the session that listens to it."""

    plan: Plan
    outputs: Outputs
    timebase: Timebase
    companion: Companion | None = None
    session: Session = field(init=False)
    journal: Journal = field(init=False)
    hints: HintWatch = field(init=False)
    waits: WaitWatch = field(init=False)
    pulls: PullWatch = field(init=False)
    screen: Screen | None = field(default=None, init=False)
    reach: Reach | None = field(default=None, init=False)
    folder: RunFolder = field(init=False)
    _drawn: list[Entry] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        """Build session and journal."""
        options = self.plan.options
        self.folder = RunFolder(self.plan.instance)
        more: list[Sink] = [] if options.timeline is None else [AfterEnd(self._drawn.append)]
        if not options.is_simulated:
            more.append(self.folder)
        self.session = Session(
            emit=self.emit,
            abandon=self._abandon,
            delete_when=options.delete_when,
            timeout=options.timeout,
            grace_period=options.grace_period,
            keep=options.keep,
            until=options.until if options.is_simulated else None,
            has_engine=not options.is_simulated,
        )
        self.hints = HintWatch(self.session.facts, self._hint)
        self.waits = WaitWatch(self.session.facts, self._tell_waiting)
        self.pulls = PullWatch(self._tell_of_pull if self.outputs.live is None else None)
        if not options.is_simulated:
            self.reach = Reach(self.plan, self.timebase.epoch, self._pulls_told, self.outputs.secrets.clean_object)
        if self.outputs.live is not None:
            self.screen = self._screen(self.outputs.live)
        watching = () if self.screen is None else (AfterEnd(self.screen),)
        kept = () if self.reach is None else self.reach.sinks
        shown = self.outputs.sinks(self.timebase.epoch, options)
        self.journal = Journal(
            now=self.timebase.now,
            sinks=(*shown, *more, *kept, self.session, self.hints, self.waits, *watching),
            redactor=Redactor(key=self._redaction_key(), log_values=options.log_values),
            secrets=self.outputs.secrets,
        )

    def _screen(self, lines: LiveLines) -> Screen:
        """Return the live view of the run."""
        from kubelet_emu.cli.live.facts import LiveFacts
        from kubelet_emu.cli.live.screen import Screen

        period = self.plan.configuration.max_container_restart_period_seconds
        return Screen(
            live=LiveFacts(self.session.facts, crash_loop_backoff(self.plan.features, period)),
            lines=lines,
            now=self.timebase.now,
            size=lines.size,
            pulls=self.pulls.views,
            has_colour=wants_colour(self.outputs.streams.err, os.environ),
            pace=self.plan.options.speed or 1.0,
        )

    def _pulls_told(self) -> list[Message]:
        from kubelet_emu.cli.live.told_pulls import tell

        return tell(self.pulls.views())

    def _on_pull(self, update: PullUpdate) -> None:
        self.pulls(update)
        if self.screen is not None:
            self.screen.wake()

    def _redaction_key(self) -> bytes:
        """Return the key of digests: a secret one, but in a simulated run one that the seed decides."""
        return f"seed {self.plan.seed}".encode() if self.plan.options.is_simulated else os.urandom(16)

    def emit(self, record: Record) -> None:
        """Emit a record."""
        self.journal.emit(record)

    def _hint(self, text: str) -> None:
        self.outputs.advise(f"hint: {text}", self.timebase.now())

    def _tell_waiting(self, text: str) -> None:
        self.outputs.advise(f"waiting: {text}", self.timebase.now(), is_warning=False)

    def _tell_of_pull(self, text: str) -> None:
        self.outputs.advise(text, self.timebase.now(), is_warning=False)

    async def to_its_end(self, open_emulator: Callable[[Running], AbstractAsyncContextManager[Emulator]]) -> Why:
        """Run the session with somebody serving the readers, sum up, and return what ended it."""
        async with trio.open_nursery() as readers:
            self.emit(_header(self.plan, self.timebase))
            self.outputs.check_log()
            self.outputs.run(readers, self.session.leave)
            readers.start_soon(self.hints.run)
            readers.start_soon(self.waits.run)
            readers.start_soon(self.pulls.run)
            if self.screen is not None:
                readers.start_soon(self.screen.run)
            if self.companion is not None:
                readers.start_soon(self.companion.during, self.session, self.outputs.say)
            why = await self._in_its_folder(open_emulator)
            readers.cancel_scope.cancel()
        self._sum_up(why)
        if self.plan.options.timeline is not None:
            self._draw(self.plan.options.timeline)
        if self.plan.options.keep and self.plan.dead is None:
            self.outputs.say(how_to_remove(self.plan.instance.root))
        return why

    def _sum_up(self, why: Why) -> None:
        """Say what became of the run: to people, and as the last line of JSON."""
        facts = self.session.facts
        self.outputs.err.write(self.outputs.secrets.scrub(format_summary(summarize(facts), _width())))
        if self.plan.options.output == "json":
            from kubelet_emu.journal.summary_json import summary_object

            found = summary_object(facts, why.value, self.timebase.now())
            self.outputs.out.write(json.dumps(found, ensure_ascii=False) + "\n")

    def _draw(self, path: Path) -> None:
        """Write the run's timeline; a file that can't be written is said."""
        from kubelet_emu.cli.timeline import picture_of

        try:
            path.write_text(picture_of(self._drawn, path.suffix), encoding="utf-8")
        except OSError as error:
            self.outputs.lose(f"--timeline {path}", str(error.strerror))

    async def _in_its_folder(self, open_emulator: Callable[[Running], AbstractAsyncContextManager[Emulator]]) -> Why:
        """Run the session; its folder goes with it, unless something is kept or left."""
        instance, options = self.plan.instance, self.plan.options
        control = None if self.reach is None else self._make_folder(self.reach)
        running = Running(
            plan=self.plan,
            emit=self.emit,
            timebase=self.timebase,
            on_pull=self._on_pull,
            control=control,
            clean=self.outputs.secrets.clean_object,
        )
        try:
            return await self.session.run(lambda: open_emulator(running))
        finally:
            if self.reach is not None:
                self.reach.close(self.outputs.say)
            if self.plan.dead is not None and not self.folder.is_cleaned():
                self.outputs.say(how_to_remove(instance.root))
            elif not (options.is_simulated or options.keep or self.session.left()):
                instance.remove()

    def _make_folder(self, reach: Reach) -> Control:
        """Make the state folder, or go on with the one of the run before; InputError where that can't be done."""
        plan = self.plan
        is_made = False
        try:
            if plan.dead is None:
                plan.instance.create()
                is_made = True
            self.folder.begin(plan.options, digest_of(plan.inputs.sources), plan.seed, plan.starts)
            control = reach.open()
        except OSError as error:
            told = InputError(f"--root-dir: {error.filename or plan.instance.path}: {error.strerror or error}")
            if plan.dead is not None:
                told.add_note(how_to_remove(plan.instance.root))
            if is_made:
                plan.instance.remove()
            raise told from error
        if plan.dead is not None:
            what = ", ".join(f"{obj.kind.lower()}/{obj.metadata.name}" for obj in plan.dead.kept.objects)
            text = f"goes on with the run {plan.dead.id}, whose process was killed: {what}"
            self.emit(NoteRecord(text=f"{text}; --replace starts anew"))
        return control

    def _abandon(self, because: str, status: int) -> None:
        """Leave the process at once, naming what is left."""
        lines = [f"left running: {name}" for name in self.session.left()]
        self.outputs.say(f"{because}: leaving at once", *lines, how_to_remove(self.plan.instance.root))
        self.outputs.leave()
        os._exit(status)


def _header(plan: Plan, timebase: Timebase) -> HeaderRecord:
    import kubelet_emu

    return HeaderRecord(
        at=timebase.epoch,
        version=kubelet_emu.__version__,
        kubernetes=f"v{plan.options.kubernetes.removeprefix('v')}",
        epoch=timebase.epoch,
        seed=plan.seed,
        timing=plan.options.timing_name,
        instance=plan.instance.id,
        runtime={"name": plan.options.runtime},
        features=plan.features.overrides,
        config=tell(plan.configuration),
    )


def _width() -> int:
    return shutil.get_terminal_size((80, 24)).columns
