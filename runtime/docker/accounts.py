"""Users and groups of images: what the engine leaves out of them where a container names its group, or wants no more.

Docker adds the groups of an image's /etc/group only for a user without a group beside it. A CRI runtime adds them in
any case, or for `supplementalGroupsPolicy: Strict` in none. Both come out right when the engine is told more: then an
image's files are read, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import trio
from attrs import define, field

from runtime.api import NotFoundError
from runtime.api.accounts import GROUP, PASSWD, Accounts
from runtime.docker import bodies, naming
from runtime.docker.archives import read_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import ImageID, LinuxSecurityContext
    from runtime.docker.bridge import Bridge

CLEAN_UP_SECONDS = 30.0
LONGEST_FILE_BYTES = 1 << 20
STRICT = "Strict"


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
                passwd, group = await self._read(reader, PASSWD), await self._read(reader, GROUP)
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
