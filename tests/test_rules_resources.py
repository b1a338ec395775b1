"""Cgroup values, pod sums, OOM scores, resourceFieldRef (kubelet v1.36, KEP-753, KEP-2837)."""

from __future__ import annotations

import pytest

from kubelet_emu.api.quantity import Quantity
from kubelet_emu.api.v1 import Container, Pod, PodSpec, ResourceRequirements
from kubelet_emu.rules.resources import (
    NodeResources,
    aggregate_limits,
    aggregate_requests,
    container_resources,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
    named_resource_field_value,
    oom_score_adj,
    pod_limit,
    pod_request,
    resource_config_for_pod,
    resource_field_value,
)
from runtime.api import LinuxContainerResources

GIB = 2**30
NODE = NodeResources(memory_bytes=16 * GIB)


def quantities(values: dict[str, str]) -> dict[str, Quantity]:
    return {name: Quantity(value) for name, value in values.items()}


def resources(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> ResourceRequirements:
    return ResourceRequirements(requests=quantities(requests or {}), limits=quantities(limits or {}))


def a_container(
    name: str = "c",
    requests: dict[str, str] | None = None,
    limits: dict[str, str] | None = None,
    *,
    sidecar: bool = False,
) -> Container:
    return Container(name=name, resources=resources(requests, limits), restart_policy="Always" if sidecar else None)


def a_pod(*containers: Container, init: tuple[Container, ...] = (), own: ResourceRequirements | None = None) -> Pod:
    return Pod(spec=PodSpec(containers=containers, init_containers=init, resources=own))


@pytest.mark.parametrize(
    ("milli", "shares", "quota"),
    [
        (0, 2, 0),
        (1, 2, 1000),
        (10, 10, 1000),
        (100, 102, 10000),
        (250, 256, 25000),
        (500, 512, 50000),
        (1000, 1024, 100000),
        (1500, 1536, 150000),
        (300_000, 262144, 30_000_000),
    ],
)
def test_cpu_becomes_shares_and_quota(milli: int, shares: int, quota: int) -> None:
    assert milli_cpu_to_shares(milli) == shares
    assert milli_cpu_to_quota(milli) == quota


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        pytest.param(
            a_container(requests={"cpu": "250m", "memory": "1Gi"}, limits={"cpu": "500m", "memory": "2Gi"}),
            LinuxContainerResources(
                cpu_shares=256, cpu_quota=50000, cpu_period=100000, memory_limit_bytes=2 * GIB, oom_score_adj=938
            ),
            id="requests and limits",
        ),
        pytest.param(
            a_container(limits={"cpu": "1"}),
            LinuxContainerResources(cpu_shares=1024, cpu_quota=100000, cpu_period=100000, oom_score_adj=999),
            id="a missing request is the limit",
        ),
        pytest.param(Container(name="c"), LinuxContainerResources(cpu_shares=2, oom_score_adj=999), id="nothing"),
    ],
)
def test_container_resources(container: Container, expected: LinuxContainerResources) -> None:
    assert container_resources(a_pod(container), container, NODE, "Burstable") == expected


def test_a_missing_limit_is_the_pods() -> None:
    container = a_container(requests={"cpu": "100m"})
    pod = a_pod(container, own=resources(limits={"cpu": "2", "memory": "1Gi", "ephemeral-storage": "1Gi"}))
    made = container_resources(pod, container, NODE, "Burstable")
    assert (made.cpu_shares, made.cpu_quota, made.memory_limit_bytes) == (102, 200000, GIB)


def test_the_node_decides_on_quota_and_pids() -> None:
    container = a_container(limits={"cpu": "1"})
    node = NodeResources(memory_bytes=GIB, cfs_quota=False, pids_limit=100)
    made = container_resources(a_pod(container), container, node, "Burstable")
    assert (made.cpu_quota, made.cpu_period, made.pids_limit) == (None, None, 100)
    unlimited = NodeResources(memory_bytes=GIB, pids_limit=-1)
    assert container_resources(a_pod(container), container, unlimited, "Burstable").pids_limit is None


