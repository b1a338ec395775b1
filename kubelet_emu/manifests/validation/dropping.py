"""Fields that a server drops because their feature gate is off, and those that its version doesn't know at all.

A table says which field belongs to which gate; one walk over an object takes them out and says where they stood.
Source: kubernetes v1.28 to v1.36 DropDisabledPodFields, DropDisabledTemplateFields, the strategies of Jobs and
StatefulSets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from attrs import evolve, has

from kubelet_emu.api.schema import fields_of
from kubelet_emu.manifests.changing import changed
from kubelet_emu.manifests.validation.gated_fields import JOB_FIELDS, POD_FIELDS, SET_FIELDS, Gated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from attrs import AttrsInstance

    from kubelet_emu.api.apps_v1 import Deployment, StatefulSet
    from kubelet_emu.api.batch_v1 import CronJob, Job, JobSpec
    from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
    from kubelet_emu.manifests.loading import APIObject
    from kubelet_emu.manifests.validation.context import Gates

T = TypeVar("T")
Emptied = TypeVar("Emptied", bound="AttrsInstance")

_TEMPLATED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


class Dropped(NamedTuple):
    """A field that was set: where, and what it belongs to."""

    path: str
    gated: Gated


def drop_disabled_fields(obj: T, gates: Gates) -> T:
    """Return an object without what its server doesn't know or has switched off."""
    return cast("T", _Dropping(gates, []).from_object(cast("APIObject", obj)))


def dropped_fields(obj: APIObject, gates: Gates) -> tuple[Dropped, ...]:
    """Return the fields of an object that its server drops or doesn't know, in the order of the table."""
    dropping = _Dropping(gates, [])
    dropping.from_object(obj)
    return tuple(dropping.found)


class _Dropping(NamedTuple):
    """One walk over an object, and what it has found."""

    gates: Gates
    found: list[Dropped]

    def from_object(self, obj: APIObject) -> APIObject:
        if obj.kind == "Pod":
            pod = cast("Pod", obj)
            return evolve(pod, spec=self._from_pod(pod.spec, "spec"))
        if obj.kind == "Job":
            job = cast("Job", obj)
            return evolve(job, spec=self._from_job(job.spec, "spec"))
        if obj.kind == "CronJob":
            cron_job = cast("CronJob", obj)
            template = cron_job.spec.job_template
            made = evolve(template, spec=self._from_job(template.spec, "spec.jobTemplate.spec"))
            return evolve(cron_job, spec=evolve(cron_job.spec, job_template=made))
        if obj.kind == "StatefulSet":
            stateful_set = cast("StatefulSet", obj)
            obj = evolve(stateful_set, spec=self._without(stateful_set.spec, self._off(SET_FIELDS), "spec"))
        if obj.kind in _TEMPLATED:
            spec = cast("Deployment", obj).spec
            kept = evolve(spec, template=self._from_template(spec.template, "spec.template"))
            return changed(obj, spec=kept)
        return obj

    def _off(self, rows: Iterable[Gated]) -> list[Gated]:
        return [row for row in rows if not self.gates.enabled(row.gate)]

    def _from_job(self, spec: JobSpec, path: str) -> JobSpec:
        kept = self._without(spec, self._off(JOB_FIELDS), path)
        if kept.pod_failure_policy is not None and not self.gates.enabled("JobBackoffLimitPerIndex"):
            policy = kept.pod_failure_policy
            rules = tuple(rule for rule in policy.rules if rule.action != "FailIndex")
            kept = evolve(kept, pod_failure_policy=evolve(policy, rules=rules))
        return evolve(kept, template=self._from_template(kept.template, f"{path}.template"))

    def _from_template(self, template: PodTemplateSpec, path: str) -> PodTemplateSpec:
        return evolve(template, spec=self._from_pod(template.spec, f"{path}.spec"))

    def _from_pod(self, spec: PodSpec, path: str) -> PodSpec:
        kept = self._without(spec, self._off(POD_FIELDS), path)
        names = {volume.name for volume in spec.volumes if volume.image is not None}
        return kept if not names or self.gates.enabled("ImageVolume") else _without_volumes(kept, names)

    def _without(self, value: Emptied, rows: Iterable[Gated], path: str) -> Emptied:
        for row in rows:
            value = cast("Emptied", self._cut(value, row, row.path.split("."), path))
        return value

    def _cut(self, value: object, row: Gated, names: list[str], path: str) -> object:
        """Return a value without the field that is named, noting each place where it was set."""
        if isinstance(value, tuple):
            kept = tuple(self._cut(each, row, names, f"{path}[{index}]") for index, each in enumerate(value))
            return kept if any(new is not old for new, old in zip(kept, value, strict=True)) else value
        if not has(type(value)):
            return value
        attribute, at = fields_of(type(value))[names[0]].attribute, f"{path}.{names[0]}"
        current: object = getattr(value, attribute)
        if names[1:]:
            kept_field = self._cut(current, row, names[1:], at)
            if row.leaves_nothing and kept_field is not current and kept_field == type(kept_field)():
                kept_field = None
        else:
            kept_field = self._emptied(current, row, at)
        return value if kept_field is current else changed(value, **{attribute: kept_field})

    def _emptied(self, current: object, row: Gated, path: str) -> object:
        """Return what stands for a field that is dropped."""
        if current in (None, (), row.instead) or (row.unless and current == row.unless):
            return current
        self.found.append(Dropped(path, row))
        return () if isinstance(current, tuple) else row.instead


def _without_volumes(spec: PodSpec, names: set[str]) -> PodSpec:
    """Drop volumes and what mounts them (dropImageVolumes)."""

    def unmounted(container: Container) -> Container:
        return evolve(
            container, volume_mounts=tuple(each for each in container.volume_mounts if each.name not in names)
        )

    return evolve(
        spec,
        volumes=tuple(volume for volume in spec.volumes if volume.name not in names),
        containers=tuple(map(unmounted, spec.containers)),
        init_containers=tuple(map(unmounted, spec.init_containers)),
    )
