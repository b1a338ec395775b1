"""When failing probes act, by the plan; `test_advice_fuzz` plays the same."""

from __future__ import annotations

import pytest
from advice_makers import POD, subject_of

from kubelet_emu.advice.probing import describe, restarts

A = "{name: a, image: 'a:1', ports: [{name: web, containerPort: 80}], %s}"
LIVE = "livenessProbe: {tcpSocket: {port: 1}, %s}"
START = "startupProbe: {tcpSocket: {port: 1}, %s}"
AGAIN = ", and started again"


def main(*probes: str) -> str:
    """Return the one main of a pod, with these probes."""
    return f"containers: [{A % ', '.join(probes)}]"


# why, the pod's fields, what is said of each probe
SAID = [
    ("the defaults", main(LIVE % ""), [f"is stopped 20 to 32 s after its start{AGAIN}"]),
    ("a delay counts in whole seconds", main(LIVE % "initialDelaySeconds: 30"), [
        f"is stopped 49 to 61 s after its start{AGAIN}"]),
    ("a timeout over the period puts off the next try", main(LIVE % "periodSeconds: 2, timeoutSeconds: 5"),
     [f"is stopped 4 to 18 s after its start{AGAIN}"]),
    ("the first failure is enough", main(LIVE % "failureThreshold: 1, periodSeconds: 5"), [
        f"is stopped 0 to 7 s after its start{AGAIN}"]),
    ("a startup probe gives up", main(START % "periodSeconds: 1, failureThreshold: 60"), [
        f"is stopped 59 to 62 s after its start{AGAIN}"]),
    ("a delay goes on after the startup probe", main(START % "", LIVE % "initialDelaySeconds: 25"),
     [f"is stopped 20 to 32 s after its start{AGAIN}",
      f"is stopped 20 to 56 s after its startup probe succeeded{AGAIN}"]),
    ("what the startup probe waited for", main(START % "initialDelaySeconds: 20", LIVE % "initialDelaySeconds: 25"),
     [f"is stopped 39 to 51 s after its start{AGAIN}",
      f"is stopped 20 to 36 s after its startup probe succeeded{AGAIN}"]),
    ("nothing is started again", "restartPolicy: Never\n  " + main(LIVE % ""), [
        "is stopped 20 to 32 s after its start, and not started again (restartPolicy: Never)"]),
    ("a sidecar is, whatever the pod says", ("restartPolicy: Never\n"
     f"  initContainers: [{A % ('restartPolicy: Always, ' + LIVE % '')}]\n  containers: [{{name: b, image: b}}]"), [
        f"is stopped 20 to 32 s after its start{AGAIN}"]),
    ("a port that isn't there never counts", main("livenessProbe: {httpGet: {port: wbe}}"), []),
    ("a port by its name", main("livenessProbe: {httpGet: {port: web}}"), [
        f"is stopped 20 to 32 s after its start{AGAIN}"]),
    ("a startup probe that never counts lets no other begin",
     main("startupProbe: {httpGet: {port: wbe}}", LIVE % ""), []),
]  # fmt: skip


@pytest.mark.parametrize(("why", "spec", "said"), SAID, ids=[row[0] for row in SAID])
def test_what_is_said_of_failing_probes(why: str, spec: str, said: list[str]) -> None:
    assert [describe(each) for each in restarts(subject_of(POD % spec))] == said
