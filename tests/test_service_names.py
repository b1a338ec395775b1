"""Names of Services: rules, hosts files that follow the pods, and what a manifest is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from attrs import evolve
from kubelet_rig import a_node, stops
from test_cli_programs import simulate

from kubelet_emu import manifests
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Pod, PodSpec
from kubelet_emu.api.v1_services import Service, ServiceSpec
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.config.features import gates_for
from kubelet_emu.manifests.validation.objects import object_faults
from kubelet_emu.rules.service_names import is_endpoint, service_names, uses_cluster_names

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from kubelet_rig import Rig
    from trio.testing import MockClock

    from kubelet_emu.apiserver.objects import APIObject


def a_service(name: str = "db", namespace: str = "shop", **spec: object) -> Service:
    given: dict[str, object] = {"selector": {"app": "db"}, "cluster_ip": "None", **spec}
    return Service(metadata=ObjectMeta(name=name, namespace=namespace), spec=ServiceSpec(**given))  # type: ignore[arg-type]


def a_pod(
    name: str = "db-0", namespace: str = "shop", *, ip: str = "10.0.0.7", ready: bool = True, **spec: object
) -> Pod:
    status = "True" if ready else "False"
    return Pod(
        metadata=ObjectMeta(name=name, namespace=namespace, labels={"app": "db"}),
        spec=PodSpec(**spec),  # type: ignore[arg-type]
        status=PodStatus(phase="Running", pod_ip=ip, conditions=(PodCondition(type="Ready", status=status),)),
    )


def lines(text: str) -> list[str]:
    """Return the lines below the title."""
    return text.splitlines()[2:]


def test_a_name_has_every_form_that_the_search_domains_allow() -> None:
    here, elsewhere = a_pod("client"), a_pod("client", "other")
    db = a_pod(hostname="db-0", subdomain="db")
    assert service_names(here, [a_service()], [db], "cluster.local") == (
        "\n# Names of Services and of their pods.\n"
        "10.0.0.7\tdb.shop.svc.cluster.local db.shop.svc db.shop db\n"
        "10.0.0.7\tdb-0.db.shop.svc.cluster.local db-0.db.shop.svc db-0.db.shop db-0.db\n"
    )
    assert lines(service_names(elsewhere, [a_service()], [db], "example.org")) == [
        "10.0.0.7\tdb.shop.svc.example.org db.shop.svc db.shop",
        "10.0.0.7\tdb-0.db.shop.svc.example.org db-0.db.shop.svc db-0.db.shop",
    ]


def test_every_pod_of_a_service_has_a_line() -> None:
    pods = [a_pod("a", ip="10.0.0.1"), a_pod("b", ip="10.0.0.2")]
    found = service_names(pods[0], [a_service("z"), a_service("a")], pods, "x")
    assert [line.split()[0::4] for line in lines(found)] == [
        ["10.0.0.1", "a"],
        ["10.0.0.2", "a"],
        ["10.0.0.1", "z"],
        ["10.0.0.2", "z"],
    ]


def test_a_pod_has_a_name_of_its_own_only_below_its_headless_service() -> None:
    named = a_pod(hostname="db-0", subdomain="db")
    for service in (a_service(cluster_ip=None), a_service("other")):
        assert "db-0" not in service_names(named, [service], [named], "x")
    assert "db-0" not in service_names(named, [a_service()], [a_pod(subdomain="db")], "x")


def test_without_pods_there_are_no_lines() -> None:
    assert service_names(a_pod(), [a_service()], [], "x") == ""


POLICIES = [
    ("the default asks the cluster", {}, True),
    ("as it says itself", {"dns_policy": "ClusterFirst"}, True),
    ("but not with the node's network", {"host_network": True}, False),
    ("unless that is wanted, too", {"host_network": True, "dns_policy": "ClusterFirstWithHostNet"}, True),
    ("Default is the node's own", {"dns_policy": "Default"}, False),
    ("None is nobody's", {"dns_policy": "None"}, False),
]


@pytest.mark.parametrize(("why", "spec", "expected"), POLICIES, ids=[row[0] for row in POLICIES])
def test_names_are_for_pods_that_ask_the_cluster(why: str, spec: dict[str, object], *, expected: bool) -> None:
    client = a_pod("client", **spec)
    assert uses_cluster_names(client) is expected
    assert bool(service_names(client, [a_service()], [a_pod()], "x")) is expected


def changed(pod: Pod, phase: str = "Running", deleted: datetime | None = None) -> Pod:
    metadata = evolve(pod.metadata, deletion_timestamp=deleted)
    return evolve(pod, metadata=metadata, status=evolve(pod.status, phase=phase))


ENDPOINTS = [
    ("a ready pod", a_service(), a_pod(), True),
    ("not one that isn't ready", a_service(), a_pod(ready=False), False),
    ("unless the Service publishes it", a_service(publish_not_ready_addresses=True), a_pod(ready=False), True),
    ("not one without an address", a_service(), a_pod(ip=""), False),
    ("not one that has ended", a_service(), changed(a_pod(), "Succeeded"), False),
    ("not one that has failed", a_service(publish_not_ready_addresses=True), changed(a_pod(), "Failed"), False),
    ("not one of another namespace", a_service(), a_pod(namespace="other"), False),
    ("not one of other labels", a_service(selector={"app": "web"}), a_pod(), False),
    ("nor of a part of them", a_service(selector={"app": "db", "tier": "1"}), a_pod(), False),
    ("nobody without a selector", a_service(selector={}), a_pod(), False),
    ("nobody of an ExternalName", a_service(type="ExternalName"), a_pod(), False),
]


@pytest.mark.parametrize(("why", "service", "pod", "expected"), ENDPOINTS, ids=[row[0] for row in ENDPOINTS])
def test_a_service_leads_to_its_pods(why: str, service: Service, pod: Pod, *, expected: bool) -> None:
    assert is_endpoint(pod, service) is expected


def test_a_pod_that_is_being_deleted_is_left_out(autojump_clock: MockClock) -> None:
    from datetime import UTC, datetime  # noqa: PLC0415 - one test's

    assert not is_endpoint(changed(a_pod(), deleted=datetime(2026, 1, 1, tzinfo=UTC)), a_service())


# --- on a node


async def hosts(node: Rig, name: str) -> list[str]:
    """Return what a container of a pod reads in its hosts file, from the names of Services on."""
    pod = node.cluster.api.get("Pod", "default", name)
    assert pod is not None
    container = next(c for c in await node.runtime.list_containers(pod.metadata.uid) if c.metadata.name == "main")
    result = await node.runtime.exec_sync(container.id, ["cat", "/etc/hosts"], timeout_seconds=5)
    _, _, names = result.stdout.decode().partition("# Names of Services and of their pods.\n")
    return names.splitlines()


def loaded(text: str) -> APIObject:
    return cast("APIObject", manifests.load_text(text).objects[0].object)


def stored_service(name: str = "db") -> APIObject:
    return loaded(
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: default}}\n"
        "spec: {clusterIP: None, selector: {app: db}, ports: [{port: 1}]}\n"
    )


def a_pod_manifest(name: str, labels: str = "{}", more: str = "") -> APIObject:
    from kubelet_emu.manifests.defaults import set_defaults  # noqa: PLC0415 - one maker's

    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default, labels: {labels}}}\n"
    return cast("APIObject", set_defaults(loaded(f"{text}spec: {{{more}containers: [{{name: main, image: a}}]}}\n")))


RUNS = {"main": (stops(1),)}


async def test_a_running_container_sees_names_come_and_go(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(a_pod_manifest("client"))
        node.create(stored_service())
        await node.until(5)
        assert await hosts(node, "client") == []
        node.create(a_pod_manifest("db-0", "{app: db}", "hostname: db-0, subdomain: db, "))
        await node.until(10)
        db = node.cluster.api.get("Pod", "default", "db-0")
        assert db is not None
        assert await hosts(node, "client") == [
            f"{db.status.pod_ip}\tdb.default.svc.cluster.local db.default.svc db.default db",
            f"{db.status.pod_ip}\tdb-0.db.default.svc.cluster.local db-0.db.default.svc db-0.db.default db-0.db",
        ]
        node.cluster.api.delete("Pod", "default", "db-0")
        await node.until(11)
        assert await hosts(node, "client") == []


async def test_a_service_that_comes_later_is_known_to_pods_that_run(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(a_pod_manifest("db-0", "{app: db}"))
        await node.until(5)
        node.create(stored_service())
        await node.until(6)
        assert [line.split()[-1] for line in await hosts(node, "db-0")] == ["db"]


async def test_names_outlive_a_restart_of_the_kubelet(autojump_clock: MockClock) -> None:
    async with a_node(RUNS) as node:
        node.create(stored_service())
        node.create(a_pod_manifest("client"))
        await node.until(5)
        await node.cluster.stop_kubelet()
        await node.cluster.start_kubelet()
        node.create(a_pod_manifest("db-0", "{app: db}"))
        await node.until(15)
        assert [line.split()[-1] for line in await hosts(node, "client")] == ["db"]


# --- manifests


def test_a_folder_reaches_its_database_by_name(tmp_path: Path) -> None:
    text = """\
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
        - {name: c, image: busybox:1, command: [sh, -c, 'sleep 2; httpd -p 5432 -h /; sleep 1000']}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers:
        - {name: wait, image: busybox:1, command: [sh, -c, 'until nc -z db-0.db 5432; do sleep 1; done']}
      containers: [{name: c, image: busybox:1, command: [sh, -c, 'echo migrated']}]
