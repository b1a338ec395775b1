"""Patches of trees, each kind by its own rules."""

from __future__ import annotations

import pytest

from kubelet_emu.apiserver.merge import PatchError, json_merge_patch, json_patch, strategic_merge_patch

Tree = dict[str, object]


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        pytest.param({"a": 1}, {"b": 2}, {"a": 1, "b": 2}, id="adds a key"),
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="null removes a key"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}, id="maps merge"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="lists are replaced"),
        pytest.param({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}, id="a map replaces a scalar"),
    ],
)
def test_json_merge_patch(target: Tree, patch: Tree, expected: Tree) -> None:
    assert json_merge_patch(target, patch) == expected


CONTAINERS = {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        pytest.param(
            CONTAINERS,
            {"containers": [{"name": "b", "image": "b:2"}, {"name": "c", "image": "c:1"}]},
            {
                "containers": [
                    {"name": "a", "image": "a:1"},
                    {"name": "b", "image": "b:2"},
                    {"name": "c", "image": "c:1"},
                ]
            },
            id="a keyed list merges by its key",
        ),
        pytest.param(
            CONTAINERS,
            {"containers": [{"name": "a", "$patch": "delete"}, {"name": "x", "$patch": "delete"}]},
            {"containers": [{"name": "b", "image": "b:1"}]},
            id="delete in a keyed list",
        ),
        pytest.param(
            CONTAINERS,
            {"containers": [{"$patch": "replace"}, {"name": "c"}]},
            {"containers": [{"name": "c"}]},
            id="replace a keyed list",
        ),
        pytest.param(
            CONTAINERS,
            {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "b", "image": "b:2"}]},
            {"containers": [{"name": "b", "image": "b:2"}, {"name": "a", "image": "a:1"}]},
            id="order of a keyed list",
        ),
        pytest.param(
            {"finalizers": ["x", "y"]},
            {"$setElementOrder/finalizers": ["y", "x"]},
            {"finalizers": ["y", "x"]},
            id="order of a set",
        ),
        pytest.param({}, {"containers": [{"name": "a"}]}, {"containers": [{"name": "a"}]}, id="a new keyed list"),
        pytest.param(
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "b"}]},
            {"tolerations": [{"key": "b"}]},
            id="a list without a key is replaced",
        ),
        pytest.param({"args": ["x"]}, {"args": ["y"]}, {"args": ["y"]}, id="primitives are replaced"),
        pytest.param(
            {"finalizers": ["x"]},
            {"finalizers": ["x", "y"]},
            {"finalizers": ["x", "y"]},
            id="a set of primitives grows",
        ),
        pytest.param({}, {"finalizers": ["x"]}, {"finalizers": ["x"]}, id="a new set"),
        pytest.param(
            {"finalizers": ["x", "y"]},
            {"$deleteFromPrimitiveList/finalizers": ["x", "z"]},
            {"finalizers": ["y"]},
            id="delete from a set",
        ),
        pytest.param({}, {"$deleteFromPrimitiveList/finalizers": ["x"]}, {}, id="delete from an absent set"),
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="null removes"),
        pytest.param({"m": {"a": 1}}, {"m": {"$patch": "replace", "b": 2}}, {"m": {"b": 2}}, id="replace a map"),
        pytest.param({"m": {"a": 1}}, {"m": {"$patch": "delete"}}, {"m": {}}, id="delete a map"),
        pytest.param({"m": {"a": 1}}, {"m": {"$patch": "merge", "b": 2}}, {"m": {"a": 1, "b": 2}}, id="merge a map"),
        pytest.param(
            {"v": {"name": "v", "emptyDir": {}}},
            {"v": {"$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}},
            {"v": {"name": "v", "hostPath": {"path": "/x"}}},
            id="retain keys",
        ),
        pytest.param(
            {"ports": [{"port": 80, "name": "a"}]},
            {"ports": [{"port": 80, "name": "b"}]},
            {"ports": [{"port": 80, "name": "b"}]},
            id="ports of a service merge by port",
        ),
    ],
)
def test_strategic_merge_patch(target: Tree, patch: Tree, expected: Tree) -> None:
    assert strategic_merge_patch(target, patch) == expected


