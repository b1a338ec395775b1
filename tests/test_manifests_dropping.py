"""Fields of feature gates that are off, and fields that came with a later version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kubelet_emu import manifests
from kubelet_emu.api.codec import encode
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import Many, Scalar, fields_of
from kubelet_emu.config.features import NEWEST_MINOR, OLDEST_MINOR, FeatureGates, gates_for
from kubelet_emu.manifests.validation import validate
from kubelet_emu.manifests.validation.dropping import drop_disabled_fields, dropped_fields
from kubelet_emu.manifests.validation.gated_fields import JOB_FIELDS, POD_FIELDS, SET_FIELDS, Gated
from kubelet_emu.manifests.validation.objects import prepare

if TYPE_CHECKING:
    from kubelet_emu.manifests.loading import APIObject

SCALARS: dict[Scalar, object] = {
    Scalar.STRING: "x",
    Scalar.INT: 1,
    Scalar.LONG: 1,
    Scalar.BOOL: True,
    Scalar.INT_OR_STRING: 1,
}
POD_AT = {
    "Pod": "spec",
    "Job": "spec.template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
    "Deployment": "spec.template.spec",
    "ReplicaSet": "spec.template.spec",
    "StatefulSet": "spec.template.spec",
    "DaemonSet": "spec.template.spec",
}
VERSIONS = {"Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


def read(obj: object) -> APIObject:
    (loaded,) = manifests.load_text(json.dumps(obj)).objects
    assert loaded.is_whole
    return loaded.object


def example(type_name: str, names: list[str]) -> object:
    """Return an object of an API type with one field set, in lists of one element."""
    shape = fields_of(api_type(type_name))[names[0]]
    value: object
    if names[1:]:
        assert isinstance(shape.item, str)
        value = example(shape.item, names[1:])
    else:
        value = {} if isinstance(shape.item, str) else SCALARS[shape.item]
    return {names[0]: [value] if shape.many is Many.LIST else value}


def at_path(kind: str, path: str, value: object) -> dict[str, object]:
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return {"apiVersion": VERSIONS.get(kind, "apps/v1"), "kind": kind, "metadata": {"name": "o"}, **value}


def in_lists(type_name: str, names: list[str]) -> str:
    """Return a path with [0] after each list but the last name's."""
    shape = fields_of(api_type(type_name))[names[0]]
    if not names[1:]:
        return names[0]
    assert isinstance(shape.item, str)
    return f"{names[0]}{'[0]' if shape.many is Many.LIST else ''}.{in_lists(shape.item, names[1:])}"


