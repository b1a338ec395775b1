"""Objects on disk: what a process that is killed at any moment leaves, and what the next one reads of it."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from test_apiserver_store import a_job, a_pod, a_server, owned_by

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1_data import ConfigMap, Secret
from kubelet_emu.apiserver.keeping import KeptStateError, ObjectKeeper, read_kept
from kubelet_emu.apiserver.objects import ObjectKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubelet_emu.apiserver.store import APIServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where objects are kept; it isn't there yet."""
    return tmp_path / "objects"


def a_kept_server(folder: Path) -> APIServer:
    server = a_server()
    server.subscribe(ObjectKeeper(folder, on_failure=pytest.fail))
    return server


def names(folder: Path) -> list[str]:
    return [obj.metadata.name or "" for obj in read_kept(folder).objects]


def test_objects_come_back_as_they_were_in_the_order_of_their_creation(folder: Path) -> None:
    server = a_kept_server(folder)
    made = [server.create(a_pod("b")), server.create(a_job("j")), server.create(a_pod("a"))]
    status = evolve(made[0].status, phase="Running", pod_ip="10.0.0.2")
    changed = server.update_status("Pod", "default", "b", status, uid=made[0].metadata.uid or "")
    assert read_kept(folder).objects == (changed, *made[1:])


def test_an_object_that_is_being_deleted_comes_back_as_such(folder: Path) -> None:
    server = a_kept_server(folder)
    server.create(a_pod(grace=7))
    server.delete("Pod", "default", "web")
    (pod,) = read_kept(folder).objects
    assert pod.metadata.deletion_timestamp is not None
    assert pod.metadata.deletion_grace_period_seconds == 7


def test_of_an_object_that_is_gone_its_key_stays(folder: Path) -> None:
    server = a_kept_server(folder)
    server.create(a_job())
    server.delete("Job", "default", "job")
    kept = read_kept(folder)
    assert kept.objects == ()
    assert set(kept.files) == {ObjectKey("Job", "default", "job")}


def test_of_an_owned_object_that_is_gone_nothing_stays(folder: Path) -> None:
    server = a_kept_server(folder)
    job = server.create(a_job())
    server.create(a_pod("job-1", node="", owner_references=owned_by(job)))
    server.delete("Pod", "default", "job-1", grace_period_seconds=0)
    assert [path.name for path in folder.iterdir()] == ["00000001.json"]


def test_an_object_is_written_as_it_may_be_shown(folder: Path) -> None:
    server = a_server()
    server.subscribe(ObjectKeeper(folder, on_failure=pytest.fail, clean=lambda obj: {**obj, "status": {"reason": "x"}}))
    server.create(a_pod("a"))
    (pod,) = read_kept(folder).objects
    assert pod.status.reason == "x"  # type: ignore[attr-defined]  # a pod


def test_what_manifests_have_and_secrets_are_not_kept(folder: Path) -> None:
    server = a_kept_server(folder)
    server.create(ConfigMap(metadata=ObjectMeta(name="c", namespace="default")))
    server.create(Secret(metadata=ObjectMeta(name="s", namespace="default")))
    assert not folder.exists()
    assert read_kept(folder).files == {}


def test_what_is_kept_is_readable_by_its_owner_alone(folder: Path) -> None:
    a_kept_server(folder).create(a_pod())
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600]


def test_a_second_process_writes_on_in_the_files_of_the_first(folder: Path) -> None:
    a_kept_server(folder).create(a_pod("first"))
    kept, server = read_kept(folder), a_server()
    server.subscribe(ObjectKeeper(folder, on_failure=pytest.fail, files=dict(kept.files)))
    for obj in kept.objects:
        server.restore(obj)
    server.create(a_pod("second"))
    assert names(folder) == ["first", "second"]
    assert sorted(path.name for path in folder.iterdir()) == ["00000001.json", "00000002.json"]


def test_a_restored_object_has_its_identity_and_versions_go_on() -> None:
    before, after = a_server(), a_server()
    pod = before.create(a_pod("first"))
    after.restore(pod)
    restored, new = after.get("Pod", "default", "first"), after.create(a_pod("second"))
    assert restored is not None
    assert (restored.metadata.uid, restored.status, restored.spec) == (pod.metadata.uid, pod.status, pod.spec)
    versions = [int(each.metadata.resource_version or "") for each in (pod, restored, new)]
    assert versions == sorted(set(versions))


