"""How long the simulated engine takes over each call, in seconds of virtual time."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Latencies:
    """Seconds a call takes.

    `boot` passes between a start and the process's first step, `stop` before the signal is sent, `reap` between a
    process's end and the answer, `exec_end` the same for a command.
    """

    run_sandbox: float = 0.0
    stop_sandbox: float = 0.0
    create: float = 0.0
    start: float = 0.0
    boot: float = 0.0
    stop: float = 0.0
    reap: float = 0.0
    remove: float = 0.0
    exec: float = 0.0
    exec_end: float = 0.0
    dial: float = 0.0
    query: float = 0.0


TYPICAL = Latencies(
    run_sandbox=0.25,
    stop_sandbox=0.05,
    create=0.03,
    start=0.05,
    boot=0.002,
    stop=0.005,
    reap=0.02,
    remove=0.02,
    exec=0.04,
    exec_end=0.005,
    dial=0.01,
)
"""What containerd takes on a node at rest; with it, what follows from something happens after it."""
