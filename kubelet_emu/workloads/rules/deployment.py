"""The one ReplicaSet of a Deployment: its name, its labels, its size. A rolling update is not done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.meta import LabelSelector, ObjectMeta
from kubelet_emu.workloads.rules import words
from kubelet_emu.workloads.rules.plan import NOTHING, Plan, WorkloadEvent
from kubelet_emu.workloads.rules.replica_set import wanted_replicas
from kubelet_emu.workloads.rules.templates import owner_reference, template_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.apps_v1 import Deployment, ReplicaSet


def sync_deployment(deployment: Deployment, owned: Sequence[ReplicaSet]) -> Plan:
    """Plan the ReplicaSet of a Deployment: a new one, or another size of the one that there is.

    Source: kubernetes v1.36 pkg/controller/deployment syncDeployment, getNewReplicaSet, scale.
    """
    wanted = wanted_replicas(deployment.spec.replicas)
    if not owned:
        made = new_replica_set(deployment)
        name = made.metadata.name or ""
        return Plan(replica_set=made, events=(_scaled(name, 0, wanted),) if wanted else ())
    replica_set = owned[0]
    has = wanted_replicas(replica_set.spec.replicas)
    if has == wanted:
        return NOTHING
    resized = evolve(replica_set, spec=evolve(replica_set.spec, replicas=wanted))
    return Plan(replica_set=resized, events=(_scaled(replica_set.metadata.name or "", has, wanted),))


def _scaled(name: str, old: int, new: int) -> WorkloadEvent:
    return WorkloadEvent(type=words.NORMAL, reason=words.SCALING_REPLICA_SET, message=words.scaled(name, old, new))


def new_replica_set(deployment: Deployment) -> ReplicaSet:
    """Return the ReplicaSet of a Deployment's template: NAME-HASH, with the hash as a label of all it selects.

    Source: kubernetes v1.36 pkg/controller/deployment getNewReplicaSet.
    """
    template, selector = deployment.spec.template, deployment.spec.selector
    digest = template_hash(template)
    hashed = {words.POD_TEMPLATE_HASH: digest}
    labels = {**template.metadata.labels, **hashed}
    metadata = ObjectMeta(
        name=f"{deployment.metadata.name}-{digest}",
        namespace=deployment.metadata.namespace,
        labels=labels,
        annotations={**deployment.metadata.annotations, words.REVISION_ANNOTATION: "1"},
        owner_references=(owner_reference(deployment),),
    )
    spec = api_type("ReplicaSetSpec")(
        replicas=wanted_replicas(deployment.spec.replicas),
        min_ready_seconds=deployment.spec.min_ready_seconds,
        selector=LabelSelector(
            match_labels={**selector.match_labels, **hashed}, match_expressions=selector.match_expressions
        ),
        template=evolve(template, metadata=evolve(template.metadata, labels=labels)),
    )
    made: ReplicaSet = api_type("ReplicaSet")(metadata=metadata, spec=spec)
    return made
