"""What the lists of users and groups in an image say about who a container runs as. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from runtime.api.statuses import LinuxContainerUser

if TYPE_CHECKING:
    from collections.abc import Iterable

PASSWD, GROUP = "/etc/passwd", "/etc/group"


@frozen(kw_only=True)
class Accounts:
    """The lines of an image's /etc/passwd and /etc/group, each by its columns."""

    users: tuple[tuple[str, ...], ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def read(cls, passwd: bytes, group: bytes) -> Accounts:
        """Read the two files; lines that are none of such a file count for nothing."""
        return cls(users=_lines(passwd, 4), groups=_lines(group, 3))

    def number_of(self, name: str) -> int | None:
        """Return the number of a user by its name, None for one that isn't listed."""
        found = self._user(name)
        return int(found[2]) if found is not None and found[2].isdecimal() else None

    def group_number(self, name: str) -> int | None:
        """Return the number of a group by its name, None for one that isn't listed."""
        return next((int(each[2]) for each in self.groups if each[0] == name and each[2].isdecimal()), None)

    def primary_group(self, user: str) -> int:
        """Return the group of a user, by name or number; 0 of one that isn't listed (containerd WithUser)."""
        found = self._user(user)
        return int(found[3]) if found is not None and found[3].isdecimal() else 0

    def other_groups(self, user: str) -> tuple[int, ...]:
        """Return the groups that list a user, by name or number (containerd WithAdditionalGIDs)."""
        found = self._user(user)
        name = found[0] if found is not None else user
        if found is None and user.isdecimal():
            return ()
        return tuple(
            int(number)
            for group, _, number, *members in self.groups
            if group != name and number.isdecimal() and members and name in members[0].split(",")
        )

    def _user(self, user: str) -> tuple[str, ...] | None:
        column = 2 if user.isdecimal() else 0
        return next((each for each in self.users if each[column] == user), None)


def container_user(
    accounts: Accounts, user: str, supplemental_groups: Iterable[int], *, is_strict: bool
) -> LinuxContainerUser | None:
    """Return who `USER[:GROUP]` is (root where that is empty); None for a name that isn't listed, which can't run.

    Source: containerd v2 containerSpecOpts (WithUser, WithAdditionalGIDs, WithSupplementalGroups), toCRIContainerUser.
    """
    who, _, group = user.partition(":")
    who = who or "0"
    uid = int(who) if who.isdecimal() else accounts.number_of(who)
    gid = accounts.primary_group(who)
    if group:
        named = int(group) if group.isdecimal() else accounts.group_number(group)
        if named is None:
            return None
        gid = named
    if uid is None:
        return None
    listed = () if is_strict else accounts.other_groups(who)
    first = listed if gid in listed else (gid, *listed)
    return LinuxContainerUser(
        uid=uid, gid=gid, supplemental_groups=tuple(dict.fromkeys((*first, *supplemental_groups)))
    )


def _lines(data: bytes, columns: int) -> tuple[tuple[str, ...], ...]:
    lines = (tuple(line.split(":")) for line in data.decode(errors="replace").splitlines() if line[:1] not in ("", "#"))
    return tuple(line for line in lines if len(line) >= columns)
