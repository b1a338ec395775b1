"""A run as a second terminal sees it, that has the objects that it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio
from attrs import frozen
from control_rig import FACTS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from datetime import datetime

    from kubelet_emu.cli.remote.views import Object
    from kubelet_emu.control.places import RunFacts


@frozen
class Given:
    """A run that has the objects that it was given."""

    objects: list[Object]
    time: datetime

    @property
    def facts(self) -> RunFacts:
        return FACTS

    async def now(self) -> datetime:
        await trio.lowlevel.checkpoint()
        return self.time

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Object]:
        await trio.lowlevel.checkpoint()
        found = [each for each in self.objects if each["kind"] == kind]
        return [each for each in found if is_meant(each["metadata"], namespace, name)]

    async def logs(
        self, namespace: str, pod: str, container: str, query: Mapping[str, object]
    ) -> AsyncGenerator[Object]:
        raise NotImplementedError(namespace, pod, container, query)
        yield {}


def is_meant(metadata: Any, namespace: str | None, name: str | None) -> bool:  # noqa: ANN401 - JSON
    return namespace in {None, metadata["namespace"]} and name in {None, metadata["name"]}
