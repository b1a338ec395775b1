"""A watch of workloads: their rows follow their pods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import trio
from control_rig import FACTS, a_run

from kubelet_emu.cli.remote.requests import read_kinds, requests_of
from kubelet_emu.cli.remote.showing import show_of
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.cli.remote.workload_watching import Counted

if TYPE_CHECKING:
    from trio.testing import MockClock

    from kubelet_emu.cli.remote.views import Object

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: busybox, command: [sh, -c, "trap 'exit 0' TERM; sleep 1000 & wait"]}
"""
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def an_event(what: str, kind: str, name: str, owner: str = "", **more: object) -> Object:
    owners = [{"uid": owner, "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "default", "uid": name, "ownerReferences": owners}
    return {"type": what, "now": "2026-12-02T04:00:00Z", "object": {"kind": kind, "metadata": metadata, **more}}


SYNCED: Object = {"type": "SYNCED", "now": "2026-12-02T04:00:00Z"}


def told(counted: Counted, source: str, event: Object) -> list[str]:
    """Return what follows from a change: what, name, ready of all."""
    found = json.loads(json.dumps(counted.changes(source, event)))
    words = []
    for each in found:
        obj = each.get("object")
        counts = "" if obj is None else f" {obj['status']['readyReplicas']}/{obj['status']['replicas']}"
        words.append(each["type"] + ("" if obj is None else f" {obj['metadata']['name']}{counts}"))
    return words


def test_counts_follow_pods_and_each_change_is_told_once() -> None:
    counted = Counted("Deployment")
    assert told(counted, "Deployment", an_event("ADDED", "Deployment", "web")) == []
    assert told(counted, "Deployment", SYNCED) == []
    assert told(counted, "Pod", an_event("ADDED", "Pod", "a", "set")) == []
    assert told(counted, "Pod", SYNCED) == []
    assert told(counted, "ReplicaSet", an_event("ADDED", "ReplicaSet", "set", "web")) == []
    assert told(counted, "ReplicaSet", SYNCED) == ["ADDED web 0/1", "SYNCED"]
    assert told(counted, "Pod", an_event("MODIFIED", "Pod", "a", "set", status=READY)) == ["MODIFIED web 1/1"]
    assert told(counted, "Pod", an_event("MODIFIED", "Pod", "a", "set", status=READY)) == []
    assert told(counted, "Pod", an_event("ADDED", "Pod", "stranger", "other", status=READY)) == []
    assert told(counted, "Deployment", an_event("ADDED", "Deployment", "db")) == ["ADDED db 0/0"]
    assert told(counted, "Pod", an_event("DELETED", "Pod", "a", "set")) == ["MODIFIED web 0/0"]
    assert told(counted, "Deployment", an_event("DELETED", "Deployment", "web")) == ["DELETED web 0/0"]


async def test_rows_of_a_deployment_come_as_its_pods_do(autojump_clock: MockClock) -> None:
    written: list[str] = []
    async with a_run() as rig:
        view = LiveView(rig.client, FACTS, rig.connect)
        await rig.node.apply(DEPLOYMENT)
        (request,) = requests_of(read_kinds(["deploy", "web"]), {"watch": True})
        with trio.move_on_after(30):
            await show_of(view, "default", (request,), written.append)
    lines = "".join(written).splitlines()
    assert lines[0].split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert [line.split()[1:4] for line in lines[1:]][-1] == ["2/2", "2", "2"]
    assert any(line.split()[1] == "1/2" for line in lines[1:])
    assert len(lines) == len(set(lines))


async def test_a_watch_of_one_that_is_not_there_ends(autojump_clock: MockClock, capsys: object) -> None:
    written: list[str] = []
    async with a_run() as rig:
        view = LiveView(rig.client, FACTS, rig.connect)
        (request,) = requests_of(read_kinds(["rs", "nobody"]), {"watch": True})
        assert not await show_of(view, "default", (request,), written.append)
    assert written == [""]