def test_a_file_that_was_never_renamed_into_place_is_none(folder: Path) -> None:
    a_kept_server(folder).create(a_pod())
    (folder / "00000001.new").write_text('{"key": ["Pod", "def')
    (folder / "00000002.new").write_text("")
    assert names(folder) == ["web"]


@pytest.mark.parametrize("name", ["README", "1.json", "00000001.json.bak", "x0000001.json", ".00000002.json.swp"])
def test_a_foreign_file_is_left_unread(folder: Path, name: str) -> None:
    a_kept_server(folder).create(a_pod())
    (folder / name).write_text("not ours")
    assert names(folder) == ["web"]


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _twice(file: Path) -> None:
    file.with_name("00000002.json").write_bytes(file.read_bytes())


def _writes(content: object) -> Callable[[Path], None]:
    return lambda file: _put(file, json.dumps(content))


def _put(file: Path, text: str) -> None:
    file.write_text(text)


KEY = ["Pod", "default", "web"]
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "resourceVersion": "1"}}
DAMAGED: list[tuple[str, Callable[[Path], None], str]] = [
    ("cut short", _cut, "1.json: "),
    ("empty", _empty, "1.json: "),
    ("full of zeros", _zeros, "1.json: "),
    ("not UTF-8", lambda file: _put(file, "") or file.write_bytes(b"\xff\xfe") or None, "1.json: "),
    ("nested too deeply", lambda file: _put(file, "[" * 100_000), "1.json: nested too deeply"),
    ("a folder", _folder, "1.json: .*directory"),
    ("a link to nowhere", lambda file: (file.unlink(), file.symlink_to("nowhere"))[-1], "1.json: .*No such file"),
    ("an object that two files have", _twice, "2.json: 00000001.json has Pod/default/web, too"),
    ("a list", _writes([]), "1.json: "),
    ("a text", _writes("Pod"), "1.json: "),
    ("without a key", _writes({"object": POD}), "1.json: 'key'"),
    ("a key of two parts", _writes({"key": KEY[:2]}), "1.json: "),
    ("a kind that there isn't", _writes({"key": ["Pot", "d", "w"], "object": POD}), "1.json: 'Pot'"),
    ("another object than its key says", _writes({"key": ["Pod", "default", "x"], "object": POD}), "1.json: has Pod/"),
    ("an object that is none", _writes({"key": KEY, "object": "web"}), "1.json: "),
    ("an object of a field that isn't known", _writes({"key": KEY, "object": {**POD, "x": 1}}), 'unknown field "x"'),
    ("an object without a version", _writes({"key": KEY, "object": {**POD, "metadata": {"name": "web"}}}), "1.json: "),
]


@pytest.mark.parametrize(("damage", "text"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_a_damaged_file_is_named(folder: Path, damage: Callable[[Path], None], text: str) -> None:
    a_kept_server(folder).create(a_pod())
    damage(folder / "00000001.json")
    with pytest.raises(KeptStateError, match=text) as caught:
        read_kept(folder)
    assert str(caught.value).startswith(str(folder))


def test_where_nothing_can_be_written_one_line_says_so_and_nothing_is_kept(folder: Path) -> None:
    told: list[str] = []
    server = a_server()
    server.subscribe(ObjectKeeper(folder, on_failure=told.append))
    server.create(a_pod("first"))
    (folder / "00000002.new").mkdir()  # what is to be written here can't be
    server.create(a_pod("second"))
    server.create(a_pod("third"))
    assert told == [f"{folder}: Is a directory: a killed run can't be gone on with"]
    assert names(folder) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    told: list[str] = []
    server = a_server()
    (tmp_path / "file").write_text("")
    server.subscribe(ObjectKeeper(tmp_path / "file" / "objects", on_failure=told.append))
    server.create(a_pod())
    assert told == [f"{tmp_path}/file/objects: Not a directory: a killed run can't be gone on with"]
