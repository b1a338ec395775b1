"""What the rules of starts say of small logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from verification_makers import (
    BROKEN,
    HOOK,
    NOTHING,
    OK,
    SLEEP,
    UNKNOWN,
    Records,
    a_pod,
    event,
    finding_of,
    line,
    ran,
    sidecar,
    status,
    stopped,
    with_hook,
)

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.verification import Outcome

ONE_INIT = a_pod(init=[{"name": "i"}])
TWO_INITS = a_pod(init=[{"name": "i"}, {"name": "j"}])
ONE_SIDECAR = a_pod(init=[sidecar("s")])
TWO_SIDECARS = a_pod(init=[sidecar("s"), sidecar("t")])
PROBED = a_pod(init=[sidecar("s", startupProbe={"exec": {"command": ["true"]}})])
PROBE_KILL = event(8.5, "Killing", "Init container s failed liveness probe", "s")
STARTED_ONCE = (
    status(2, s={"started": False})
    + status(4, s={"started": True})
    + status(9.3, s={"started": False, "restartCount": 1})
    + status(20, s={"started": False, "restartCount": 1})
)

STARTS = [
    ("an init container after the one before", "KE101", TWO_INITS, ran("i", 1, 2) + ran("j", 3, 4), OK),
    ("an init container while the one before runs", "KE101", TWO_INITS, ran("i", 1, 4) + ran("j", 3, 5), BROKEN),
    ("after one that failed", "KE101", TWO_INITS, ran("i", 1, 2, 1) + ran("j", 3, 4), BROKEN),
    ("after one that never ran", "KE101", TWO_INITS, ran("j", 3, 4), BROKEN),
    ("after one that is still running at the end", "KE101", TWO_INITS, ran("i", 1) + ran("j", 3, 4), BROKEN),
    ("a log that begins later shows no order", "KE101", TWO_INITS, line(3, "j", "hello"), UNKNOWN),
    (
        "a failed try before the good one",
        "KE101",
        TWO_INITS,
        ran("i", 1, 2, 1) + ran("i", 3, 4, n=2) + ran("j", 5, 6),
        OK,
    ),
    ("a main after init", "KE105", ONE_INIT, ran("i", 1, 2) + ran("a", 3), OK),
    ("a main while init runs", "KE105", ONE_INIT, ran("i", 1, 4) + ran("a", 3), BROKEN),
    ("what follows a sidecar after it", "KE102", ONE_SIDECAR, ran("s", 1) + ran("a", 2), OK),
    ("what follows a sidecar before it", "KE102", ONE_SIDECAR, ran("s", 2) + ran("a", 1), BROKEN),
    ("a main without its sidecar", "KE102", ONE_SIDECAR, ran("a", 1), BROKEN),
    (
        "lines alone don't tell when a sidecar began",
        "KE102",
        ONE_SIDECAR,
        line(2, "s", "x") + line(1, "a", "y"),
        UNKNOWN,
    ),
    (
        "a main's own restart needs no new sidecar",
        "KE102",
        ONE_SIDECAR,
        ran("s", 1) + ran("a", 2, 3) + ran("a", 4, n=2),
        OK,
    ),
    (
        "after a lost sandbox the sidecar comes first again",
        "KE102",
        ONE_SIDECAR,
        ran("s", 1, 5) + ran("a", 2, 5) + event(6, "SandboxChanged") + ran("a", 7, n=2) + ran("s", 8, n=2),
        BROKEN,
    ),
    (
        "a main behind a startup probe that succeeded",
        "KE103",
        PROBED,
        ran("s", 1) + status(2, s={"started": False}) + status(4, s={"started": True}) + ran("a", 4.5),
        OK,
    ),
    (
        "a main before the startup probe succeeded",
        "KE103",
        PROBED,
        ran("s", 1) + status(2, s={"started": False}) + ran("a", 2.5) + status(9, s={"started": True}),
        BROKEN,
    ),
    (
        "a main while the probe goes on failing",
        "KE103",
        PROBED,
        ran("s", 1) + ran("a", 2) + status(5, s={"started": False}),
        BROKEN,
    ),
    (
        "a sidecar that was restarted by the sync that starts the main",
        "KE103",
        PROBED,
        ran("s", 1, 9) + ran("s", 9.1, n=2) + ran("a", 9.2) + STARTED_ONCE + stopped("s", 8.5) + PROBE_KILL,
        OK,
    ),
    (
        "a sidecar that ended by itself holds the main back again",
        "KE103",
        PROBED,
        ran("s", 1, 9) + ran("s", 9.1, n=2) + ran("a", 9.2) + STARTED_ONCE,
        BROKEN,
    ),
    ("nothing tells of the probe", "KE103", PROBED, ran("s", 1) + ran("a", 2), UNKNOWN),
    ("the probe's sidecar doesn't show", "KE103", PROBED, ran("a", 2), NOTHING),
]


@pytest.mark.parametrize(
    ("code", "manifest", "records", "expected"), [r[1:] for r in STARTS], ids=[r[0] for r in STARTS]
)
def test_starts(code: str, manifest: str, records: Records, expected: Outcome) -> None:
    assert finding_of(code, manifest, records).outcome is expected


POST_START = a_pod(with_hook("a", "postStart", HOOK), {"name": "b"})
GATES = [
    (
        "the hook has ended",
        POST_START,
        ran("a", 1) + line(1.1, "a", "Hook") + line(4.1, "a", "Hooked") + ran("b", 4.3),
        OK,
    ),
    (
        "the hook runs",
        POST_START,
        ran("a", 1) + line(1.1, "a", "Hook") + line(4.1, "a", "Hooked") + ran("b", 2),
        BROKEN,
    ),
    ("nothing tells of the hook's end", POST_START, ran("a", 1) + line(1.1, "a", "Hook") + ran("b", 2), UNKNOWN),
    (
        "a sleep's length is known",
        a_pod(with_hook("a", "postStart", SLEEP), {"name": "b"}),
        ran("a", 1) + ran("b", 3),
        BROKEN,
    ),
    ("nothing starts later", POST_START, ran("a", 1), NOTHING),
]


@pytest.mark.parametrize(("manifest", "records", "expected"), [r[1:] for r in GATES], ids=[r[0] for r in GATES])
def test_post_start_gate(manifest: str, records: Records, expected: Outcome) -> None:
    assert finding_of("KE104", manifest, records).outcome is expected
