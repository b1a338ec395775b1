"""The engine as a node: its size, its clock, its address in the pods' network, and its files about names.

The machine of an engine may be another one than this, so its files are read in a container, never from here.
"""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import trio
from attrs import define

from runtime.api import NamespaceMode, NetworkFiles, NotFoundError, RuntimeStatus, RuntimeVersion
from runtime.docker import convert, naming
from runtime.docker.archives import read_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.docker.bridge import Bridge
    from runtime.docker.making import Maker
    from runtime.docker.pause import PauseImages

CLEAN_UP_SECONDS = 10.0
LONGEST_FILE_BYTES = 1 << 20


@define(eq=False)
class EngineNode:
    """Answers about the machine that an engine runs on."""

    bridge: Bridge
    maker: Maker
    pause: PauseImages
    own_labels: Mapping[str, str]

    async def version(self) -> RuntimeVersion:
        """Return the engine's name and versions."""
        version = await self.bridge.read(lambda client: client.version())
        return RuntimeVersion(
            runtime_name="docker",
            runtime_version=str(version.get("Version", "")),
            api_version=str(version.get("ApiVersion", "")),
        )

    async def status(self) -> RuntimeStatus:
        """Return the engine's readiness and size, and how far its clock is ahead of ours."""
        before = datetime.now(UTC)  # noqa: TID251 - compared with the engine's clock
        info = await self.bridge.read(lambda client: client.info())
        after = datetime.now(UTC)  # noqa: TID251 - compared with the engine's clock
        engine_time = convert.parse_time(info.get("SystemTime"))
        offset = (engine_time - before).total_seconds() - (after - before).total_seconds() / 2 if engine_time else 0.0
        return RuntimeStatus(
            ready=True,
            network_ready=True,
            cpus=int(info.get("NCPU") or 1),
            memory_bytes=int(info.get("MemTotal") or 0),
            host_ip=await self._gateway(),
            clock_offset_seconds=offset,
            cgroup_version=int(info.get("CgroupVersion") or 1),
            architecture=convert.architecture(str(info.get("Architecture", ""))),
            supports_supplemental_groups_policy=True,
            has_app_armor=convert.has_app_armor(info),
        )

    async def _gateway(self) -> str:
        """Return the address of the machine in the pods' network: the default bridge's gateway."""
        try:
            network = await self.bridge.read(lambda client: client.inspect_network("bridge"))
        except NotFoundError:
            return ""
        return convert.gateway(network)

    async def network_files(self, network: NamespaceMode) -> NetworkFiles:
        """Return the files that the engine gives to a container in a network; CRIError.

        They are read from a container like a sandbox that runs for a moment.
        """
        make = functools.partial(self._make_reader, network)
        reader = await self.pause.with_sandbox_image(make)
        try:
            await self.bridge.write(lambda client: client.start(reader))
            hosts = await self._read(reader, "/etc/hosts")
            return NetworkFiles(hosts=hosts, resolv_conf=await self._read(reader, "/etc/resolv.conf"))
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                await self.maker.remove(reader)

    async def _make_reader(self, network: NamespaceMode, image: str) -> str:
        body: dict[str, Any] = {
            "Image": image,
            "Labels": {**self.own_labels, naming.TYPE_LABEL: naming.HELPER_TYPE},
            "HostConfig": {
                "NetworkMode": "host" if network is NamespaceMode.NODE else "default",
                "LogConfig": {"Type": "none", "Config": {}},
                "CapDrop": ["ALL"],
                "ReadonlyRootfs": True,
            },
        }
        base = f"kemu_{self.own_labels[naming.INSTANCE_LABEL]}_files_{network.value}"
        return await self.maker.create(lambda suffix: f"{base}_{suffix}" if suffix else base, body)

    async def _read(self, reader: str, path: str) -> str:
        content = await self.bridge.read(lambda client: read_end(client, reader, path, LONGEST_FILE_BYTES))
        return content.decode(errors="replace")
