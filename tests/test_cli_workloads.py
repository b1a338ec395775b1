"""Runs of Deployments, StatefulSets, DaemonSets and CronJobs: what they make, and when such a run ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from test_cli_programs import APP, Seen, job, simulate

import kubelet_emu

if TYPE_CHECKING:
    from pathlib import Path

SAFE = "[bcdfghjklmnpqrstvwxz2456789]"


def workload(kind: str, name: str = "w", spec: str = "", pod: str = "") -> str:
    """Return a workload with container c."""
    template = f"template: {{metadata: {{labels: {{a: b}}}}, spec: {{{pod}containers: [{{name: c, {APP}}}]}}}}"
    head = f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n"
    return f"{head}spec: {{selector: {{matchLabels: {{a: b}}}}, {spec}{template}}}\n"


CRON_JOB = f"""\
apiVersion: batch/v1
kind: CronJob
metadata: {{name: nightly}}
spec:
  schedule: "0 3 * * *"
  suspend: true
  jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, {APP}}}]}}}}}}}}
"""


def pods(seen: Seen) -> list[str]:
    """Return the names of the pods in the order of their creation."""
    return list(dict.fromkeys(str(r["pod"]) for r in seen.records if r["kind"] == "status"))


NAMES = [
    ("Deployment", "replicas: 2, ", [f"w-{SAFE}{{6,10}}-{SAFE}{{5}}"] * 2),
    ("ReplicaSet", "replicas: 2, ", [f"w-{SAFE}{{5}}"] * 2),
    ("StatefulSet", "replicas: 2, ordinals: {start: 3}, ", ["w-3", "w-4"]),
    ("DaemonSet", "", [f"w-{SAFE}{{5}}"]),
]


@pytest.mark.parametrize(("kind", "spec", "patterns"), NAMES)
def test_pods_are_named_as_their_controllers_name_them(
    kind: str, spec: str, patterns: list[str], tmp_path: Path
) -> None:
    seen = simulate(tmp_path, workload(kind, spec=spec), "", "--delete-when", "ready+1")
    found = pods(seen)
    assert len(found) == len(patterns)
    assert all(re.fullmatch(pattern, name) for name, pattern in zip(found, patterns, strict=True))
    assert seen.status == 0
    assert len(seen.codes("c")) == len(patterns), "all of them were stopped, and none was made anew"


def test_a_workload_runs_until_it_is_stopped(tmp_path: Path) -> None:
    seen = simulate(tmp_path, workload("Deployment") + "---\n" + job(f"{{name: x, {APP}}}"), "", "--until", "40")
    assert seen.status == 0
    assert seen.length("c") == pytest.approx(40, abs=2)


def test_without_replicas_a_run_ends_at_once(tmp_path: Path) -> None:
    seen = simulate(tmp_path, workload("Deployment", spec="replicas: 0, "))
    assert (seen.status, pods(seen)) == (0, [])
    assert "replicas is 0: it makes no pods" in seen.err


def test_ready_waits_for_every_ordinal(tmp_path: Path) -> None:
    probe = "minReadySeconds: 10, replicas: 3, "
    seen = simulate(tmp_path, workload("StatefulSet", spec=probe), "", "--delete-when", "ready")
    assert pods(seen) == ["w-0", "w-1", "w-2"]


@pytest.mark.parametrize("name", ["w", "w-*"])
def test_a_container_of_a_deployment_is_named_by_it(name: str, tmp_path: Path) -> None:
    simulation = f"containers: {{'{name}/c': {{lines: [hello]}}}}\n"
    seen = simulate(tmp_path, workload("Deployment"), simulation, "--delete-when", "w/c started+1")
    assert seen.lines("c") == ["hello"]
    assert "Not used" not in seen.err


def test_a_cron_job_is_not_run_by_itself(tmp_path: Path) -> None:
    seen = simulate(tmp_path, CRON_JOB)
    assert seen.status == 2
    assert "CronJob/nightly is not run: a schedule is not kept, run --now runs its Job once" in seen.err
    assert "nothing to run" in seen.err


def test_a_cron_job_runs_now_when_it_is_told_to(tmp_path: Path) -> None:
    seen = simulate(tmp_path, CRON_JOB, "", "--now")
    minutes = 29453760  # of the virtual clock's beginning, as the controller names Jobs
    assert seen.status == 0
    assert re.fullmatch(f"nightly-{minutes}-{SAFE}{{5}}", pods(seen)[0])
    assert seen.events("SuccessfulCreate")[0] == f"Created job nightly-{minutes}"
    assert f"job/nightly-{minutes}  Complete" in seen.err


def test_a_program_gets_the_pods_of_a_workload() -> None:
    with kubelet_emu.node() as node:
        made = node.apply(workload("Deployment", spec="replicas: 2, "))
        assert len(made) == 2
        one = node.run(workload("StatefulSet", "db", spec="replicas: 2, "))
        assert one.name == "db-0"
        assert node.apply(workload("ReplicaSet", "none", spec="replicas: 0, ")) == ()


def test_a_program_that_wants_one_pod_is_told_what_there_is() -> None:
    with kubelet_emu.node() as node, pytest.raises(kubelet_emu.ManifestError, match="this has 2"):
        node.run(workload("Deployment", "a") + "---\n" + workload("Deployment", "b"))


STOPPED = re.compile(r"^[+]([0-9.]+)s (.*)/c Killing: ", re.MULTILINE)
SLOW = """\
containers:
  "w/c": {onTerm: {after: 3}}
  "db/c": {onTerm: {after: 2}}
