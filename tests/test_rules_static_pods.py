"""Static pods: identity from the file, the mirror, and what such a pod may not refer to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from attrs import evolve

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.manifests import load_text
from kubelet_emu.rules.static_pods import (
    api_references,
    as_first_seen,
    is_mirror_of,
    is_mirror_pod,
    mirror_pod,
    rfc3339_nano,
    static_pod,
)

SEEN = datetime(2026, 1, 1, tzinfo=UTC)


def a_file(name: str = "web", image: str = "busybox", **metadata: object) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, **metadata),  # type: ignore[arg-type]
        spec=PodSpec(containers=(Container(name="main", image=image),)),
    )


def of(pod: Pod, *, path: str = "web.yaml", node: str = "Node1") -> Pod:
    return static_pod(pod, path=path, node_name=node, seen_at=SEEN)


def test_a_file_becomes_a_pod_of_the_node() -> None:
    pod = of(a_file())
    assert (pod.metadata.name, pod.metadata.namespace, pod.spec.node_name) == ("web-node1", "default", "Node1")
    assert pod.metadata.annotations == {
        "kubernetes.io/config.hash": pod.metadata.uid,
        "kubernetes.io/config.source": "file",
        "kubernetes.io/config.seen": "2026-01-01T00:00:00Z",
    }
    assert [(each.operator, each.effect) for each in pod.spec.tolerations] == [("Exists", "NoExecute")]


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "2026-01-01T00:00:00Z"), (120_000, "2026-01-01T00:00:00.12Z"), (1, "2026-01-01T00:00:00.000001Z")],
)
def test_times_are_written_as_go_writes_them(microsecond: int, text: str) -> None:
    assert rfc3339_nano(SEEN.replace(microsecond=microsecond)) == text


def test_a_changed_file_keeps_the_time_it_was_first_seen() -> None:
    first, again = of(a_file(uid="mine")), of(a_file(uid="mine", image="busybox:2"))
    later = evolve(again, metadata=evolve(again.metadata, annotations={"kubernetes.io/config.seen": "later"}))
    seen = as_first_seen(first, later)
    assert seen.metadata.annotations == {"kubernetes.io/config.seen": "2026-01-01T00:00:00Z"}
    assert seen.spec == again.spec


def test_any_edit_makes_another_pod() -> None:
    uids = {of(a_file()).metadata.uid, of(a_file(image="busybox:2")).metadata.uid}
    uids |= {of(a_file(), path="other.yaml").metadata.uid, of(a_file(), node="node2").metadata.uid}
    assert len(uids) == 4
    assert all(uid is not None and len(uid) == 32 for uid in uids)


def test_the_same_file_is_the_same_pod() -> None:
    assert of(a_file()).metadata.uid == of(a_file()).metadata.uid


def test_a_uid_in_the_file_is_kept() -> None:
    assert of(a_file(uid="mine")).metadata.uid == "mine"
    assert of(a_file(namespace="kube-system")).metadata.namespace == "kube-system"


def test_the_mirror_is_a_marked_copy() -> None:
    pod = of(a_file())
    mirror = mirror_pod(pod)
    assert is_mirror_pod(mirror)
    assert not is_mirror_pod(pod)
    assert is_mirror_of(mirror, pod)
    assert mirror.spec == pod.spec


def test_a_mirror_of_other_content_or_in_deletion_must_go() -> None:
    pod = of(a_file())
    mirror = mirror_pod(pod)
    assert not is_mirror_of(mirror, of(a_file(image="busybox:2")))
    assert not is_mirror_of(evolve(mirror, metadata=evolve(mirror.metadata, deletion_timestamp=SEEN)), pod)


REFERENCES = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  serviceAccountName: robot
  volumes:
  - {name: a, secret: {secretName: s}}
  - {name: b, configMap: {name: c}}
  - {name: d, persistentVolumeClaim: {claimName: p}}
  - {name: e, emptyDir: {}}
  containers: [{name: main, image: busybox}]
"""


def test_what_a_spec_refers_to_in_the_api_is_named_once_each() -> None:
    pod = load_text(REFERENCES).objects[0].object
    assert isinstance(pod, Pod)
    assert api_references(pod) == ("serviceaccounts", "secrets", "configmaps", "persistentvolumeclaims")
    assert api_references(a_file()) == ()


NAMING = [
    ("imagePullSecrets: [{name: s}]", "secrets"),
    ("resourceClaims: [{name: c, resourceClaimName: c}]", "resourceclaims"),
    ("volumes: [{name: v, projected: {sources: [{secret: {name: s}}, {configMap: {name: c}}]}}]", "secrets configmaps"),
    ("volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]", "serviceaccounts"),
    ("volumes: [{name: v, projected: {sources: [{clusterTrustBundle: {name: b, path: t}}]}}]", "clustertrustbundles"),
    ("volumes: [{name: v, projected: {sources: [{podCertificate: {signerName: s}}]}}]", "podcertificates"),
    ("volumes: [{name: v, projected: {sources: [{downwardAPI: {items: []}}]}}]", ""),
    ("volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {}}}}]", "persistentvolumeclaims"),
    ("volumes: [{name: v, csi: {driver: d}}]", "csidrivers"),
    ("volumes: [{name: v, glusterfs: {endpoints: e, path: p}}]", "endpoints"),
    ("volumes: [{name: v, azureFile: {secretName: s, shareName: n}}]", "secrets"),
    ("volumes: [{name: v, iscsi: {targetPortal: t, iqn: i, lun: 0, secretRef: {name: s}}}]", "secrets"),
    ("volumes: [{name: v, iscsi: {targetPortal: t, iqn: i, lun: 0}}]", ""),
    ("volumes: [{name: v, hostPath: {path: /x}}, {name: w, nfs: {server: s, path: /}}]", ""),
]


@pytest.mark.parametrize(("given", "expected"), NAMING, ids=[text for text, _ in NAMING])
def test_what_else_of_a_spec_refers_to_the_api(given: str, expected: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec:\n  {given}\n"
    pod = load_text(text).objects[0].object
    assert isinstance(pod, Pod)
    assert api_references(pod) == tuple(expected.split())


ENVIRONMENTS = [
    ("env: [{name: A, value: b}]", ()),
    ("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", ()),
    ("env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}]", ("configmaps",)),
    ("env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]", ("secrets",)),
    ("envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]", ("configmaps", "secrets")),
]


@pytest.mark.parametrize(("given", "expected"), ENVIRONMENTS, ids=[text for text, _ in ENVIRONMENTS])
def test_environments_refer_to_the_api(given: str, expected: tuple[str, ...]) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec:\n  initContainers: [{{name: i, {given}}}]\n"
    pod = load_text(text).objects[0].object
    assert isinstance(pod, Pod)
    assert api_references(pod) == expected
