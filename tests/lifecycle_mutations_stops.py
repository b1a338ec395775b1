"""Mutations of how containers are stopped."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from lifecycle_recordings import PodRecording, Raw, Recording, at, done, move, plain_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Container


def _hook_words(container: Container) -> tuple[str, str] | None:
    """Return the first and the last line that a preStop hook of the form `echo A > ...; ...; echo B > ...` writes."""
    hook = container.lifecycle.pre_stop if container.lifecycle is not None else None
    script = hook.exec.command[-1] if hook is not None and hook.exec is not None else ""
    words = re.findall(r"echo ([A-Za-z0-9 ]+) > /proc/1/fd/1", script)
    return (words[0], words[-1]) if script.startswith("echo ") and words else None


def pre_stop_dropped(recording: Recording) -> Iterator[Recording]:
    """Run no preStop hook."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            words = _hook_words(container)
            if words is None or not pod.stopped_once(container.name) or not pod.lines(container.name, words[0]):
                continue
            dropped = [r for text in set(words) for r in pod.lines(container.name, text)]
            dropped += pod.of("exec", container.name) + pod.of("event", container.name, reason="FailedPreStopHook")
            copied.records = [r for r in copied.records if not any(r is each for each in dropped)]
            yield copied
            break


def term_during_pre_stop(recording: Recording) -> Iterator[Recording]:
    """Send the stop signal while the preStop hook still runs and grace is left."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            words = _hook_words(container)
            if words is None or words[0] == words[1] or not pod.stopped_once(container.name):
                continue
            began, ended = pod.lines(container.name, words[0])[:1], pod.lines(container.name, words[1])[:1]
            grace = _grace(pod)
            if began and ended and grace > 3 and 0.5 < at(ended[0]) - at(began[0]) < grace - 1:
                moved = at(began[0]) + 0.1
                move(pod.call(container.name), moved)
                move(pod.term(container.name), moved + 0.001)
                yield done(copied)
                break


def _grace(pod: PodRecording) -> float:
    """Return the grace of the pod's stop: of its deletion, else its spec's."""
    deletion = pod.deletion()
    own = pod.spec.termination_grace_period_seconds
    given = deletion.get("gracePeriodSeconds") if deletion is not None else own
    return 30.0 if given is None else float(cast("int", given))


def kill_early(recording: Recording) -> Iterator[Recording]:
    """Send SIGKILL one second after the stop signal."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            term, kill = pod.term(container.name), pod.kill(container.name)
            if term and kill and pod.stopped_once(container.name) and at(kill) - at(term) >= 1.9:
                move(kill, at(term) + 1.0)
                move(_exit_after(pod, container.name, at(term)), at(term) + 1.05)
                yield done(copied)
                break


def _exit_after(pod: PodRecording, container: str, since: float) -> Raw | None:
    return next((r for r in pod.of("runtime", container, what="exited") if at(r) >= since), None)


