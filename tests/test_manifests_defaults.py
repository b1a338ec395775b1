"""Defaults as a v1.36 API server sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kubelet_emu import manifests
from kubelet_emu.api.codec import encode
from kubelet_emu.manifests.aggregates import aggregate_requests, qos_class
from kubelet_emu.manifests.defaults import set_defaults

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod


def pod(spec: str, metadata: str = "{name: p}") -> Pod:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {spec}\n"
    result = manifests.load_text(text)
    assert result.problems == ()
    return result.objects[0].object  # type: ignore[return-value]


def defaulted(text: str) -> dict[str, Any]:
    result = manifests.load_text(text)
    assert result.problems == ()
    return encode(set_defaults(result.objects[0].object))


C = "{name: c, image: 'busybox:1'}"
CONTAINER = {
    "name": "c",
    "image": "busybox:1",
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
SHARED = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}


def test_a_bare_pod() -> None:
    spec = defaulted(f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{C}]}}}}")["spec"]

    assert spec == {**SHARED, "containers": [CONTAINER], "enableServiceLinks": True}


def test_a_template_lacks_what_only_pods_get() -> None:
    limits = "{name: c, image: 'busybox:1', resources: {limits: {cpu: 1}}}"
    template = f"{{spec: {{containers: [{limits}]}}}}"
    text = f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, spec: {{template: {template}}}}}"

    spec = defaulted(text)["spec"]

    assert spec["template"]["spec"] == {**SHARED, "containers": [{**CONTAINER, "resources": {"limits": {"cpu": "1"}}}]}
    assert {key: value for key, value in spec.items() if key != "template"} == {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "parallelism": 1,
        "podReplacementPolicy": "TerminatingOrFailed",
        "suspend": False,
    }


JOBS = [
    ("parallelism alone: a work queue", "parallelism: 3", {"completions": None, "parallelism": 3}),
    ("completions alone", "completions: 3", {"completions": 3, "parallelism": 1}),
    ("by index: no limit over all", "backoffLimitPerIndex: 1", {"backoffLimit": 2147483647}),
    (
        "a failure policy: pods are replaced once they have failed",
        "podFailurePolicy: {rules: [{action: Count, onPodConditions: [{type: X}]}]}",
        {
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {
                "rules": [{"action": "Count", "onPodConditions": [{"type": "X", "status": "True"}]}],
            },
        },
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), JOBS, ids=[row[0] for row in JOBS])
def test_jobs(why: str, text: str, expected: dict[str, object]) -> None:
    spec = defaulted(f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec: {{{text}, template: {{}}}}")[
        "spec"
    ]

    assert {key: spec.get(key) for key in expected} == expected


def test_a_job_without_labels_gets_its_templates() -> None:
    text = "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {labels: {a: b}}}}}"

    assert defaulted(text)["metadata"]["labels"] == {"a": "b"}


def test_other_kinds() -> None:
    cron = defaulted("{apiVersion: batch/v1, kind: CronJob, spec: {schedule: '* * * * *', jobTemplate: {}}}")["spec"]
    deployment = defaulted("{apiVersion: apps/v1, kind: Deployment, spec: {template: {}}}")["spec"]
    daemon_set = defaulted("{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {}}}")["spec"]
    config_map = defaulted("{apiVersion: v1, kind: ConfigMap}")

    assert (cron["concurrencyPolicy"], cron["successfulJobsHistoryLimit"], cron["failedJobsHistoryLimit"]) == (
        "Allow",
        3,
        1,
    )
    assert cron["jobTemplate"]["spec"]["backoffLimit"] == 6
    assert deployment["replicas"] == 1
    assert daemon_set["template"]["spec"] == SHARED
    assert config_map == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}


def test_a_secrets_string_data_becomes_its_data_and_wins() -> None:
    secret = defaulted("{apiVersion: v1, kind: Secret, data: {a: b2xk, b: aw==}, stringData: {a: new}}")

    assert (secret["data"], secret["type"]) == ({"a": "bmV3", "b": "aw=="}, "Opaque")
    assert "stringData" not in secret


PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
FIELDS = [
    ("an httpGet probe", "livenessProbe: {httpGet: {port: 80}}", {"livenessProbe": {
        **PROBE, "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}}}),
    ("a grpc probe", "readinessProbe: {grpc: {port: 80}}", {"readinessProbe": {
        **PROBE, "grpc": {"port": 80, "service": ""}}}),
    ("zero is replaced", "startupProbe: {exec: {command: [a]}, periodSeconds: 0, failureThreshold: 7}", {
        "startupProbe": {**PROBE, "exec": {"command": ["a"]}, "failureThreshold": 7}}),
    ("a hook", "lifecycle: {preStop: {httpGet: {port: web}}}", {"lifecycle": {
        "preStop": {"httpGet": {"port": "web", "path": "/", "scheme": "HTTP"}}}}),
    ("a port", "ports: [{containerPort: 80}]", {"ports": [{"containerPort": 80, "protocol": "TCP"}]}),
    ("requests are the limits", "resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}", {"resources": {
        "limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}}),
    ("rounded up to a thousandth", "resources: {requests: {cpu: 0.0001, memory: 1.0001}}", {"resources": {
        "requests": {"cpu": "1m", "memory": "1001m"}}}),
    ("a field", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", {"env": [{
        "name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}]}),
    ("a resource", "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]", {"env": [{
        "name": "A", "valueFrom": {"resourceFieldRef": {"divisor": "0", "resource": "limits.cpu"}}}]}),
    ("a file", "env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]", {"env": [{
        "name": "A", "valueFrom": {"fileKeyRef": {"key": "k", "optional": False, "path": "p", "volumeName": "v"}}}]}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "text", "expected"), FIELDS, ids=[row[0] for row in FIELDS])
def test_fields_of_a_container(why: str, text: str, expected: dict[str, object]) -> None:
    given = set_defaults(pod(f"{{containers: [{{name: c, image: 'a:1', {text}}}]}}"))

    container: Any = encode(given.spec.containers[0])

    assert {key: container[key] for key in expected} == expected


VOLUMES = [
    ("nothing is an emptyDir", "", {"emptyDir": {}}),
    ("a secret", "secret: {secretName: s}", {"secret": {"secretName": "s", "defaultMode": 420}}),
    ("a mode of its own", "configMap: {name: m, defaultMode: 0400}", {"configMap": {"name": "m", "defaultMode": 256}}),
    ("a host path", "hostPath: {path: /x}", {"hostPath": {"path": "/x", "type": ""}}),
    ("an image", "image: {reference: a}", {"image": {"reference": "a", "pullPolicy": "Always"}}),
    ("an image with a policy", "image: {reference: a, pullPolicy: Never}", {
        "image": {"reference": "a", "pullPolicy": "Never"}}),
    ("downward API", "downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}, {path: b}]}", {
        "downwardAPI": {"defaultMode": 420, "items": [
            {"path": "a", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}, {"path": "b"}]}}),
    ("a token", "projected: {sources: [{serviceAccountToken: {path: t}}]}", {"projected": {
        "defaultMode": 420, "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}]}}),
    ("a claim", "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}", {"ephemeral": {
        "volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"}}}}),
    ("a claim without a template", "ephemeral: {}", {"ephemeral": {}}),
    ("iscsi", "iscsi: {iqn: a}", {"iscsi": {"iqn": "a", "iscsiInterface": "default", "lun": 0, "targetPortal": ""}}),
    ("rbd", "rbd: {image: a, monitors: [m]}", {"rbd": {
        "image": "a", "keyring": "/etc/ceph/keyring", "monitors": ["m"], "pool": "rbd", "user": "admin"}}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "text", "expected"), VOLUMES, ids=[row[0] for row in VOLUMES])
def test_volumes(why: str, text: str, expected: dict[str, object]) -> None:
    given = set_defaults(pod(f"{{containers: [{C}], volumes: [{{name: v, {text}}}]}}"))

    assert encode(given.spec.volumes[0]) == {"name": "v", **expected}


def test_host_network_publishes_every_port() -> None:
    given = set_defaults(
        pod("{hostNetwork: true, containers: [{ports: [{containerPort: 80}, {containerPort: 81, hostPort: 9}]}]}")
    )

    assert [port.host_port for port in given.spec.containers[0].ports] == [80, 9]


def test_the_service_accounts_two_spellings_are_kept_equal() -> None:
    given = set_defaults(pod(f"{{serviceAccount: old, containers: [{C}]}}"))

    assert (given.spec.service_account_name, given.spec.service_account) == ("old", "old")


def container(name: str, requests: str = "", limits: str = "", extra: str = "") -> str:
    return f"{{name: {name}, resources: {{requests: {{{requests}}}, limits: {{{limits}}}}}{extra}}}"


SIDECAR = ", restartPolicy: Always"
I1, I2 = container("i1", "cpu: 300m, memory: 10Mi"), container("i2", "cpu: 500m, memory: 10Mi")
S1, S2 = container("s1", "cpu: 100m, memory: 20Mi", "", SIDECAR), container("s2", "cpu: 50m", "", SIDECAR)
C1, C2 = container("c1", "cpu: 200m, memory: 100Mi"), container("c2", "cpu: 150m, memory: 50Mi")
I3, S3, C3 = container("i", "cpu: 2"), container("s", "cpu: 1", "", SIDECAR), container("c", "cpu: 1")
AGGREGATES = [
    (
        "sidecars run on beside later init containers",
        f"initContainers: [{I1}, {S1}, {I2}, {S2}], containers: [{C1}, {C2}]",
        {"cpu": "600m", "memory": "170Mi"},
    ),
    (
        "an init container before the sidecar does not count it",
        f"initContainers: [{I3}, {S3}], containers: [{C3}]",
        {"cpu": "2"},
    ),
]


@pytest.mark.parametrize(("why", "spec", "expected"), AGGREGATES, ids=[row[0] for row in AGGREGATES])
def test_what_containers_ask_for_together(why: str, spec: str, expected: dict[str, str]) -> None:
    assert aggregate_requests(pod(f"{{{spec}}}").spec) == expected


POD_LEVEL = [
    ("limits alone", "limits: {cpu: 1, memory: 1Gi}", container("c"), {"cpu": "1", "memory": "1Gi"}),
    (
        "containers' requests where there are any",
        "limits: {cpu: 1, memory: 1Gi}",
        f"{container('a', 'cpu: 200m')}, {container('b', 'cpu: 100m')}",
        {"cpu": "300m", "memory": "1Gi"},
    ),
    ("a request of its own", "requests: {cpu: 2}, limits: {cpu: 3}", container("c", "cpu: 1"), {"cpu": "2"}),
    (
        "huge pages of the containers",
        "limits: {memory: 1Gi}",
        container("c", "", "hugepages-2Mi: 4Mi, memory: 1Gi"),
        {"hugepages-2Mi": "4Mi", "memory": "1Gi"},
    ),
    ("requests alone get nothing", "requests: {cpu: 2}", container("c"), {"cpu": "2"}),
]


@pytest.mark.parametrize(("why", "level", "containers", "expected"), POD_LEVEL, ids=[row[0] for row in POD_LEVEL])
def test_pod_level_requests(why: str, level: str, containers: str, expected: dict[str, str]) -> None:
    given = set_defaults(pod(f"{{resources: {{{level}}}, containers: [{containers}]}}"))

    assert given.spec.resources is not None
    assert given.spec.resources.requests == expected


BOTH = "cpu: 1, memory: 1Gi"
CLASSES = [
    ("nothing", f"containers: [{container('c')}]", "BestEffort"),
    ("zero counts as nothing", f"containers: [{container('c', 'cpu: 0')}]", "BestEffort"),
    ("only other resources", f"containers: [{container('c', 'ephemeral-storage: 1Gi')}]", "BestEffort"),
    ("requests alone", f"containers: [{container('c', BOTH)}]", "Burstable"),
    ("both equal", f"containers: [{container('c', BOTH, BOTH)}]", "Guaranteed"),
    ("limits alone", f"containers: [{container('c', '', BOTH)}]", "Guaranteed"),
    (
        "an init container without",
        f"initContainers: [{container('i')}], containers: [{container('c', '', BOTH)}]",
        "Burstable",
    ),
    ("request below limit", f"containers: [{container('c', 'cpu: 500m', BOTH)}]", "Burstable"),
    ("no memory limit", f"containers: [{container('c', '', 'cpu: 1')}]", "Burstable"),
    ("a container without resources", f"containers: [{{name: c}}, {container('d', '', BOTH)}]", "Burstable"),
    ("pod-level limits", f"resources: {{limits: {{{BOTH}}}}}, containers: [{container('c')}]", "Guaranteed"),
]


@pytest.mark.parametrize(("why", "spec", "expected"), CLASSES, ids=[row[0] for row in CLASSES])
def test_quality_of_service(why: str, spec: str, expected: str) -> None:
    assert qos_class(set_defaults(pod(f"{{{spec}}}")).spec) == expected
