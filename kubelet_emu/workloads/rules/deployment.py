"""The one ReplicaSet of a Deployment: its name, its labels, its size. A rolling update is not done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.meta import LabelSelector, ObjectMeta
from kubelet_emu.workloads.rules import words
from kubelet_emu.workloads.rules.plan import NOTHING, Plan, WorkloadEvent
from kubelet_emu.workloads.rules.replica_set import wanted_replicas
from kubelet_emu.workloads.rules.templates import template_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.apps_v1 import Deployment, ReplicaSet


def sync_deployment(deployment: Deployment, owned: Sequence[ReplicaSet]) -> Plan:
    """Plan the ReplicaSet of a Deployment: a new one unless it is paused, or another size of the one that there is.

    Source: kubernetes v1.36 pkg/controller/deployment syncDeployment, sync, getNewReplicaSet, scale.
    """
    wanted = wanted_replicas(deployment.spec.replicas)
    if not owned and deployment.spec.paused:
        return NOTHING
    if not owned:
        made = new_replica_set(deployment)
        name = made.metadata.name or ""
        return Plan(replica_set=made, events=(_scaled(name, 0, wanted),) if wanted else ())
    replica_set = owned[0]
    has = wanted_replicas(replica_set.spec.replicas)
    if has == wanted:
        return NOTHING
    annotations = {**replica_set.metadata.annotations, **_sizes(deployment)}
    resized = evolve(
        replica_set,
        metadata=evolve(replica_set.metadata, annotations=annotations),
        spec=evolve(replica_set.spec, replicas=wanted),
    )
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
        annotations={**_copied(deployment), words.REVISION_ANNOTATION: "1", **_sizes(deployment)},
        owner_references=(new_controller_ref(deployment),),
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


def _copied(deployment: Deployment) -> dict[str, str]:
    """Return the annotations that a ReplicaSet takes over (SetNewReplicaSetAnnotations, skipCopyAnnotation)."""
    annotations = deployment.metadata.annotations
    return {key: value for key, value in annotations.items() if key not in words.NOT_COPIED}


def _sizes(deployment: Deployment) -> dict[str, str]:
    """Return the annotations of how many pods are wanted, and the most in an update (SetReplicasAnnotations)."""
    wanted = wanted_replicas(deployment.spec.replicas)
    return {words.DESIRED_REPLICAS: str(wanted), words.MAX_REPLICAS: str(wanted + _max_surge(deployment, wanted))}


def _max_surge(deployment: Deployment, wanted: int) -> int:
    """Return how many pods an update may have beside those wanted (deploymentutil MaxSurge): 25 %, rounded up."""
    strategy = deployment.spec.strategy
    if not wanted or (strategy is not None and strategy.type == "Recreate"):
        return 0
    rolling = strategy.rolling_update if strategy is not None else None
    surge = rolling.max_surge if rolling is not None and rolling.max_surge is not None else "25%"
    return surge if isinstance(surge, int) else math.ceil(wanted * int(surge.removesuffix("%")) / 100)
