"""Users and groups of images: what the engine leaves out of them where a container names its group, or wants no more.

Docker adds the groups of an image's /etc/group only for a user without a group beside it. A CRI runtime adds them in
any case, or for `supplementalGroupsPolicy: Strict` in none. Both come out right when the engine is told more. For that,
and to tell who a container runs as, an image's files are read, once.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

import attrs
import trio
from attrs import define, field

from runtime.api import CRIError, ImageID, NotFoundError
from runtime.api.accounts import GROUP, PASSWD, Accounts, container_user
from runtime.docker import bodies, naming
from runtime.docker.archives import read_end
from runtime.docker.layers import image_layers, read_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import LinuxContainerUser, LinuxSecurityContext
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
        groups = (*accounts.other_groups(who or "0"), *security.supplemental_groups)
        return attrs.evolve(security, supplemental_groups=tuple(dict.fromkeys(groups)))
    if group:
        return security
    primary = accounts.primary_group(who)
    if who.isdecimal():
        return attrs.evolve(security, run_as_user=int(who), run_as_username=None, run_as_group=primary)
    return attrs.evolve(security, run_as_user=None, run_as_username=who, run_as_group=primary)


@define(eq=False)
class ImageAccounts:
    """Completes security contexts with what images say; `known` remembers what was read of an image."""

    bridge: Bridge
    own_labels: Mapping[str, str]
    known: dict[str, Accounts] = field(factory=dict)
    _users: dict[str, str] = field(factory=dict, init=False)

    async def complete(self, security: LinuxSecurityContext, image: ImageID) -> LinuxSecurityContext:
        """Return a security context with the groups that a CRI runtime would give; CRIError."""
        told = bodies.user(security)
        image_user = "" if told else await self._user_of(image)
        has_group = ":" in (told or image_user)
        if has_group == (security.supplemental_groups_policy == STRICT):
            return security  # the engine does it by itself
        return complete(security, image_user, await self._accounts_of(image))

    async def user_of(self, inspected: Mapping[str, Any]) -> LinuxContainerUser | None:
        """Return who a container runs as, None where that can't be told.

        What an image's lists say is read once: from its layers where they are at hand, else out of the container.
        """
        image, config = ImageID(inspected.get("Image", "")), inspected["Config"]
        groups = map(int, (inspected.get("HostConfig") or {}).get("GroupAdd") or ())
        user = str(config.get("User") or "")
        try:
            if image not in self.known:
                self.known[image] = await self._learned(inspected)
        except CRIError:
            return None
        # beside a group the engine adds none of the image's: those that count were given with the others
        return container_user(self.known[image], user, groups, is_strict=":" in user)

    async def _learned(self, inspected: Mapping[str, Any]) -> Accounts:
        names = (posixpath.basename(PASSWD), posixpath.basename(GROUP))
        files = await trio.to_thread.run_sync(
            read_files, image_layers(inspected), posixpath.dirname(PASSWD)[1:], names, LONGEST_FILE_BYTES
        )
        return Accounts.read(*files) if files is not None else await self._read_accounts(str(inspected["Id"]))

    async def _user_of(self, image: ImageID) -> str:
        if image not in self._users:
            inspected = await self.bridge.read(lambda client: client.inspect_image(image))
            self._users[image] = str((inspected.get("Config") or {}).get("User") or "")
        return self._users[image]

    async def _accounts_of(self, image: ImageID) -> Accounts:
        """Read an image's files out of a container that never runs."""
        if image not in self.known:
            body: dict[str, Any] = {
                "Image": image,
                "Cmd": ["none"],
                "Labels": {**self.own_labels, naming.TYPE_LABEL: naming.HELPER_TYPE},
            }
            created = await self.bridge.write(lambda client: client.create_container_from_config(body))
            reader = str(created["Id"])
            try:
                self.known[image] = await self._read_accounts(reader)
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                    await self.bridge.write(lambda client: client.remove_container(reader, force=True, v=True))
        return self.known[image]

    async def _read_accounts(self, container_id: str) -> Accounts:
        return Accounts.read(await self._read(container_id, PASSWD), await self._read(container_id, GROUP))

    async def _read(self, reader: str, path: str) -> bytes:
        """Return a file, symbolic links followed; empty where there is none."""
        try:
            return await self.bridge.read(
                lambda client: read_end(client, reader, path, LONGEST_FILE_BYTES, follow=True)
            )
        except NotFoundError:
            return b""
