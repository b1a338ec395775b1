"""The store: metadata, generations, deletion, propagation, watches."""

from __future__ import annotations

import gc
import weakref
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
import trio
from attrs import evolve

from kubelet_emu.api.batch_v1 import Job, JobSpec, JobStatus
from kubelet_emu.api.meta import ObjectMeta, OwnerReference
from kubelet_emu.api.v1 import ConfigMap, Container, EphemeralContainer, Pod, PodSpec
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.apiserver import (
    AlreadyExistsError,
    APIObject,
    APIServer,
    ConflictError,
    InvalidError,
    NotFoundError,
    WatchEvent,
    WatchEventType,
)

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that tests move by hand."""

    seconds = 0.5

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.seconds)


def a_server(clock: Clock | None = None) -> APIServer:
    numbers, suffixes = count(1), count(1)
    return APIServer(
        now=(clock or Clock()).now,
        new_uid=lambda key: f"{key}#{next(numbers)}",
        suffix=lambda: f"{next(suffixes):05d}",
    )


def a_pod(name: str = "web", *, node: str = "node1", grace: int = 30, **metadata: object) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default", **metadata),  # type: ignore[arg-type]
        spec=PodSpec(
            node_name=node, termination_grace_period_seconds=grace, containers=(Container(name="main", image="a:1"),)
        ),
    )


def a_job(name: str = "job") -> Job:
    return Job(metadata=ObjectMeta(name=name, namespace="default"), spec=JobSpec(parallelism=1))


def owned_by(owner: APIObject, *, blocking: bool = True) -> tuple[OwnerReference, ...]:
    return (
        OwnerReference(
            api_version=owner.api_version,
            kind=owner.kind,
            name=owner.metadata.name or "",
            uid=owner.metadata.uid or "",
            controller=True,
            block_owner_deletion=blocking,
        ),
    )


def recorded(server: APIServer) -> list[WatchEvent]:
    events: list[WatchEvent] = []
    server.subscribe(events.append)
    return events


def types(events: list[WatchEvent]) -> list[str]:
    return [f"{event.type.value} {event.object.metadata.name}" for event in events]


def test_create_fills_in_the_metadata() -> None:
    pod = a_server().create(a_pod())
    assert pod.metadata.uid == "Pod/default/web#1"
    assert pod.metadata.creation_timestamp == EPOCH
    assert (pod.metadata.generation, pod.metadata.resource_version) == (1, "1")
    assert pod.status.phase == "Pending"


def test_create_keeps_a_given_uid_and_phase() -> None:
    pod = evolve(a_pod(uid="mirror"), status=PodStatus(phase="Running"))
    created = a_server().create(pod)
    assert (created.metadata.uid, created.status.phase) == ("mirror", "Running")


def test_create_makes_a_free_name_from_generate_name() -> None:
    server = a_server()
    server.create(a_pod("job-00001"))
    pod = server.create(Pod(metadata=ObjectMeta(generate_name="job-"), spec=PodSpec()))
    assert (pod.metadata.namespace, pod.metadata.name) == ("default", "job-00002")


def test_create_gives_up_on_generate_name_when_each_name_is_taken() -> None:
    server = a_server()
    server.suffix = lambda: "aaaaa"
    server.create(a_pod("job-aaaaa"))
    with pytest.raises(AlreadyExistsError, match='pods "job-aaaaa" already exists'):
        server.create(Pod(metadata=ObjectMeta(generate_name="job-"), spec=PodSpec()))


def test_create_refuses_a_taken_name() -> None:
    server = a_server()
    server.create(a_job())
    with pytest.raises(AlreadyExistsError, match=r'jobs.batch "job" already exists'):
        server.create(a_job())


def test_objects_without_spec_have_no_generation() -> None:
    server = a_server()
    created = server.create(ConfigMap(metadata=ObjectMeta(name="c")))
    assert created.metadata.generation is None
    server.patch("ConfigMap", "default", "c", {"data": {"a": "1"}})
    assert server.delete("ConfigMap", "default", "c") is None


def test_reads_find_by_name_namespace_and_uid() -> None:
    server = a_server()
    pod = server.create(a_pod())
    other = server.create(evolve(a_pod(), metadata=ObjectMeta(name="web", namespace="other")))
    assert server.get("Pod", "default", "web") == pod
    assert server.get("Pod", "default", "nobody") is None
    assert server.get_by_uid("Pod", pod.metadata.uid or "") == pod
    assert server.get_by_uid("Job", pod.metadata.uid or "") is None
    assert server.list("Pod") == (pod, other)
    assert server.list("Pod", "other") == (other,)
    assert server.list("Job") == ()


def test_status_writes_leave_the_generation_and_equal_ones_tell_nobody() -> None:
    server = a_server()
    uid = server.create(a_pod()).metadata.uid or ""
    events = recorded(server)
    status = PodStatus(phase="Running")
    server.update_status("Pod", "default", "web", status, uid=uid)
    server.update_status("Pod", "default", "web", PodStatus(phase="Running"), uid=uid)
    pod = server.get("Pod", "default", "web")
    assert pod is not None
    assert (pod.status, pod.metadata.generation) == (status, 1)
    assert types(events) == ["MODIFIED web"]


def test_status_writes_for_another_uid_are_dropped() -> None:
    server = a_server()
    server.create(a_pod())
    assert server.update_status("Pod", "default", "web", PodStatus(), uid="old") is None
    assert server.update_status("Pod", "default", "nobody", PodStatus(), uid="old") is None


def test_graceful_delete_marks_and_grace_zero_removes() -> None:
    clock = Clock()
    server = a_server(clock)
    server.create(a_pod())
    events = recorded(server)
    marked = server.delete("Pod", "default", "web", grace_period_seconds=5)
    assert marked is not None
    assert marked.metadata.deletion_timestamp == EPOCH + timedelta(seconds=5)
    assert (marked.metadata.deletion_grace_period_seconds, marked.metadata.generation) == (5, 2)
    assert server.delete("Pod", "default", "web", grace_period_seconds=0) is None
    assert types(events) == ["MODIFIED web", "MODIFIED web", "DELETED web"]
    last = events[-1].object.metadata
    assert (last.deletion_grace_period_seconds, last.generation) == (0, 2)


def test_a_callback_may_remove_what_is_being_deleted() -> None:
    server = a_server()
    server.create(a_pod())
    events = recorded(server)

    def hurry(event: WatchEvent) -> None:
        if event.type is WatchEventType.MODIFIED and server.get("Pod", "default", "web"):
            server.delete("Pod", "default", "web", grace_period_seconds=0)

    server.subscribe(hurry)
    server.delete("Pod", "default", "web", grace_period_seconds=0)
    assert types(events)[-1] == "DELETED web"
    assert types(events).count("DELETED web") == 1


def test_a_bound_pod_has_a_node_and_keeps_its_generation() -> None:
    server = a_server()
    server.create(a_pod(node=""))
    bound = server.bind("default", "web", "node1")
    assert (bound.spec.node_name, bound.metadata.generation) == ("node1", 1)


def test_delete_names_what_it_does_not_find() -> None:
    server = a_server()
    server.create(a_pod())
    with pytest.raises(NotFoundError, match='pods "x" not found'):
        server.delete("Pod", "default", "x")
    with pytest.raises(ConflictError, match="UID in precondition: old, UID in object meta: Pod/default/web#1"):
        server.delete("Pod", "default", "web", uid="old")


def test_a_finalizer_holds_a_pod_that_the_kubelet_has_deleted() -> None:
    server = a_server()
    server.create(a_pod(finalizers=("a/hold",)))
    server.delete("Pod", "default", "web")
    held = server.delete("Pod", "default", "web", grace_period_seconds=0)
    assert held is not None
    assert server.delete("Pod", "default", "web", grace_period_seconds=0) is not None
    assert server.replace(evolve(held, metadata=evolve(held.metadata, finalizers=()))) is None
    assert server.get("Pod", "default", "web") is None


def test_dropping_a_finalizer_does_not_end_a_pod_that_still_stops() -> None:
    server = a_server()
    server.create(a_pod(finalizers=("a/hold",)))
    server.delete("Pod", "default", "web")
    kept = server.patch("Pod", "default", "web", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/hold"]}})
    assert kept is not None
    assert (kept.metadata.finalizers, kept.metadata.deletion_grace_period_seconds) == ((), 30)


def test_background_deletion_collects_dependents() -> None:
    server = a_server()
    job = server.create(a_job())
    server.create(a_pod("running", owner_references=owned_by(job)))
    server.create(a_pod("unscheduled", node="", owner_references=owned_by(job)))
    assert server.delete("Job", "default", "job") is None
    running = server.get("Pod", "default", "running")
    assert running is not None
    assert running.metadata.deletion_grace_period_seconds == 30
    assert server.get("Pod", "default", "unscheduled") is None


def test_a_second_owner_keeps_a_dependent() -> None:
    server = a_server()
    first, second = server.create(a_job("first")), server.create(a_job("second"))
    server.create(a_pod(owner_references=owned_by(first) + owned_by(second)))
    server.delete("Job", "default", "first")
    pod = server.get("Pod", "default", "web")
    assert pod is not None
    assert pod.metadata.deletion_timestamp is None


def test_foreground_deletion_waits_for_dependents() -> None:
    server = a_server()
    job = server.create(a_job())
    server.create(a_pod(owner_references=owned_by(job)))
    waiting = server.delete("Job", "default", "job", propagation="Foreground")
    assert waiting is not None
    assert waiting.metadata.finalizers == ("foregroundDeletion",)
    assert (waiting.metadata.deletion_timestamp, waiting.metadata.generation) == (EPOCH, 2)
    assert server.delete("Job", "default", "job", propagation="Foreground") is not None
    server.delete("Pod", "default", "web", grace_period_seconds=0)
    assert server.get("Job", "default", "job") is None


def test_foreground_deletion_without_dependents_is_immediate() -> None:
    server = a_server()
    server.create(a_job())
    assert server.delete("Job", "default", "job", propagation="Foreground") is None


def test_foreground_deletion_waits_for_other_finalizers() -> None:
    server = a_server()
    job = server.create(evolve(a_job(), metadata=ObjectMeta(name="job", finalizers=("a/hold",))))
    server.create(a_pod(node="", owner_references=owned_by(job, blocking=False)))
    held = server.delete("Job", "default", "job", propagation="Foreground")
    assert held is not None
    assert held.metadata.finalizers == ("a/hold",)
    assert server.replace(evolve(held, metadata=evolve(held.metadata, finalizers=()))) is None


def test_orphaning_takes_the_owner_out() -> None:
    server = a_server()
    job = server.create(a_job())
    server.create(a_pod(owner_references=owned_by(job)))
    server.delete("Job", "default", "job", propagation="Orphan")
    pod = server.get("Pod", "default", "web")
    assert pod is not None
    assert (pod.metadata.owner_references, pod.metadata.deletion_timestamp) == ((), None)


def test_a_changed_spec_is_a_new_generation_and_a_label_is_not() -> None:
    server = a_server()
    server.create(a_job())
    labelled = server.patch("Job", "default", "job", {"metadata": {"labels": {"a": "b"}}})
    assert labelled is not None
    assert labelled.metadata.generation == 1
    suspended = server.patch("Job", "default", "job", {"spec": {"suspend": True}}, type="merge")
    assert isinstance(suspended, Job)
    assert (suspended.metadata.generation, suspended.spec.suspend) == (2, True)


def test_replace_keeps_the_status_and_asks_for_the_uid() -> None:
    server = a_server()
    job = server.create(a_job())
    server.update_status("Job", "default", "job", JobStatus(active=1), uid=job.metadata.uid or "")
    replaced = server.replace(evolve(job, spec=evolve(job.spec, parallelism=3)))
    assert replaced is not None
    assert (replaced.spec.parallelism, replaced.status.active, replaced.metadata.generation) == (3, 1, 2)
    with pytest.raises(ConflictError):
        server.replace(evolve(job, metadata=evolve(job.metadata, uid="other")))


def test_a_patch_of_the_object_leaves_status_and_identity() -> None:
    server = a_server()
    before = server.create(a_pod())
    body = {"metadata": {"uid": "x", "name": "y"}, "status": {"phase": "Failed"}}
    assert server.patch("Pod", "default", "web", body) == before


def test_a_status_patch_merges_conditions_by_type() -> None:
    server = a_server()
    server.create(a_pod())
    for status in ("False", "True"):
        body = {"spec": {"nodeName": "x"}, "status": {"conditions": [{"type": "gate", "status": status}]}}
        server.patch("Pod", "default", "web", body, subresource="status")
    pod = server.get("Pod", "default", "web")
    assert pod is not None
    assert [(c.type, c.status) for c in pod.status.conditions] == [("gate", "True")]
    assert (pod.spec.node_name, pod.metadata.generation) == ("node1", 1)


def test_a_json_patch_changes_an_image() -> None:
    server = a_server()
    server.create(a_pod())
    body = [{"op": "replace", "path": "/spec/containers/0/image", "value": "b:1"}]
    pod = server.patch("Pod", "default", "web", body, type="json")
    assert isinstance(pod, Pod)
    assert (pod.spec.containers[0].image, pod.metadata.generation) == ("b:1", 2)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param({"spec": {"containers": [{"image": "b"}]}}, "merge key: name", id="no merge key"),
        pytest.param({"spec": {"nonsense": 1}}, "nonsense", id="unknown field"),
    ],
)
def test_a_patch_that_does_not_apply_is_invalid(body: dict[str, object], text: str) -> None:
    server = a_server()
    server.create(a_pod())
    with pytest.raises(InvalidError, match=text):
        server.patch("Pod", "default", "web", body)


def test_updates_are_shown_to_the_admission_function_first() -> None:
    server = a_server()
    server.create(a_job())

    def refuse(old: APIObject, new: APIObject, subresource: str) -> APIObject:
        causes = (f"{old.kind} {subresource!r}", f"{new.metadata.labels['a']}")
        raise InvalidError(old.kind, "default", "job", causes)

    server.admit_update = refuse
    with pytest.raises(InvalidError, match=r'Job.batch "job" is invalid: \[Job \'\', b\]'):
        server.patch("Job", "default", "job", {"metadata": {"labels": {"a": "b"}}})


def test_evict_marks_then_deletes() -> None:
    server = a_server()
    server.create(a_pod())
    events = recorded(server)
    pod = server.evict("default", "web", grace_period_seconds=3)
    assert pod is not None
    (condition,) = pod.status.conditions
    assert (condition.type, condition.status, condition.reason, condition.message) == (
        "DisruptionTarget",
        "True",
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
    )
    assert (condition.last_transition_time, pod.metadata.deletion_grace_period_seconds) == (EPOCH, 3)
    assert types(events) == ["MODIFIED web", "MODIFIED web"]
    server.evict("default", "web", grace_period_seconds=9)
    assert server.evict("default", "web") == server.get("Pod", "default", "web")
    assert types(events[2:]) == ["MODIFIED web"], "the condition now names generation 2, the grace only shrinks"
    with pytest.raises(NotFoundError):
        server.evict("default", "nobody")


def test_an_ephemeral_container_is_added() -> None:
    server = a_server()
    server.create(a_pod())
    server.add_ephemeral_container("default", "web", EphemeralContainer(name="debug"))
    body = {"spec": {"nodeName": "x", "ephemeralContainers": [{"name": "more", "image": "a:1"}]}}
    server.patch("Pod", "default", "web", body, subresource="ephemeralcontainers")
    pod = server.get("Pod", "default", "web")
    assert pod is not None
    assert sorted(c.name for c in pod.spec.ephemeral_containers) == ["debug", "more"]
    assert (pod.metadata.generation, pod.spec.node_name) == (3, "node1")


def test_resize_changes_resources_only() -> None:
    server = a_server()
    server.create(a_pod())
    body = {"spec": {"containers": [{"name": "main", "image": "b:1", "resources": {"limits": {"cpu": "2"}}}]}}
    pod = server.resize("default", "web", body)
    assert isinstance(pod, Pod)
    (container,) = pod.spec.containers
    assert (container.image, pod.metadata.generation) == ("a:1", 2)
    assert container.resources is not None
    assert list(container.resources.limits) == ["cpu"]


def test_unknown_subresources_are_refused() -> None:
    server = a_server()
    server.create(a_pod())
    with pytest.raises(InvalidError, match="unknown subresource 'scale'"):
        server.patch("Pod", "default", "web", {}, subresource="scale")


async def test_a_watch_begins_with_what_exists_and_misses_nothing() -> None:
    server = a_server()
    server.create(a_pod("first"))
    async with server.watch("Pod") as events:
        server.create(a_job())
        server.create(a_pod("second"))
        server.delete("Pod", "default", "first", grace_period_seconds=0)
        seen = [await anext(events) for _ in range(4)]
    assert types(seen) == ["ADDED first", "ADDED second", "MODIFIED first", "DELETED first"]
    server.create(a_pod("third"))


async def test_a_watch_keeps_nothing_that_its_reader_has_taken() -> None:
    server = a_server()
    kept = [weakref.ref(server.create(a_pod(name))) for name in ("first", "second")]
    async with server.watch("Pod") as events:
        kept.append(weakref.ref(server.create(a_pod("third"))))
        for name in ("first", "second", "third"):
            server.delete("Pod", "default", name, grace_period_seconds=0)
        for _ in range(9):
            await anext(events)
        gc.collect()
        assert [ref() for ref in kept] == [None, None, None]


def test_a_callback_that_writes_is_told_of_its_own_change_last() -> None:
    server = a_server()
    seen: list[str] = []

    def answer(event: WatchEvent) -> None:
        if event.type is WatchEventType.ADDED and event.object.kind == "Job":
            server.create(a_pod())

    server.subscribe(answer)
    unsubscribe = server.subscribe(lambda event: seen.append(event.object.kind))
    server.create(a_job())
    assert seen == ["Job", "Pod"]
    unsubscribe()
    server.create(a_pod("other"))
    assert seen == ["Job", "Pod"]


async def test_a_change_while_a_watch_is_left_reaches_the_others() -> None:
    server = a_server()
    heard: list[WatchEvent] = []
    server.subscribe(heard.append)

    async def watch() -> None:
        with trio.CancelScope() as scope:
            async with server.watch("Pod") as events:
                scope.cancel()
                await anext(aiter(events))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        for number in range(8):
            await trio.lowlevel.checkpoint()
            server.create(a_pod(f"pod-{number}"))
    assert len(heard) == 8
