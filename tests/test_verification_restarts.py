"""What the rules of restarts and pulls say of small logs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from verification_makers import (
    BROKEN,
    NOTHING,
    OK,
    PLAIN,
    UNKNOWN,
    Records,
    a_pod,
    configured,
    event,
    finding_of,
    ran,
    sidecar,
    status,
    stopped,
)

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.verification import Outcome


def with_policy(policy: str, **more: object) -> str:
    return a_pod({"name": "a", **more}, init=[{"name": "i"}, sidecar("s")], restartPolicy=policy)


def twice(name: str, code: int) -> Records:
    return ran(name, 1, 2, code) + ran(name, 3, 4, n=2)


RULED = {
    "restartPolicy": "Never",
    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
}
AGAIN = [
    ("Always", with_policy("Always"), twice("a", 0), OK),
    ("OnFailure after a failure", with_policy("OnFailure"), twice("a", 1), OK),
    ("OnFailure after success", with_policy("OnFailure"), twice("a", 0), BROKEN),
    ("Never", with_policy("Never"), twice("a", 1), BROKEN),
    ("a rule for its exit code", with_policy("Never", **RULED), twice("a", 42), OK),
    ("a rule for another", with_policy("Never", **RULED), twice("a", 1), BROKEN),
    ("a sidecar under Never", with_policy("Never"), twice("s", 1), OK),
    ("an init container that is done", with_policy("Always"), twice("i", 0), BROKEN),
    ("an init container that failed", with_policy("Always"), twice("i", 1), OK),
    ("an ephemeral container", with_policy("Always"), twice("debug", 1), BROKEN),
    (
        "another image",
        with_policy("Never"),
        twice("a", 1) + status(1.5, a={"image": "x:1"}) + status(3.5, a={"image": "x:2", "restartCount": 1}),
        OK,
    ),
    (
        "a lost sandbox",
        with_policy("Always"),
        ran("i", 1, 2) + event(3, "SandboxChanged") + ran("i", 4, 5, n=2),
        NOTHING,
    ),
    ("an end that isn't told", with_policy("OnFailure"), ran("a", 1) + ran("a", 3, 4, n=2), UNKNOWN),
    (
        "a probe restarts what ended well on its signal",
        with_policy("OnFailure"),
        twice("a", 0)
        + event(1.5, "Killing", "Container a failed liveness probe, will be restarted", "a")
        + stopped("a", 1.6),
        OK,
    ),
]


@pytest.mark.parametrize(("manifest", "records", "expected"), [r[1:] for r in AGAIN], ids=[r[0] for r in AGAIN])
def test_may_restart(manifest: str, records: Records, expected: Outcome) -> None:
    found = finding_of("KE301", manifest, records)
    assert found.outcome is (NOTHING if expected is OK and not found.verdicts else expected)


def crashes(*starts: float) -> Records:
    """Return runs of a tenth of a second."""
    return [r for n, start in enumerate(starts, 1) for r in ran("a", start, start + 0.1, 1, n=n)]


BACK_OFF = [
    ("0, 10, 20", crashes(1, 2, 12.5, 33), OK),
    ("at once a second time", crashes(1, 2, 3), BROKEN),
    ("10 s where 20 are due", crashes(1, 2, 12.5, 23), BROKEN),
    ("a minute where 10 s are due", crashes(1, 2, 70), BROKEN),
    ("a minute, but another pull was going on", crashes(1, 2, 70) + event(30, "Pulling", 'Pulling image "x"', "b"), OK),
    (
        "a kubelet that was restarted forgets",
        [*crashes(1, 2, 3), {"t": 2.5, "kind": "step", "what": "kubelet restart"}],
        NOTHING,
    ),
    (
        "a new series after ten minutes",
        ran("a", 1, 2, 1) + ran("a", 3, 700, 1, n=2) + ran("a", 701, 702, 1, n=3),
        NOTHING,
    ),
    ("a first restart", crashes(1, 2), NOTHING),
]


def resized(at: float, cpu: str) -> Records:
    told = {"containers": [{"name": "a", "resources": {"requests": {"cpu": cpu}}}], "generation": 2}
    return event(at, "ResizeStarted", f"Pod resize started: {json.dumps(told)}")


def failed(*times: float) -> Records:
    return [{**r, "type": "Warning"} for at in times for r in event(at, "Failed", "Error: no space left", "a")]


def killed_for(text: str, *ends: tuple[float, float, float]) -> Records:
    """Return runs that were killed: when each began, was stopped and ended."""
    return [
        r
        for n, (start, stop, end) in enumerate(ends, 1)
        for r in ran("a", start, end, 137, n=n) + event(stop, "Killing", text, "a") + stopped("a", stop, n=n)
    ]


LIVENESS = "Container a failed liveness probe, will be restarted"
KUBELET_RESTART: Records = [{"t": 5.0, "kind": "step", "what": "kubelet restart"}]
RULE = [{"t": 2.3, "kind": "status", "pod": "p", "phase": "Running", "conditions": {"AllContainersRestarting": "True"}}]
# Where a series begins anew, where it goes on, and where a start that failed made it longer.
SERIES = [
    ("a resize begins a new series", crashes(1, 2, 3, 13.5, 34) + resized(2.5, "50m"), OK),
    ("and that is judged from then on", crashes(1, 2, 3, 13.5, 24) + resized(2.5, "50m"), BROKEN),
    (
        "the size that it had goes on with its series",
        crashes(1, 2, 3, 4) + resized(2.5, "50m") + resized(3.5, ""),
        NOTHING,
    ),
    (
        "a resize of another container begins none",
        crashes(1, 2, 3) + event(2.5, "ResizeStarted", "Pod resize started: {}"),
        BROKEN,
    ),
    ("a start that failed without a run doubles the delay", crashes(1, 2, 33) + failed(12.5), OK),
    ("and nothing less", crashes(1, 2, 20) + failed(12.5), BROKEN),
    (
        "a kubelet that was restarted while it ran forgets",
        ran("a", 1, 1.1, 1) + ran("a", 2, 9, 1, n=2) + ran("a", 9.5, 9.6, 1, n=3) + KUBELET_RESTART,
        NOTHING,
    ),
    (
        "and then counts from the start",
        ran("a", 1, 1.1, 1) + ran("a", 2, 9, 1, n=2) + ran("a", 9.5, 9.6, 1, n=3) + ran("a", 11, n=4) + KUBELET_RESTART,
        BROKEN,
    ),
    ("a restart of all has no delay and keeps the entry", crashes(1, 2, 3, 13.5) + RULE, OK),
    ("and does not forget", crashes(1, 2, 3, 4) + RULE, BROKEN),
    (
        "a sync that was slow to stop what it then restarts",
        killed_for(LIVENESS, (1, 5, 6), (9, 13, 14), (17, 21, 22)) + ran("a", 25, 26, 1, n=4),
        OK,
    ),
    (
        "crashes after probe kills wait",
        killed_for(LIVENESS, (1, 5, 6), (6.1, 11, 12)) + ran("a", 12.1, 13, 1, n=3) + ran("a", 14, n=4),
        BROKEN,
    ),
    (
        "a main that waits for a sidecar in its own back-off",
        crashes(1, 2, 70) + ran("s", 0.5, 1.9, 1) + ran("s", 69, n=2),
        OK,
    ),
]


@pytest.mark.parametrize(("records", "expected"), [r[1:] for r in SERIES], ids=[r[0] for r in SERIES])
def test_a_series_of_back_offs(records: Records, expected: Outcome) -> None:
    manifest = a_pod({"name": "a", "resources": {"requests": {"cpu": "100m"}}}, init=[sidecar("s")])
    assert finding_of("KE302", manifest, records).outcome is expected


@pytest.mark.parametrize(("records", "expected"), [r[1:] for r in BACK_OFF], ids=[r[0] for r in BACK_OFF])
def test_back_off(records: Records, expected: Outcome) -> None:
    assert finding_of("KE302", PLAIN, records).outcome is expected


def test_the_longest_back_off_is_configured() -> None:
    at_ten = crashes(1, 2, 12.5, 23)
    assert finding_of("KE302", PLAIN, at_ten).outcome is BROKEN
    terms = configured("crashLoopBackOff: {maxContainerRestartPeriod: 10s}\n")
    assert finding_of("KE302", PLAIN, at_ten, terms).outcome is OK


def test_a_probe_kill_is_restarted_in_its_own_sync() -> None:
    killed = [
        r
        for n in (1, 2, 3)
        for r in (
            ran("a", 10.0 * n, 10.0 * n + 9, 137, n=n)
            + event(10.0 * n + 8.9, "Killing", "Container a failed liveness probe, will be restarted", "a")
            + stopped("a", 10.0 * n + 8.9, n=n)
        )
    ]
    assert finding_of("KE302", PLAIN, killed).outcome is NOTHING


RUNS = [
    ("one after the other", "KE303", ran("a", 1, 2) + ran("a", 3, n=2), OK),
    ("over each other", "KE303", ran("a", 1, 4) + ran("a", 3, n=2), BROKEN),
    ("an end that isn't told", "KE303", ran("a", 1) + ran("a", 3, n=2), UNKNOWN),
    ("restarts rise", "KE304", status(1, a={}) + status(2, a={"restartCount": 1}), OK),
    ("restarts fall", "KE304", status(1, a={"restartCount": 2}) + status(2, a={"restartCount": 1}), BROKEN),
    (
        "restarts of another pod",
        "KE304",
        [*status(1, a={"restartCount": 2}), {"t": 1.5, "kind": "deleted", "pod": "p"}, *status(2, a={})],
        OK,
    ),
]


@pytest.mark.parametrize(("code", "records", "expected"), [r[1:] for r in RUNS], ids=[r[0] for r in RUNS])
def test_runs(code: str, records: Records, expected: Outcome) -> None:
    assert finding_of(code, PLAIN, records).outcome is expected


def pulled(name: str, at: float, took: str, pod: str = "p") -> Records:
    message = f'Successfully pulled image "{name}" in {took} (20s including waiting). Image size: 1 bytes.'
    records = event(0.5, "Pulling", f'Pulling image "{name}"', name) + event(at, "Pulled", message, name)
    return [{**record, "pod": pod} for record in records]


PULLS = [
    ("one after the other", pulled("a", 5, "4s") + pulled("b", 10, "4s"), "", OK),
    ("two at a time by default", pulled("a", 5, "4s") + pulled("b", 6, "4s"), "", BROKEN),
    (
        "two at a time as configured",
        pulled("a", 5, "4s") + pulled("b", 6, "4s"),
        "serializeImagePulls: false\nmaxParallelImagePulls: 2\n",
        OK,
    ),
    ("any number", pulled("a", 5, "4s") + pulled("b", 6, "4s"), "serializeImagePulls: false\n", OK),
    ("too close to tell", pulled("a", 5, "4s") + pulled("a", 9.2, "4s", "q"), "", UNKNOWN),
    ("one pod's pulls follow each other", pulled("a", 5, "4s") + pulled("b", 9.2, "4s"), "", OK),
    ("a length that can't be read", pulled("a", 5, "4y"), "", NOTHING),
]


@pytest.mark.parametrize(("records", "configuration", "expected"), [r[1:] for r in PULLS], ids=[r[0] for r in PULLS])
def test_pulls(records: Records, configuration: str, expected: Outcome) -> None:
    assert finding_of("KE305", PLAIN, records, configured(configuration)).outcome is expected


def test_pulls_at_a_time_are_unknown_without_a_configuration() -> None:
    assert finding_of("KE305", PLAIN, pulled("a", 5, "4s") + pulled("b", 6, "4s")).outcome is UNKNOWN
    assert finding_of("KE305", PLAIN, pulled("a", 5, "4s")).outcome is OK