def kill_a_second_early(recording: Recording) -> Iterator[Recording]:
    """Send SIGKILL one second before the stop call's timeout is over."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            call, term, kill = pod.call(container.name), pod.term(container.name), pod.kill(container.name)
            if not (call and term and kill and pod.stopped_once(container.name)):
                continue
            timeout = float(cast("int", call["timeout"]))
            if timeout >= 4 and at(kill) - at(term) > timeout - 0.2:
                move(kill, at(term) + timeout - 1.0)
                move(_exit_after(pod, container.name, at(term)), at(kill) + 0.05)
                yield done(copied)
                break


def grace_shortened(recording: Recording) -> Iterator[Recording]:
    """Give a container half of the grace that it has: the stop call says so and SIGKILL follows it."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            call, term, kill = pod.call(container.name), pod.term(container.name), pod.kill(container.name)
            if not (call and term and kill and pod.stopped_once(container.name)):
                continue
            timeout = float(cast("int", call["timeout"]))
            if timeout >= 5 and pod.deletion() is not None:
                call["timeout"] = int(timeout // 2)
                move(kill, at(term) + timeout // 2)
                move(_exit_after(pod, container.name, at(term)), at(kill) + 0.05)
                yield done(copied)
                break


def kill_late(recording: Recording) -> Iterator[Recording]:
    """Send SIGKILL seven seconds later, beyond every second that hooks and turns may cost."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            term, kill = pod.term(container.name), pod.kill(container.name)
            if term and kill and pod.stopped_once(container.name):
                move(kill, at(kill) + 7.0)
                move(_exit_after(pod, container.name, at(term)), at(kill) + 0.05)
                yield done(copied)
                break


def kill_missing(recording: Recording) -> Iterator[Recording]:
    """Kill nothing that ignores its stop signal: it ends by itself long after."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            term, kill = pod.term(container.name), pod.kill(container.name)
            if term and kill and pod.stopped_once(container.name):
                copied.records = [r for r in copied.records if r is not kill]
                move(_exit_after(pod, container.name, at(term)), at(kill) + 8.0)
                yield done(copied)
                break


def _stop_records(pod: PodRecording, container: str) -> list[Raw]:
    """Return what the runtime and the container tell of a container's stop."""
    call = pod.call(container)
    if call is None:
        return []
    since = at(call)
    told = [*pod.of("cri", container), *pod.of("log", container), *pod.of("runtime", container, what="exited")]
    return [r for r in told if at(r) >= since]


def _shift(records: list[Raw], by: float) -> None:
    for record in records:
        move(record, at(record) + by)


def stops_swapped(recording: Recording) -> Iterator[Recording]:
    """Stop two sidecars in each other's place while grace is left."""
    for copied, pod in plain_pods(recording):
        sidecars = [c.name for c in pod.sidecars() if pod.stopped_once(c.name)]
        for first, second in pairwise(sidecars):
            calls = [pod.call(first), pod.call(second)]
            second_exit = pod.exit(second, pod.last_run(second))
            if calls[0] is None or calls[1] is None or second_exit is None or not _is_next(pod, first, second):
                continue
            gap = at(calls[0]) - at(calls[1])
            begin = _stop_begin(pod)
            has_grace = begin is not None and at(calls[1]) - begin < _grace(pod) - 1
            if gap > 0.3 and at(second_exit) <= at(calls[0]) and has_grace:
                ours, theirs = _stop_records(pod, first), _stop_records(pod, second)
                _shift(ours, -gap)
                _shift(theirs, gap)
                yield done(copied)
                break


def _is_next(pod: PodRecording, first: str, second: str) -> bool:
    names = [c.name for c in pod.sidecars()]
    return names.index(second) == names.index(first) + 1


def _stop_begin(pod: PodRecording) -> float | None:
    """Return when the stop of the pod surely had begun: its first call or signal after everything had started."""
    calls = [at(r) for r in pod.of("cri") if r.get("what") in {"StopContainer", "signal"}]
    killing = [at(r) for r in pod.of("event", reason="Killing")]
    return min([*calls, *killing], default=None)


def sidecar_with_the_mains(recording: Recording) -> Iterator[Recording]:
    """Signal a deleted pod's sidecar together with the mains."""
    for copied, pod in plain_pods(recording):
        deletion = pod.deletion()
        if deletion is None or _grace(pod) < 3:
            continue
        for sidecar in pod.sidecars():
            call, main = pod.call(sidecar.name), _slow_main(pod)
            if call is None or main is None or not pod.stopped_once(sidecar.name) or _hook_words(sidecar):
                continue
            gap = at(call) - main
            if gap > 0.3 and gap < _grace(pod) - 1:
                _shift(_stop_records(pod, sidecar.name), -gap)
                yield done(copied)
                break


def _slow_main(pod: PodRecording) -> float | None:
    """Return when a main got its stop signal that took a while to end after it."""
    for main in pod.mains():
        term, ended = pod.term(main.name), pod.exit(main.name, pod.last_run(main.name))
        if term and ended and pod.stopped_once(main.name) and at(ended) - at(term) > 0.2:
            return at(term)
    return None


def sidecar_before_main_ends(recording: Recording) -> Iterator[Recording]:
    """Stop a sidecar of a pod that ends by itself before the main has ended."""
    for copied, pod in plain_pods(recording):
        if pod.deletion() is not None or {"DeadlineExceeded", "Evicted"} & {
            str(r.get("reason")) for r in pod.of("event")
        }:
            continue
        ends = [pod.exit(c.name, pod.last_run(c.name)) for c in pod.mains()]
        if not ends or any(r is None for r in ends) or any(pod.call(c.name) for c in pod.mains()):
            continue
        last = max(at(r) for r in ends if r is not None)
        for sidecar in pod.sidecars():
            call, began = pod.call(sidecar.name), pod.start(sidecar.name, pod.last_run(sidecar.name))
            if call is None or began is None or not pod.stopped_once(sidecar.name) or last - at(began) < 1.5:
                continue
            gap = at(call) - (last - 0.8)
            killing = pod.killing(sidecar.name)
            _shift([*_stop_records(pod, sidecar.name), *([killing] if killing else [])], -gap)
            yield done(copied)
            break


def waits_when_spent(recording: Recording) -> Iterator[Recording]:
    """Let a sidecar go on waiting for its turn when the grace is spent."""
    for copied, pod in plain_pods(recording):
        if pod.deletion() is None:
            continue
        begin = _stop_begin(pod)
        for sidecar in pod.sidecars():
            call = pod.call(sidecar.name)
            others = [*pod.mains(), *list(pod.after(sidecar))]
            slow = [r for c in others if (r := pod.exit(c.name, pod.last_run(c.name))) is not None]
            if call is None or begin is None or not pod.stopped_once(sidecar.name):
                continue
            spent = begin + max(_grace(pod), 1.0)
            if at(call) > spent - 0.6 and any(at(r) > spent + 0.8 for r in slow):
                _shift(_stop_records(pod, sidecar.name), 4.0)
                yield done(copied)
                break


def restarted_after_deletion(recording: Recording) -> Iterator[Recording]:
    """Run a container again that ended in the pod's stop."""
    for copied, pod in plain_pods(recording):
        if pod.deletion() is None or pod.of("object", what="deleted")[1:]:
            continue
        for container in pod.in_order():
            run = pod.last_run(container.name)
            ended, call = pod.exit(container.name, run), pod.call(container.name)
            if ended and call and pod.stopped_once(container.name) and at(ended) >= at(call):
                again = {"what": "started", "run": run + 1, "t": at(ended) + 0.2}
                started = pod.start(container.name, run)
                copied.records.append({**cast("Raw", started), **again})
                yield done(copied)
                break


def first_start_after_deletion(recording: Recording) -> Iterator[Recording]:
    """Start a container for the first time when the pod's stop has begun."""
    for copied, pod in plain_pods(recording):
        begin = _stop_begin(pod)
        if pod.deletion() is None or begin is None:
            continue
        model = next(iter(pod.of("runtime", what="started")), None)
        for container in pod.in_order():
            if model is not None and not pod.runs(container.name) and not pod.of("log", container.name):
                copied.records.append({**model, "container": container.name, "run": 1, "t": begin + 0.4})
                yield done(copied)
                break
