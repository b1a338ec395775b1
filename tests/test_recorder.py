"""Events into the journal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from attrs import frozen

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod, PodSpec
from kubelet_emu.journal.records import EventRecord, ObjectRef, Record
from kubelet_emu.kubelet.recorder import Recorder, field_path
from kubelet_emu.kubelet.timebase import Timebase

POD = Pod(
    metadata=ObjectMeta(name="p", namespace="n", uid="u"),
    spec=PodSpec(
        containers=(Container(name="m"),),
        init_containers=(Container(name="i"),),
        ephemeral_containers=(EphemeralContainer(name="e"),),
    ),
)
REF = ObjectRef(namespace="n", name="p", uid="u")


@frozen
class _Journal:
    records: list[Record]
    recorder: Recorder


@pytest.fixture
def journal() -> _Journal:
    records: list[Record] = []
    timebase = Timebase(epoch=datetime(2026, 1, 1, tzinfo=UTC))
    return _Journal(records, Recorder(records.append, timebase, host="node1"))


async def test_an_event_of_a_container(journal: _Journal) -> None:
    journal.recorder.event(POD, "m", "Normal", "Killing", "Stopping container abc", container_id="abc")
    assert journal.records == [
        EventRecord(
            ref=REF,
            type="Normal",
            reason="Killing",
            message="Stopping container m",
            container="m",
            field_path="spec.containers{m}",
        )
    ]


async def test_an_event_of_the_pod_by_somebody_else(journal: _Journal) -> None:
    journal.recorder.event(POD, None, "Normal", "Scheduled", "assigned", source="default-scheduler")
    assert journal.records == [
        EventRecord(ref=REF, type="Normal", reason="Scheduled", message="assigned", source="default-scheduler")
    ]


async def test_a_repeat_is_a_count(journal: _Journal) -> None:
    for _ in range(2):
        journal.recorder.event(POD, "m", "Normal", "Pulled", "pulled")
    (kept,) = journal.recorder.events_of("u")
    assert (kept.count, [record.count for record in journal.records]) == (2, [1, 2])


async def test_what_is_too_much_is_dropped(journal: _Journal) -> None:
    for _ in range(30):
        journal.recorder.event(POD, "m", "Normal", "Pulled", "pulled")
    assert len(journal.records) == 25


async def test_events_of_a_job(journal: _Journal) -> None:
    job = ObjectRef(namespace="n", name="j", uid="v", kind="Job")
    journal.recorder.record(job, "Normal", "Completed", "Job completed", source="job-controller")
    (kept,) = journal.recorder.events_of("v")
    assert (kept.event.kind, kept.event.component, kept.event.host) == ("Job", "job-controller", "")


async def test_a_forgotten_object_starts_anew(journal: _Journal) -> None:
    journal.recorder.event(POD, "m", "Normal", "Pulled", "pulled")
    journal.recorder.forget("u")
    assert journal.recorder.events_of("u") == ()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("m", "spec.containers{m}"),
        ("i", "spec.initContainers{i}"),
        ("e", "spec.ephemeralContainers{e}"),
        ("nosuch", ""),
    ],
)
def test_field_paths(name: str, path: str) -> None:
    assert field_path(POD, name) == path
