"""Admission on the node: order, reasons, messages (kubelet v1.36 canAdmitPod)."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from pod_makers import a_container, a_pod, a_sidecar, gates, requesting

from kubelet_emu.api.v1 import ContainerPort, PodOS
from kubelet_emu.api.v1_scheduling import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Toleration,
)
from kubelet_emu.api.v1_security import AppArmorProfile, PodSecurityContext, SecurityContext, Sysctl
from kubelet_emu.rules.admission import ForeignAnswers, NodeFacts, Rejection, admit
from kubelet_emu.rules.node_fit import Taint, tolerates
from kubelet_emu.rules.node_usage import NodeUsage, usage_of
from kubelet_emu.rules.preemption import pods_to_preempt
from kubelet_emu.rules.qos import compute_pod_qos

RUNTIME_DEFAULT = AppArmorProfile(type="RuntimeDefault")
ARMOURED = SecurityContext(app_armor_profile=RUNTIME_DEFAULT)
NODE = NodeFacts(
    name="node1",
    labels={"zone": "a", "disks": "4"},
    allocatable={"cpu": "2", "memory": "1Gi", "pods": "3", "example.com/gpu": "1"},  # type: ignore[dict-item]
)
STATIC = {"annotations": {"kubernetes.io/config.source": "file"}}
CRITICAL = 2_000_000_000


def asking(cpu: str = "", *, name: str = "a", **others: str) -> Any:  # noqa: ANN401
    requests = ({"cpu": cpu} if cpu else {}) | others
    return a_container(name, resources=requesting(requests))


def refused(pod: Any, node: NodeFacts = NODE, active: tuple[Any, ...] = (), **foreign: Any) -> tuple[str, str] | None:  # noqa: ANN401
    rejection = admit(pod, node, usage_of(active), gates(), ForeignAnswers(**foreign))
    return None if rejection is None else (rejection.reason, rejection.message)


def test_a_plain_pod_is_admitted() -> None:
    assert refused(a_pod(asking("1"), node_name="node1", node_selector={"zone": "a"})) is None


# --- pressure

UNDER_PRESSURE = evolve(NODE, pressures=("MemoryPressure",))
TOLERATES_PRESSURE = Toleration(key="node.kubernetes.io/memory-pressure", operator="Exists")


@pytest.mark.parametrize(
    ("why", "pod", "is_refused"),
    [
        ("a BestEffort pod", a_pod(a_container("a")), True),
        ("a BestEffort pod that tolerates it", a_pod(a_container("a"), tolerations=(TOLERATES_PRESSURE,)), False),
        ("a Burstable pod", a_pod(asking("1")), False),
        ("a static pod", a_pod(a_container("a"), metadata=STATIC), False),
        ("a pod of critical priority", a_pod(a_container("a"), priority=CRITICAL), False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_under_memory_pressure(why: str, pod: Any, *, is_refused: bool) -> None:  # noqa: ANN401
    expected = ("Evicted", "The node had condition: [MemoryPressure]. ") if is_refused else None
    assert refused(pod, UNDER_PRESSURE) == expected, why


def test_any_other_pressure_refuses_all_but_critical_pods() -> None:
    node = evolve(NODE, pressures=("MemoryPressure", "DiskPressure"))
    assert refused(a_pod(asking("1")), node) == ("Evicted", "The node had condition: [MemoryPressure DiskPressure]. ")


# --- sysctls


def with_sysctl(name: str, **spec: Any) -> Any:  # noqa: ANN401
    return a_pod(security_context=PodSecurityContext(sysctls=(Sysctl(name=name, value="1"),)), **spec)


@pytest.mark.parametrize(
    ("name", "allowed", "spec", "message"),
    [
        ("net.ipv4.tcp_syncookies", (), {}, None),
        ("net/ipv4/tcp_syncookies", (), {}, None),
        ("net/ipv4/conf/eth0.1/forwarding", ("net.ipv4.conf.*",), {}, None),
        ("net.ipv4.conf.eth0/1.forwarding", ("net/ipv4/conf/eth0.1/*",), {}, None),
        ("net.ipv4/tcp_rmem", (), {}, 'forbidden sysctl: "net.ipv4/tcp_rmem" not allowlisted'),
        ("kernel.sem", ("kernel.sem",), {"host_network": True}, None),
        ("kernel.msgmax", (), {}, 'forbidden sysctl: "kernel.msgmax" not allowlisted'),
        ("kernel.msgmax", ("kernel.msg*",), {}, None),
        ("net.core.somaxconn", ("net.core.somaxconn",), {}, None),
        (
            "net.core.somaxconn",
            ("net.*",),
            {"host_network": True},
            'forbidden sysctl: "net.core.somaxconn" not allowed with host Net enabled',
        ),
        (
            "kernel.shm_rmid_forced",
            (),
            {"host_ipc": True},
            'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled',
        ),
    ],
)
def test_sysctls(name: str, allowed: tuple[str, ...], spec: dict[str, Any], message: str | None) -> None:
    node = evolve(NODE, allowed_unsafe_sysctls=allowed)
    expected = None if message is None else ("SysctlForbidden", message)
    assert refused(with_sysctl(name, **spec), node) == expected


# --- resources


@pytest.mark.parametrize(
    ("why", "pod", "active", "expected"),
    [
        (
            "too little cpu left",
            a_pod(asking("1500m")),
            (a_pod(asking("1")),),
            ("OutOfcpu", "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"),
        ),
        (
            "too little memory",
            a_pod(asking(memory="2Gi")),
            (),
            (
                "OutOfmemory",
                "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
            ),
        ),
        (
            "pods are counted before anything else",
            a_pod(asking("3")),
            (a_pod(), a_pod(), a_pod()),
            ("OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"),
        ),
        (
            "an extended resource",
            a_pod(asking(**{"example.com/gpu": "2"})),
            (),
            (
                "OutOfexample.com/gpu",
                "Node didn't have enough resource: example.com/gpu, requested: 2, used: 0, capacity: 1",
            ),
        ),
        ("an extended resource that the node does not know", a_pod(asking(**{"example.com/x": "2"})), (), None),
        (
            "huge pages are no extended resource",
            a_pod(asking(**{"hugepages-2Mi": "4Mi"})),
            (),
            (
                "OutOfhugepages-2Mi",
                "Node didn't have enough resource: hugepages-2Mi, requested: 4194304, used: 0, capacity: 0",
            ),
        ),
        ("what is not asked for is not missing", a_pod(a_container("a")), (a_pod(asking("2")),), None),
        (
            "a sidecar counts beside the init container after it",
            a_pod(asking("500m"), init=[a_sidecar("s", resources=requesting({"cpu": "1"})), asking("1500m", name="i")]),
            (),
            ("OutOfcpu", "Node didn't have enough resource: cpu, requested: 2500, used: 0, capacity: 2000"),
        ),
        (
            "overhead counts",
            a_pod(asking("2"), overhead={"cpu": "1m"}),
            (),
            ("OutOfcpu", "Node didn't have enough resource: cpu, requested: 2001, used: 0, capacity: 2000"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_resources(why: str, pod: Any, active: tuple[Any, ...], expected: tuple[str, str] | None) -> None:  # noqa: ANN401
    assert refused(pod, NODE, active) == expected, why


def test_a_critical_pod_may_have_others_preempted_when_only_resources_are_missing() -> None:
    pod, active = a_pod(asking("2"), priority=CRITICAL), (a_pod(asking("1")),)
    rejection = admit(pod, NODE, usage_of(active), gates())
    assert rejection is not None
    assert [(each.resource, each.requested, each.used) for each in rejection.insufficient] == [("cpu", 2000, 1000)]
    elsewhere = admit(evolve(pod, spec=evolve(pod.spec, node_name="node2")), NODE, usage_of(active), gates())
    assert elsewhere is not None
    assert (elsewhere.reason, elsewhere.insufficient) == ("NodeName", ())
    usual = admit(a_pod(asking("2"), node_name="node2"), NODE, usage_of(active), gates())
    assert usual is not None
    assert usual.reason == "OutOfcpu"
    ordinary = admit(a_pod(asking("2")), NODE, usage_of(active), gates())
    assert ordinary is not None
    assert ordinary.insufficient == ()


# --- affinity, name, ports, taints


def requiring(*terms: NodeSelectorTerm) -> Affinity:
    selector = NodeSelector(node_selector_terms=terms)
    return Affinity(node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=selector))


def expression(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key=key, operator=operator, values=values),))


@pytest.mark.parametrize(
    ("term", "matches"),
    [
        (expression("zone", "In", "a", "b"), True),
        (expression("zone", "In", "b"), False),
        (expression("rack", "In", "b"), False),
        (expression("zone", "NotIn", "b"), True),
        (expression("zone", "NotIn", "a"), False),
        (expression("rack", "NotIn", "a"), True),
        (expression("zone", "Exists"), True),
        (expression("rack", "Exists"), False),
        (expression("rack", "DoesNotExist"), True),
        (expression("disks", "Gt", "3"), True),
        (expression("disks", "Gt", "4"), False),
        (expression("disks", "Lt", "5"), True),
        (expression("zone", "Lt", "5"), False),
        (expression("rack", "Gt", "5"), False),
        (expression("zone", "Near", "a"), False),
        (expression("kubernetes.io/hostname", "In", "node1"), True),
        (NodeSelectorTerm(), False),
        (
            NodeSelectorTerm(
                match_fields=(NodeSelectorRequirement(key="metadata.name", operator="In", values=("node1",)),)
            ),
            True,
        ),
    ],
)
def test_node_affinity(term: NodeSelectorTerm, *, matches: bool) -> None:
    message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    assert refused(a_pod(affinity=requiring(term))) == (None if matches else ("NodeAffinity", message))


def test_one_term_that_matches_is_enough_and_a_preference_is_none() -> None:
    terms = (expression("zone", "In", "b"), expression("zone", "In", "a"))
    assert refused(a_pod(affinity=requiring(*terms))) is None
    assert refused(a_pod(affinity=Affinity(node_affinity=NodeAffinity()))) is None
    assert refused(a_pod(affinity=Affinity())) is None


def test_a_node_selector_must_match_whole() -> None:
    assert refused(a_pod(node_selector={"zone": "a", "rack": "1"})) == (
        "NodeAffinity",
        "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    )


def test_a_pod_of_another_node_is_refused() -> None:
    expected = ("NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name")
    assert refused(a_pod(node_name="node2")) == expected


def on_port(port: int | None, **facts: Any) -> Any:  # noqa: ANN401
    return a_container("a", ports=(ContainerPort(container_port=80, host_port=port, **facts),))


@pytest.mark.parametrize(
    ("why", "wanted", "taken", "is_free"),
    [
        ("the same port", on_port(80), on_port(80), False),
        ("another port", on_port(80), on_port(81), True),
        ("another protocol", on_port(53, protocol="UDP"), on_port(53), True),
        ("two addresses", on_port(80, host_ip="10.0.0.1"), on_port(80, host_ip="10.0.0.2"), True),
        ("one of them on every address", on_port(80, host_ip="10.0.0.1"), on_port(80), False),
        ("no host port", on_port(None), on_port(None), True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_host_ports(why: str, wanted: Any, taken: Any, *, is_free: bool) -> None:  # noqa: ANN401
    message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
    expected = None if is_free else ("NodePorts", message)
    assert refused(a_pod(wanted), NODE, (a_pod(taken),)) == expected, why


def test_host_ports_of_sidecars_count_and_those_of_init_containers_do_not() -> None:
    port = on_port(80).ports
    taken = (a_pod(init=[a_sidecar("s", ports=port)]),)
    assert refused(a_pod(on_port(80)), NODE, taken) is not None
    assert refused(a_pod(on_port(80)), NODE, (a_pod(init=[a_container("i", ports=port)]),)) is None


def test_a_taint_that_is_not_tolerated() -> None:
    node = evolve(NODE, taints=(Taint("down", "NoExecute", "yes"), Taint("soft", "NoSchedule")))
    message = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    assert refused(a_pod(), node) == ("TaintToleration", message)
    assert refused(a_pod(metadata=STATIC), node) is None
    assert refused(a_pod(tolerations=(Toleration(key="down", value="yes"),)), node) is None


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration(key="k", operator="Equal", value="v"), True),
        (Toleration(key="k", value="other"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(key="k", operator="Exists", effect="NoSchedule"), False),
        (Toleration(key="k", operator="Exists", effect="NoExecute"), True),
        (Toleration(key="k", operator="Gt", value="v"), False),
    ],
)
def test_tolerations(toleration: Toleration, *, covers: bool) -> None:
    assert tolerates((toleration,), Taint("k", "NoExecute", "v")) is covers


def test_of_several_failures_the_first_in_list_order_is_told() -> None:
    pod = a_pod(asking("9"), node_name="node2", node_selector={"zone": "b"})
    assert refused(pod) is not None
    assert refused(pod)[0] == "OutOfcpu"  # type: ignore[index]
    assert refused(a_pod(node_name="node2", node_selector={"zone": "b"}))[0] == "NodeAffinity"  # type: ignore[index]


# --- the other handlers, in order

STRICT = PodSecurityContext(supplemental_groups_policy="Strict")
WORST: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    (
        "UnexpectedAdmissionError",
        {},
        {},
        {"resource_managers": Rejection(reason="UnexpectedAdmissionError", message="Allocate failed")},
        "Allocate failed",
    ),
    ("InvalidNodeInfo", {}, {"is_known": False}, {}, "Kubelet cannot get node info."),
    (
        "PodOSSelectorNodeLabelDoesNotMatch",
        {"metadata": {"labels": {"kubernetes.io/os": "windows"}}},
        {},
        {},
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ),
    (
        "PodOSNotSupported",
        {"os": PodOS(name="windows")},
        {},
        {},
        "Failed to admit pod as the OS field doesn't match node OS",
    ),
    (
        "SupplementalGroupsPolicyNotSupported",
        {"security_context": STRICT},
        {"supports_supplemental_groups_policy": False},
        {},
        "SupplementalGroupsPolicy=Strict is not supported in this node",
    ),
    (
        "UnexpectedAdmissionError",
        {},
        {},
        {"plugin_resources_error": "ERR"},
        "Update plugin resources failed due to ERR, which is unexpected.",
    ),
    (
        "NodeName",
        {"node_name": "node2"},
        {},
        {},
        "Predicate NodeName failed: node(s) didn't match the requested node name",
    ),
    (
        "AppArmor",
        {"init": (a_container("i", security_context=ARMOURED),)},
        {"has_app_armor": False},
        {},
        "Cannot enforce AppArmor: AppArmor is not enabled on the host",
    ),
    (
        "PodFeatureUnsupported",
        {},
        {},
        {"missing_features": ("F1", "F2")},
        "Pod requires node features that are not available: F1, F2",
    ),
    ("NodeShutdown", {}, {"is_shutting_down": True}, {}, "Pod was rejected as the node is shutting down."),
]


@pytest.mark.parametrize("first", range(len(WORST)))
def test_the_first_refusal_in_the_kubelets_order_wins(first: int) -> None:
    spec: dict[str, Any] = {}
    node: dict[str, Any] = {}
    foreign: dict[str, Any] = {}
    for _, of_pod, of_node, of_others, _ in reversed(WORST[first:]):
        spec, node, foreign = spec | of_pod, node | of_node, foreign | of_others
    reason, *_, message = WORST[first]
    assert refused(a_pod(**spec), evolve(NODE, **node), **foreign) == (reason, message)


def test_pod_level_resources_and_declared_features_depend_on_their_gates() -> None:
    pod = a_pod(resources=requesting({"cpu": "1"}))
    rejection = admit(pod, NODE, NodeUsage(), gates(PodLevelResources=False))
    assert rejection is not None
    assert rejection.reason == "PodLevelResourcesNotSupported"
    foreign = ForeignAnswers(missing_features=("F",))
    assert admit(a_pod(), NODE, NodeUsage(), gates(NodeDeclaredFeatures=False), foreign) is None


# --- quality of service


@pytest.mark.parametrize(
    ("why", "pod", "qos"),
    [
        ("nothing is asked for", a_pod(a_container("a")), "BestEffort"),
        ("only zeros are asked for", a_pod(asking("0")), "BestEffort"),
        ("other resources don't count", a_pod(asking(**{"ephemeral-storage": "1Gi"})), "BestEffort"),
        ("a request alone", a_pod(asking("1")), "Burstable"),
        (
            "limits equal to requests for all",
            a_pod(a_container("a", resources=requesting({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"}))),
            "Guaranteed",
        ),
        (
            "limits above the requests",
            a_pod(a_container("a", resources=requesting({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}))),
            "Burstable",
        ),
        (
            "an init container without limits",
            a_pod(
                a_container("a", resources=requesting({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})),
                init=[a_container("i")],
            ),
            "Burstable",
        ),
        (
            "the pod's own resources stand for those of its containers",
            a_pod(a_container("a"), resources=requesting({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})),
            "Guaranteed",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_quality_of_service(why: str, pod: Any, qos: str) -> None:  # noqa: ANN401
    assert compute_pod_qos(pod, gates()) == qos, why


# --- preemption

GUARANTEED = requesting({"cpu": "1", "memory": "1Mi"}, {"cpu": "1", "memory": "1Mi"})


def victims(wanted: str, *active: Any, allocatable: dict[str, str] | None = None, **spec: Any) -> list[str] | None:  # noqa: ANN401
    node = evolve(NODE, allocatable=allocatable or {"cpu": "3", "pods": "110"})
    pod = a_pod(asking(wanted), **({"priority": CRITICAL} | spec))
    rejection = admit(pod, node, usage_of(active), gates())
    assert rejection is not None
    chosen = pods_to_preempt(pod, active, rejection.insufficient, gates())
    return None if chosen is None else [each.metadata.name or "" for each in chosen]


def named(name: str, *containers: Any, **spec: Any) -> Any:  # noqa: ANN401
    return a_pod(*containers, metadata={"name": name}, **spec)


def test_the_pods_that_come_nearest_make_room_and_guaranteed_ones_last() -> None:
    active = (
        named("g", a_container("a", resources=GUARANTEED)),
        named("small", asking("500m")),
        named("b", asking("1")),
    )
    assert victims("1", *active) == ["small"]
    assert victims("1500m", *active) == ["b"]
    assert victims("2", *active) == ["b", "small"]
    assert victims("3", *active) == ["b", "small", "g"]


def test_when_even_all_of_them_are_not_enough_nobody_is_preempted() -> None:
    assert victims("4", named("b", asking("1"))) is None


def test_critical_pods_are_not_preempted_by_their_equals() -> None:
    assert victims("3", named("c", asking("1"), priority=CRITICAL)) is None
    assert victims("3", named("c", asking("1"), priority=CRITICAL), priority=CRITICAL + 1) == ["c"]


def test_a_missing_place_is_made_by_ending_one_best_effort_pod() -> None:
    active = (named("burst", asking("1m")), named("best"))
    assert victims("1m", *active, allocatable={"cpu": "3", "pods": "2"}) == ["best"]
