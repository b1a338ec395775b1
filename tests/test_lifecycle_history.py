"""A log told as histories: who ran, who stopped whom, why and with what grace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from lifecycle_logs import TRACES, a_log, history_of, recorded, slide

from kubelet_emu.lifecycle.history import ContainerKind, PodHistory, RunHistory, StopCause
from kubelet_emu.lifecycle.hook_facts import witness_of
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.manifests.loading import load_text

if TYPE_CHECKING:
    from pathlib import Path

INIT, SIDECAR, MAIN = ContainerKind.INIT, ContainerKind.SIDECAR, ContainerKind.MAIN


def only(pods: tuple[PodHistory, ...]) -> PodHistory:
    assert len(pods) == 1
    return pods[0]


def run(pod: PodHistory, name: str, n: int = 1) -> RunHistory:
    return next(run for container, run in pod.runs() if container.name == name and run.n == n)


STOPS = [
    ("a deletion has the grace of its request", "grace-30-override-3", StopCause.DELETED, 3.0),
    ("a deletion with grace 0 is one of 1 s", "grace-delete-force-0", StopCause.DELETED, 1.0),
    ("a shorter deletion later changes nothing", "delete-again-with-less-grace", StopCause.DELETED, 12.0),
    ("sidecars end with their pod's mains", "seed-slide-19-job-sidecar", StopCause.ENDED, 30.0),
    ("a deadline gives the spec's grace", "deadline-exceeded", StopCause.DEADLINE, 10.0),
    ("an init container that failed ends its sidecars", "sidecar-init-after-fails-never", StopCause.INIT_FAILED, 30.0),
    ("a node that shuts down", "shutdown-by-priority", StopCause.SHUTDOWN, None),
    ("a static pod whose file is gone", "static-pod-mirror", StopCause.REMOVED, 20.0),
]


@pytest.mark.parametrize(("scenario", "cause", "grace"), [row[1:] for row in STOPS], ids=[row[0] for row in STOPS])
def test_a_stop_of_the_whole_pod(scenario: str, cause: StopCause, grace: float | None) -> None:
    stop = history_of(scenario).pods[0].stops[-1]
    assert (stop.cause, stop.grace) == (cause, grace)


SINGLE = [
    ("a liveness probe may have a grace of its own", "probe-liveness-own-grace", StopCause.LIVENESS),
    ("a startup probe", "probe-startup-fails", StopCause.STARTUP),
    ("a postStart hook that failed", "poststart-fails", StopCause.POST_START),
    ("another image", "image-update-restarts-always", StopCause.CHANGED),
    ("a restart of all containers", "restartall-regular", StopCause.RESTART_ALL),
]


@pytest.mark.parametrize(("scenario", "cause"), [row[1:] for row in SINGLE], ids=[row[0] for row in SINGLE])
def test_a_stop_of_one_container(scenario: str, cause: StopCause) -> None:
    causes = {run.stop.cause for _, run in history_of(scenario).pods[0].runs() if run.stop is not None}
    assert cause in causes


def test_the_pod_of_slide_15() -> None:
    pod = only(history_of("seed-slide-15-sidecar-prestop").pods)
    assert [(c.name, c.kind) for c in pod.containers] == [
        ("init-1", INIT),
        ("sidecar-1", SIDECAR),
        ("init-2", INIT),
        ("sidecar-2", SIDECAR),
        ("regular-1", MAIN),
    ]
    stop = run(pod, "sidecar-1").stop
    assert stop is not None
    assert stop.pre_stop is not None
    assert (stop.timeout, str(stop.term)) == (25.0, "sidecar-1 TERM @23.30")
    assert (str(stop.pre_stop.began), str(stop.pre_stop.ended)) == (
        "sidecar-1 preStop began @18.29",
        "sidecar-1 preStop ended @23.29",
    )
    assert str(run(pod, "regular-1").post_start.began) == "regular-1 postStart began @13.19"  # type: ignore[union-attr]
    assert (pod.phase, str(pod.initialized)) == ("Succeeded", "condition Initialized=True @12.81..13.00")


def test_output_alone_tells_the_stop_of_slide_16() -> None:
    pod = only(recount(slide(16, "slide-15-pod.yaml")).pods)
    terms = {c.name: run.stop.term.high for c, run in pod.runs() if run.stop is not None and run.stop.term is not None}
    assert sorted(terms, key=terms.__getitem__) == ["sidecar-2", "regular-1", "sidecar-1"]
    assert run(pod, "init-1").stop is None, "it writes the word Terminated at its own end"
    assert [stop.cause for stop in pod.stops] == [StopCause.UNKNOWN]


def test_without_a_manifest_kinds_are_unknown() -> None:
    pod = only(recount(slide(16)).pods)
    assert {container.kind for container in pod.containers} == {ContainerKind.UNKNOWN}
    assert not pod.has_kinds


def test_pods_of_a_job_are_its_own() -> None:
    history = history_of("job-backoff-limit-never")
    assert [job.name for job in history.jobs] == ["job-backoff-limit-never"]
    assert history.jobs[0].pods == tuple(pod.name for pod in history.pods)
    failed = history.jobs[0].condition("Failed")
    assert failed is not None
    assert failed.reason == "BackoffLimitExceeded"


def test_a_pull_tells_how_long_it_took() -> None:
    message = 'Successfully pulled image "a:1" in 6.9s (14.1s including waiting). Image size: 4 bytes.'
    records = [
        {"t": 0.0, "kind": "event", "container": "a", "reason": "Pulling", "message": 'Pulling image "a:1"'},
        {"t": 14.1, "kind": "event", "container": "a", "reason": "Pulled", "message": message},
        {"t": 15.0, "kind": "event", "container": "b", "reason": "Pulling", "message": 'Pulling image "b:1"'},
    ]
    pulls = only(recount(a_log(records)).pods).pulls
    assert [(pull.container, pull.seconds, pull.ended is None) for pull in pulls] == [
        ("a", 6.9, False),
        ("b", None, True),
    ]


HOOKS = [
    ("echo PreStop begin > /proc/1/fd/1; sleep 1; echo PreStop end > /proc/1/fd/1", "PreStop begin", "PreStop end"),
    ('echo "Draining" >> /dev/stdout', "Draining", "Draining"),
    ("sleep 4; echo Done > /proc/1/fd/1", "", "Done"),
    ("echo begin > /proc/1/fd/1; echo end > /proc/1/fd/1; exit 1", "begin", "end"),
    ("echo $WHO > /proc/1/fd/1", "", ""),
    ("test -f /x && echo x > /proc/1/fd/1 || true", "", ""),
    ("echo nowhere; sleep 1", "", ""),
]


@pytest.mark.parametrize(("script", "first", "last"), HOOKS, ids=[row[0] for row in HOOKS])
def test_what_a_hook_surely_writes(script: str, first: str, last: str) -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "a", "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", script]}}}}]},
    }
    pod = load_text(json.dumps(manifest)).objects[0].object
    witness = witness_of(pod.spec.containers[0].lifecycle.pre_stop)  # type: ignore[union-attr]
    assert (witness.first, witness.last) == (first, last)


@pytest.mark.parametrize("path", TRACES, ids=[f"{path.parent.name}/{path.stem}" for path in TRACES])
def test_every_recording_can_be_told(path: Path) -> None:
    for pod in recount(recorded(path)).pods:
        assert pod.has_kinds or not pod.containers
        for stop in pod.stops:
            assert stop.began.low <= stop.began.high
            starts = [run.started.low for _, run in pod.runs() if run.started is not None]
            ends = [run.exited.high for run in stop.runs if run.exited is not None]
            assert not [start for start in starts if ends and stop.began.high < start < max(ends)]
