"""Runs, one after the other: each save of a manifest ends the run that there is, as Ctrl-C would, and begins the next.

A manifest that can't be run says why and changes nothing: what runs goes on. Between two runs, when all pods have ended
by themselves, the next save is waited for. Ctrl-C ends the run and with it the watch.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field

from kubelet_emu.cli.execution import clock_of, run_plan
from kubelet_emu.cli.exit_status import BAD_INPUT, NO_ENGINE, Why
from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.planning import make_plan
from kubelet_emu.cli.session import SIGNALS
from kubelet_emu.cli.watching.saves import LOOK_SECONDS, Saves

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.cli.outputs import Streams
    from kubelet_emu.cli.run_plan import Plan, Running
    from kubelet_emu.cli.session import Emulator, Session


@define(eq=False, kw_only=True)
class Rerunning:
    """All runs of one `run --watch`; `clock` gives the clock of each, `waiting_clock` is the one between them."""

    options: RunOptions
    streams: Streams
    open_emulator: Callable[[Running], AbstractAsyncContextManager[Emulator]]
    clock: Callable[[RunOptions], trio.abc.Clock | None] = clock_of
    waiting_clock: trio.abc.Clock | None = None
    _saves: Saves = field(init=False)
    _next: Plan | None = field(default=None, init=False)
    _session: Session | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Make what looks at the files."""
        self._saves = Saves(self.options)

    def run(self) -> int:
        """Run until the user leaves, or until there is no engine; return the exit status of the last run."""
        status = BAD_INPUT
        self._saves.take()
        self._next = self._read(self._say)
        try:
            while (plan := self._next or trio.run(self._wait, clock=self.waiting_clock)) is not None:
                self._next, self._session = None, None
                status = self._run(plan)
                if status == NO_ENGINE or (self._session is not None and self._session.has_left):
                    break
        except KeyboardInterrupt:
            pass  # between two runs: nothing is left to stop
        return status

    def _run(self, plan: Plan) -> int:
        try:
            return trio.run(run_plan, plan, self.streams, self.open_emulator, self, clock=self.clock(self.options))
        except BaseException as error:  # noqa: BLE001 - the edge of the program
            failure = explain(error)
            self._say(failure.text)
            return failure.status

    async def during(self, session: Session, say: Callable[[str], None]) -> None:
        """Look for saves while a run goes on, and have it make room for the next; until cancelled.

        Not in virtual time that jumps: such a run is over before anybody has saved anything.
        """
        self._session = session
        if self.options.is_simulated and self.options.speed is None:
            return
        self._saves.interval = LOOK_SECONDS * (self.options.speed or 1)
        while True:
            names = ", ".join(await self._saves.next())
            self._next = self._read(say)
            if self._next is None:
                say(f"{names} can't be run: what runs goes on")
            else:
                session.request_stop(f"{names} was saved", Why.REPLACED)

    async def _wait(self) -> Plan | None:
        """Wait for a save that can be run and return its plan; None after Ctrl-C."""
        self._saves.interval = LOOK_SECONDS
        plan: Plan | None = None
        async with trio.open_nursery() as nursery:
            await nursery.start(_cancel_on_signal, nursery.cancel_scope)
            while plan is None:
                self._say(f"waiting for a save of {', '.join(self.options.manifests)} (Ctrl-C ends)")
                await self._saves.next()
                plan = self._read(self._say)
            nursery.cancel_scope.cancel()
        return plan

    def _read(self, say: Callable[[str], None]) -> Plan | None:
        """Return what is to be run now, None when that can't be, which is then said."""
        said = io.StringIO()
        try:
            plan = make_plan(self.options, evolve(self.streams, err=said))
        except Exception as error:  # noqa: BLE001 - what can't be read now may be mended by the next save
            plan = None
            print(explain(error).text, file=said)
        if text := said.getvalue().rstrip("\n"):
            say(text)
        return plan

    def _say(self, text: str) -> None:
        print(text, file=self.streams.err)


async def _cancel_on_signal(
    scope: trio.CancelScope, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(*SIGNALS) as received:
        task_status.started()
        async for _ in received:
            scope.cancel()
