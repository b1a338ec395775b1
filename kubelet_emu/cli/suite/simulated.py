"""Scenarios in virtual time: each has a clock and a machine of its own, so they share nothing and run in processes.

A worker process takes one scenario after the other from its pipe; the parent hands them out, so that the long ones
begin first and an interrupt leaves what is known. Workers end when their pipe does.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, cast

from attrs import evolve

from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.scenarios.runner import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from kubelet_emu.cli.suite.options import SuiteOptions
    from kubelet_emu.cli.suite.places import Listener, Place
    from kubelet_emu.scenarios.scenario_file import Scenario

FEW = 4
"""So few scenarios are over before a second process has begun."""
DIED = "the process that ran this scenario died"


def simulated_place(options: SuiteOptions) -> Place:
    """Return the place where scenarios run in virtual time."""
    world = SimulatedWorld(seed=options.seed, timing=options.timing, seccomp_profile_root=options.seccomp_profile_root)

    def run(scenarios: Sequence[Scenario], jobs: int, listener: Listener) -> None:
        if jobs == 1 or len(scenarios) <= FEW:
            for scenario in scenarios:
                listener.began(scenario)
                listener.ended(scenario, run_one(scenario, world))
        else:
            _run_in_processes(scenarios, world, min(jobs, len(scenarios)), listener)

    return run


def run_one(scenario: Scenario, world: SimulatedWorld) -> Outcome:
    """Run one scenario; a bug that shows in it is its outcome, so that the others go on."""
    began_at = time.perf_counter()
    try:
        outcome = run_simulated(scenario, world)
    except Exception as bug:  # noqa: BLE001 - the edge of one scenario
        outcome = Outcome(name=scenario.name, error=explain(bug).text)
    return evolve(outcome, seconds=time.perf_counter() - began_at)


def _run_in_processes(scenarios: Sequence[Scenario], world: SimulatedWorld, count: int, listener: Listener) -> None:
    """Keep each worker busy with one scenario; a worker that dies is the outcome of the one that it had."""
    left = iter(scenarios)
    busy: dict[Connection, Scenario] = {}

    def hand_out(worker: Connection) -> None:
        if (scenario := next(left, None)) is not None:
            worker.send(scenario)
            busy[worker] = scenario
            listener.began(scenario)

    with ExitStack() as stack:
        for _ in range(count):
            hand_out(stack.enter_context(_worker(world)))
        while busy:
            for worker in cast("list[Connection]", wait(list(busy))):
                scenario = busy.pop(worker)
                try:
                    listener.ended(scenario, worker.recv())
                    hand_out(worker)
                except EOFError:
                    listener.ended(scenario, Outcome(name=scenario.name, error=DIED))
                    hand_out(stack.enter_context(_worker(world)))


@contextmanager
def _worker(world: SimulatedWorld) -> Iterator[Connection]:
    """Give the pipe to a new process; it is ended on the way out, whatever it does."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=work, args=(theirs, world), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.terminate()
        process.join()


def work(pipe: Connection, world: SimulatedWorld) -> None:
    """Run what comes through a pipe until it closes; the parent answers for interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError):
        while True:
            pipe.send(run_one(pipe.recv(), world))
