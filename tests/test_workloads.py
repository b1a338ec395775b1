"""Workloads on a node in virtual time: which pods they have, under which names, and what happens when they change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import pytest
import trio
from attrs import evolve, frozen
from jobs_rig import Rig as JobsRig
from jobs_rig import Run, always
from kubelet_rig import NODE, a_node, deaf, lives, stops

from kubelet_emu import manifests
from kubelet_emu.api.v1 import Pod
from kubelet_emu.journal.records import EventRecord, NoteRecord, StatusRecord
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.workloads.controller import WorkloadController
from kubelet_emu.workloads.rules.deployment import new_replica_set

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock

    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.journal.records import ObjectRef

RUNS = {"main": (stops(1),)}
SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
HASH = "[bcdfghjklmnpqrstvwxz2456789]{6,10}"


def workload(kind: str, spec: str = "", name: str = "web", pod: str = "") -> APIObject:
    """Return a workload as a server stores it."""
    template = f"template: {{metadata: {{labels: {{app: x}}}}, spec: {{{pod}containers: [{{name: main, image: a}}]}}}}"
    text = f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: default}}\n"
    text += f"spec: {{selector: {{matchLabels: {{app: x}}}}, {spec}{template}}}\n"
    return cast("APIObject", set_defaults(manifests.load_text(text).objects[0].object))


def names(node: Rig) -> list[str]:
    return [pod.metadata.name or "" for pod in node.cluster.api.list("Pod")]


def events(node: Rig, source: str) -> list[str]:
    return [
        f"{record.ref.kind}/{record.ref.name} {record.reason}: {record.message}"
        for record in node.records
        if isinstance(record, EventRecord) and record.source == source
    ]


def scale(node: Rig, kind: str, replicas: int, name: str = "web") -> None:
    node.cluster.api.patch(kind, "default", name, {"spec": {"replicas": replicas}})


def delete(node: Rig, name: str, kind: str = "Pod") -> None:
    node.cluster.api.delete(kind, "default", name)


async def test_a_deployments_pods_are_its_replica_sets(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("Deployment", "replicas: 2, "))
        await node.until(5)
        (replica_set,) = node.cluster.api.list("ReplicaSet")
        assert re.fullmatch(f"web-{HASH}", replica_set.metadata.name or "")
        assert len(names(node)) == 2
        assert all(re.fullmatch(f"{replica_set.metadata.name}-{SUFFIX}", name) for name in names(node))
        assert {pod.status.phase for pod in node.cluster.api.list("Pod")} == {"Running"}
        assert events(node, "deployment-controller") == [
            f"Deployment/web ScalingReplicaSet: Scaled up replica set {replica_set.metadata.name} from 0 to 2"
        ]
        assert events(node, "replicaset-controller") == [
            f"ReplicaSet/{replica_set.metadata.name} SuccessfulCreate: Created pod: {name}" for name in names(node)
        ]


async def test_a_deployment_is_scaled(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("Deployment"))
        await node.until(5)
        (first,) = names(node)
        scale(node, "Deployment", 3)
        await node.until(10)
        assert len(names(node)) == 3
        scale(node, "Deployment", 1)
        await node.until(20)
        assert names(node) == [first], "pods that are ready for less time go first"


async def test_a_deleted_pod_is_replaced_while_it_still_stops(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(workload("ReplicaSet"))
        await node.until(5)
        (first,) = names(node)
        delete(node, first)
        await node.until(6)
        assert [name == first for name in names(node)] == [True, False]


async def test_a_pod_that_was_evicted_is_left_behind_and_replaced(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("ReplicaSet"))
        await node.until(5)
        (pod,) = node.cluster.api.list("Pod")
        status = evolve(pod.status, phase="Failed", reason="Evicted")
        node.cluster.api.update_status("Pod", "default", pod.metadata.name or "", status, uid=pod.metadata.uid or "")
        await node.until(20)
        assert [each.status.phase for each in node.cluster.api.list("Pod")] == ["Failed", "Running"]


async def test_deleting_a_deployment_deletes_its_pods(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("Deployment", "replicas: 2, "))
        await node.until(5)
        delete(node, "web", "Deployment")
        await node.until(20)
        assert (names(node), node.cluster.api.list("ReplicaSet")) == ([], ())


async def test_a_changed_template_changes_no_pod_and_is_said(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("Deployment"))
        await node.until(5)
        before = names(node)
        patch = {"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}}
        node.cluster.api.patch("Deployment", "default", "web", patch)
        await node.until(20)
        assert names(node) == before
        (note,) = [record for record in node.records if isinstance(record, NoteRecord) and record.level == "warning"]
        assert note.text == "its pod template was changed: a rolling update is not done, its pods stay as they are"
        assert note.ref is not None
        assert (note.ref.kind, note.ref.name) == ("Deployment", "web")


async def test_ordinals_come_one_after_the_other(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("StatefulSet", "replicas: 3, serviceName: db, ", "db"))
        await node.until(30)
        assert names(node) == ["db-0", "db-1", "db-2"]
        ready = [node.at(r) for name in names(node) for r in node.of(StatusRecord, name) if _is_ready(r)]
        assert ready == sorted(ready), "each is ready before the next one is made"
        assert events(node, "statefulset-controller") == [
            f"StatefulSet/db SuccessfulCreate: create Pod db-{ordinal} in StatefulSet db successful"
            for ordinal in range(3)
        ]


async def test_ordinals_go_from_the_highest_one_after_the_other(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(4),)}) as node:
        node.create(workload("StatefulSet", "replicas: 3, serviceName: db, ", "db"))
        await node.until(30)
        scale(node, "StatefulSet", 1, "db")
        await node.until(32)
        assert [pod.metadata.deletion_timestamp is not None for pod in node.cluster.api.list("Pod")] == [
            False,
            False,
            True,
        ]
        await node.until(60)
        assert names(node) == ["db-0"]
        assert events(node, "statefulset-controller")[3:] == [
            "StatefulSet/db SuccessfulDelete: delete Pod db-2 in StatefulSet db successful",
            "StatefulSet/db SuccessfulDelete: delete Pod db-1 in StatefulSet db successful",
        ]


async def test_an_ordinal_keeps_its_name_and_its_host_name(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(4),)}) as node:
        node.create(workload("StatefulSet", "serviceName: db, ", "db"))
        await node.until(5)
        first = node.cluster.api.list("Pod")[0]
        delete(node, "db-0")
        await node.until(8)
        assert [pod.metadata.uid for pod in node.cluster.api.list("Pod")] == [first.metadata.uid], "the name is taken"
        await node.until(20)
        (second,) = node.cluster.api.list("Pod")
        assert second.metadata.uid != first.metadata.uid
        assert (second.metadata.name, second.spec.hostname, second.spec.subdomain) == ("db-0", "db-0", "db")


async def test_min_ready_seconds_hold_the_next_ordinal_back(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("StatefulSet", "replicas: 2, minReadySeconds: 20, ", "db"))
        await node.until(15)
        assert names(node) == ["db-0"]
        await node.until(30)
        assert names(node) == ["db-0", "db-1"]


async def test_a_daemon_set_has_one_pod_on_its_node(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("DaemonSet", name="agent"))
        await node.until(5)
        (pod,) = node.cluster.api.list("Pod")
        assert re.fullmatch(f"agent-{SUFFIX}", pod.metadata.name or "")
        assert (pod.spec.node_name, pod.status.phase) == ("node1", "Running")


async def test_a_daemon_pod_that_the_node_refuses_is_tried_again_after_growing_delays(
    autojump_clock: MockClock,
) -> None:
    async with a_node(RUNS) as node:
        pod = "hostNetwork: true, "
        node.create(workload("DaemonSet", name="first", pod=pod))
        await node.until(2)
        node.create(_refused("DaemonSet"))
        await node.until(32)
        told = [line for line in events(node, "daemonset-controller") if "FailedDaemonPod" in line]
        assert 4 <= len(told) <= 6, "1, 2, 4, 8, 16 s"
        assert "on node node1, will try to kill it" in told[0]


def _refused(kind: str, spec: str = "") -> APIObject:
    """Return a workload whose pods the node refuses: SysctlForbidden."""
    return workload(kind, spec, name="big", pod="securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}, ")


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
async def test_pods_that_the_node_refuses_are_made_again_later_and_later(autojump_clock: MockClock, kind: str) -> None:
    async with a_node(RUNS) as node:
        node.create(_refused(kind, "replicas: 2, "))
        await node.until(32)
        told = [line for line in events(node, "kubelet") if "SysctlForbidden" in line]
        assert len(told) == {"ReplicaSet": 12, "StatefulSet": 6}[kind], "at 0, 1, 3, 7, 15, 31 s"
        notes = [record.text for record in node.records if isinstance(record, NoteRecord)]
        assert notes == ["the node refuses its pods: each next one waits longer than the one before"]


async def test_a_node_that_takes_a_pod_has_forgotten_what_it_refused(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(_refused("ReplicaSet"))
        await node.until(20)
        good = workload("ReplicaSet", name="big").spec  # type: ignore[attr-defined]
        node.cluster.api.replace(evolve(node.cluster.api.list("ReplicaSet")[0], spec=good))  # type: ignore[misc]
        await node.until(40)
        running = [pod for pod in node.cluster.api.list("Pod") if cast("Pod", pod).status.phase == "Running"]
        assert len(running) == 1
        delete(node, running[0].metadata.name or "")
        await node.until(43)
        told = [line for line in events(node, "replicaset-controller") if "SuccessfulCreate" in line]
        assert len(told) == 7, "five that were refused, then one, and at once the next"


async def test_a_pod_whose_name_is_taken_is_tried_again(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(3),)}) as node:
        taken = Pod(metadata=evolve(workload("StatefulSet", name="db-0").metadata), spec=_spec())
        node.create(set_defaults(taken))
        node.create(workload("StatefulSet", name="db"))
        await node.until(4)
        error = 'FailedCreate: create Pod db-0 in StatefulSet db failed error: pods "db-0" already exists'
        assert f"StatefulSet/db {error}" in events(node, "statefulset-controller")
        delete(node, "db-0")
        await node.until(20)
        assert events(node, "statefulset-controller")[-1].endswith("create Pod db-0 in StatefulSet db successful")


def _spec() -> object:
    spec = workload("ReplicaSet").spec.template.spec  # type: ignore[attr-defined]
    return evolve(spec, restart_policy="Never")


async def test_a_replica_set_whose_pods_are_refused_says_so(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.cluster.api.suffix = lambda: "00000"
        node.create(workload("ReplicaSet", "replicas: 2, "))
        await node.until(2)
        assert events(node, "replicaset-controller")[:2] == [
            "ReplicaSet/web SuccessfulCreate: Created pod: web-00000",
            'ReplicaSet/web FailedCreate: Error creating: pods "web-00000" already exists',
        ]


def _is_ready(record: StatusRecord) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in record.status.conditions)


async def test_workloads_that_were_there_before_are_taken_up(autojump_clock: MockClock) -> None:
    rig = JobsRig(always(Run()))
    rig.timebase.seconds()
    rig.api.create(workload("Deployment"))
    told: list[str] = []

    @frozen
    class Events:
        def record(self, ref: ObjectRef, type: str, reason: str, message: str, *, source: str) -> None:  # noqa: A002, ARG002
            told.append(f"{source} {type} {reason}")

    controller = WorkloadController(
        api=rig.api, timebase=rig.timebase, events=Events(), emit=lambda _: None, node=lambda: NODE
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rig.timebase.referee)
        await nursery.start(controller.run)
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert told == ["deployment-controller Normal ScalingReplicaSet", "replicaset-controller Normal SuccessfulCreate"]
    assert len(rig.api.list("Pod")) == 1


@pytest.mark.parametrize("grace", [None, 2])
async def test_everything_goes_at_once(autojump_clock: MockClock, grace: int | None) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
            node.create(workload(kind, name=kind.lower()))
        await node.until(5)
        made = names(node)
        for name in made:
            node.cluster.api.delete("Pod", "default", name, grace_period_seconds=grace)
        node.cluster.delete_workloads()
        await node.until(6)
        assert names(node) == made, "nobody makes new ones"
        await node.until(5 + (grace or 30) + 3)
        assert names(node) == []


async def test_a_paused_deployment_makes_no_pods_until_it_is_resumed(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("Deployment", "paused: true, "))
        await node.until(5)
        assert (names(node), node.cluster.api.list("ReplicaSet")) == ([], ())
        node.cluster.api.patch("Deployment", "default", "web", {"spec": {"paused": False}})
        await node.until(10)
        assert len(names(node)) == 1


def relabel(node: Rig, name: str, app: str) -> None:
    node.cluster.api.patch("Pod", "default", name, {"metadata": {"labels": {"app": app}}})


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet"])
async def test_a_pod_that_lost_its_label_is_let_go_and_replaced(autojump_clock: MockClock, kind: str) -> None:
    async with a_node(RUNS) as node:
        node.create(workload(kind, "serviceName: web, " if kind == "StatefulSet" else ""))
        await node.until(5)
        (first,) = names(node)
        relabel(node, first, "debug")
        await node.until(10)
        stray = node.cluster.api.get("Pod", "default", first)
        assert stray is not None
        assert (stray.metadata.owner_references, stray.status.phase) == ((), "Running")
        assert len(names(node)) == (1 if kind == "StatefulSet" else 2), "a StatefulSet's name is still taken"


@pytest.mark.parametrize(("kind", "name"), [("ReplicaSet", "mine"), ("StatefulSet", "web-0"), ("DaemonSet", "mine")])
async def test_a_stray_pod_with_the_label_is_taken(autojump_clock: MockClock, kind: str, name: str) -> None:
    async with a_node(RUNS) as node:
        node.create(set_defaults(Pod(metadata=evolve(workload("ReplicaSet", name=name).metadata, labels={"app": "x"}),
                                     spec=_spec())))  # fmt: skip
        node.create(workload(kind, "serviceName: web, " if kind == "StatefulSet" else ""))
        await node.until(5)
        (pod,) = node.cluster.api.list("Pod")
        assert [(each.kind, each.name, each.controller) for each in pod.metadata.owner_references] == [
            (kind, "web", True)
        ]


async def test_a_pod_that_gets_the_label_later_is_one_too_many(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("ReplicaSet"))
        stray = evolve(workload("ReplicaSet", name="stray").metadata, labels={"app": "other"})
        node.create(set_defaults(Pod(metadata=stray, spec=_spec())))
        await node.until(5)
        assert len(names(node)) == 2
        relabel(node, "stray", "x")
        await node.until(10)
        assert len(names(node)) == 1


async def test_a_stray_pod_of_another_name_is_no_ordinal(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        stray = evolve(workload("ReplicaSet", name="stray").metadata, labels={"app": "x"})
        node.create(set_defaults(Pod(metadata=stray, spec=_spec())))
        node.create(workload("StatefulSet", "serviceName: web, "))
        await node.until(5)
        assert names(node) == ["stray", "web-0"]


async def test_a_daemon_set_follows_the_nodes_labels(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(workload("DaemonSet", name="agent", pod="nodeSelector: {disk: ssd}, "))
        await node.until(5)
        assert names(node) == []
        (note,) = [record for record in node.records if isinstance(record, NoteRecord) and record.level == "warning"]
        assert note.text == (
            "it makes no pod: node node1 is none of those that its nodeSelector, nodeName or required node affinity "
            "name; --node-label KEY=VALUE gives the node a label"
        )
        node.cluster.label_node({"disk": "ssd"})
        await node.until(10)
        assert len(names(node)) == 1
        node.cluster.label_node({"disk": None})
        await node.until(20)
        assert names(node) == []


async def test_a_replica_set_whose_name_is_taken_is_tried_again(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        deployment = workload("Deployment")
        name = new_replica_set(cast("Deployment", deployment)).metadata.name or ""
        node.create(workload("ReplicaSet", "replicas: 0, ", name))
        node.create(deployment)
        await node.until(3)
        error = f'Failed to create new replica set "{name}": replicasets.apps "{name}" already exists'
        assert f"Deployment/web ReplicaSetCreateError: {error}" in events(node, "deployment-controller")
        delete(node, name, "ReplicaSet")
        await node.until(20)
        assert len(names(node)) == 1


async def test_a_cron_job_sees_its_job_end(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(3),)}) as node:
        text = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly, namespace: default}\n"
        text += "spec: {schedule: '0 3 * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, "
        text += "containers: [{name: main, image: a}]}}}}}\n"
        node.cluster.create(cast("APIObject", set_defaults(manifests.load_text(text).objects[0].object)))
        await node.until(20)
        (job,) = node.cluster.api.list("Job")
        assert events(node, "cronjob-controller") == [
            f"CronJob/nightly SuccessfulCreate: Created job {job.metadata.name}",
            f"CronJob/nightly SawCompletedJob: Saw completed job: {job.metadata.name}, condition: Complete",
        ]
