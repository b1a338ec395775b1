"""Variables of Services: which a pod is told of, and what they say (kubelet v1.36 getServiceEnvVarMap)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from test_cli_programs import simulate

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.api.v1_containers import ContainerPort
from kubelet_emu.api.v1_services import Service, ServicePort, ServiceSpec
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.rules.service_links import linked_services, service_variables, target_port

if TYPE_CHECKING:
    from pathlib import Path


def a_service(name: str = "db", namespace: str = "shop", **spec: object) -> Service:
    given: dict[str, object] = {"selector": {"app": "db"}, "ports": (ServicePort(port=80),), **spec}
    return Service(metadata=ObjectMeta(name=name, namespace=namespace), spec=ServiceSpec(**given))  # type: ignore[arg-type]


def a_pod(name: str = "db-0", **spec: object) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, namespace="shop", labels={"app": "db"}),
        spec=PodSpec(**spec),  # type: ignore[arg-type]
        status=PodStatus(phase="Running", pod_ip="10.0.0.7", conditions=(PodCondition(type="Ready", status="True"),)),
    )


CLIENT = evolve(a_pod("client"), metadata=ObjectMeta(name="client", namespace="shop"))
SILENT = evolve(CLIENT, spec=PodSpec(enable_service_links=False))
MASTER = a_service("kubernetes", "default")

TOLD = [
    ("a Service of the namespace", CLIENT, [a_service()], {"db": "db.shop.svc.x"}),
    (
        "in the order of their names",
        CLIENT,
        [a_service("b"), a_service("a")],
        {"a": "a.shop.svc.x", "b": "b.shop.svc.x"},
    ),
    ("not one of another namespace", CLIENT, [a_service(namespace="other")], {}),
    ("not a headless one", CLIENT, [a_service(cluster_ip="None")], {}),
    ("whatever its address would be", CLIENT, [a_service(cluster_ip="10.96.0.5")], {"db": "db.shop.svc.x"}),
    ("not an ExternalName", CLIENT, [a_service(type="ExternalName")], {}),
    ("not one whose pods are elsewhere", CLIENT, [a_service(selector={})], {}),
    ("none without service links", SILENT, [a_service()], {}),
    ("but default/kubernetes", SILENT, [MASTER, a_service()], {"kubernetes": "kubernetes.default.svc.x"}),
    ("to everybody", CLIENT, [MASTER], {"kubernetes": "kubernetes.default.svc.x"}),
    (
        "a namesake wins over it",
        CLIENT,
        [a_service("kubernetes"), MASTER],
        {"kubernetes": "kubernetes.shop.svc.x"},
    ),
    ("in any order", CLIENT, [MASTER, a_service("kubernetes")], {"kubernetes": "kubernetes.shop.svc.x"}),
    ("unless links are off", SILENT, [a_service("kubernetes"), MASTER], {"kubernetes": "kubernetes.default.svc.x"}),
    (
        "a pod without the names has an address",
        evolve(CLIENT, spec=PodSpec(dns_policy="Default")),
        [a_service()],
        {"db": "10.0.0.7"},
    ),
    (
        "where there is one",
        evolve(CLIENT, spec=PodSpec(host_network=True)),
        [a_service(selector={"app": "nobody"})],
        {},
    ),
]


@pytest.mark.parametrize(("why", "pod", "services", "expected"), TOLD, ids=[row[0] for row in TOLD])
def test_a_pod_is_told_of(why: str, pod: Pod, services: list[Service], expected: dict[str, str]) -> None:
    found = linked_services(pod, services, [a_pod()], "x")
    assert [(each.name, each.cluster_ip) for each in found] == list(expected.items())


NAMED = a_pod(
    init_containers=(
        Container(name="i", ports=(ContainerPort(name="init", container_port=1),)),
        Container(name="s", restart_policy="Always", ports=(ContainerPort(name="side", container_port=2),)),
    ),
    containers=(
        Container(name="a", ports=(ContainerPort(name="web", container_port=53, protocol="UDP"),)),
        Container(name="b", ports=(ContainerPort(name="web", container_port=8080),)),
    ),
)
TARGETS = [
    ("the Service's own", ServicePort(port=80), 80),
    ("another one", ServicePort(port=80, target_port=8080), 8080),
    ("none counts as the Service's", ServicePort(port=80, target_port=0), 80),
    ("by name", ServicePort(port=80, target_port="web"), 8080),
    ("and protocol", ServicePort(port=80, target_port="web", protocol="UDP"), 53),
    ("of a sidecar", ServicePort(port=80, target_port="side"), 2),
    ("not of an init container", ServicePort(port=80, target_port="init"), 80),
    ("a name that nobody has", ServicePort(port=80, target_port="no"), 80),
]


@pytest.mark.parametrize(("why", "port", "expected"), TARGETS, ids=[row[0] for row in TARGETS])
def test_the_port_is_the_one_that_pods_listen_on(why: str, port: ServicePort, expected: int) -> None:
    assert target_port(port, [CLIENT, NAMED]) == expected


def test_variables_are_named_by_the_services_port_and_lead_to_the_pods() -> None:
    service = a_service("my-db", ports=(ServicePort(port=80, name="web", target_port=8080),))
    host = "my-db.shop.svc.x"
    assert service_variables(linked_services(CLIENT, [service], [], "x")) == {
        "MY_DB_SERVICE_HOST": host,
        "MY_DB_SERVICE_PORT": "8080",
        "MY_DB_SERVICE_PORT_WEB": "8080",
        "MY_DB_PORT": f"tcp://{host}:8080",
        "MY_DB_PORT_80_TCP": f"tcp://{host}:8080",
        "MY_DB_PORT_80_TCP_PROTO": "tcp",
        "MY_DB_PORT_80_TCP_PORT": "8080",
        "MY_DB_PORT_80_TCP_ADDR": host,
    }


WORLD = """\
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - name: web
    image: busybox:1
    command: [sh, -c, 'mkdir /w; echo hello > /w/index.html; httpd -f -p 8080 -h /w']
    ports: [{name: http, containerPort: 8080}]
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  initContainers:
  - name: wait
    image: busybox:1
    command: [sh, -c, 'until nc $WEB_SERVICE_HOST $WEB_SERVICE_PORT -e true 2>/dev/null; do sleep 1; done']
  containers:
  - name: client
    image: busybox:1
    command: [sh, -c, 'wget -q -O - http://$(WEB_SERVICE_HOST):$(WEB_PORT_80_TCP_PORT)/; echo $URL']
    env: [{name: URL, value: $(WEB_PORT)/x}, {name: WEB_PORT, value: later}]
---
apiVersion: v1
kind: Pod
metadata: {name: silent}
spec:
  enableServiceLinks: false
  restartPolicy: Never
  containers: [{name: silent, image: busybox:1, command: [sh, -c, 'env | grep -c SERVICE']}]
"""


def test_a_client_gets_there_by_the_variables_alone(tmp_path: Path) -> None:
    seen = simulate(tmp_path, WORLD, "", "--delete-when", "client exited")
    assert seen.lines("client") == ["hello", "tcp://web.default.svc.cluster.local:8080/x"]
    assert seen.lines("silent") == ["0"]