ALONE = a_container(requests={"cpu": "100m", "memory": "64Mi"}, limits={"cpu": "200m", "memory": "128Mi"})
FREE = a_container("free", requests={"cpu": "100m"})
MIB = 2**20
OF_POD = [
    ("a pod without resources of its own needs none", a_pod(ALONE), "Burstable", None),
    ("nor does one whose own are empty", a_pod(ALONE, own=resources()), "Burstable", None),
    (
        "limits of the pod hold for all of it",
        a_pod(FREE, own=resources({"cpu": "100m", "memory": "1Gi"}, {"cpu": "2", "memory": "2Gi"})),
        "Burstable",
        LinuxContainerResources(cpu_shares=102, cpu_quota=200_000, cpu_period=100_000, memory_limit_bytes=2 * GIB),
    ),
    (
        "a Guaranteed pod has both",
        a_pod(FREE, own=resources({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})),
        "Guaranteed",
        LinuxContainerResources(cpu_shares=1024, cpu_quota=100_000, cpu_period=100_000, memory_limit_bytes=GIB),
    ),
    (
        "requests alone give shares, and no limit where a container has none",
        a_pod(ALONE, FREE, own=resources({"cpu": "500m"})),
        "Burstable",
        LinuxContainerResources(cpu_shares=512),
    ),
    (
        "where every container has a limit, init containers too, their sum holds for a resource without the pod's",
        a_pod(ALONE, init=(ALONE,), own=resources(limits={"cpu": "1"})),
        "Burstable",
        LinuxContainerResources(cpu_shares=102, cpu_quota=100_000, cpu_period=100_000, memory_limit_bytes=128 * MIB),
    ),
    (
        "a limit of zero is none",
        a_pod(FREE, own=resources({"cpu": "1"}, {"cpu": "0", "memory": "1Gi"})),
        "Burstable",
        LinuxContainerResources(cpu_shares=1024, memory_limit_bytes=GIB),
    ),
    (
        "without an amount the pod is BestEffort",
        a_pod(Container(name="c"), own=resources({"cpu": "0"})),
        "BestEffort",
        LinuxContainerResources(cpu_shares=2),
    ),
]


@pytest.mark.parametrize(("why", "pod", "qos", "expected"), OF_POD, ids=[row[0] for row in OF_POD])
def test_the_cgroup_of_a_pod(why: str, pod: Pod, qos: str, expected: LinuxContainerResources | None) -> None:
    assert resource_config_for_pod(pod, NODE, qos) == expected


def test_a_limit_of_processes_holds_for_the_whole_pod() -> None:
    node = NodeResources(memory_bytes=GIB, pids_limit=100, cfs_quota=False)
    pod = a_pod(ALONE)
    expected = LinuxContainerResources(cpu_shares=102, memory_limit_bytes=128 * MIB, pids_limit=100)
    assert resource_config_for_pod(pod, node, "Burstable") == expected
    assert resource_config_for_pod(pod, NodeResources(memory_bytes=GIB, pids_limit=-1), "Burstable") is None


