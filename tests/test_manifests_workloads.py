"""What runs of the loaded objects, and how their pods are named and owned."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING, cast

from kubelet_emu import manifests
from kubelet_emu.manifests.workloads import expand, generate_name, pod_of_job, random_uid, template_hash

if TYPE_CHECKING:
    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod

OBJECTS = """\
apiVersion: v1
kind: Pod
metadata: {generateName: web-, uid: u1, resourceVersion: "5", ownerReferences: [{kind: X, name: x}]}
spec: {nodeName: node1, containers: [{name: c, image: a}]}
status: {phase: Running}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: prod}
spec: {template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: a}]}}}
status: {active: 1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: prod}
spec:
  replicas: 3
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}, annotations: {x: z}}, spec: {containers: [{name: c, image: a}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {generateName: ds-}
"""


def rng() -> random.Random:
    return random.Random(7)  # noqa: S311 - names alone


def test_pods_jobs_and_one_pod_of_a_deployment_run() -> None:
    expansion = expand(manifests.load_text(OBJECTS).objects, rng())

    assert [each.object.kind for each in expansion.runnables] == ["Pod", "Job", "Pod"]
    assert [each.spec_path for each in expansion.runnables] == ["spec", "spec.template.spec", "spec.template.spec"]
    assert [each.object.kind for each in expansion.stored] == ["ConfigMap", "Secret"]
    assert [(each.line, each.type) for each in expansion.problems] == [
        (3, "Ignored"),
        (17, "Not emulated"),
        (30, "Not run"),
    ]


def test_a_pod_loses_what_a_server_had_filled_in() -> None:
    pod = cast("Pod", expand(manifests.load_text(OBJECTS).objects, rng()).runnables[0].object)

    assert pod.metadata.name is not None
    assert pod.metadata.name.startswith("web-")
    assert len(pod.metadata.name) == len("web-") + 5
    assert (pod.metadata.namespace, pod.metadata.uid, pod.metadata.owner_references) == ("default", None, ())
    assert (pod.spec.node_name, pod.status.phase) == (None, None)


def test_a_deployments_pod_is_its_replica_sets() -> None:
    loaded = manifests.load_text(OBJECTS).objects
    pod = cast("Pod", expand(loaded, rng()).runnables[2].object)
    digest = template_hash(cast("Deployment", loaded[2].object).spec.template)
    (owner,) = pod.metadata.owner_references

    assert pod.metadata.name is not None
    assert pod.metadata.name.startswith(f"d-{digest}-")
    assert pod.metadata.labels == {"a": "b", "pod-template-hash": digest}
    assert pod.metadata.annotations == {"x": "z"}
    assert (owner.kind, owner.name, owner.controller) == ("ReplicaSet", f"d-{digest}", True)


def test_the_same_random_numbers_give_the_same_names() -> None:
    loaded = manifests.load_text(OBJECTS).objects

    assert expand(loaded, rng()) == expand(loaded, rng())


def job(indexed: str = "") -> Job:
    text = (
        OBJECTS.split("---\n")[1]
        .replace("name: j,", "name: j, uid: u,")
        .replace("spec: {template", f"spec: {{{indexed}template")
    )
    return manifests.load_text(text).objects[0].object  # type: ignore[return-value]


def test_a_jobs_pod() -> None:
    pod = pod_of_job(job(), rng())
    (owner,) = pod.metadata.owner_references

    assert pod.metadata.generate_name == "j-"
    assert pod.metadata.namespace == "prod"
    assert pod.metadata.labels == {
        "a": "b",
        "controller-uid": "u",
        "job-name": "j",
        "batch.kubernetes.io/controller-uid": "u",
        "batch.kubernetes.io/job-name": "j",
    }
    assert pod.metadata.finalizers == ("batch.kubernetes.io/job-tracking",)
    assert (owner.api_version, owner.kind, owner.name, owner.uid) == ("batch/v1", "Job", "j", "u")
    assert pod.spec.restart_policy == "Never"


def test_an_indexed_jobs_pod_knows_its_index() -> None:
    pod = pod_of_job(job("completionMode: Indexed, completions: 3, "), rng(), index=2)
    (variable,) = pod.spec.containers[0].env

    assert pod.metadata.name is not None
    assert pod.metadata.name.startswith("j-2-")
    assert pod.spec.hostname == "j-2"
    assert pod.metadata.labels["batch.kubernetes.io/job-completion-index"] == "2"
    assert pod.metadata.annotations["batch.kubernetes.io/job-completion-index"] == "2"
    assert variable.name == "JOB_COMPLETION_INDEX"
    assert variable.value_from is not None
    assert variable.value_from.field_ref is not None
    assert variable.value_from.field_ref.field_path == "metadata.labels['batch.kubernetes.io/job-completion-index']"


def test_a_variable_of_that_name_is_left_alone() -> None:
    given = job()
    text = "containers: [{name: c, image: a, env: [{name: JOB_COMPLETION_INDEX, value: mine}]}]"
    document = OBJECTS.split("---\n")[1].replace("containers: [{name: c, image: a}]", text)
    given = cast("Job", manifests.load_text(document).objects[0].object)

    (variable,) = pod_of_job(given, rng(), index=0).spec.containers[0].env

    assert variable.value == "mine"


def test_generated_names_stay_below_63_characters() -> None:
    assert len(generate_name("x" * 80, rng())) == 63


def test_uids_are_version_4() -> None:
    uid = uuid.UUID(random_uid(rng()))

    assert (uid.version, uid.variant) == (4, uuid.RFC_4122)
    assert str(uid) == random_uid(rng())
