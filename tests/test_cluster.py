"""A node and its control plane in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from jobs_rig import a_job
from kubelet_rig import BOTH, EPOCH, a_node, a_pod, container, lives, stops

from kubelet_emu.api.v1_ephemeral import EphemeralContainer
from kubelet_emu.apiserver.errors import InvalidError
from kubelet_emu.journal.records import JobRecord, ManifestRecord
from kubelet_emu.kubelet.kubelet import Kubelet

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.kubelet.timing import Timing


def the_job(**spec: Any) -> Job:  # noqa: ANN401
    """Return a Job whose pods run container main."""
    job = a_job(**spec)
    template = job.spec.template
    pod_spec = evolve(template.spec, containers=(container("main"),))
    return evolve(job, spec=evolve(job.spec, template=evolve(template, spec=pod_spec)))


def pods(node: Rig) -> list[Pod]:
    """Return all pods that there are."""
    return list(node.cluster.api.list("Pod"))


@BOTH
async def test_a_job_runs_its_pods_to_the_end(autojump_clock: MockClock, timing: Timing) -> None:
    async with a_node({"main": (lives(3),)}, timing=timing) as node:
        node.create(the_job(parallelism=2, completions=3))
        await node.until(30)
        statuses = [record.status for record in node.records if isinstance(record, JobRecord) and record.status]
        assert statuses[-1].succeeded == 3
        assert [condition.type for condition in statuses[-1].conditions] == ["SuccessCriteriaMet", "Complete"]
        assert [pod.status.phase for pod in pods(node)] == ["Succeeded"] * 3


async def test_a_job_makes_a_new_pod_for_one_that_failed(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(2, 1),)}) as node:
        node.create(the_job(backoff_limit=1))
        await node.until(60)
        assert [pod.status.phase for pod in pods(node)] == ["Failed", "Failed"]
        last = [record.status for record in node.records if isinstance(record, JobRecord) and record.status][-1]
        assert last.conditions[-1].reason == "BackoffLimitExceeded"


async def test_the_job_controller_goes_on_without_a_kubelet(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(1),)}) as node:
        await node.cluster.stop_kubelet()
        node.create(the_job())
        await node.until(5)
        assert len(pods(node)) == 1
        assert pods(node)[0].spec.node_name == "node1"
        await node.cluster.start_kubelet()
        await node.until(6)
        assert pods(node)[0].status.phase == "Running"


async def test_identities_depend_on_the_seed_and_the_name_alone(autojump_clock: MockClock) -> None:
    async def uids(seed: int, *names: str) -> dict[str, str]:
        async with a_node(seed=seed) as node:
            return {name: node.create(a_pod(name=name)).metadata.uid or "" for name in names}

    one = await uids(1, "a", "b")
    assert await uids(1, "b", "c", "a") == one | {"c": (await uids(1, "c"))["c"]}
    assert (await uids(2, "a"))["a"] != one["a"]


async def test_a_pod_of_the_same_name_is_another_pod(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        first = node.create(a_pod()).metadata.uid
        await node.until(5)
        node.delete()
        await node.gone()
        second = node.create(a_pod()).metadata.uid
        await node.until(10)
        assert first != second
        assert node.runs() == ["0 main#1 start", "5 main#1 exit 0", "5 main#1 start"]


async def test_what_was_created_is_recorded_as_it_was_accepted(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        manifest = node.of(ManifestRecord)[0].manifest
        assert manifest["spec"]["restartPolicy"] == "Always"
        assert manifest["metadata"]["uid"] == node.pod().metadata.uid
        assert node.pod().metadata.creation_timestamp == EPOCH


async def test_leaving_a_cluster_leaves_its_containers(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        await node.cluster.stop_kubelet()
        with pytest.raises(RuntimeError, match="not running"):
            _ = a_kubelet_of(node).services
        assert [each.state.value for each in await node.runtime.list_containers()] == ["running"]


def a_kubelet_of(node: Rig) -> Kubelet:
    """Return a kubelet that was never started."""
    cluster = node.cluster
    return Kubelet(
        runtime=cluster.runtime,
        api=cluster.api,
        emit=cluster.emit,
        timebase=cluster.timebase,
        settings=cluster.settings,
        node=cluster.node,
        seed=1,
        logs=cluster.logs,
        log=cluster.log,
    )


async def test_a_change_that_a_server_refuses_is_refused(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        job = node.create(the_job(parallelism=1, completions=2))
        await node.until(1)
        api = node.cluster.api
        with pytest.raises(InvalidError) as raised:
            api.patch("Pod", "ns", "p", {"spec": {"restartPolicy": "Never"}})
        assert str(raised.value).startswith('Pod "p" is invalid: spec: Forbidden: pod updates may not change fields')
        with pytest.raises(InvalidError):
            api.resize("ns", "p", {"spec": {"containers": [{"name": "main", "resources": {"limits": {"gpu": "1"}}}]}})
        with pytest.raises(InvalidError) as raised:
            api.patch("Job", job.metadata.namespace or "", job.metadata.name or "", {"spec": {"completions": 5}})
        assert raised.value.causes == ("spec.completions: Invalid value: 5: field is immutable",)
        assert node.pod().spec.restart_policy == "Always"


async def test_a_change_that_a_server_takes_has_its_defaults(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(1)
        node.cluster.api.add_ephemeral_container("ns", "p", EphemeralContainer(name="debug", image="app:1"))
        node.cluster.api.patch("Pod", "ns", "p", {"metadata": {"labels": {"a": "b"}}})
        pod = node.pod()
        assert pod.metadata.labels == {"a": "b"}
        assert pod.spec.ephemeral_containers[0].image_pull_policy == "IfNotPresent"