def test_overhead_is_within_the_pods_cgroup() -> None:
    own = resources({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    pod = Pod(spec=PodSpec(containers=(FREE,), resources=own, overhead=quantities({"cpu": "500m", "memory": "1Gi"})))
    made = resource_config_for_pod(pod, NODE, "Guaranteed")
    assert made == LinuxContainerResources(
        cpu_shares=1536, cpu_quota=150_000, cpu_period=100_000, memory_limit_bytes=2 * GIB
    )


@pytest.mark.parametrize(
    ("qos", "request_", "expected"),
    [
        ("Guaranteed", "1Gi", -997),
        ("BestEffort", "0", 1000),
        ("Burstable", "64Mi", 997),
        ("Burstable", "128Mi", 993),
        ("Burstable", "1Gi", 938),
        ("Burstable", "0", 999),
        ("Burstable", "16Gi", 3),
    ],
)
def test_oom_score_of_a_container(qos: str, request_: str, expected: int) -> None:
    container = a_container(requests={"memory": request_})
    assert oom_score_adj(a_pod(container), container, qos, 16 * GIB) == expected


def test_a_sidecar_is_not_killed_before_the_smallest_regular_container() -> None:
    sidecar = a_container("s", {"memory": "64Mi"}, sidecar=True)
    a, b = a_container("a", {"memory": "4Gi"}), a_container("b", {"memory": "2Gi"})
    pod = a_pod(a, b, init=(sidecar,))
    assert [oom_score_adj(pod, container, "Burstable", 16 * GIB) for container in (a, b, sidecar)] == [750, 875, 875]


def test_a_pods_own_memory_request_is_spread() -> None:
    a, b = a_container("a", {"memory": "128Mi"}), a_container("b")
    pod = a_pod(a, b, own=resources({"memory": "640Mi"}))
    assert [oom_score_adj(pod, container, "Burstable", 16 * GIB) for container in (a, b)] == [977, 985]


def test_a_node_critical_pod_is_protected() -> None:
    container = a_container()
    spec = PodSpec(containers=(container,), priority=2_000_001_000, priority_class_name="system-node-critical")
    assert oom_score_adj(Pod(spec=spec), container, "BestEffort", GIB) == -997


def test_a_pods_request_is_the_larger_of_running_and_starting() -> None:
    pod = a_pod(
        a_container("a", {"cpu": "1"}, {"cpu": "2"}),
        init=(a_container("s", {"cpu": "500m"}, sidecar=True), a_container("i", {"cpu": "3"}, {"cpu": "3"})),
    )
    assert aggregate_requests(pod, "cpu") == 3500
    assert aggregate_limits(pod, "cpu") == 3000
    assert aggregate_requests(a_pod(a_container("a", {"cpu": "4"}), init=pod.spec.init_containers), "cpu") == 4500


def test_a_pods_own_values_come_first_and_overhead_is_added() -> None:
    overhead = quantities({"cpu": "100m", "memory": "1"})
    spec = PodSpec(
        containers=(a_container("a", {"cpu": "1", "memory": "5"}, {"memory": "7"}),),
        resources=resources({"cpu": "2"}, {"cpu": "3"}),
        overhead=overhead,
    )
    pod = Pod(spec=spec)
    assert (pod_request(pod, "cpu"), pod_request(pod, "memory")) == (2100, 6)
    assert (pod_limit(pod, "cpu"), pod_limit(pod, "memory"), pod_limit(pod, "hugepages-2Mi")) == (3100, 8, 0)


@pytest.mark.parametrize(
    ("resource", "divisor", "expected"),
    [
        ("limits.cpu", None, "1"),
        ("limits.cpu", "0", "1"),
        ("limits.cpu", "1m", "250"),
        ("requests.cpu", "1", "1"),
        ("requests.cpu", "1m", "100"),
        ("limits.memory", "1Mi", "65"),
        ("limits.memory", None, str(64 * 2**20 + 1)),
        ("requests.memory", None, "0"),
        ("limits.ephemeral-storage", "1Gi", "10"),
        ("limits.hugepages-2Mi", None, "0"),
    ],
)
def test_resource_fields_are_rounded_up(resource: str, divisor: str | None, expected: str) -> None:
    container = a_container(requests={"cpu": "100m"}, limits={"cpu": "250m", "memory": str(64 * 2**20 + 1)})
    allocatable = quantities({"ephemeral-storage": "10Gi", "memory": "1Gi"})
    by = None if divisor is None else Quantity(divisor)
    assert resource_field_value(a_pod(container), container, resource, by, allocatable) == expected


def test_a_named_init_container_has_no_defaults() -> None:
    pod = a_pod(a_container("a"), init=(a_container("i", {"cpu": "1"}), a_container("j", limits={"cpu": "3"})))
    allocatable = quantities({"cpu": "8"})
    assert named_resource_field_value(pod, "a", "limits.cpu", None, allocatable) == "8"
    assert named_resource_field_value(pod, "i", "limits.cpu", None, allocatable) == "0"
    assert named_resource_field_value(pod, "i", "requests.cpu", None, allocatable) == "1"
    assert named_resource_field_value(pod, "j", "limits.cpu", None, allocatable) == "3"
    with pytest.raises(LookupError, match="container x not found"):
        named_resource_field_value(pod, "x", "limits.cpu", None, allocatable)
