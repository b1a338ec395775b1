"""The diff that makes a sidecar of a main: a manifest that is as before but for that, however it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from attrs import evolve

from kubelet_emu.advice.rewriting import as_native_sidecar, moved
from kubelet_emu.manifests import load_text

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod, PodSpec

HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
# why, the spec of the pod, which main is moved
WAYS = [
    ("the last of two", "  containers:\n    - name: a\n      image: a:1\n    - name: b\n      image: b:1\n", 1),
    ("the first of two", "  containers:\n    - name: a\n      image: a:1\n    - name: b\n      image: b:1\n", 0),
    ("dashes below their key", "  containers:\n  - name: a\n    image: a:1\n  - name: b\n    image: b:1\n", 1),
    ("no line end at the end", "  containers:\n  - name: a\n    image: a:1\n  - name: b\n    image: b:1", 1),
    (
        "no line end after a main whose name comes last",
        "  containers:\n  - name: a\n    image: a:1\n  - image: b:1\n    name: b",
        1,
    ),
    (
        "init containers are there",
        (
            "  initContainers:\n    - name: i\n      image: i:1\n\n  containers:\n"
            "    - name: a\n      image: a:1\n    - name: b\n      image: b:1\n  restartPolicy: Never\n"
        ),
        1,
    ),
    (
        "init containers with another indentation",
        (
            "  initContainers:\n  - name: i\n    image: i:1\n  containers:\n"
            "      - name: a\n        image: a:1\n      - name: b\n        args:\n          - |\n"
            "            x\n\n            y\n"
            "        image: b:1\n"
        ),
        1,
    ),
    (
        "init containers that stand further in",
        (
            "  initContainers:\n      - name: i\n        image: i:1\n  containers:\n"
            "  - name: a\n    image: a:1\n  - name: b\n\n    image: b:1\n"
        ),
        1,
    ),
    (
        "init containers stand last",
        (
            "  containers:\n    - name: a\n      image: a:1\n    - name: b\n      image: b:1\n"
            "  initContainers:\n    - name: i\n      image: i:1"
        ),
        0,
    ),
    (
        "in braces, a line each",
        "  containers:\n    - {name: a, image: 'a:1'}\n    - {name: b, image: 'b:1', args: [x]}\n",
        1,
    ),
    (
        "with comments",
        (
            "  containers:\n    # the work\n    - name: a # work\n      image: a:1\n"
            "    - name: b  # help\n      # more\n"
            "      image: b:1\n  # the end\n"
        ),
        1,
    ),
    (
        "lists inside",
        (
            "  containers:\n    - name: a\n      image: a:1\n    - name: b\n      image: b:1\n      ports:\n"
            "      - containerPort: 1\n      env:\n        - {name: x, value: z}\n  restartPolicy: Never\n"
        ),
        1,
    ),
]


def spec_of(text: str) -> PodSpec:
    """Return the spec of a pod."""
    result = load_text(text)
    assert not result.has_errors, text
    return cast("Pod", result.objects[-1].object).spec


@pytest.mark.parametrize(("why", "spec", "index"), WAYS, ids=[row[0] for row in WAYS])
@pytest.mark.parametrize("above", ["", "a: comment\n---\n"], ids=["alone", "in a second document"])
def test_a_container_is_moved_and_nothing_else(why: str, spec: str, index: int, above: str) -> None:
    text = above.replace("a: comment", "# a comment\n") + HEAD + spec
    (loaded,) = load_text(text).objects
    before = spec_of(text)

    changed = moved(loaded, "spec", index)

    assert changed is not None
    sidecar = evolve(before.containers[index], restart_policy="Always")
    rest = tuple(each for number, each in enumerate(before.containers) if number != index)
    assert spec_of(changed) == evolve(before, init_containers=(*before.init_containers, sidecar), containers=rest)
    diff = as_native_sidecar(loaded, "spec", index)
    assert diff.startswith("--- ")
    assert "restartPolicy: Always" in diff


OTHERS = [
    ("JSON", '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a"}, {"name": "b"}]}}'),
    ("all in one line", HEAD + "  containers: [{name: a, image: 'a:1'}, {name: b, image: 'b:1'}]\n"),
    ("braces over several lines", HEAD + "  containers:\n  - {name: a}\n  - {name: b,\n     image: 'b:1'}\n"),
    ("an anchor", HEAD + "  containers:\n  - name: a\n  - &b\n    name: b\n    image: b:1\n"),
    ("an alias", HEAD + "  containers:\n  - &b\n    name: a\n  - *b\n"),
    ("init containers in one line", HEAD + "  initContainers: [{name: i}]\n  containers:\n  - name: a\n  - name: b\n"),
    ("an empty list", HEAD + "  initContainers: []\n  containers:\n  - name: a\n  - name: b\n"),
    ("it is the only main", HEAD + "  containers:\n  - name: b\n"),
]


@pytest.mark.parametrize(("why", "text"), OTHERS, ids=[row[0] for row in OTHERS])
def test_where_its_lines_cant_be_moved_an_example_is_shown(why: str, text: str) -> None:
    loaded = load_text(text).objects[0]
    index = len(cast("Pod", loaded.object).spec.containers) - 1
    assert moved(loaded, "spec", index) is None
    example = as_native_sidecar(loaded, "spec", index)
    assert "+  initContainers:\n" in example
    assert "restartPolicy: Always\n" in example
