"""Makes containers under deterministic names: adopts what an earlier attempt of ours left, never touches others'."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, assert_never

import trio
from attrs import define

from runtime.api import AlreadyExistsError, ContainerState, CRIError, NotFoundError
from runtime.docker import convert, naming
from runtime.docker.errors import NameTakenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.docker.bridge import Bridge

Body = dict[str, Any]

NAME_PAUSE_SECONDS = 0.02
REMOVAL_PAUSE_SECONDS = 0.05


class _Holder(enum.Enum):
    """What stands under a name that we wanted."""

    FRESH = "ours, may be adopted"
    USED = "ours, to be replaced"
    FOREIGN = "somebody else's"


@define(eq=False)
class Maker:
    """Creates containers for one instance."""

    bridge: Bridge
    instance: str
    removal_seconds: float = 30.0

    async def create(self, name_with: Callable[[str], str], body: Body) -> str:
        """Create a container and return its id.

        `name_with` makes the name for a suffix. A container of this name that this instance made earlier is adopted
        while it is fresh (or is a sandbox that runs), else removed first; where somebody else has the name, ours ends
        in the instance. AlreadyExistsError when that is taken too.
        """
        for suffix in ("", self.instance):
            created = await self._create_as(name_with(suffix), body)
            if created is not None:
                return created
        raise AlreadyExistsError(f"the container name {name_with('')!r} is taken")

    async def _create_as(self, name: str, body: Body) -> str | None:
        """Create or adopt under one name; None when it is somebody else's."""
        while True:
            try:
                created = await self.bridge.write(lambda client: client.create_container_from_config(body, name))
            except NameTakenError as error:
                holder = error.holder
            else:
                return str(created["Id"])
            match verdict := await self._judge(holder, body):
                case _Holder.FRESH:
                    return holder
                case _Holder.FOREIGN:
                    return None
                case _Holder.USED:
                    await self.remove(holder)
                    await trio.sleep(NAME_PAUSE_SECONDS)
                case _:
                    assert_never(verdict)

    async def _judge(self, holder: str, body: Body) -> _Holder:
        """Look at what has the name; one that is gone meanwhile counts as to be replaced."""
        try:
            inspected = await self.bridge.read(lambda client: client.inspect_container(holder))
        except NotFoundError:
            return _Holder.USED
        labels = inspected["Config"].get("Labels") or {}
        if labels.get(naming.INSTANCE_LABEL) != self.instance:
            return _Holder.FOREIGN
        state = inspected["State"]
        is_fresh = convert.container_state(state) is ContainerState.CREATED and not convert.is_start_failure(state)
        runs_as_sandbox = bool(state.get("Running")) and labels.get(naming.TYPE_LABEL) == naming.SANDBOX_TYPE
        is_same = all(labels.get(key) == body["Labels"].get(key) for key in _identity(body["Labels"]))
        return _Holder.FRESH if (is_fresh or runs_as_sandbox) and is_same else _Holder.USED

    async def remove(self, container_id: str) -> None:
        """Remove a container with its anonymous volumes, killing it if need be; one that is gone is fine.

        One that somebody else removes is waited for: CRIError when it is still there after `removal_seconds`.
        """
        deadline = trio.current_time() + self.removal_seconds
        while True:
            try:
                await self.bridge.write(lambda client: client.remove_container(container_id, force=True, v=True))
            except NotFoundError:
                return
            except CRIError as error:
                if "already in progress" not in str(error) or trio.current_time() >= deadline:
                    raise
                await trio.sleep(REMOVAL_PAUSE_SECONDS)
            else:
                return


def _identity(labels: dict[str, str]) -> list[str]:
    """Return the labels that must agree before a container is adopted: all but those of its owner."""
    return [key for key in labels if key not in naming.OWNER_LABELS]
