"""What the rules of verdicts say of small logs."""

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
    finding_of,
    ran,
    sidecar,
    status,
)

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.verification import Outcome

ONE_INIT = a_pod(init=[{"name": "i"}])
ONE_SIDECAR = a_pod(init=[sidecar("s")])


def ended(phase: str, reason: str = "", **codes: int) -> Records:
    """Return the last status of a pod whose containers ended with these codes."""
    last = status(9, phase, **{name: {"state": f"terminated:Error:{code}"} for name, code in codes.items()})
    return [{**record, "reason": reason} for record in last]


VERDICTS = [
    ("a sidecar's code doesn't count", ONE_SIDECAR, ended("Succeeded", s=137, a=0), OK),
    ("a pod failed by its sidecar", ONE_SIDECAR, ended("Failed", s=137, a=0), BROKEN),
    ("a pod failed by its main", ONE_SIDECAR, ended("Failed", s=0, a=3), OK),
    ("a pod that succeeded in spite of its main", ONE_SIDECAR, ended("Succeeded", s=0, a=3), BROKEN),
    ("a pod with a reason of its own", ONE_SIDECAR, ended("Failed", "DeadlineExceeded", s=0, a=0), OK),
    ("a failed init container", ONE_INIT, ran("i", 1, 2, 1) + ended("Failed", i=1), OK),
    ("a main that isn't told of", PLAIN, ended("Failed"), UNKNOWN),
    ("a main that never ran", PLAIN, status(9, "Failed", a={"state": "waiting:ContainerCreating"}), OK),
    ("a pod that runs", PLAIN, status(9, "Running", a={}), NOTHING),
]


@pytest.mark.parametrize(("manifest", "records", "expected"), [r[1:] for r in VERDICTS], ids=[r[0] for r in VERDICTS])
def test_a_pods_verdict(manifest: str, records: Records, expected: Outcome) -> None:
    assert finding_of("KE401", manifest, records).outcome is expected


def a_job(policy: str = "Never", **spec: object) -> str:
    template = {"spec": {"restartPolicy": policy, "initContainers": [sidecar("s")], "containers": [{"name": "a"}]}}
    return json.dumps(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "p"}, "spec": {"template": template, **spec}}
    )


def job_is(condition: str, reason: str = "") -> Records:
    return [
        {"t": 10, "kind": "job", "job": "p", "conditions": {condition: "True"}, "conditionReasons": {condition: reason}}
    ]


def of_pod(records: Records) -> Records:
    return [{**record, "pod": "p-x2x4z"} if record.get("pod") else record for record in records]


LIMIT = "BackoffLimitExceeded"
JOBS = [
    ("Complete with a good main", a_job(), ended("Succeeded", s=137, a=0) + job_is("Complete"), OK),
    ("Complete without one", a_job(), ended("Failed", s=0, a=1) + job_is("Complete"), BROKEN),
    ("Failed by a main", a_job(), ended("Failed", s=0, a=1) + job_is("Failed", LIMIT), OK),
    ("Failed by a sidecar", a_job(), ended("Succeeded", s=137, a=0) + job_is("Failed", LIMIT), BROKEN),
    (
        "a sidecar's restarts count with OnFailure",
        a_job("OnFailure"),
        ended("Succeeded", s=137, a=0) + job_is("Failed", LIMIT),
        NOTHING,
    ),
    ("a Job's deadline", a_job(), ended("Succeeded", s=0, a=0) + job_is("Failed", "DeadlineExceeded"), NOTHING),
    ("a pod of which the log has no end", a_job(), status(9, a={}) + job_is("Complete"), UNKNOWN),
]


@pytest.mark.parametrize(("manifest", "records", "expected"), [r[1:] for r in JOBS], ids=[r[0] for r in JOBS])
def test_a_jobs_verdict(manifest: str, records: Records, expected: Outcome) -> None:
    assert finding_of("KE402", manifest, of_pod(records)).outcome is expected