def test_a_patch_leaves_its_target_alone() -> None:
    target: Tree = {"containers": [{"name": "a"}], "m": {"a": [1]}}
    strategic_merge_patch(target, {"containers": [{"name": "a", "image": "x"}]})
    json_patch(target, [{"op": "add", "path": "/m/a/-", "value": 2}])
    assert target == {"containers": [{"name": "a"}], "m": {"a": [1]}}


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        pytest.param({"$patch": "split"}, "unknown patch directive 'split'", id="unknown directive"),
        pytest.param({"containers": [{"image": "x"}]}, "declared merge key: name", id="no merge key"),
    ],
)
def test_strategic_merge_faults(patch: Tree, text: str) -> None:
    with pytest.raises(PatchError, match=text):
        strategic_merge_patch(CONTAINERS, patch)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        pytest.param({"op": "add", "path": "/m/b", "value": 2}, {"m": {"a": 1, "b": 2}, "l": [1, 2]}, id="add a key"),
        pytest.param({"op": "add", "path": "/l/1", "value": 9}, {"m": {"a": 1}, "l": [1, 9, 2]}, id="insert"),
        pytest.param({"op": "add", "path": "/l/-", "value": 9}, {"m": {"a": 1}, "l": [1, 2, 9]}, id="append"),
        pytest.param({"op": "add", "path": "", "value": {"x": 1}}, {"x": 1}, id="replace all"),
        pytest.param({"op": "remove", "path": "/m/a"}, {"m": {}, "l": [1, 2]}, id="remove a key"),
        pytest.param({"op": "remove", "path": "/l/0"}, {"m": {"a": 1}, "l": [2]}, id="remove an element"),
        pytest.param({"op": "remove", "path": ""}, {}, id="remove all"),
        pytest.param({"op": "replace", "path": "/l/0", "value": 7}, {"m": {"a": 1}, "l": [7, 2]}, id="replace"),
        pytest.param({"op": "move", "from": "/m/a", "path": "/b"}, {"m": {}, "l": [1, 2], "b": 1}, id="move"),
        pytest.param(
            {"op": "copy", "from": "/l", "path": "/m/l"}, {"m": {"a": 1, "l": [1, 2]}, "l": [1, 2]}, id="copy"
        ),
        pytest.param({"op": "test", "path": "/m/a", "value": 1}, {"m": {"a": 1}, "l": [1, 2]}, id="test"),
    ],
)
def test_json_patch(operation: Tree, expected: Tree) -> None:
    assert json_patch({"m": {"a": 1}, "l": [1, 2]}, [operation]) == expected


def test_json_pointers_are_unescaped() -> None:
    target = {"labels": {"a/b": "1", "c~d": "2"}}
    operations = [{"op": "remove", "path": "/labels/a~1b"}, {"op": "remove", "path": "/labels/c~0d"}]
    assert json_patch(target, operations) == {"labels": {}}


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        pytest.param({"op": "merge", "path": "/a"}, "unexpected kind: merge", id="unknown operation"),
        pytest.param({"op": "remove", "path": "/x"}, "path does not exist: /x", id="no such key"),
        pytest.param({"op": "add", "path": "/a/b", "value": 1}, "path does not exist: /a/b", id="inside a scalar"),
        pytest.param({"op": "remove", "path": "/l/2"}, "index '2' is out of range", id="no such element"),
        pytest.param({"op": "remove", "path": "/l/x"}, "index 'x' is out of range", id="no index"),
        pytest.param({"op": "remove", "path": "a"}, "not a JSON pointer: 'a'", id="no pointer"),
        pytest.param({"op": "test", "path": "/a", "value": 2}, "testing value /a failed", id="failed test"),
    ],
)
def test_json_patch_faults(operation: Tree, text: str) -> None:
    with pytest.raises(PatchError, match=text):
        json_patch({"a": 1, "l": [1, 2]}, [operation])
