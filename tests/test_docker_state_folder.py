"""Who owns a state folder, and who gets it when that process is dead: one of those who want it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from runtime.docker.owner import Owner
from runtime.docker.state_folder import (
    OWNER_FILE,
    give_up,
    is_dead,
    is_nobodys,
    may_be_there,
    read_owner,
    take_over,
    write_owner,
)
from runtime.docker.whole_files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

HERE = Owner.current()
DEAD = evolve(HERE, pid_start="0")
ELSEWHERE = evolve(HERE, host="another", pid_start="0")


def test_an_owner_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_owner(tmp_path, DEAD)
    assert read_owner(tmp_path) == DEAD
    assert [path.name for path in tmp_path.iterdir()] == [OWNER_FILE]


ODD = {
    "empty": b"",
    "cut": b"{",
    "a list": b"[]",
    "half": b'{"host": "h"}',
    "a process by its name": b'{"host": "h", "boot": "b", "pid": "init", "pid_start": "0"}',
    "zeros": bytes(64),
    "no text": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_owner_that_cannot_be_read_is_nobody_and_not_dead(tmp_path: Path, text: bytes) -> None:
    (tmp_path / OWNER_FILE).write_bytes(text)
    assert is_nobodys(tmp_path)
    assert read_owner(tmp_path) is None
    assert not is_dead(tmp_path, HERE)
    assert not take_over(tmp_path, HERE)


@pytest.mark.parametrize(
    ("owner", "expected"),
    [(DEAD, True), (HERE, False), (ELSEWHERE, False)],
    ids=["dead", "alive", "on another machine"],
)
def test_only_what_is_proven_dead_is_taken_over(tmp_path: Path, owner: Owner, expected: bool) -> None:  # noqa: FBT001 - a table's column
    write_owner(tmp_path, owner)
    assert take_over(tmp_path, HERE) is expected
    assert (read_owner(tmp_path) == HERE) is (expected or owner == HERE)


def test_what_a_later_version_wrote_beside_is_not_looked_at(tmp_path: Path) -> None:
    write_owner(tmp_path, HERE)
    file = tmp_path / OWNER_FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), "since": "v9"}))
    assert read_owner(tmp_path) == HERE


def test_a_folder_that_cannot_be_looked_at_may_be_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    seen = {name: may_be_there(tmp_path / name) for name in (".", "gone", "file", "file/below", "x" * 300)}
    assert seen == {".": True, "gone": False, "file": False, "file/below": False, "x" * 300: True}


def test_a_second_one_is_too_late(tmp_path: Path) -> None:
    write_owner(tmp_path, DEAD)
    assert [take_over(tmp_path, HERE), take_over(tmp_path, HERE), give_up(tmp_path, HERE)] == [True, False, False]


def test_nobody_goes_on_with_what_is_being_removed(tmp_path: Path) -> None:
    write_owner(tmp_path, DEAD)
    assert [give_up(tmp_path, HERE), take_over(tmp_path, HERE), give_up(tmp_path, HERE)] == [True, False, True]


def test_whose_folder_it_is_may_be_unknown(tmp_path: Path) -> None:
    assert is_nobodys(tmp_path), "nothing is written there"
    (tmp_path / "file").touch()
    assert not is_nobodys(tmp_path / "file"), "it can't be looked into"
    write_owner(tmp_path, DEAD)
    assert not is_nobodys(tmp_path)


def test_a_process_of_a_number_that_there_is_none_of_is_dead() -> None:
    assert evolve(HERE, pid=1 << 80).is_proven_dead(HERE)


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, "one")
    (tmp_path / "file.new").symlink_to("/dev/full")
    with pytest.raises(OSError, match=f"No space left on device: '{file}'"):
        write_whole(file, "two")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "one"
