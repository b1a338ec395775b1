"""Who owns a state folder, and who gets it when that process is dead: one of those who want it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from runtime.docker.owner import Owner
from runtime.docker.state_folder import OWNER_FILE, give_up, is_dead, may_be_there, read_owner, take_over, write_owner

if TYPE_CHECKING:
    from pathlib import Path

HERE = Owner.current()
DEAD = evolve(HERE, pid_start="0")
ELSEWHERE = evolve(HERE, host="another", pid_start="0")


def test_an_owner_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_owner(tmp_path, DEAD)
    assert read_owner(tmp_path) == DEAD
    assert [path.name for path in tmp_path.iterdir()] == [OWNER_FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": "h"}', "\x00\x00"])
def test_an_owner_that_cannot_be_read_is_nobody_and_not_dead(tmp_path: Path, text: str) -> None:
    (tmp_path / OWNER_FILE).write_text(text)
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
