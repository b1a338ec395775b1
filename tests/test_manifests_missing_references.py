"""ConfigMaps and Secrets that a pod needs are among the manifests, or the user is told."""

from __future__ import annotations

import random
import re

import pytest

from kubelet_emu.manifests import load_text
from kubelet_emu.manifests.missing_references import missing_references
from kubelet_emu.manifests.stand_ins import stand_ins
from kubelet_emu.manifests.workloads import expand

CONTAINER = "containers: [{name: c, image: i%s}]"
PLAIN = CONTAINER % ""
NEEDS = [
    ("a volume of a ConfigMap", PLAIN + ", volumes: [{name: v, configMap: {name: one}}]", ["ConfigMap 'one'"]),
    ("a volume of a Secret", PLAIN + ", volumes: [{name: v, secret: {secretName: one}}]", ["Secret 'one'"]),
    (
        "projected ones",
        PLAIN + ", volumes: [{name: v, projected: {sources: [{secret: {name: one}}, {configMap: {name: two}}]}}]",
        ["Secret 'one'", "ConfigMap 'two'"],
    ),
    (
        "variables from all of one",
        CONTAINER % ", envFrom: [{configMapRef: {name: one}}, {secretRef: {name: two}}]",
        ["ConfigMap 'one'", "Secret 'two'"],
    ),
    (
        "single variables",
        CONTAINER % (
            ", env: [{name: A, valueFrom: {secretKeyRef: {name: one, key: k}}}, "
            "{name: B, valueFrom: {configMapKeyRef: {name: two, key: k}}}, {name: C, value: v}]"
        ),
        ["Secret 'one'", "ConfigMap 'two'"],
    ),
    (
        "each is told once",
        CONTAINER % ", envFrom: [{secretRef: {name: one}}, {secretRef: {name: one}}]",
        ["Secret 'one'"],
    ),
    (
        "pull secrets",
        PLAIN + ", imagePullSecrets: [{name: one}, {name: there}, {name: far}]",
        ["Secret 'one'", "Secret 'far'"],
    ),
    ("optional ones may be missing", CONTAINER % ", envFrom: [{secretRef: {name: one, optional: true}}]", []),
    ("one that is there", CONTAINER % ", envFrom: [{secretRef: {name: there}}]", []),
    ("one of another namespace", CONTAINER % ", envFrom: [{secretRef: {name: far}}]", ["Secret 'far'"]),
]  # fmt: skip
STORED = """
---
apiVersion: v1
kind: Secret
metadata: {name: there}
---
apiVersion: v1
kind: Secret
metadata: {name: far, namespace: elsewhere}
"""
KINDS = {
    "Pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {%s}\n",
    "Job": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
    "spec: {template: {spec: {restartPolicy: Never, %s}}}\n",
    "Deployment": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
    "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {%s}}}\n",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("why", "spec", "missing"), NEEDS, ids=[row[0] for row in NEEDS])
def test_what_is_missing_is_told_at_its_field(kind: str, why: str, spec: str, missing: list[str]) -> None:
    text = KINDS[kind] % spec + STORED
    result = load_text(text)
    assert result.problems == ()
    problems = missing_references(expand(result.objects, random.Random(0)))  # noqa: S311 - names
    assert [problem.text.partition(" is in")[0] for problem in problems] == missing
    fields = [text.splitlines()[problem.line - 1][problem.column - 1 :] for problem in problems]
    names = [re.match(r"(?:secretName|name): (\w+)", field) for field in fields]
    assert [each and each[1] for each in names] == [each.split("'")[1] for each in missing]


def test_an_object_of_another_namespace_is_told_with_its_place() -> None:
    result = load_text(KINDS["Pod"] % (CONTAINER % ", envFrom: [{secretRef: {name: far}}]") + STORED)

    (problem,) = missing_references(expand(result.objects, random.Random(0)))  # noqa: S311 - names

    assert problem.text == "Secret 'far' is in namespace 'elsewhere', not in the pod's, so the pod waits for it"
    assert problem.hint == "write metadata.namespace: default there, or make the reference optional: true"


