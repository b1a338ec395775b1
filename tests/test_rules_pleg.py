"""What a relist finds changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubelet_emu.rules.observed import ObservedPod
from kubelet_emu.rules.pleg import PodLifecycleEvent, PodLifecycleEventType, diff, wakes_worker
from runtime.api import (
    ContainerID,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
    SandboxID,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
STARTED, DIED = PodLifecycleEventType.CONTAINER_STARTED, PodLifecycleEventType.CONTAINER_DIED
REMOVED, CHANGED = PodLifecycleEventType.CONTAINER_REMOVED, PodLifecycleEventType.CONTAINER_CHANGED
CREATED, RUNNING = ContainerState.CREATED, ContainerState.RUNNING
EXITED, UNKNOWN = ContainerState.EXITED, ContainerState.UNKNOWN


def seen(state: ContainerState | None) -> ObservedPod:
    if state is None:
        return ObservedPod(uid="u")
    return ObservedPod(
        uid="u",
        containers=(
            ContainerStatus(
                id=ContainerID("c"),
                sandbox_id=SandboxID("s"),
                metadata=ContainerMetadata(name="main"),
                state=state,
                created_at=AT,
            ),
        ),
    )


CHANGES = [
    ("a container that appears running started", None, RUNNING, [STARTED]),
    ("a container that appears created changed", None, CREATED, [CHANGED]),
    ("a container that appears exited died", None, EXITED, [DIED]),
    ("created is followed by started", CREATED, RUNNING, [STARTED]),
    ("created and unknown are the same", CREATED, UNKNOWN, []),
    ("running is followed by died", RUNNING, EXITED, [DIED]),
    ("running on is no event", RUNNING, RUNNING, []),
    ("running of unknown state changed", RUNNING, UNKNOWN, [CHANGED]),
    ("removed after its death", EXITED, None, [REMOVED]),
    ("gone at once died and was removed", RUNNING, None, [DIED, REMOVED]),
    ("a created one that is gone died too", CREATED, None, [DIED, REMOVED]),
]


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_changes_of_a_container(
    old: ContainerState | None, new: ContainerState | None, expected: list[PodLifecycleEventType]
) -> None:
    events = diff(seen(old), seen(new))
    assert events == tuple(PodLifecycleEvent(uid="u", type=kind, container_id="c") for kind in expected)


def test_a_pod_that_the_runtime_no_longer_knows() -> None:
    assert [event.type for event in diff(seen(EXITED), None)] == [REMOVED]


def test_nothing_known_before_or_after() -> None:
    assert diff(None, None) == ()


@pytest.mark.parametrize(("state", "expected"), [(PodSandboxState.READY, STARTED), (PodSandboxState.NOT_READY, DIED)])
def test_sandboxes_count_like_containers(state: PodSandboxState, expected: PodLifecycleEventType) -> None:
    sandbox = PodSandboxStatus(
        id=SandboxID("s"),
        metadata=PodSandboxMetadata(name="p", namespace="n", uid="u"),
        state=state,
        created_at=AT,
    )
    events = diff(None, ObservedPod(uid="u", sandboxes=(sandbox,)))
    assert events == (PodLifecycleEvent(uid="u", type=expected, container_id="s"),)


def test_what_wakes_a_worker() -> None:
    waking = {kind for kind in PodLifecycleEventType if wakes_worker(PodLifecycleEvent(uid="u", type=kind))}
    assert waking == {STARTED, DIED, PodLifecycleEventType.POD_SYNC}
