"""What the lists of users and groups in an image say about who a container runs as. Pure."""

from __future__ import annotations

from attrs import frozen

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


def _lines(data: bytes, columns: int) -> tuple[tuple[str, ...], ...]:
    lines = (tuple(line.split(":")) for line in data.decode(errors="replace").splitlines() if line[:1] not in ("", "#"))
    return tuple(line for line in lines if len(line) >= columns)