ROOT_CA = ", volumes: [{name: v, projected: {sources: [{configMap: {name: kube-root-ca.crt, items: [%s]}}]}}]"
ITEM = "{key: ca.crt, path: ca.crt}"
OWN = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-root-ca.crt}\n"


@pytest.mark.parametrize("item", ["", ITEM], ids=["all keys", "one key"])
def test_the_root_certificate_has_a_stand_in(item: str) -> None:
    result = load_text(KINDS["Pod"] % (PLAIN + ROOT_CA % item))
    expansion = expand(result.objects, random.Random(0))  # noqa: S311 - names

    (problem,) = stand_ins(expansion)

    assert missing_references(expansion) == ()
    assert (problem.severity, problem.type) == ("warning", "Not emulated")
    assert problem.path == "spec.volumes[0].projected.sources[0].configMap.name"
    assert problem.text.startswith("ConfigMap 'kube-root-ca.crt' is in none of the manifests: a stand-in is used")


def test_a_root_certificate_among_the_manifests_is_used() -> None:
    result = load_text(KINDS["Pod"] % (PLAIN + ROOT_CA % ITEM) + OWN)
    expansion = expand(result.objects, random.Random(0))  # noqa: S311 - names

    assert [*stand_ins(expansion)] == []
    assert [problem.text for problem in missing_references(expansion)] == [
        "ConfigMap 'kube-root-ca.crt' has no key 'ca.crt', so the pod waits for it"
    ]


KEYED = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {text: a}
binaryData: {bytes: AAEC}
---
apiVersion: v1
kind: Secret
metadata: {name: sec}
data: {coded: YQ==}
stringData: {plain: a}
"""
KEYS = [
    (
        "a variable's key",
        CONTAINER % ", env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: gone}}}]",
        ["ConfigMap 'cm' has no key 'gone'"],
    ),
    (
        "keys of all fields are there",
        CONTAINER
        % (
            ", env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: text}}}, "
            "{name: B, valueFrom: {configMapKeyRef: {name: cm, key: bytes}}}, "
            "{name: C, valueFrom: {secretKeyRef: {name: sec, key: coded}}}, "
            "{name: D, valueFrom: {secretKeyRef: {name: sec, key: plain}}}]"
        ),
        [],
    ),
    (
        "an optional key",
        CONTAINER % ", env: [{name: A, valueFrom: {secretKeyRef: {name: sec, key: gone, optional: true}}}]",
        [],
    ),
    (
        "items of volumes",
        PLAIN
        + (
            ", volumes: [{name: v, configMap: {name: cm, items: [{key: text, path: a}, {key: gone, path: b}]}}, "
            "{name: w, secret: {secretName: sec, items: [{key: gone, path: a}]}}]"
        ),
        ["ConfigMap 'cm' has no key 'gone'", "Secret 'sec' has no key 'gone'"],
    ),
    (
        "items of a projected volume",
        PLAIN
        + ", volumes: [{name: v, projected: {sources: [{configMap: {name: cm, items: [{key: gone, path: a}]}}]}}]",
        ["ConfigMap 'cm' has no key 'gone'"],
    ),
    (
        "of an object that isn't there only the object is told",
        CONTAINER
        % (
            ", env: [{name: A, valueFrom: {configMapKeyRef: {name: x, key: a}}}, "
            "{name: B, valueFrom: {configMapKeyRef: {name: x, key: b}}}]"
        ),
        ["ConfigMap 'x'"],
    ),
]


@pytest.mark.parametrize(("why", "spec", "missing"), KEYS, ids=[row[0] for row in KEYS])
def test_a_key_that_is_missing_is_told_at_its_field(why: str, spec: str, missing: list[str]) -> None:
    text = KINDS["Pod"] % spec + KEYED
    problems = missing_references(expand(load_text(text).objects, random.Random(0)))  # noqa: S311 - names
    assert [re.split(" is in|, so", problem.text)[0] for problem in problems] == missing
    for problem in problems:
        name = text.splitlines()[problem.line - 1][problem.column - 1 :]
        assert name.startswith(("key: gone", "name: x")), name
