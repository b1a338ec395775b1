"""A simulated node with a control server, and clients at memory streams beside it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
import trio.testing
from attrs import define

from kubelet_emu.control.client import ControlClient
from kubelet_emu.control.places import RunFacts
from kubelet_emu.control.serving import make_server
from kubelet_emu.embedding.node import Node, open_node
from kubelet_emu.embedding.options import NodeOptions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.control.protocol import Message
    from kubelet_emu.control.server import ControlServer
    from kubelet_emu.control.serving import Clean, Pulls

FACTS = RunFacts(id="1a2b3c4d", pid=7, started_at="2026-01-01T00:00:00Z", manifests=("pod.yaml",), version="0.1.0")

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 5
  initContainers:
  - {name: setup, image: busybox, command: [sh, -c, "echo ready"]}
  containers:
  - {name: app, image: busybox, command: [sh, -c, "trap 'echo bye; exit 0' TERM; echo up; sleep 1000 & wait"]}
  - {name: helper, image: busybox, command: [sh, -c, "echo one; echo two; echo three; sleep 1000"]}
"""


@define(eq=False)
class ControlRig:
    """A node, its server, and a client."""

    node: Node
    server: ControlServer
    client: ControlClient
    nursery: trio.Nursery

    async def connect(self) -> ControlClient:
        """Give one more client."""
        return await ControlClient.greet(self.raw())

    def raw(self) -> trio.StapledStream:
        """Give a connection whose greeting nobody has read."""
        near, far = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.server.serve, far)
        return near

    async def running(self, manifest: str = POD) -> None:
        """Run a pod until it is ready."""
        pod = await self.node.run(manifest)
        await pod.wait_for("Ready")

    async def events(self, method: str, **params: object) -> list[Message]:
        """Do a request and return its events."""
        return [event async for event in self.client.events(method, **params)]


@asynccontextmanager
async def a_run(pulls: Pulls = tuple, clean: Clean = dict) -> AsyncIterator[ControlRig]:
    """Give a run with a client; the clock is the test's."""
    async with open_node(NodeOptions()) as node:
        server = make_server(node.cluster, FACTS, node.events, pulls, clean)
        async with trio.open_nursery() as nursery:
            near, far = trio.testing.memory_stream_pair()
            nursery.start_soon(server.serve, far)
            yield ControlRig(node, server, await ControlClient.greet(near), nursery)
            nursery.cancel_scope.cancel()
