"""What only one scenario at a time may have of the machine: an image that must be absent, an empty folder, a port."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.suite.host_folders import empty_folders
from kubelet_emu.cli.suite.node_images import moving_images
from kubelet_emu.manifests import encode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from kubelet_emu.scenarios.scenario_file import Scenario


@define(eq=False)
class Claims:
    """What is claimed now. Scenarios that want different things don't wait for each other."""

    _taken: set[str] = field(factory=set, init=False)
    _freed: trio.Event = field(factory=trio.Event, init=False)

    @asynccontextmanager
    async def held(self, wanted: frozenset[str]) -> AsyncIterator[None]:
        """Wait until all that is wanted is free, and hold it all."""
        while wanted & self._taken:
            await self._freed.wait()
        self._taken |= wanted
        try:
            yield
        finally:
            self._taken -= wanted
            self._freed.set()
            self._freed = trio.Event()


def claims_of(scenario: Scenario) -> frozenset[str]:
    """Return what a scenario needs for itself: images that come and go, host ports, folders that begin empty."""
    folders = {f"folder {folder}" for folder in empty_folders(scenario)}
    ports = {port for loaded in scenario.objects for port in _host_ports(encode(loaded.object), is_host=False)}
    return frozenset({*folders, *moving_images(scenario), *ports})


def _host_ports(value: object, *, is_host: bool) -> Iterator[str]:
    """Yield the ports of this machine that a manifest takes: with the host's network every port of a container."""
    match value:
        case dict():
            is_host = is_host or value.get("hostNetwork") is True
            if "containerPort" in value and (is_host or "hostPort" in value):
                yield f"port {value.get('hostPort', value['containerPort'])}"
            for inner in value.values():
                yield from _host_ports(inner, is_host=is_host)
        case list():
            for inner in value:
                yield from _host_ports(inner, is_host=is_host)
        case _:
            return
