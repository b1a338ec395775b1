"""Users and groups of images: what the engine leaves out of them where a container names its group, or wants no more.

Docker adds the groups of an image's /etc/group only for a user without a group beside it. A CRI runtime adds them in
any case, or for `supplementalGroupsPolicy: Strict` in none. Both come out right when the engine is told more: then an
image's files are read, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import trio
from attrs import define, field, frozen

from runtime.api import NotFoundError
from runtime.docker import bodies, naming
from runtime.docker.archives import read_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import ImageID, LinuxSecurityContext
    from runtime.docker.bridge import Bridge

CLEAN_UP_SECONDS = 30.0
LONGEST_FILE_BYTES = 1 << 20
STRICT = "Strict"


@frozen(kw_only=True)
class Accounts:
    """The lines of an image's /etc/passwd and /etc/group, each by its columns."""

    users: tuple[tuple[str, ...], ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def read(cls, passwd: bytes, group: bytes) -> Accounts:
        """Read the two files; lines that are none of such a file count for nothing."""
        return cls(users=_lines(passwd, 4), groups=_lines(group, 3))

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


def complete(security: LinuxSecurityContext, image_user: str, accounts: Accounts) -> LinuxSecurityContext:
    """Return a security context that has an engine give the groups which a CRI runtime gives.

    Source: containerd v2 containerSpecOpts; KEP-3619 (supplementalGroupsPolicy).
    """
    who, _, group = (bodies.user(security) or image_user or "0").partition(":")
    if security.supplemental_groups_policy != STRICT:
        groups = (*security.supplemental_groups, *accounts.other_groups(who or "0"))
        return attrs.evolve(security, supplemental_groups=tuple(dict.fromkeys(groups)))
    if group:
        return security
    primary = accounts.primary_group(who)
    if who.isdecimal():
        return attrs.evolve(security, run_as_user=int(who), run_as_username=None, run_as_group=primary)
    return attrs.evolve(security, run_as_user=None, run_as_username=who, run_as_group=primary)


@define(eq=False)
class ImageAccounts:
    """Completes security contexts with what images say; remembers what was read of an image."""

    bridge: Bridge
    own_labels: Mapping[str, str]
    _users: dict[str, str] = field(factory=dict, init=False)
    _accounts: dict[str, Accounts] = field(factory=dict, init=False)

    async def complete(self, security: LinuxSecurityContext, image: ImageID) -> LinuxSecurityContext:
        """Return a security context with the groups that a CRI runtime would give; CRIError."""
        told = bodies.user(security)
        image_user = "" if told else await self._user_of(image)
        has_group = ":" in (told or image_user)
        if has_group == (security.supplemental_groups_policy == STRICT):
            return security  # the engine does it by itself
        return complete(security, image_user, await self._accounts_of(image))

    async def _user_of(self, image: ImageID) -> str:
        if image not in self._users:
            inspected = await self.bridge.read(lambda client: client.inspect_image(image))
            self._users[image] = str((inspected.get("Config") or {}).get("User") or "")
        return self._users[image]

    async def _accounts_of(self, image: ImageID) -> Accounts:
        """Read an image's files out of a container that never runs."""
        if image not in self._accounts:
            body: dict[str, Any] = {
                "Image": image,
                "Cmd": ["none"],
                "Labels": {**self.own_labels, naming.TYPE_LABEL: naming.HELPER_TYPE},
            }
            created = await self.bridge.write(lambda client: client.create_container_from_config(body))
            reader = str(created["Id"])
            try:
                passwd, group = await self._read(reader, "/etc/passwd"), await self._read(reader, "/etc/group")
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                    await self.bridge.write(lambda client: client.remove_container(reader, force=True, v=True))
            self._accounts[image] = Accounts.read(passwd, group)
        return self._accounts[image]

    async def _read(self, reader: str, path: str) -> bytes:
        """Return a file, symbolic links followed; empty where there is none."""
        try:
            return await self.bridge.read(
                lambda client: read_end(client, reader, path, LONGEST_FILE_BYTES, follow=True)
            )
        except NotFoundError:
            return b""
