"""Several instances on one connection to an engine, and images made and pushed by way of it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import images
import pytest
from engine_pods import PodMaker, new_instance, sandbox_config

from runtime.api import CRIError, RuntimeEventType
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from docker import APIClient
    from registry import Registry

    from runtime.api import ImageID

pytestmark = pytest.mark.docker


async def test_siblings_know_only_their_own_pods(runtime: DockerRuntime, busybox: ImageID) -> None:
    config = sandbox_config()
    names = []
    async with (
        runtime.sibling(f"{runtime.instance}-1") as one,
        runtime.sibling(f"{runtime.instance}-2") as two,
        two.events() as events,
    ):
        for each in (one, two):
            pod = PodMaker(each, busybox, config, await each.run_pod_sandbox(config))
            await pod.start("a", "sleep 100")
            names.append([summary.id for summary in await each.list_containers()])
        assert [len(found) for found in names] == [1, 1]
        assert names[0] != names[1], "the same pod twice, under two names"
        assert await runtime.list_containers() == ()
        assert (one.bridge, two.bridge) == (runtime.bridge, runtime.bridge)
        await one.remove_all()
        assert await one.list_containers() == ()
        assert [summary.id for summary in await two.list_containers()] == names[1]
        await two.remove_all()
        heard = set()
        async for event in events:
            heard.add(event.container_id)
            if event.type is RuntimeEventType.CONTAINER_REMOVED:
                break
    assert set(names[1]) <= heard
    assert not heard & set(names[0])
    assert (await runtime.status()).ready, "a sibling that is closed leaves the connection open"


async def test_a_refused_oom_score_is_told_once(engine: APIClient, busybox: ImageID) -> None:
    notes: list[str] = []
    async with DockerRuntime(new_instance(), on_note=notes.append) as runtime:
        for name in ("1", "2"):
            async with runtime.sibling(f"{runtime.instance}-{name}") as sibling:
                await sibling.run_pod_sandbox(sandbox_config())
                await sibling.remove_all()
    assert len(notes) <= 1


async def test_an_image_is_published_and_not_kept(
    runtime: DockerRuntime, engine: APIClient, registry: Registry
) -> None:
    name = f"{registry.address}/kemu/test-{secrets.token_hex(4)}:1"
    await runtime.publisher.publish(images.BUSYBOX, name, ballast_bytes=300_000)
    assert await runtime.image_status(name) is None
    assert engine.containers(all=True, filters={"label": f"kubelet-emu/instance={runtime.instance}"}) == []
    await runtime.pull_image(name)
    try:
        sizes = {each: engine.inspect_image(each)["Size"] for each in (name, images.BUSYBOX)}
        assert sizes[name] - sizes[images.BUSYBOX] == 300_000
    finally:
        await runtime.remove_image(name)


async def test_an_image_that_nobody_takes_is_an_error(runtime: DockerRuntime, engine: APIClient) -> None:
    name = f"127.0.0.1:1/kemu/test-{secrets.token_hex(4)}:1"
    with pytest.raises(CRIError, match="can't be pushed"):
        await runtime.publisher.publish(images.BUSYBOX, name, ballast_bytes=10)
    assert await runtime.image_status(name) is None
