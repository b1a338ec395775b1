"""Pod sandboxes: one small container that holds the pod's namespaces."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from attrs import define, field

from runtime.api import ContainerID, CRIError, PodSandboxStatus, SandboxID
from runtime.docker import bodies, convert, naming
from runtime.docker.nurseries import calls_side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import PodSandboxConfig
    from runtime.docker.bridge import Bridge
    from runtime.docker.events import EventHub
    from runtime.docker.making import Maker
    from runtime.docker.pause import PauseImages
    from runtime.docker.pod_cgroups import PodCgroups
    from runtime.docker.rights import EngineRights
    from runtime.docker.stopping import Stopper


@define(eq=False)
class Sandboxes:
    """Makes, stops and lists the sandboxes of one instance."""

    bridge: Bridge
    hub: EventHub
    maker: Maker
    stopper: Stopper
    pause: PauseImages
    own_labels: Mapping[str, str]
    rights: EngineRights
    cgroups: PodCgroups
    _stopping: set[str] = field(factory=set, init=False)

    async def run(self, config: PodSandboxConfig) -> SandboxID:
        """Create and start a sandbox; one of this name and attempt that runs is adopted."""
        while True:
            cgroup = self.cgroups.labels_for(config)
            async with self.rights.oom_scores.of_sandboxes() as oom_score_adj:
                sandbox_id = await self._started(config, oom_score_adj, cgroup)
            if sandbox_id is not None:
                await self.cgroups.limit(sandbox_id, config.resources)
                return sandbox_id

    async def _started(
        self, config: PodSandboxConfig, oom_score_adj: int | None, cgroup: Mapping[str, str]
    ) -> SandboxID | None:
        """Create and start a sandbox; None, and nothing is left, when the engine has no right to what was tried."""
        sandbox_id = SandboxID(await self._create(config, oom_score_adj, cgroup))
        self.cgroups.learn(sandbox_id, cgroup)
        try:
            await self.bridge.write(lambda client: client.start(sandbox_id))
        except CRIError as error:
            await self.cgroups.remove(sandbox_id, functools.partial(self.maker.remove, sandbox_id))
            if oom_score_adj is not None and _may_be_refused_oom_score(str(error)):
                self.rights.oom_scores.refuse()
            elif cgroup and "cgroup" in str(error):
                self.rights.pod_cgroups.refuse(str(error))
            else:
                raise
            return None
        self.rights.oom_scores.learn(oom_score_adj)
        return sandbox_id

    async def _create(self, config: PodSandboxConfig, oom_score_adj: int | None, cgroup: Mapping[str, str]) -> str:
        name_with = functools.partial(naming.sandbox_name, config.metadata)

        async def create(image: str) -> str:
            body = bodies.sandbox_body(config, image, {**self.own_labels, **cgroup}, oom_score_adj=oom_score_adj)
            return await self.maker.create(name_with, body)

        return await self.pause.with_sandbox_image(create)

    async def stop(self, sandbox_id: SandboxID) -> None:
        """Kill the sandbox's containers, then the sandbox; what is gone is fine.

        From the beginning it counts as not ready: who sees one of its containers dead must not start that anew in it.
        Source: containerd's StopPodSandbox kills: whoever wanted a grace has stopped the containers before.
        """
        self._stopping.add(sandbox_id)
        try:
            await self._stop(sandbox_id)
        finally:
            self._stopping.discard(sandbox_id)

    async def _stop(self, sandbox_id: SandboxID) -> None:
        containers = await self.bridge.read(functools.partial(_list, self._filter(sandbox_id)))
        running = [item["Id"] for item in containers if item["State"] == "running"]
        async with calls_side_by_side() as nursery:
            for container_id in running:
                nursery.start_soon(self.stopper.kill, container_id)
        await self.stopper.kill(sandbox_id)

    async def remove(self, sandbox_id: SandboxID) -> None:
        """Remove the sandbox and every container in it, containers first, and the cgroup of the pod."""
        await self.cgroups.remove(sandbox_id, functools.partial(self._remove, sandbox_id))

    async def _remove(self, sandbox_id: SandboxID) -> None:
        self.hub.expect_signal(sandbox_id, "SIGKILL")
        containers = await self.bridge.read(functools.partial(_list, self._filter(sandbox_id)))
        async with calls_side_by_side() as nursery:
            for item in containers:
                self.hub.expect_signal(item["Id"], "SIGKILL")
                nursery.start_soon(self.maker.remove, item["Id"])
        await self.maker.remove(sandbox_id)

    def _filter(self, sandbox_id: SandboxID) -> list[str]:
        """Return the label filter for a sandbox's containers of this instance, helpers included."""
        instance = self.own_labels[naming.INSTANCE_LABEL]
        return [f"{naming.INSTANCE_LABEL}={instance}", f"{naming.SANDBOX_ID_LABEL}={sandbox_id}"]

    async def list(self, pod_uid: str | None = None) -> tuple[PodSandboxStatus, ...]:
        """Return all sandboxes, or those of one pod, newest first."""
        wanted = [
            f"{naming.INSTANCE_LABEL}={self.own_labels[naming.INSTANCE_LABEL]}",
            f"{naming.TYPE_LABEL}={naming.SANDBOX_TYPE}",
        ]
        if pod_uid is not None:
            wanted.append(f"{naming.POD_UID_LABEL}={pod_uid}")
        items = await self.bridge.read(functools.partial(_list, wanted))
        for item in items:
            self.cgroups.learn(item["Id"], item["Labels"])
        return tuple(convert.sandbox_summary(self._with_known_death(item)) for item in items)

    def _with_known_death(self, item: Any) -> Any:  # noqa: ANN401 - the engine's JSON
        """Return a list entry with the death that the engine's list does not show yet, or that is on its way."""
        is_over = self.hub.is_dead(item["Id"]) or item["Id"] in self._stopping
        return {**item, "State": "exited"} if is_over else item

    async def status(self, sandbox_id: SandboxID) -> PodSandboxStatus:
        """Return one sandbox with its addresses; NotFoundError."""
        inspected = await self.inspect(sandbox_id)
        if inspected["State"].get("Running"):
            self.rights.oom_scores.learn(inspected["HostConfig"].get("OomScoreAdj"))
        return convert.sandbox_status(inspected)

    async def inspect(self, sandbox_id: SandboxID | ContainerID) -> Any:  # noqa: ANN401 - the engine's JSON
        """Return the engine's inspect; NotFoundError."""
        return await self.bridge.read(lambda client: client.inspect_container(sandbox_id))


def _may_be_refused_oom_score(text: str) -> bool:
    """Tell whether a start may have failed because oom_score_adj can't be lowered; runc says so in two ways."""
    return "oom_score_adj" in text or "can't get final child's PID from pipe" in text


def _list(labels: list[str], client: Any) -> list[Any]:  # noqa: ANN401 - the SDK's client and JSON
    """List containers by labels, in every state."""
    found: list[Any] = client.containers(all=True, filters={"label": labels})
    return found
