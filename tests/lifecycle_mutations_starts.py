"""Mutations of how a pod starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lifecycle_recordings import PodRecording, Raw, Recording, at, done, move, plain_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Container


def init_order_swapped(recording: Recording) -> Iterator[Recording]:
    """Start what comes after an init container while that one still runs."""
    for copied, pod in plain_pods(recording):
        for init in pod.inits():
            follower = next(pod.after(init), None)
            if follower is None or follower not in pod.spec.init_containers:
                continue
            began, ended, start = pod.start(init.name), pod.exit(init.name), pod.start(follower.name)
            if began and ended and start and at(ended) - at(began) > 0.3:
                move(start, (at(began) + at(ended)) / 2)
                yield done(copied)
                break


def main_before_init_ends(recording: Recording) -> Iterator[Recording]:
    """Start a main while the last init container still runs."""
    for copied, pod in plain_pods(recording):
        for init in reversed(pod.inits()):
            began, ended = pod.start(init.name), pod.exit(init.name)
            start = pod.start(pod.mains()[0].name)
            if began and ended and start and at(ended) - at(began) > 0.3:
                move(start, (at(began) + at(ended)) / 2)
                yield done(copied)
                break


def follower_before_sidecar(recording: Recording) -> Iterator[Recording]:
    """Start what comes after a sidecar before it."""
    for copied, pod in plain_pods(recording):
        for sidecar in pod.sidecars():
            began = pod.start(sidecar.name)
            follower = next((pod.start(c.name) for c in pod.after(sidecar) if pod.start(c.name)), None)
            if began and follower and at(began) > 0.5:
                move(follower, at(began) - 0.2)
                yield done(copied)
                break


def follower_before_startup_probe(recording: Recording) -> Iterator[Recording]:
    """Start what comes after a sidecar well before its startup probe succeeds."""
    for copied, pod in plain_pods(recording):
        for sidecar in (c for c in pod.sidecars() if c.startup_probe is not None):
            began, passed = pod.start(sidecar.name), _started_seen(pod, sidecar.name)
            follower = next((pod.start(c.name) for c in pod.after(sidecar) if pod.start(c.name)), None)
            if began and follower and passed is not None and passed - at(began) > 1.8:
                move(follower, at(began) + 0.1)
                yield done(copied)
                break


def _started_seen(pod: PodRecording, container: str) -> float | None:
    for record in pod.of("status"):
        status = cast("dict[str, Raw]", record["containers"]).get(container)
        if status is not None and status.get("started") and status.get("restartCount") == 0:
            return at(record)
    return None


def next_during_post_start(recording: Recording) -> Iterator[Recording]:
    """Start the next container while a postStart hook runs."""
    for copied, pod in plain_pods(recording):
        for container in pod.in_order():
            ended = next(
                iter(pod.lines(container.name, "PostStart end") + pod.lines(container.name, "PostStart Done")), None
            )
            began = pod.start(container.name)
            follower = _next_start(pod, container)
            is_hook = container.lifecycle is not None and container.lifecycle.post_start is not None
            if is_hook and ended and began and follower and at(ended) - at(began) > 0.5 and at(follower) >= at(ended):
                move(follower, at(began) + 0.2)
                yield done(copied)
                break


def _next_start(pod: PodRecording, container: Container) -> Raw | None:
    began = pod.start(container.name)
    later = [r for r in pod.of("runtime", what="started", run=1) if r["container"] not in {"POD", container.name}]
    return next((r for r in later if began is not None and at(r) > at(began)), None)
