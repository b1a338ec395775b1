"""Deployment, StatefulSet, DaemonSet and ReplicaSet (apps/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.meta import LabelSelector, ObjectMeta
from kubelet_emu.api.v1 import PodTemplateSpec

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.quantity import IntOrString
    from kubelet_emu.api.v1_claims import PersistentVolumeClaim


@frozen(kw_only=True)
class DaemonSetSpec:
    """`DaemonSetSpec` of apps.v1."""

    min_ready_seconds: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector = field(factory=LabelSelector)
    template: PodTemplateSpec = field(factory=PodTemplateSpec)
    update_strategy: DaemonSetUpdateStrategy | None = None


@frozen(kw_only=True)
class DaemonSet:
    """`DaemonSet` of apps.v1."""

    api_version: str = "apps/v1"
    kind: str = "DaemonSet"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: DaemonSetSpec = field(factory=DaemonSetSpec)
    status: DaemonSetStatus | None = None


@frozen(kw_only=True)
class DaemonSetCondition:
    """`DaemonSetCondition` of apps.v1."""

    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class DaemonSetStatus:
    """`DaemonSetStatus` of apps.v1."""

    collision_count: int | None = None
    conditions: tuple[DaemonSetCondition, ...] = ()
    current_number_scheduled: int = 0
    desired_number_scheduled: int = 0
    number_available: int | None = None
    number_misscheduled: int = 0
    number_ready: int = 0
    number_unavailable: int | None = None
    observed_generation: int | None = None
    updated_number_scheduled: int | None = None


@frozen(kw_only=True)
class DaemonSetUpdateStrategy:
    """`DaemonSetUpdateStrategy` of apps.v1."""

    rolling_update: RollingUpdateDaemonSet | None = None
    type: str | None = None


@frozen(kw_only=True)
class DeploymentSpec:
    """`DeploymentSpec` of apps.v1."""

    min_ready_seconds: int | None = None
    paused: bool | None = None
    progress_deadline_seconds: int | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector = field(factory=LabelSelector)
    strategy: DeploymentStrategy | None = None
    template: PodTemplateSpec = field(factory=PodTemplateSpec)


@frozen(kw_only=True)
class Deployment:
    """`Deployment` of apps.v1."""

    api_version: str = "apps/v1"
    kind: str = "Deployment"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: DeploymentSpec = field(factory=DeploymentSpec)
    status: DeploymentStatus | None = None


@frozen(kw_only=True)
class DeploymentCondition:
    """`DeploymentCondition` of apps.v1."""

    last_transition_time: datetime | None = None
    last_update_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class DeploymentStatus:
    """`DeploymentStatus` of apps.v1."""

    available_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[DeploymentCondition, ...] = ()
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    terminating_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


@frozen(kw_only=True)
class DeploymentStrategy:
    """`DeploymentStrategy` of apps.v1."""

    rolling_update: RollingUpdateDeployment | None = None
    type: str | None = None


@frozen(kw_only=True)
class ReplicaSetSpec:
    """`ReplicaSetSpec` of apps.v1."""

    min_ready_seconds: int | None = None
    replicas: int | None = None
    selector: LabelSelector = field(factory=LabelSelector)
    template: PodTemplateSpec = field(factory=PodTemplateSpec)


@frozen(kw_only=True)
class ReplicaSet:
    """`ReplicaSet` of apps.v1."""

    api_version: str = "apps/v1"
    kind: str = "ReplicaSet"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: ReplicaSetSpec = field(factory=ReplicaSetSpec)
    status: ReplicaSetStatus | None = None


@frozen(kw_only=True)
class ReplicaSetCondition:
    """`ReplicaSetCondition` of apps.v1."""

    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class ReplicaSetStatus:
    """`ReplicaSetStatus` of apps.v1."""

    available_replicas: int | None = None
    conditions: tuple[ReplicaSetCondition, ...] = ()
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = 0
    terminating_replicas: int | None = None


@frozen(kw_only=True)
class RollingUpdateDaemonSet:
    """`RollingUpdateDaemonSet` of apps.v1."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


@frozen(kw_only=True)
class RollingUpdateDeployment:
    """`RollingUpdateDeployment` of apps.v1."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


@frozen(kw_only=True)
class RollingUpdateStatefulSetStrategy:
    """`RollingUpdateStatefulSetStrategy` of apps.v1."""

    max_unavailable: IntOrString | None = None
    partition: int | None = None


@frozen(kw_only=True)
class StatefulSetSpec:
    """`StatefulSetSpec` of apps.v1."""

    min_ready_seconds: int | None = None
    ordinals: StatefulSetOrdinals | None = None
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    pod_management_policy: str | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector = field(factory=LabelSelector)
    service_name: str | None = None
    template: PodTemplateSpec = field(factory=PodTemplateSpec)
    update_strategy: StatefulSetUpdateStrategy | None = None
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()


@frozen(kw_only=True)
class StatefulSet:
    """`StatefulSet` of apps.v1."""

    api_version: str = "apps/v1"
    kind: str = "StatefulSet"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: StatefulSetSpec = field(factory=StatefulSetSpec)
    status: StatefulSetStatus | None = None


@frozen(kw_only=True)
class StatefulSetCondition:
    """`StatefulSetCondition` of apps.v1."""

    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class StatefulSetOrdinals:
    """`StatefulSetOrdinals` of apps.v1."""

    start: int | None = None


@frozen(kw_only=True)
class StatefulSetPersistentVolumeClaimRetentionPolicy:
    """`StatefulSetPersistentVolumeClaimRetentionPolicy` of apps.v1."""

    when_deleted: str | None = None
    when_scaled: str | None = None


@frozen(kw_only=True)
class StatefulSetStatus:
    """`StatefulSetStatus` of apps.v1."""

    available_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[StatefulSetCondition, ...] = ()
    current_replicas: int | None = None
    current_revision: str | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = 0
    update_revision: str | None = None
    updated_replicas: int | None = None


@frozen(kw_only=True)
class StatefulSetUpdateStrategy:
    """`StatefulSetUpdateStrategy` of apps.v1."""

    rolling_update: RollingUpdateStatefulSetStrategy | None = None
    type: str | None = None