ROWS = [
    *(("PodSpec", kind, where, row) for row in POD_FIELDS for kind, where in POD_AT.items()),
    *(("JobSpec", kind, where, row) for row in JOB_FIELDS for kind, where in (
        ("Job", "spec"), ("CronJob", "spec.jobTemplate.spec"))),
    *(("StatefulSetSpec", "StatefulSet", "spec", row) for row in SET_FIELDS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec_type", "kind", "where", "row"), ROWS, ids=[f"{kind}: {row.gate} {row.path}" for _, kind, _, row in ROWS]
)
def test_a_field_goes_with_its_gate_in_every_kind(spec_type: str, kind: str, where: str, row: Gated) -> None:
    names = row.path.split(".")
    obj = read(at_path(kind, where, example(spec_type, names)))
    off = FeatureGates(overrides={row.gate: False})
    others = {each.gate: True for _, _, _, each in ROWS}

    found = dropped_fields(obj, FeatureGates(overrides={**others, row.gate: False}))

    assert [each.path for each in found] == [f"{where}.{in_lists(spec_type, names)}"]
    assert drop_disabled_fields(obj, FeatureGates(overrides=others)) == obj
    assert dropped_fields(drop_disabled_fields(obj, off), off) == ()


def test_every_gate_of_the_table_comes_on_by_default_after_its_field() -> None:
    gates = FeatureGates()
    for row in (*POD_FIELDS, *JOB_FIELDS, *SET_FIELDS):
        on_since = gates.on_since(row.gate)
        assert on_since is None or max(row.since, OLDEST_MINOR) <= on_since <= NEWEST_MINOR


C = {"name": "c", "image": "a:1"}
HOOK = {"preStop": {"sleep": {"seconds": 1}}, "postStart": {"sleep": {"seconds": 1}}}
MOUNTED = {**C, "volumeMounts": [{"name": "i", "mountPath": "/i"}, {"name": "e", "mountPath": "/e"}]}
RULES = [
    {"action": "FailIndex", "onPodConditions": [{"type": "X", "status": "True"}]},
    {"action": "Ignore", "onPodConditions": [{"type": "X", "status": "True"}]},
]
WHOLE = [
    ("a hook that only sleeps leaves nothing", "PodLifecycleSleepAction", {"containers": [{**C, "lifecycle": HOOK}]}, {
        "containers": [C]}),
    ("other hooks stay", "PodLifecycleSleepAction", {
        "containers": [{**C, "lifecycle": {**HOOK, "preStop": {"exec": {"command": ["a"]}}}}]}, {
        "containers": [{**C, "lifecycle": {"preStop": {"exec": {"command": ["a"]}}}}]}),
    ("procMount is Default then", "ProcMountType", {
        "containers": [{**C, "securityContext": {"procMount": "Unmasked"}}]}, {
        "containers": [{**C, "securityContext": {"procMount": "Default"}}]}),
    ("a sidecar stays one without restart rules", "ContainerRestartRules", {
        "initContainers": [{**C, "restartPolicy": "Always"}, {**C, "restartPolicy": "Never"}]}, {
        "initContainers": [{**C, "restartPolicy": "Always"}, C]}),
    ("an image goes as a volume, with its mounts", "ImageVolume", {
        "volumes": [{"name": "i", "image": {"reference": "a"}}, {"name": "e", "emptyDir": {}}],
        "containers": [MOUNTED], "initContainers": [MOUNTED]}, {
        "volumes": [{"name": "e", "emptyDir": {}}],
        "containers": [{**C, "volumeMounts": [{"name": "e", "mountPath": "/e"}]}],
        "initContainers": [{**C, "volumeMounts": [{"name": "e", "mountPath": "/e"}]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "gate", "spec", "kept"), WHOLE, ids=[row[0] for row in WHOLE])
def test_what_goes_with_a_field(why: str, gate: str, spec: dict[str, object], kept: dict[str, object]) -> None:
    pod = read(at_path("Pod", "spec", spec))

    assert encode(drop_disabled_fields(pod, FeatureGates(overrides={gate: False})))["spec"] == kept


@pytest.mark.parametrize(("kind", "where"), [("Job", "spec"), ("CronJob", "spec.jobTemplate.spec")], ids=str)
def test_rules_that_fail_an_index_go_with_the_limit_for_each_index(kind: str, where: str) -> None:
    job = read(at_path(kind, where, {"podFailurePolicy": {"rules": RULES}}))

    kept: object = encode(drop_disabled_fields(job, gates_for("1.28")))
    for name in where.split("."):
        assert isinstance(kept, dict)
        kept = kept[name]

    assert isinstance(kept, dict)
    assert kept["podFailurePolicy"] == {"rules": RULES[1:]}


def test_a_field_that_is_dropped_gives_no_default() -> None:
    job = read(at_path("Job", "spec", {"backoffLimitPerIndex": 2, "template": {"spec": {"containers": [C]}}}))

    old, new = (prepare(job, gates_for(version)) for version in ("1.28", "1.36"))

    assert (old.spec.backoff_limit, old.spec.pod_replacement_policy) == (6, None)  # type: ignore[union-attr]
    assert (new.spec.backoff_limit, new.spec.pod_replacement_policy) == (2**31 - 1, "TerminatingOrFailed")  # type: ignore[union-attr]


SWITCH = "featureGates: {%s: true} in a file for --config switches it on"
OFF = "Dropped: %s has no effect: its feature gate %s is off in Kubernetes %s"
SAID = [
    (
        "off by default, on later",
        "1.29",
        {"hostUsers": False},
        f"warning: hostUsers: {OFF % ('hostUsers', 'UserNamespacesSupport', '1.29')}",
        f"it is on by default since 1.33; {SWITCH % 'UserNamespacesSupport'}",
    ),
    (
        "alpha in the newest",
        "1.36",
        {"schedulingGroup": {}},
        f"warning: schedulingGroup: {OFF % ('schedulingGroup', 'GenericWorkload', '1.36')}",
        SWITCH % "GenericWorkload",
    ),
    (
        "not in the API yet",
        "1.30",
        {"hostnameOverride": "h"},
        "error: hostnameOverride: Unknown field: Kubernetes 1.30 has no hostnameOverride: it came with 1.34",
        "leave it out, or choose --kubernetes 1.35, where it is on by default",
    ),
    (
        "a value that isn't in the API yet",
        "1.31",
        {"initContainers": [{**C, "name": "i", "restartPolicy": "Never"}]},
        (
            "error: initContainers[0].restartPolicy: Unknown field: "
            "Kubernetes 1.31 has no restartPolicy but Always: others came with 1.34"
        ),
        "leave it out, or choose --kubernetes 1.35, where it is on by default",
    ),
    (
        "not in the API yet, and off since",
        "1.30",
        {"schedulingGroup": {}},
        "error: schedulingGroup: Unknown field: Kubernetes 1.30 has no schedulingGroup: it came with 1.36",
        "leave it out, or choose --kubernetes 1.36",
    ),
]


@pytest.mark.parametrize(("why", "version", "spec", "text", "hint"), SAID, ids=[row[0] for row in SAID])
def test_it_is_said(why: str, version: str, spec: dict[str, object], text: str, hint: str) -> None:
    loaded = manifests.load_text(json.dumps(at_path("Pod", "spec", {**spec, "containers": [C]}))).objects

    (problem,) = validate(loaded, gates_for(version))

    assert f"{problem.severity}: {problem.path.removeprefix('spec.')}: {problem.type}: {problem.text}" == text
    assert problem.hint == hint
