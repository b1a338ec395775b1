"""What runs of the loaded objects, what is stored, and what is not done."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING, cast

import pytest

from kubelet_emu import manifests
from kubelet_emu.manifests.workloads import expand, generate_name, pod_spec_of, random_uid

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.manifests.workloads import Expansion, Workload

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
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: a}]}}
status: {replicas: 3}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: dump, image: a}]}}}}
"""


def rng() -> random.Random:
    return random.Random(7)  # noqa: S311 - names alone


def expanded(text: str = OBJECTS, *, now: bool = False) -> Expansion:
    return expand(manifests.load_text(text).objects, rng(), cron_jobs_now=now)


def test_workloads_run_configuration_is_stored_and_the_rest_is_named() -> None:
    expansion = expanded()

    assert [(each.object.kind, each.spec_path) for each in expansion.runnables] == [
        ("Pod", "spec"),
        ("Job", "spec.template.spec"),
        ("Deployment", "spec.template.spec"),
    ]
    assert [each.object.kind for each in expansion.stored] == ["ConfigMap", "Secret"]
    assert [(each.line, each.type, each.text) for each in expansion.problems[1:]] == [
        (31, "Not run", "CronJob/nightly is not run: a schedule is not kept, run --now runs its Job once"),
    ]
    assert (expansion.problems[0].line, expansion.problems[0].type) == (3, "Ignored")


def test_no_pod_keeps_the_name_of_a_node() -> None:
    text = OBJECTS.replace("spec: {containers", "spec: {nodeName: far, containers").replace(
        "spec: {restartPolicy", "spec: {nodeName: far, restartPolicy"
    )
    assert text.count("nodeName: far") == 3
    runnables = expanded(text, now=True).runnables
    assert [each.pod_spec.node_name for each in runnables if each.pod_spec is not None] == [None] * 4


def test_a_cron_job_runs_when_it_is_told_to() -> None:
    cron_job = expanded(now=True).runnables[-1]

    assert (cron_job.object.kind, cron_job.spec_path) == ("CronJob", "spec.jobTemplate.spec.template.spec")
    assert [each.name for each in pod_spec_of(cast("Workload", cron_job.object)).containers] == ["dump"]


def test_a_pod_loses_what_a_server_had_filled_in() -> None:
    pod = cast("Pod", expanded().runnables[0].object)

    assert pod.metadata.name is not None
    assert pod.metadata.name.startswith("web-")
    assert len(pod.metadata.name) == len("web-") + 5
    assert (pod.metadata.namespace, pod.metadata.uid, pod.metadata.owner_references) == ("default", None, ())
    assert (pod.spec.node_name, pod.status.phase) == (None, None)


def test_a_workload_loses_its_status() -> None:
    assert expanded().runnables[2].object.status is None  # type: ignore[union-attr]


def test_the_same_random_numbers_give_the_same_names() -> None:
    assert expanded() == expanded()


def workload(kind: str, spec: str, metadata: str = "name: w") -> str:
    template = "template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: a}]}}"
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{{metadata}}}\nspec: {{{template}{spec}}}\n"


NOTES = [
    ("a suspended Job", "Job", ", suspend: true", "the Job is suspended: it makes no pods, and no run waits"),
    ("a Job without parallelism", "Job", ", parallelism: 0", "parallelism is 0: the Job makes no pods, and no run"),
    ("a Job of another controller", "Job", ", managedBy: example.com/q", "Job/w is not run: it is left to example.com"),
    ("no replicas", "ReplicaSet", ", replicas: 0", "replicas is 0: it makes no pods"),
    (
        "a strategy",
        "Deployment",
        ", strategy: {type: Recreate}",
        "strategy has no effect: a rolling update is not done",
    ),
    (
        "an update strategy",
        "StatefulSet",
        ", updateStrategy: {type: OnDelete}",
        "updateStrategy has no effect: a rolling update is not done",
    ),
    (
        "claims",
        "StatefulSet",
        ", volumeClaimTemplates: [{metadata: {name: data}}, {metadata: {name: wal}}]",
        "volumeClaimTemplates: no claim is made, each pod has an empty folder for data, wal that goes with it",
    ),
]


@pytest.mark.parametrize(("why", "kind", "spec", "text"), NOTES, ids=[row[0] for row in NOTES])
def test_what_a_workload_asks_for_in_vain_is_said(why: str, kind: str, spec: str, text: str) -> None:
    (problem,) = expanded(workload(kind, spec)).problems
    assert problem.text.startswith(text)
    assert problem.severity == "warning"


def test_a_strategy_that_a_server_filled_in_is_not_spoken_of() -> None:
    text = workload("Deployment", ", strategy: {type: RollingUpdate}", "name: w, uid: u")
    assert [each.type for each in expanded(text).problems] == ["Ignored"]


def test_a_job_that_names_the_job_controller_runs() -> None:
    expansion = expanded(workload("Job", ", managedBy: kubernetes.io/job-controller"))
    assert (len(expansion.runnables), expansion.problems) == (1, ())


def test_generated_names_stay_below_63_characters() -> None:
    assert len(generate_name("x" * 80, rng())) == 63


def test_uids_are_version_4() -> None:
    uid = uuid.UUID(random_uid(rng()))

    assert (uid.version, uid.variant) == (4, uuid.RFC_4122)
    assert str(uid) == random_uid(rng())
