"""Containers of pods: create, start, remove, list, status, limits."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
import trio
from attrs import define, field

from runtime.api import (
    ContainerID,
    ContainerState,
    ContainerStatus,
    ContainerSummary,
    CRIError,
    NotFoundError,
    StartError,
)
from runtime.docker import bodies, convert, errors, naming, unstartable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtime.api import ContainerConfig, LinuxContainerResources, PodSandboxMetadata, SandboxID
    from runtime.docker.accounts import ImageAccounts
    from runtime.docker.bridge import Bridge
    from runtime.docker.events import EventHub
    from runtime.docker.images import Images
    from runtime.docker.making import Maker
    from runtime.docker.sandboxes import Sandboxes

SETTLE_SECONDS = 0.02
SETTLE_TRIES = 50


@define(eq=False)
class Containers:
    """The containers of one instance."""

    bridge: Bridge
    hub: EventHub
    maker: Maker
    images: Images
    accounts: ImageAccounts
    sandboxes: Sandboxes
    own_labels: Mapping[str, str]
    _failed_at: dict[str, datetime] = field(factory=dict, init=False)

    async def create(
        self, sandbox_id: SandboxID, config: ContainerConfig, pod: PodSandboxMetadata, mounts: Sequence[Any]
    ) -> ContainerID:
        """Create a container; one of this name and attempt that was made but never started is adopted."""
        security = await self.accounts.complete(config.security, config.image)
        within_rights = self._within_rights(attrs.evolve(config, security=security))
        labels = {**self.own_labels, **self.sandboxes.cgroups.labels_of(sandbox_id)}
        body = bodies.container_body(within_rights, sandbox_id, mounts, labels)
        name_with = functools.partial(naming.container_name, pod, config.metadata)
        if failure := unstartable.failure_of(config, ""):
            return ContainerID(await self.maker.create(name_with, unstartable.body_with(body, failure)))
        try:
            return ContainerID(await self.maker.create(name_with, body))
        except CRIError as error:
            failure = unstartable.failure_of(config, str(error))
            if not failure:
                raise
            return ContainerID(await self.maker.create(name_with, unstartable.body_with(body, failure)))

    def _within_rights(self, config: ContainerConfig) -> ContainerConfig:
        """Return the configuration without a lowered oom_score_adj where the engine refused one."""
        wanted = config.resources.oom_score_adj
        if self.sandboxes.rights.oom_scores.may_be_lowered or not wanted or wanted > 0:
            return config
        return attrs.evolve(config, resources=attrs.evolve(config.resources, oom_score_adj=None))

    async def start(self, container_id: ContainerID) -> None:
        """Start a created container.

        StartError with containerd's text when its process can't be started; the container is then EXITED with 128.
        """
        try:
            await self.bridge.write(lambda client: client.start(container_id))
        except (NotFoundError, CRIError) as error:
            inspected = await self._inspected_or_none(container_id)
            if inspected is None or not convert.is_start_failure(inspected["State"]):
                raise
            self._failed_at[container_id] = datetime.now(UTC)  # noqa: TID251 - the engine keeps no time of this
            text = unstartable.told(inspected["Config"].get("Labels"), str(error))
            raise StartError(errors.start_failure(text)) from error

    async def _inspected_or_none(self, container_id: str) -> Any:  # noqa: ANN401 - the engine's JSON
        try:
            return await self.sandboxes.inspect(ContainerID(container_id))
        except NotFoundError:
            return None

    async def remove(self, container_id: ContainerID) -> None:
        """Remove a container, killing it if need be; one that is gone is fine."""
        self.hub.expect_signal(container_id, "SIGKILL")
        await self.maker.remove(container_id)
        self._failed_at.pop(container_id, None)

    async def list(self, pod_uid: str | None = None) -> tuple[ContainerSummary, ...]:
        """Return all containers, or those of one pod, newest first, sandboxes and helpers left out."""
        wanted = [
            f"{naming.INSTANCE_LABEL}={self.own_labels[naming.INSTANCE_LABEL]}",
            f"{naming.TYPE_LABEL}={naming.CONTAINER_TYPE}",
        ]
        if pod_uid is not None:
            wanted.append(f"{naming.POD_UID_LABEL}={pod_uid}")
        items = await self.bridge.read(lambda client: client.containers(all=True, filters={"label": wanted}))
        summaries = [convert.container_summary(item) for item in items]
        return tuple([await self._corrected(summary) for summary in summaries])

    async def _corrected(self, summary: ContainerSummary) -> ContainerSummary:
        """Return a list entry as its status has it: the list lags behind deaths and hides failed starts."""
        match summary.state:
            case ContainerState.RUNNING if self.hub.is_dead(summary.id):
                return attrs.evolve(summary, state=ContainerState.EXITED)
            case ContainerState.CREATED if await self._has_failed(summary.id):
                return attrs.evolve(summary, state=ContainerState.EXITED)
            case _:
                return summary

    async def _has_failed(self, container_id: ContainerID) -> bool:
        """Tell whether a created container is one whose start failed."""
        if container_id in self._failed_at:
            return True
        inspected = await self._inspected_or_none(container_id)
        return inspected is not None and convert.is_start_failure(inspected["State"])

    async def status(self, container_id: ContainerID) -> ContainerStatus:
        """Return one container in full; NotFoundError."""
        for _ in range(SETTLE_TRIES):
            inspected = self.hub.ooms.corrected(await self.sandboxes.inspect(container_id))
            if not (inspected["State"].get("Running") and self.hub.is_dead(container_id)):
                break
            await trio.sleep(SETTLE_SECONDS)
        told = (inspected["Config"].get("Labels") or {}).get(naming.IMAGE_REF_LABEL)
        image_ref = told or await self.images.reference_of(inspected.get("Image", ""))
        failed_at = self._failed_at.get(container_id)
        status = convert.container_status(inspected, image_ref=image_ref, failed_at=failed_at)
        return attrs.evolve(status, user=await self.accounts.user_of(inspected))

    async def update_resources(self, container_id: ContainerID, resources: LinuxContainerResources) -> None:
        """Change the limits of a running container."""
        body = bodies.resources_body(resources)
        await self.bridge.write(lambda client: _update(client, container_id, body))

    async def disk_usage(self, container_id: ContainerID) -> int:
        """Return the bytes in a container's own layer of files; NotFoundError."""
        wanted = {"id": container_id}
        items = await self.bridge.read(lambda client: client.containers(all=True, size=True, filters=wanted))
        if not items:
            raise NotFoundError(f"no such container: {container_id}")
        return int(items[0].get("SizeRw") or 0)


def _update(client: Any, container_id: str, body: dict[str, Any]) -> None:  # noqa: ANN401 - the SDK's client
    """Call the engine's update; the SDK's own method knows fewer limits."""
    url = client._url("/containers/{0}/update", container_id)  # noqa: SLF001
    client._result(client._post_json(url, data=body), json=True)  # noqa: SLF001
