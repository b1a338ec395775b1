"""Mutations of restarts, pulls and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lifecycle_recordings import PodRecording, Raw, Recording, at, done, move, plain_pods

if TYPE_CHECKING:
    from collections.abc import Iterator


def restarted_although_never(recording: Recording) -> Iterator[Recording]:
    """Run a container again that its policy lets rest."""
    for copied, pod in plain_pods(recording):
        for container in (*pod.inits(), *pod.mains()):
            run = pod.last_run(container.name)
            ended = pod.exit(container.name, run)
            if ended is None or container.restart_policy or pod.call(container.name):
                continue
            code = ended.get("exitCode")
            policy = pod.spec.restart_policy or "Always"
            rests = policy == "Never" or (policy == "OnFailure" and code == 0)
            is_done = container in pod.inits() and code == 0
            if (rests or is_done) and not _is_oom(pod, container.name):
                started = cast("Raw", pod.start(container.name, run))
                copied.records.append({**started, "run": run + 1, "t": at(ended) + 0.05})
                yield done(copied)
                break


def _is_oom(pod: PodRecording, container: str) -> bool:
    return bool(pod.of("runtime", container, what="oom"))


def back_off_too_short(recording: Recording) -> Iterator[Recording]:
    """Run a container that crashes on its own again after half of its back-off."""
    for copied, _pod, ended, started in _second_restarts(recording):
        move(started, at(ended) + 5.0)
        yield done(copied)


def back_off_too_long(recording: Recording) -> Iterator[Recording]:
    """Run a container that crashes on its own again long after its back-off, while nothing else happens in the pod."""
    for copied, pod, ended, started in _second_restarts(recording):
        only = [r for r in pod.of("runtime", what="started") if r["container"] not in {"POD", started["container"]}]
        pulls = pod.of("event", reason="Pulling")
        if not only and not pulls and max(pod.runs(str(started["container"]))) == 3:
            by = 60.0 - (at(started) - at(ended))
            for record in copied.records:
                if at(record) >= at(started):
                    move(record, at(record) + by)
            yield done(copied)


def _second_restarts(recording: Recording) -> Iterator[tuple[Recording, PodRecording, Raw, Raw]]:
    """Yield a container's second restart, which waits 10 s, of those that only crash: the exit and the start."""
    for copied, pod in plain_pods(recording):
        if _scenario_sets_back_off(recording) or recording.has_step("patch"):
            continue
        for container in pod.in_order():
            runs, name = pod.runs(container.name), container.name
            is_crashing = len(runs) >= 3 and not pod.of("cri", name) and not pod.of("event", name, reason="Killing")
            ended, started = pod.exit(name, 2), pod.start(name, 3)
            is_counted = is_crashing and runs == list(range(1, len(runs) + 1))
            if is_counted and ended and started and at(started) - at(ended) >= 9.9:
                yield copied, pod, ended, started
                break


def _scenario_sets_back_off(recording: Recording) -> bool:
    text = (recording.path.parent / "scenario.yaml").read_text()
    return "crashLoopBackOff" in text or "CrashLoopBackOff" in text.split("steps:")[0].split("needs:")[-1]


def overlapping_runs(recording: Recording) -> Iterator[Recording]:
    """Start a container's next run before the one before has ended."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            ended, started, began = (
                pod.exit(container.name, 1),
                pod.start(container.name, 2),
                pod.start(container.name, 1),
            )
            if ended and started and began and at(ended) - at(began) > 0.3:
                move(started, at(ended) - 0.1)
                yield done(copied)
                break


def restart_count_falls(recording: Recording) -> Iterator[Recording]:
    """Say fewer restarts than the status before."""
    for copied, pod in plain_pods(recording):
        if pod.of("object", what="deleted"):
            continue
        seen: dict[str, int] = {}
        for record in pod.of("status"):
            for name, status in cast("dict[str, Raw]", record["containers"]).items():
                if seen.get(name, 0) >= 1:
                    status["restartCount"] = 0
                    yield copied
                    break
                seen[name] = max(seen.get(name, 0), cast("int", status["restartCount"]))
            else:
                continue
            break


def too_many_pulls(recording: Recording) -> Iterator[Recording]:
    """Pull two images at a time by a kubelet that pulls one after another."""
    if "serializeImagePulls" in (recording.path.parent / "scenario.yaml").read_text():
        return
    for copied, pod in plain_pods(recording):
        for pulled in pod.of("event", reason="Pulled"):
            if not str(pulled["message"]).startswith("Successfully pulled"):
                continue
            seen = max(at(pulled), 3.0)
            for name in ("other-1", "other-2"):
                message = 'Successfully pulled image "x:1" in 2.5s (2.5s including waiting). Image size: 1 bytes.'
                pulling = {**pulled, "reason": "Pulling", "container": name, "message": 'Pulling image "x:1"'}
                copied.records.append({**pulling, "t": seen - 2.5})
                copied.records.append({**pulled, "t": seen, "container": name, "message": message})
            yield done(copied)
            break


def pod_failed_by_sidecar(recording: Recording) -> Iterator[Recording]:
    """Fail a pod whose mains all ended well."""
    for copied, pod in plain_pods(recording):
        finals = [r for r in pod.of("status") if r["phase"] == "Succeeded"]
        ends = [pod.exit(c.name, pod.last_run(c.name)) for c in pod.mains()]
        if pod.sidecars() and finals and ends and all(r is not None and r.get("exitCode") == 0 for r in ends):
            for record in finals:
                record["phase"] = "Failed"
            yield copied


def pod_succeeded_in_spite(recording: Recording) -> Iterator[Recording]:
    """Let a pod succeed with a main that ended badly."""
    for copied, pod in plain_pods(recording):
        finals = [r for r in pod.of("status") if r["phase"] == "Failed" and not r.get("reason")]
        ends = [pod.exit(c.name, pod.last_run(c.name)) for c in pod.mains()]
        has_failed = any(r is not None and r.get("exitCode") not in {0, None} for r in ends)
        if finals and has_failed and not _failed_inits(pod):
            for record in finals:
                record["phase"] = "Succeeded"
            yield copied


def _failed_inits(pod: PodRecording) -> bool:
    ends = [pod.exit(c.name, pod.last_run(c.name)) for c in pod.inits()]
    return any(r is None or r.get("exitCode") != 0 for r in ends)


def job_failed_by_sidecar(recording: Recording) -> Iterator[Recording]:
    """Fail a Job although the mains of its only pod ended well."""
    for copied, pod in plain_pods(recording):
        jobs = [r for r in copied.records if r.get("kind") == "job" and isinstance(r.get("status"), dict)]
        finals = [r for r in jobs if "Complete" in str(cast("Raw", r["status"]).get("conditions"))]
        ends = [pod.exit(c.name, pod.last_run(c.name)) for c in pod.mains()]
        is_good = bool(ends) and all(r is not None and r.get("exitCode") == 0 for r in ends)
        is_only = len({r.get("pod") for r in copied.records if r.get("pod")}) == 1
        if finals and is_good and is_only and pod.sidecars() and pod.spec.restart_policy == "Never":
            for record in finals:
                failed = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
                cast("Raw", record["status"])["conditions"] = [failed]
            yield copied
