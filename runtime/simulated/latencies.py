"""How long the simulated engine takes over each call, in seconds of virtual time."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Latencies:
    """Seconds a call takes; all zero unless a test wants an engine's own slowness."""

    run_sandbox: float = 0.0
    stop_sandbox: float = 0.0
    create: float = 0.0
    start: float = 0.0
    remove: float = 0.0
    exec: float = 0.0
    query: float = 0.0