"""
    seen = simulate(tmp_path, text, "", "--delete-when", "'wait exited'+5".replace("'", ""))
    assert seen.lines("c") == ["migrated"]
    assert "job/migrate  Complete" in seen.err


LEADS = "Service/web is not run: its name leads pods to its ready pods (/etc/hosts)"
NOTES = [
    ("a headless one", "clusterIP: None, selector: {a: b}, ports: [{port: 80, targetPort: 8080}]", LEADS),
    ("one that maps no port", "selector: {a: b}, ports: [{port: 81, targetPort: 81}]", LEADS),
    (
        "mapped ports",
        "selector: {a: b}, ports: [{port: 80, targetPort: 8080}, {port: 443, targetPort: https}]",
        f"{LEADS}; ports are not mapped: 80 is 8080 there, 443 is https there",
    ),
    (
        "a balancer",
        "type: LoadBalancer, selector: {a: b}, ports: [{port: 80}]",
        f"{LEADS}; no port is opened here: use hostPort",
    ),
    (
        "no selector",
        "ports: [{port: 80}]",
        "Service/web is not run, and its name is not resolved: without a selector it has no pods here",
    ),
    (
        "another name",
        "type: ExternalName, externalName: example.org",
        "Service/web is not run, and its name is not resolved: use the external name itself",
    ),
]


@pytest.mark.parametrize(("why", "spec", "expected"), NOTES, ids=[row[0] for row in NOTES])
def test_what_of_a_service_is_not_done_is_said(why: str, spec: str, expected: str) -> None:
    from kubelet_emu.manifests.services import service_note  # noqa: PLC0415 - one test's

    text = f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{{spec}}}\n"
    note = service_note(manifests.load_text(text).objects[0])
    assert (note.text, note.severity, note.line) == (expected, "warning", 2)


def test_a_stateful_set_whose_service_nobody_has_is_warned_of() -> None:
    from kubelet_emu.manifests.services import missing_services  # noqa: PLC0415 - one test's

    text = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {serviceName: data, template: {}}\n"
    (problem,) = missing_services(manifests.load_text(text).objects)
    assert (problem.path, problem.severity) == ("spec.serviceName", "warning")
    assert problem.text == (
        "Service 'data' is in none of the manifests, so the pods' names, such as db-0.data, are not resolved"
    )
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: data, namespace: default}\n"
    assert missing_services(manifests.load_text(text + service).objects) == ()


FAULTS = [
    ("a whole one", "selector: {a: b}, ports: [{port: 80}]", []),
    ("a headless one needs no port", "clusterIP: None, selector: {a: b}", []),
    ("any other does", "selector: {a: b}", ["spec.ports: Required value"]),
    (
        "ports that are several have names",
        "ports: [{port: 1}, {port: 2, name: b}]",
        ["spec.ports[0].name: Required value"],
    ),
    (
        "of their own",
        "ports: [{port: 1, name: a}, {port: 2, name: a}]",
        ['spec.ports[1].name: Duplicate value: "a"'],
    ),
    (
        "a port is one",
        "ports: [{port: 0}]",
        ["spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ),
    (
        "a target, too",
        "ports: [{port: 1, targetPort: 70000}]",
        ["spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
    ),
    (
        "a target's name",
        "ports: [{port: 1, targetPort: '80'}]",
        ['spec.ports[0].targetPort: Invalid value: "80": must contain at least one letter (a-z)'],
    ),
    (
        "a protocol",
        "ports: [{port: 1, protocol: ICMP}]",
        ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ),
    (
        "a type",
        "type: Cluster, ports: [{port: 1}]",
        [
            (
                'spec.type: Unsupported value: "Cluster": supported values: "ClusterIP", "ExternalName", '
                '"LoadBalancer", "NodePort"'
            )
        ],
    ),
    ("an ExternalName has one", "type: ExternalName", ["spec.externalName: Required value"]),
]


@pytest.mark.parametrize(("why", "spec", "expected"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_service_is_checked_as_a_server_does(why: str, spec: str, expected: list[str]) -> None:
    service = loaded(f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{{spec}}}\n")
    assert [f"{each.path}: {each.text}" for each in object_faults(service, gates_for("1.36"))] == expected


@pytest.mark.parametrize(
    ("name", "port", "rule"), [("a.b", "a", "must not contain dots"), ("a", "A", "a lowercase RFC 1123 label must")]
)
def test_names_of_a_service_are_labels(name: str, port: str, rule: str) -> None:
    text = f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 1, name: {port}}}]}}\n"
    (fault,) = object_faults(loaded(text), gates_for("1.36"))
    assert fault.detail.partition(": ")[2].startswith(rule)
