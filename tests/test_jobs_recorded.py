"""The controller beside a real one: pods behave as they were recorded, and the Job's statuses have to follow."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import trio
import trio.testing
from attrs import evolve
from jobs_rig import Rig, Run, always

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.codec import decode_mapping, encode
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.apiserver import WatchEvent, WatchEventType
from kubelet_emu.kubelet.timebase import Timebase

if TYPE_CHECKING:
    from kubelet_emu.api.batch_v1 import JobStatus

FOLDER = Path(__file__).parents[1] / "fixtures" / "jobs"
FIELDS = ("active", "ready", "terminating", "succeeded", "failed", "completedIndexes", "failedIndexes")
LATER_BY_SECONDS = 1.0  # a change just before or after a look shows one batch earlier or later

Line = dict[str, Any]


class Player:
    """Puts the recorded changes of pods into the store at their times."""

    def __init__(self, rig: Rig) -> None:
        """Note the pods as they are created."""
        self.rig = rig
        self.pods: list[Pod] = []
        rig.api.subscribe(self._note)

    def _note(self, event: WatchEvent) -> None:
        if isinstance(event.object, Pod) and event.type is WatchEventType.ADDED:
            self.pods.append(event.object)

    async def play(self, job: Job, lines: list[Line]) -> None:
        api = self.rig.api
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.rig.timebase.referee)
            self.rig.timebase.seconds()
            await nursery.start(self.rig.controller.run)
            api.create(job)
            for line in lines:
                await trio.sleep(line["t"] - self.rig.timebase.seconds())
                if "do" in line:
                    self._do(job, line["do"])
                elif "pod" in line and line["pod"] < len(self.pods):
                    self._change(self.pods[line["pod"]], line)
            await trio.sleep(LATER_BY_SECONDS)
            nursery.cancel_scope.cancel()

    def _change(self, pod: Pod, line: Line) -> None:
        name, uid = pod.metadata.name or "", pod.metadata.uid or ""
        if "status" in line:
            status = decode_mapping(PodStatus, line["status"])
            self.rig.api.update_status("Pod", "default", name, status, uid=uid)
        elif self.rig.api.get_by_uid("Pod", uid) is not None:
            self.rig.api.delete("Pod", "default", name, grace_period_seconds=0)

    def _do(self, job: Job, request: Line) -> None:
        (what,) = request
        details, pod = request[what], self.pods[0].metadata.name if self.pods else ""
        match what:
            case "patch":
                self.rig.api.patch("Job", "default", job.metadata.name or "", details["body"])
            case "delete":
                seconds = details["gracePeriodSeconds"]
                self.rig.api.delete("Pod", "default", pod or "", grace_period_seconds=seconds)
            case "evict":
                self.rig.api.evict("default", pod or "")
            case _:
                pytest.fail(f"unknown request {request}")


def read(path: Path) -> list[Line]:
    """Return the lines of a recording."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shown(status: JobStatus) -> Line:
    """Return a status as the recordings show it."""
    encoded = encode(status)
    line: Line = {field: encoded[field] for field in FIELDS if field in encoded}
    if status.uncounted_terminated_pods is not None:
        uncounted = status.uncounted_terminated_pods
        counts = {"succeeded": len(uncounted.succeeded), "failed": len(uncounted.failed)}
        line["uncounted"] = {name: count for name, count in counts.items() if count}
    if status.conditions:
        line["conditions"] = [f"{c.type}={c.status} {c.reason}" for c in status.conditions]
    if status.start_time is not None:
        line["started"] = True
    return line


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl")), ids=lambda path: path.stem)
async def test_a_recorded_job(path: Path, autojump_clock: trio.testing.MockClock) -> None:
    head, *lines = read(path)
    rig = Rig(always(Run()), timebase=Timebase(epoch=datetime.fromisoformat(head["epoch"]), is_virtual=True))
    job = decode_mapping(Job, head["job"])
    await Player(rig).play(evolve(job, metadata=evolve(job.metadata, namespace="default")), lines)
    recorded = [(line["t"], line["expect"]) for line in lines if "expect" in line]
    statuses: list[tuple[float, Line]] = []
    for at, status in rig.statuses:
        if not statuses or statuses[-1][1] != shown(status):
            statuses.append((at, shown(status)))
    assert [line for _, line in statuses] == [line for _, line in recorded]
    for (at, line), (recorded_at, _) in zip(statuses, recorded, strict=True):
        assert abs(at - recorded_at) < LATER_BY_SECONDS, (recorded_at, line)
    reasons = [line.split(" ", 1)[1].split(":")[0] for line in rig.events]
    assert reasons == [line["event"] for line in lines if "event" in line]
