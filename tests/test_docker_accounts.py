"""Users and groups of images: what an engine is told so that a container has the groups it has on a node."""

from __future__ import annotations

import pytest

from runtime.api import LinuxContainerUser, LinuxSecurityContext
from runtime.api.accounts import Accounts, container_user
from runtime.docker.accounts import complete

PASSWD = b"""\
root:x:0:0:root:/root:/bin/sh
# a comment
app:x:1000:1001::/home/app:/bin/sh

odd:x:1500:none:::
short:x
"""
GROUP = b"""\
root:x:0:
app:x:1001:app
audio:x:29:app,root
video:x:44:other,app
none:x:45:
wrong:x:many:app
bare:x:46
"""
ACCOUNTS = Accounts.read(PASSWD, GROUP)


@pytest.mark.parametrize(
    ("user", "primary", "others"),
    [
        ("app", 1001, (29, 44)),
        ("1000", 1001, (29, 44)),
        ("root", 0, (29,)),
        ("0", 0, (29,)),
        ("odd", 0, ()),
        ("4321", 0, ()),
        ("other", 0, (44,)),
    ],
    ids=[
        "a name",
        "its number",
        "root",
        "0",
        "no number of a group",
        "an unknown number",
        "a name that groups alone have",
    ],
)
def test_groups_of_a_user(user: str, primary: int, others: tuple[int, ...]) -> None:
    assert (ACCOUNTS.primary_group(user), ACCOUNTS.other_groups(user)) == (primary, others)


def test_an_image_without_the_files_has_no_groups() -> None:
    accounts = Accounts.read(b"", b"\xff\n")
    assert (accounts.primary_group("0"), accounts.other_groups("0")) == (0, ())


MERGE = {"supplemental_groups": (7, 29)}
STRICT = {"supplemental_groups": (7,), "supplemental_groups_policy": "Strict"}


@pytest.mark.parametrize(
    ("given", "image_user", "user", "groups"),
    [
        ({**MERGE, "run_as_user": 1000, "run_as_group": 3}, "", (1000, None, 3), (29, 44, 7)),
        ({**MERGE, "run_as_username": "app", "run_as_group": 3}, "", (None, "app", 3), (29, 44, 7)),
        (MERGE, "app:audio", (None, None, None), (29, 44, 7)),
        (MERGE, ":5", (None, None, None), (29, 7)),
        (STRICT, "", (0, None, 0), (7,)),
        (STRICT, "app", (None, "app", 1001), (7,)),
        (STRICT, "app:audio", (None, None, None), (7,)),
        ({**STRICT, "run_as_user": 1000}, "root", (1000, None, 1001), (7,)),
        ({**STRICT, "run_as_user": 1000, "run_as_group": 5}, "", (1000, None, 5), (7,)),
    ],
    ids=[
        "Merge, a group of its own",
        "Merge, the image's user with a group of its own",
        "Merge, the image's user and group",
        "Merge, a group without a user is root's",
        "Strict, nobody in particular",
        "Strict, the image's user",
        "Strict, the image's user and group",
        "Strict, a user",
        "Strict, a user and a group",
    ],
)
def test_what_an_engine_is_told(
    given: dict[str, object],
    image_user: str,
    user: tuple[int | None, str | None, int | None],
    groups: tuple[int, ...],
) -> None:
    security = complete(LinuxSecurityContext(**given), image_user, ACCOUNTS)  # type: ignore[arg-type] - a table
    assert (security.run_as_user, security.run_as_username, security.run_as_group) == user
    assert security.supplemental_groups == groups


USERS = [
    ("nobody in particular is root", "", (7,), False, (0, 0, (0, 29, 7))),
    ("root, strictly", "", (7,), True, (0, 0, (0, 7))),
    ("a name", "app", (7, 29), False, (1000, 1001, (1001, 29, 44, 7))),
    ("its number", "1000", (7, 1001), False, (1000, 1001, (1001, 29, 44, 7))),
    ("a group of its own", "1000:3", (), False, (1000, 3, (3, 29, 44))),
    ("one that lists the user, too", "app:audio", (), False, (1000, 29, (29, 44))),
    ("a group by name, strictly", "4321:video", (7,), True, (4321, 44, (44, 7))),
    ("a number that isn't listed", "4321", (), False, (4321, 0, (0,))),
    ("a group without a user", ":5", (), False, (0, 5, (5, 29))),
    ("a name that isn't listed", "who", (), False, None),
    ("a group that isn't listed", "app:who", (), False, None),
]


@pytest.mark.parametrize(("why", "user", "more", "is_strict", "expected"), USERS, ids=[row[0] for row in USERS])
def test_who_a_container_runs_as(
    why: str,
    user: str,
    more: tuple[int, ...],
    is_strict: bool,  # noqa: FBT001
    expected: tuple[int, int, tuple[int, ...]] | None,
) -> None:
    wanted = None
    if expected is not None:
        uid, gid, groups = expected
        wanted = LinuxContainerUser(uid=uid, gid=gid, supplemental_groups=groups)
    assert container_user(ACCOUNTS, user, more, is_strict=is_strict) == wanted, why
