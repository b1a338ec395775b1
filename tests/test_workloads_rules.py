"""What the workload controllers decide: values in, values out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from kubelet_emu.api.apps_v1 import (
    DaemonSet,
    DaemonSetSpec,
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    ReplicaSet,
    ReplicaSetSpec,
    RollingUpdateDeployment,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetSpec,
)
from kubelet_emu.api.batch_v1 import CronJob, CronJobSpec, JobSpec, JobTemplateSpec
from kubelet_emu.api.meta import LabelSelector, ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
from kubelet_emu.api.v1_claims import PersistentVolumeClaim
from kubelet_emu.api.v1_scheduling import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Toleration,
)
from kubelet_emu.api.v1_status import ContainerStatus, PodCondition, PodStatus
from kubelet_emu.api.v1_volumes import EmptyDirVolumeSource, Volume
from kubelet_emu.workloads.rules import daemon_set, stateful_set
from kubelet_emu.workloads.rules.cron_job import job_of
from kubelet_emu.workloads.rules.deployment import new_replica_set, sync_deployment
from kubelet_emu.workloads.rules.plan import MAX_POD_CREATE_DELETE_PER_SYNC, NOTHING, Plan
from kubelet_emu.workloads.rules.replica_set import by_value, manage_replicas
from kubelet_emu.workloads.rules.templates import pod_from_template, template_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
TEMPLATE = PodTemplateSpec(
    metadata=ObjectMeta(labels={"app": "web"}, annotations={"note": "x"}, finalizers=("example.com/hold",)),
    spec=PodSpec(containers=(Container(name="main", image="nginx"),)),
)


def surging(most: int | str | None) -> RollingUpdateDeployment:
    return RollingUpdateDeployment(max_surge=most)


SAFE = set("bcdfghjklmnpqrstvwxz2456789")


def meta(name: str = "web", **more: object) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="prod", uid=f"uid-{name}", **more)  # type: ignore[arg-type]


def a_replica_set(replicas: int | None = 2) -> ReplicaSet:
    return ReplicaSet(metadata=meta(), spec=ReplicaSetSpec(replicas=replicas, template=TEMPLATE))


def a_pod(
    name: str,
    phase: str = "Running",
    *,
    ready: datetime | None = None,
    deleted: bool = False,
    restarts: tuple[int, int] = (0, 0),
    **more: object,
) -> Pod:
    conditions = () if ready is None else (PodCondition(type="Ready", status="True", last_transition_time=ready),)
    return Pod(
        metadata=ObjectMeta(
            name=name,
            uid=name,
            namespace="prod",
            deletion_timestamp=NOW if deleted else None,
            **{"creation_timestamp": NOW - timedelta(seconds=300), **more},  # type: ignore[arg-type]
        ),
        spec=PodSpec(
            node_name="node1",
            containers=(Container(name="c"),),
            init_containers=(Container(name="s", restart_policy="Always"),),
        ),
        status=PodStatus(
            phase=phase,
            conditions=conditions,
            container_statuses=(ContainerStatus(name="c", restart_count=restarts[0]),),
            init_container_statuses=(ContainerStatus(name="s", restart_count=restarts[1]),),
        ),
    )


def names(pods: Sequence[Pod]) -> list[str]:
    return [pod.metadata.name or "" for pod in pods]


# --- templates


def test_a_pod_has_its_template_and_its_owner() -> None:
    pod = pod_from_template(a_replica_set(), TEMPLATE, {"extra": "1"})
    assert (pod.metadata.name, pod.metadata.generate_name, pod.metadata.namespace) == (None, "web-", "prod")
    assert pod.metadata.labels == {"app": "web", "extra": "1"}
    assert (pod.metadata.annotations, pod.metadata.finalizers) == ({"note": "x"}, ("example.com/hold",))
    (owner,) = pod.metadata.owner_references
    assert (owner.api_version, owner.kind, owner.name, owner.uid) == ("apps/v1", "ReplicaSet", "web", "uid-web")
    assert (owner.controller, owner.block_owner_deletion) == (True, True)
    assert pod.spec.restart_policy == "Always"


def test_equal_templates_have_equal_hashes_of_safe_characters() -> None:
    digest = template_hash(TEMPLATE)
    other = evolve(TEMPLATE, metadata=evolve(TEMPLATE.metadata, labels={"app": "other"}))
    assert digest == template_hash(evolve(TEMPLATE))
    assert digest != template_hash(other)
    assert set(digest) <= SAFE
    assert 6 <= len(digest) <= 10


# --- ReplicaSet


REPLICAS = [
    ("the missing ones are made", 3, [a_pod("a")], 2, []),
    ("an unset number is one", None, [], 1, []),
    ("enough is enough", 1, [a_pod("a")], 0, []),
    ("one that failed is left behind and replaced", 1, [a_pod("a", "Failed")], 1, []),
    ("one that terminates is replaced at once", 1, [a_pod("a", deleted=True)], 1, []),
    ("at most five hundred at once", 800, [], MAX_POD_CREATE_DELETE_PER_SYNC, []),
    ("too many go", 1, [a_pod("ready", ready=NOW), a_pod("pending", "Pending")], 0, ["pending"]),
]


@pytest.mark.parametrize(("why", "replicas", "pods", "made", "deleted"), REPLICAS, ids=[row[0] for row in REPLICAS])
def test_a_replica_set_keeps_its_number(
    why: str, replicas: int | None, pods: list[Pod], made: int, deleted: list[str]
) -> None:
    plan = manage_replicas(a_replica_set(replicas), pods, NOW)
    assert (len(plan.create), names(plan.delete)) == (made, deleted)


def test_the_least_valuable_pods_go_first() -> None:
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-5"}
    long_ago = NOW - timedelta(hours=10)
    pods = [
        a_pod("ready-long-b", ready=long_ago),
        a_pod("ready-long-a", ready=long_ago - timedelta(seconds=1)),
        a_pod("ready-in-future", ready=NOW + timedelta(seconds=1)),
        a_pod("ready-short", ready=NOW - timedelta(seconds=2)),
        a_pod("cheap", ready=long_ago, annotations=cost),
        a_pod("restarted-sidecar", restarts=(0, 4)),
        a_pod("restarted", restarts=(1, 0)),
        a_pod("young", creation_timestamp=NOW - timedelta(seconds=1)),
        a_pod("old", annotations={"controller.kubernetes.io/pod-deletion-cost": "no number"}),
        a_pod("pending", "Pending"),
        evolve(a_pod("unassigned", "Pending"), spec=PodSpec()),
        a_pod("no-age", creation_timestamp=None),
    ]
    assert names(by_value(pods, NOW)) == [
        "unassigned",
        "pending",
        "restarted",
        "restarted-sidecar",
        "no-age",
        "young",
        "old",
        "cheap",
        "ready-in-future",
        "ready-short",
        "ready-long-a",
        "ready-long-b",
    ]
    assert names(by_value(pods[::-1], NOW)) == names(by_value(pods, NOW))


def test_of_pods_of_one_age_each_stays_in_its_place() -> None:
    assert names(by_value([a_pod("b"), a_pod("a")], NOW)) == ["b", "a"]


# --- Deployment


def a_deployment(replicas: int | None = 2) -> Deployment:
    selector = LabelSelector(match_labels={"app": "web"})
    return Deployment(metadata=meta(), spec=DeploymentSpec(replicas=replicas, selector=selector, template=TEMPLATE))


def test_a_replica_set_carries_the_hash_of_its_template() -> None:
    digest = template_hash(TEMPLATE)
    made = new_replica_set(a_deployment())
    labels = {"app": "web", "pod-template-hash": digest}
    assert (made.metadata.name, made.metadata.namespace) == (f"web-{digest}", "prod")
    assert made.metadata.labels == made.spec.selector.match_labels == made.spec.template.metadata.labels == labels
    assert made.metadata.annotations == {
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
    }
    assert made.metadata.owner_references[0].kind == "Deployment"
    assert made.spec.replicas == 2


def existing(replicas: int) -> ReplicaSet:
    return evolve(a_replica_set(replicas), metadata=meta("web-5d9"))


def told(plan: Plan) -> list[str]:
    return [f"{event.type} {event.reason}: {event.message}" for event in plan.events]


SCALED = "Normal ScalingReplicaSet: Scaled"
HASH = template_hash(TEMPLATE)
SIZES = [
    ("a new one", 2, [], 2, [f"{SCALED} up replica set web-{HASH} from 0 to 2"]),
    ("a new one without pods", 0, [], 0, []),
    ("more", 3, [existing(1)], 3, [f"{SCALED} up replica set web-5d9 from 1 to 3"]),
    ("fewer", 1, [existing(3)], 1, [f"{SCALED} down replica set web-5d9 from 3 to 1"]),
    ("as many", 2, [existing(2)], None, []),
]


@pytest.mark.parametrize(("why", "wanted", "owned", "size", "events"), SIZES, ids=[row[0] for row in SIZES])
def test_a_deployment_sizes_its_replica_set(
    why: str, wanted: int, owned: list[ReplicaSet], size: int | None, events: list[str]
) -> None:
    plan = sync_deployment(a_deployment(wanted), owned)
    assert (None if plan.replica_set is None else plan.replica_set.spec.replicas) == size
    assert told(plan) == events


SURGES = [
    ("a quarter more, rounded up", 5, None, "7"),
    ("what the strategy says, in percent", 10, DeploymentStrategy(rolling_update=surging("15%")), "12"),
    ("or as a number", 10, DeploymentStrategy(rolling_update=surging(4)), "14"),
    ("none when all go first", 10, DeploymentStrategy(type="Recreate"), "10"),
    ("none of nothing", 0, None, "0"),
    ("a strategy without figures has the default", 4, DeploymentStrategy(rolling_update=surging(None)), "5"),
    ("and so has one without a rolling update", 4, DeploymentStrategy(type="RollingUpdate"), "5"),
]


@pytest.mark.parametrize(("why", "replicas", "strategy", "most"), SURGES, ids=[row[0] for row in SURGES])
def test_a_replica_set_says_how_many_pods_an_update_may_have(
    why: str, replicas: int, strategy: DeploymentStrategy | None, most: str
) -> None:
    deployment = a_deployment(replicas)
    made = new_replica_set(evolve(deployment, spec=evolve(deployment.spec, strategy=strategy)))
    assert made.metadata.annotations["deployment.kubernetes.io/max-replicas"] == most


def test_a_replica_set_takes_over_annotations_but_what_is_the_deployments_own() -> None:
    own = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "deployment.kubernetes.io/revision": "9"}
    deployment = a_deployment()
    annotated = evolve(deployment, metadata=evolve(deployment.metadata, annotations={"team": "a", **own}))
    made = new_replica_set(annotated).metadata.annotations
    assert (made["team"], made["deployment.kubernetes.io/revision"]) == ("a", "1")
    assert "kubectl.kubernetes.io/last-applied-configuration" not in made


def test_a_paused_deployment_gets_no_replica_set_but_keeps_sizing_the_one_it_has() -> None:
    deployment = a_deployment(3)
    paused = evolve(deployment, spec=evolve(deployment.spec, paused=True))
    assert sync_deployment(paused, []) == NOTHING
    resized = sync_deployment(paused, [existing(1)]).replica_set
    assert resized is not None
    assert resized.spec.replicas == 3
    assert resized.metadata.annotations["deployment.kubernetes.io/desired-replicas"] == "3"


# --- StatefulSet


def a_set(replicas: int = 2, **spec: object) -> StatefulSet:
    defaults: dict[str, object] = {"replicas": replicas, "service_name": "db", "template": TEMPLATE}
    return StatefulSet(metadata=meta("db"), spec=StatefulSetSpec(**{**defaults, **spec}))  # type: ignore[arg-type]


def ready(name: str, seconds: float = 100, **more: object) -> Pod:
    return a_pod(name, ready=NOW - timedelta(seconds=seconds), **more)  # type: ignore[arg-type]


PARALLEL = {"pod_management_policy": "Parallel"}
STEPS = [
    ("the first one first", a_set(), [], ["db-0"], []),
    ("the next when the first is ready", a_set(), [ready("db-0")], ["db-1"], []),
    ("not before", a_set(), [a_pod("db-0")], [], []),
    ("nor while it is pending", a_set(), [a_pod("db-0", "Pending")], [], []),
    ("nor while it terminates, even if ready", a_set(), [ready("db-0", deleted=True)], [], []),
    ("nor before it has been ready for long enough", a_set(min_ready_seconds=200), [ready("db-0")], [], []),
    ("but then", a_set(min_ready_seconds=50), [ready("db-0")], ["db-1"], []),
    ("a gap is filled", a_set(3), [ready("db-0"), ready("db-2")], ["db-1"], []),
    ("ordinals start where they are told to", a_set(ordinals=StatefulSetOrdinals(start=5)), [], ["db-5"], []),
    ("ordinals may leave it open", a_set(ordinals=StatefulSetOrdinals()), [], ["db-0"], []),
    ("one that failed is deleted", a_set(), [a_pod("db-0", "Failed")], [], ["db-0"]),
    ("one that is deleted already is waited for", a_set(), [a_pod("db-0", "Failed", deleted=True)], [], []),
    ("the highest goes first", a_set(1), [ready("db-0"), ready("db-1"), ready("db-2")], [], ["db-2"]),
    ("the next one when it is gone", a_set(1), [ready("db-0"), ready("db-1"), ready("db-2", deleted=True)], [], []),
    ("nobody goes while one isn't ready", a_set(1), [a_pod("db-0"), ready("db-1")], [], []),
    (
        "one too many that isn't ready goes when all below it are",
        a_set(1),
        [ready("db-0"), a_pod("db-1")],
        [],
        ["db-1"],
    ),
    ("but not while another one below it isn't ready", a_set(1), [ready("db-0"), a_pod("db-1"), a_pod("db-2")], [], []),
    ("one too many that failed goes", a_set(1), [ready("db-0"), a_pod("db-1", "Failed")], [], ["db-1"]),
    (
        "one that is ready goes before one that isn't",
        a_set(1),
        [ready("db-0"), a_pod("db-1"), ready("db-2")],
        [],
        ["db-2"],
    ),
    ("a foreign pod is none of it", a_set(1), [ready("db-0"), ready("other-1"), ready("db-x")], [], []),
    ("all there", a_set(1), [ready("db-0")], [], []),
    ("in parallel all at once", a_set(3, **PARALLEL), [], ["db-0", "db-1", "db-2"], []),
    ("in parallel a name waits for its bearer", a_set(2, **PARALLEL), [ready("db-0", deleted=True)], ["db-1"], []),
    ("in parallel all that failed go", a_set(2, **PARALLEL), [a_pod("db-0", "Failed")], ["db-1"], ["db-0"]),
    ("in parallel all surplus goes", a_set(0, **PARALLEL), [ready("db-0"), a_pod("db-1")], [], ["db-1", "db-0"]),
]


@pytest.mark.parametrize(("why", "workload", "pods", "made", "deleted"), STEPS, ids=[row[0] for row in STEPS])
def test_a_stateful_set_goes_step_by_step(
    why: str, workload: StatefulSet, pods: list[Pod], made: list[str], deleted: list[str]
) -> None:
    plan = stateful_set.sync_stateful_set(workload, pods, NOW)
    assert (names(plan.create), names(plan.delete)) == (made, deleted)


def test_a_pod_that_is_not_ready_for_long_enough_is_looked_at_again() -> None:
    plan = stateful_set.sync_stateful_set(a_set(min_ready_seconds=200), [ready("db-0")], NOW)
    assert plan.look_at == NOW + timedelta(seconds=100)


RECREATED = [
    ("Failed", "Warning RecreatingFailedPod: StatefulSet prod/db is recreating failed Pod db-0"),
    ("Succeeded", "Normal RecreatingTerminatedPod: StatefulSet prod/db is recreating terminated Pod db-0"),
]


@pytest.mark.parametrize(("phase", "text"), RECREATED)
def test_a_pod_that_has_ended_is_told_of_before_it_is_made_anew(phase: str, text: str) -> None:
    assert told(stateful_set.sync_stateful_set(a_set(), [a_pod("db-0", phase)], NOW)) == [text]


def test_a_stateful_pod_is_known_by_its_ordinal() -> None:
    claims = (
        PersistentVolumeClaim(metadata=ObjectMeta(name="data")),
        PersistentVolumeClaim(),
    )
    volumes = (
        Volume(name="data", empty_dir=EmptyDirVolumeSource()),
        Volume(name="tmp", empty_dir=EmptyDirVolumeSource()),
    )
    template = evolve(TEMPLATE, spec=evolve(TEMPLATE.spec, volumes=volumes))
    pod = stateful_set.new_pod(a_set(template=template, volume_claim_templates=claims), 3)
    assert (pod.metadata.name, pod.spec.hostname, pod.spec.subdomain) == ("db-3", "db-3", "db")
    assert pod.metadata.labels == {
        "app": "web",
        "statefulset.kubernetes.io/pod-name": "db-3",
        "apps.kubernetes.io/pod-index": "3",
        "controller-revision-hash": f"db-{template_hash(template)}",
    }
    data, tmp = pod.spec.volumes
    assert data.persistent_volume_claim is not None
    assert (data.name, data.persistent_volume_claim.claim_name, tmp.name) == ("data", "data-db-3", "tmp")


def test_a_set_without_a_service_has_no_subdomain() -> None:
    assert stateful_set.new_pod(a_set(service_name=None), 0).spec.subdomain is None


# --- DaemonSet


def a_daemon_set(**spec: object) -> DaemonSet:
    template = evolve(TEMPLATE, spec=evolve(TEMPLATE.spec, **spec))  # type: ignore[arg-type]
    return DaemonSet(metadata=meta("agent"), spec=DaemonSetSpec(template=template))


def daemon_plan(pods: list[Pod], killed_at: Sequence[datetime] = (), **spec: object) -> Plan:
    labels = {"disk": "ssd"}
    return daemon_set.sync_daemon_set(a_daemon_set(**spec), pods, "node1", labels, killed_at=killed_at, now=NOW)


DAEMONS = [
    ("one is made", [], 1, []),
    ("one is enough", [a_pod("agent-a")], 0, []),
    ("a second one goes", [a_pod("agent-a"), a_pod("agent-b")], 0, ["agent-b"]),
    ("one that failed goes", [a_pod("agent-a", "Failed")], 0, ["agent-a"]),
    ("one that ended goes", [a_pod("agent-a", "Succeeded")], 0, ["agent-a"]),
    ("one that goes is replaced", [a_pod("agent-a", deleted=True)], 1, []),
]


@pytest.mark.parametrize(("why", "pods", "made", "deleted"), DAEMONS, ids=[row[0] for row in DAEMONS])
def test_a_daemon_set_has_one_pod_on_the_node(why: str, pods: list[Pod], made: int, deleted: list[str]) -> None:
    plan = daemon_plan(pods)
    assert (len(plan.create), names(plan.delete)) == (made, deleted)


def test_a_node_that_is_not_selected_has_none() -> None:
    none = daemon_plan([], node_selector={"disk": "hdd"})
    assert (none.create, none.note.partition(":")[0]) == ((), "it makes no pod")
    assert daemon_plan([], node_name="node2").create == ()
    assert len(daemon_plan([], node_name="node1").create) == 1
    other = NodeSelectorRequirement(key="disk", operator="NotIn", values=("ssd",))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(other,)),))
    affinity = Affinity(node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=selector))
    assert daemon_plan([], affinity=affinity).create == ()
    assert names(daemon_plan([a_pod("agent-a")], node_selector={"disk": "hdd"}).delete) == ["agent-a"]
    assert len(daemon_plan([], node_selector={"disk": "ssd"}).create) == 1


def test_daemon_pods_that_ended_are_told_of() -> None:
    failed = "Warning FailedDaemonPod: Found failed daemon pod prod/a on node node1, will try to kill it"
    ended = "Normal SucceededDaemonPod: Found succeeded daemon pod prod/a on node node1, will try to delete it"
    assert told(daemon_plan([a_pod("a", "Failed")])) == [failed]
    assert told(daemon_plan([a_pod("a", "Succeeded")])) == [ended]


def test_a_failed_daemon_pod_stays_longer_each_time() -> None:
    assert [daemon_set.backoff_seconds(n) for n in (1, 2, 3, 10, 11, 5000)] == [1, 2, 4, 512, 900, 900]
    soon = [NOW - timedelta(seconds=9), NOW - timedelta(seconds=1)]
    assert daemon_plan([a_pod("a", "Failed")], soon) == Plan(look_at=NOW + timedelta(seconds=1))
    assert names(daemon_plan([a_pod("a", "Failed")], [NOW - timedelta(seconds=1)]).delete) == ["a"]


def test_a_daemon_pod_is_for_its_node_and_tolerates_its_troubles() -> None:
    own = Toleration(key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute")
    pod = daemon_set.new_pod(a_daemon_set(tolerations=(own,), host_network=True, affinity=Affinity()), "node1")
    assert pod.metadata.labels["controller-revision-hash"] == template_hash(
        a_daemon_set(tolerations=(own,), host_network=True, affinity=Affinity()).spec.template
    )
    assert pod.metadata.labels["pod-template-generation"] == "1"
    assert [f"{each.key} {each.effect}" for each in pod.spec.tolerations] == [
        "node.kubernetes.io/not-ready NoExecute",
        "node.kubernetes.io/unreachable NoExecute",
        "node.kubernetes.io/disk-pressure NoSchedule",
        "node.kubernetes.io/memory-pressure NoSchedule",
        "node.kubernetes.io/pid-pressure NoSchedule",
        "node.kubernetes.io/unschedulable NoSchedule",
        "node.kubernetes.io/network-unavailable NoSchedule",
    ]
    assert pod.spec.affinity is not None
    assert pod.spec.affinity.node_affinity is not None
    required = pod.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert required is not None
    (term,) = required.node_selector_terms
    assert [(each.key, each.operator, each.values) for each in term.match_fields] == [
        ("metadata.name", "In", ("node1",))
    ]


def test_a_daemon_pod_without_the_nodes_network_doesnt_care_for_it() -> None:
    keys = {each.key for each in daemon_set.new_pod(a_daemon_set(), "node1").spec.tolerations}
    assert "node.kubernetes.io/network-unavailable" not in keys


# --- CronJob


def test_a_cron_jobs_job_is_named_by_the_minute() -> None:
    template = JobTemplateSpec(
        metadata=ObjectMeta(labels={"a": "b"}, annotations={"c": "d"}), spec=JobSpec(parallelism=3)
    )
    job = job_of(CronJob(metadata=meta("nightly"), spec=CronJobSpec(schedule="@daily", job_template=template)), NOW)
    assert job.metadata.name == f"nightly-{int(NOW.timestamp()) // 60}"
    assert job.metadata.annotations == {
        "c": "d",
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z",
    }
    assert job.metadata.labels == {"a": "b"}
    assert (job.metadata.owner_references[0].kind, job.spec.parallelism) == ("CronJob", 3)
