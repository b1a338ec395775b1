"""Which manifest a pod of a log was made from."""

from __future__ import annotations

import json

import pytest

from kubelet_emu.lifecycle.history import ContainerKind
from kubelet_emu.lifecycle.reading.objects import objects_of
from kubelet_emu.lifecycle.specs import identify, parts_of, unnamed_part
from kubelet_emu.manifests.loading import load_text

TEMPLATE = {"spec": {"containers": [{"name": "a"}]}}
OWNERS = {
    "Pod": {"spec": TEMPLATE["spec"]},
    "Job": {"spec": {"template": TEMPLATE}},
    "CronJob": {"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": TEMPLATE}}}},
    "Deployment": {"spec": {"template": TEMPLATE}},
    "StatefulSet": {"spec": {"template": TEMPLATE}},
    "DaemonSet": {"spec": {"template": TEMPLATE}},
}
VERSIONS = {"Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


def objects(*kinds: str, **metadata: object) -> dict[tuple[str, str], object]:
    manifests = [
        {
            "apiVersion": VERSIONS.get(kind, "apps/v1"),
            "kind": kind,
            "metadata": metadata or {"name": "web"},
            **OWNERS[kind],
        }
        for kind in kinds
    ]
    text = "\n---\n".join(json.dumps(manifest) for manifest in manifests)
    return dict(objects_of(loaded.object for loaded in load_text(text).objects))


PODS = [
    ("the pod itself", "web", objects("Pod"), True, "", False),
    ("a pod of a Job", "web-x2x4z", objects("Job"), True, "web", False),
    ("a pod of a CronJob", "web-29000000-x2x4z", objects("CronJob"), True, "web", False),
    ("a pod of a Deployment", "web-6d4cf56db6-x2x4z", objects("Deployment"), True, "web", False),
    ("a pod of a StatefulSet", "web-0", objects("StatefulSet"), True, "web", False),
    ("a pod of a DaemonSet", "web-x2x4z", objects("DaemonSet"), True, "web", False),
    ("a static pod is named after its node", "web-node1", objects("Pod"), True, "", True),
    ("a generated name", "web-x2x4z", objects("Pod", generateName="web-"), True, "web-", False),
    ("the only manifest that there is", "other", objects("Job"), True, "web", False),
    ("one of two", "other", objects("Job", "Pod"), False, "", False),
    ("none", "other", {}, False, "", False),
]


@pytest.mark.parametrize(("pod", "given", "expected"), [(*p[1:3], p[3:]) for p in PODS], ids=[p[0] for p in PODS])
def test_whose_spec(pod: str, given: dict[tuple[str, str], object], expected: tuple[bool, str, bool]) -> None:
    found = identify(pod, {"a"}, given)  # type: ignore[arg-type]
    assert (found.spec is not None, found.owner, found.is_mirror) == expected


def test_a_manifest_with_other_containers_is_another_pods() -> None:
    assert identify("other", {"b"}, objects("Pod")).spec is None  # type: ignore[arg-type]


def test_what_api_objects_say_of_themselves() -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": True}
    annotations = {"kubernetes.io/config.mirror": "x"}
    given = objects("Pod", name="web", ownerReferences=[owner], annotations=annotations)
    found = identify("web", {"a"}, given)  # type: ignore[arg-type]
    assert (found.owner, found.is_mirror) == ("j", True)


def test_parts_stand_in_the_order_of_the_spec() -> None:
    spec = {
        "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}],
        "containers": [{"name": "a"}],
        "ephemeralContainers": [{"name": "d"}],
    }
    text = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    parts = parts_of(load_text(text).objects[0].object)  # type: ignore[arg-type]
    assert [(part.name, part.kind.value, part.index) for part in parts] == [
        ("i", "init", 0),
        ("s", "sidecar", 1),
        ("a", "main", 0),
        ("d", "ephemeral", 0),
    ]


def test_a_container_that_no_spec_names() -> None:
    assert unnamed_part("x", "regular", 0, has_spec=False).kind is ContainerKind.MAIN
    assert unnamed_part("x", "init", 0, has_spec=False).kind is ContainerKind.UNKNOWN
    assert unnamed_part("x", "", 0, has_spec=True).kind is ContainerKind.EPHEMERAL
