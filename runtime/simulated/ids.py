"""Who a container's processes run as: what is asked for, else what the image says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import frozen

from runtime.api.accounts import GROUP, PASSWD, Accounts, container_user
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.api import Image, LinuxContainerUser, LinuxSecurityContext
    from runtime.simulated.tree import Tree


_REMEMBERED = 64
SOME_USER = 65532
"""Who a user is that the image has by its name alone."""


@frozen
class Ids:
    """Who a container's processes are."""

    user: LinuxContainerUser

    @property
    def uid(self) -> int:
        """Return the user."""
        return self.user.uid

    @property
    def gid(self) -> int:
        """Return the primary group."""
        return self.user.gid

    @property
    def groups(self) -> tuple[int, ...]:
        """Return the primary group, then the others as the kernel keeps them."""
        return (self.gid, *sorted({*self.user.supplemental_groups} - {self.gid}))


def make_ids(security: LinuxSecurityContext, image: Image, accounts: Accounts) -> Ids:
    """Return who runs; the groups that list the user count unless groups are strict."""
    is_strict = security.supplemental_groups_policy == "Strict"
    who = _user(security, image, accounts)
    group = "" if security.run_as_group is None else f":{security.run_as_group}"
    user = container_user(accounts, who + group, security.supplemental_groups, is_strict=is_strict)
    assert user is not None, "numbers are always somebody"  # noqa: S101 - for the type checker
    return Ids(user)


def _user(security: LinuxSecurityContext, image: Image, accounts: Accounts) -> str:
    """Return the user by number; one whose name the image's lists don't have is somebody."""
    numbers = (security.run_as_user, None if security.run_as_username else image.uid)
    uid = next((each for each in numbers if each is not None), None)
    if uid is None:
        name = security.run_as_username or image.username
        uid = accounts.number_of(name) if name else 0
    return str(SOME_USER if uid is None else uid)


@lru_cache(maxsize=_REMEMBERED)
def read_lists(passwd: bytes, group: bytes) -> Accounts:
    """Return the users and groups of two texts; most images have the same ones."""
    return Accounts.read(passwd, group)


def read_accounts(tree: Tree) -> Accounts:
    """Return the users and groups that the files list."""
    return Accounts.read(_text(tree, PASSWD), _text(tree, GROUP))


def _text(tree: Tree, path: str) -> bytes:
    node = tree.get(path)
    return bytes(node.data) if isinstance(node, File) else b""
