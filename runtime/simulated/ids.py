"""Who a container's processes run as: what is asked for, else what the image says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from runtime.api.accounts import GROUP, PASSWD, Accounts
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.api import Image, LinuxSecurityContext
    from runtime.simulated.tree import Tree


SOME_USER = 65532
"""Who a user is that the image has by its name alone."""


@frozen(kw_only=True)
class Ids:
    """Numbers of a user and its groups, the primary one first."""

    uid: int
    gid: int
    groups: tuple[int, ...]


def make_ids(security: LinuxSecurityContext, image: Image, tree: Tree) -> Ids:
    """Return who runs; the groups that list the user count unless groups are strict."""
    accounts = read_accounts(tree)
    name = security.run_as_username or image.username
    uid = security.run_as_user if security.run_as_user is not None else image.uid
    if uid is None:
        uid = accounts.number_of(name) if name else 0
    uid = SOME_USER if uid is None else uid
    gid = security.run_as_group if security.run_as_group is not None else accounts.primary_group(str(uid))
    listed = () if security.supplemental_groups_policy == "Strict" else accounts.other_groups(str(uid))
    others = sorted({*security.supplemental_groups, *listed} - {gid})  # as the kernel keeps them
    return Ids(uid=uid, gid=gid, groups=(gid, *others))


def read_accounts(tree: Tree) -> Accounts:
    """Return the users and groups that the files list."""
    return Accounts.read(_text(tree, PASSWD), _text(tree, GROUP))


def _text(tree: Tree, path: str) -> bytes:
    node = tree.get(path)
    return bytes(node.data) if isinstance(node, File) else b""
