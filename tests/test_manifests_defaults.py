"""Defaults as a v1.36 API server sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kubelet_emu import manifests
from kubelet_emu.api.codec import encode
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.aggregates import aggregate_requests, qos_class
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.validation import validate

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
        "manualSelector": False,
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


UPDATE = {"maxSurge": "25%", "maxUnavailable": "25%"}
RETAIN = {"whenDeleted": "Retain", "whenScaled": "Retain"}
STATEFUL_SET = {
    "podManagementPolicy": "OrderedReady",
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}},
    "persistentVolumeClaimRetentionPolicy": RETAIN,
    "revisionHistoryLimit": 10,
    "replicas": 1,
}
WORKLOADS = [
    ("Deployment", "", {
        "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": UPDATE}}),
    ("Deployment", "replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 5, strategy: {type: Recreate}", {
        "replicas": 0, "revisionHistoryLimit": 0, "progressDeadlineSeconds": 5, "strategy": {"type": "Recreate"}}),
    ("Deployment", "strategy: {rollingUpdate: {maxSurge: 0}}", {
        "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}}}),
    ("ReplicaSet", "", {"replicas": 1}),
    ("ReplicaSet", "replicas: 3", {"replicas": 3}),
    ("StatefulSet", "", STATEFUL_SET),
    ("StatefulSet", "updateStrategy: {type: RollingUpdate}", {
        **STATEFUL_SET, "updateStrategy": {"type": "RollingUpdate"}}),
    ("StatefulSet", "updateStrategy: {type: OnDelete}", {**STATEFUL_SET, "updateStrategy": {"type": "OnDelete"}}),
    ("StatefulSet", "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}", {
        **STATEFUL_SET,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2, "maxUnavailable": 1}}}),
    ("StatefulSet", "persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}, podManagementPolicy: Parallel", {
        **STATEFUL_SET, "podManagementPolicy": "Parallel",
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"}}),
    ("StatefulSet", "volumeClaimTemplates: [{spec: {resources: {requests: {storage: 0.0001}}}}, {}]", {
        **STATEFUL_SET, "volumeClaimTemplates": [
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"},
             "spec": {"volumeMode": "Filesystem", "resources": {"requests": {"storage": "1m"}}}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}]}),
    ("DaemonSet", "", {
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
    ("DaemonSet", "updateStrategy: {type: OnDelete}, revisionHistoryLimit: 2", {
        "revisionHistoryLimit": 2, "updateStrategy": {"type": "OnDelete"}}),
    ("DaemonSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 10%}}", {
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}}}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "expected"), WORKLOADS, ids=[f"{row[0]} {row[1]}" for row in WORKLOADS])
def test_workloads(kind: str, text: str, expected: dict[str, object]) -> None:
    spec = defaulted(f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec: {{{text}}}")["spec"]

    assert spec == {**expected, "selector": {}, "template": {"metadata": {}, "spec": SHARED}}


CRON_JOBS = [
    ("", {
        "concurrencyPolicy": "Allow", "suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}),
    ("concurrencyPolicy: Forbid, suspend: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0", {
        "concurrencyPolicy": "Forbid", "suspend": True, "successfulJobsHistoryLimit": 0, "failedJobsHistoryLimit": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CRON_JOBS, ids=["none", "all"])
def test_a_cron_job_leaves_the_defaults_of_its_jobs_to_them(text: str, expected: dict[str, object]) -> None:
    policy = "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: X}]}]}"
    spec = defaulted(f"apiVersion: batch/v1\nkind: CronJob\nspec: {{jobTemplate: {{spec: {{{policy}}}}}, {text}}}")[
        "spec"
    ]

    job = spec.pop("jobTemplate")["spec"]
    assert {key: value for key, value in spec.items() if key != "schedule"} == expected
    assert job == {
        "template": {"metadata": {}, "spec": SHARED},
        "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "X", "status": "True"}]}]},
    }


PORT = {"port": 80, "protocol": "TCP", "targetPort": 80}
BASIC = {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "ports": [PORT]}
BALANCED = {**BASIC, "type": "LoadBalancer", "externalTrafficPolicy": "Cluster", "allocateLoadBalancerNodePorts": True}
BY_ADDRESS = {**BASIC, "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}}
SERVICES = [
    ("", BASIC),
    ("sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}", BASIC),
    ("sessionAffinity: ClientIP", BY_ADDRESS),
    ("sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}", {
        **BY_ADDRESS, "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}}),
    ("type: NodePort", {**BASIC, "type": "NodePort", "externalTrafficPolicy": "Cluster"}),
    ("type: LoadBalancer", BALANCED),
    ("type: LoadBalancer, externalTrafficPolicy: Local, allocateLoadBalancerNodePorts: false", {
        **BALANCED, "externalTrafficPolicy": "Local", "allocateLoadBalancerNodePorts": False}),
    ("externalIPs: [192.0.2.1]", {
        **BASIC, "externalIPs": ["192.0.2.1"], "externalTrafficPolicy": "Cluster"}),
    ("type: ExternalName, externalName: a.example", {
        "type": "ExternalName", "externalName": "a.example", "sessionAffinity": "None", "ports": [PORT]}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SERVICES, ids=[row[0] for row in SERVICES])
def test_services(text: str, expected: dict[str, object]) -> None:
    (loaded,) = manifests.load_text(
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {{ports: [{{port: 80}}], {text}}}"
    ).objects

    assert encode(set_defaults(loaded.object))["spec"] == expected


def test_a_cron_job_whose_jobs_are_refused_is_warned_of() -> None:
    template = f"{{spec: {{restartPolicy: Never, containers: [{C}]}}}}"
    job = f"{{backoffLimitPerIndex: 1, template: {template}}}"
    spec = f"{{schedule: '@daily', jobTemplate: {{spec: {job}}}}}"
    text = f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: c}}\nspec: {spec}"
    loaded = manifests.load_text(text).objects

    (problem,) = validate(loaded, FeatureGates())

    assert (problem.severity, problem.path) == ("warning", "spec.jobTemplate.spec.backoffLimitPerIndex")
    assert problem.text == (
        "the CronJob is taken, but each Job of it is refused: Invalid value: 1: requires indexed completion mode"
    )


def test_a_config_map_has_no_defaults() -> None:
    assert defaulted("{apiVersion: v1, kind: ConfigMap}") == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}


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
    ("a claim's quantities", "ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 0.0001}}}}}", {
        "ephemeral": {"volumeClaimTemplate": {
            "spec": {"resources": {"requests": {"storage": "1m"}}, "volumeMode": "Filesystem"}}}}),
    ("azureDisk", "azureDisk: {diskName: a, diskURI: b}", {"azureDisk": {
        "cachingMode": "ReadWrite", "diskName": "a", "diskURI": "b", "fsType": "ext4", "kind": "Shared",
        "readOnly": False}}),
    ("scaleIO", "scaleIO: {gateway: a, system: b, secretRef: {name: s}}", {"scaleIO": {
        "fsType": "xfs", "gateway": "a", "secretRef": {"name": "s"}, "storageMode": "ThinProvisioned",
        "system": "b"}}),
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
    (
        "what only containers ask for",
        "limits: {cpu: 1}",
        container("c", "memory: 64Mi, ephemeral-storage: 1Gi"),
        {"memory": "64Mi", "cpu": "1"},
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