"""


def stopped(seen: Seen) -> list[tuple[str, float]]:
    """Return when each pod was stopped, a Deployment's by its name."""
    return [
        (name.partition("-")[0] if name.startswith("w-") else name, float(at)) for at, name in STOPPED.findall(seen.err)
    ]


def a_folder(**spec: str) -> str:
    return workload("StatefulSet", "db", spec=spec.get("spec", "replicas: 2, ")) + "---\n" + workload("Deployment")


def test_a_run_is_stopped_in_order_stateful_sets_last(tmp_path: Path) -> None:
    seen = simulate(tmp_path, a_folder(), SLOW, "--until", "20")
    (web, at), (second, later), (first, last) = stopped(seen)
    assert (web, second, first) == ("w", "db-1", "db-0")
    assert (at, later - at, last - later) == (20.0, pytest.approx(3, abs=0.5), pytest.approx(2, abs=0.5))
    assert "deleted when the other pods have ended: db-1, db-0" in seen.err
    assert seen.status == 0


def test_ordinals_without_an_order_stop_at_once(tmp_path: Path) -> None:
    seen = simulate(tmp_path, a_folder(spec="replicas: 2, podManagementPolicy: Parallel, "), SLOW, "--until", "20")
    (_, _), (_, one), (_, other) = stopped(seen)
    assert one == other


def test_a_stateful_set_alone_doesnt_wait(tmp_path: Path) -> None:
    seen = simulate(tmp_path, workload("StatefulSet", "db"), SLOW, "--until", "20")
    assert stopped(seen) == [("db-0", 20.0)]
    assert "the other pods" not in seen.err


def test_when_the_time_is_over_all_stop_at_once(tmp_path: Path) -> None:
    seen = simulate(tmp_path, a_folder(), SLOW, "--timeout", "20")
    assert sorted(stopped(seen)) == [("db-0", 20.0), ("db-1", 20.0), ("w", 20.0)]
    assert seen.status == 124


def test_a_pod_that_had_ended_before_holds_nobody_up(tmp_path: Path) -> None:
    manifest = a_folder() + "---\n" + job("{name: x, image: 'app:1', command: [sh, -c, 'exit 0']}")
    seen = simulate(tmp_path, manifest, SLOW, "--until", "20", "--grace-period", "5")
    assert [name for name, _ in stopped(seen)] == ["w", "db-1", "db-0"]
    assert [record["timeout"] for record in seen.records if record.get("what") == "StopContainer"] == [5, 5, 5]


SUSPENDED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: later}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: x, image: 'app:1'}]}}}
"""


def test_a_run_does_not_wait_for_a_suspended_job(tmp_path: Path) -> None:
    seen = simulate(tmp_path, SUSPENDED)
    assert (seen.status, pods(seen)) == (1, [])
    assert "the Job is suspended: it makes no pods, and no run waits for it" in seen.err
    assert "why    JobSuspended: Job suspended" in seen.err


def test_nor_does_one_with_others(tmp_path: Path) -> None:
    other = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    other += "spec: {restartPolicy: Never, containers: [{name: c, image: 'busybox:1', command: [sleep, '5']}]}\n"
    seen = simulate(tmp_path, f"{SUSPENDED}---\n{other}")
    assert seen.status == 1
    assert seen.length("c") == pytest.approx(5, abs=0.5)


def test_nor_for_a_paused_deployment(tmp_path: Path) -> None:
    seen = simulate(tmp_path, workload("Deployment", spec="paused: true, "))
    assert (seen.status, pods(seen)) == (0, [])
    assert "the Deployment is paused: it makes no pods, and no run waits for it" in seen.err


def test_nor_for_a_job_without_parallelism(tmp_path: Path) -> None:
    seen = simulate(tmp_path, SUSPENDED.replace("suspend: true", "parallelism: 0"))
    assert (seen.status, pods(seen)) == (1, [])
    assert "job/later  not finished" in seen.err
