"""Images on a real engine, with registries on loopback."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import images
import pytest
import registry as registries
import trio

from runtime.api import (
    AuthConfig,
    ImageNotFoundError,
    ImagePullError,
    PullProgress,
    RegistryUnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import APIClient
    from registry import Registry, SlowProxy

    from runtime.docker import DockerRuntime

pytestmark = pytest.mark.docker


def in_registry(engine: APIClient, where: str, *, megabytes: int = 0, auth: dict[str, str] | None = None) -> str:
    """Put a fresh image into a registry and take it off the engine; return its name."""
    name = f"{where}/kemu/test-{secrets.token_hex(4)}:1"
    if megabytes:
        images.make_big_image(engine, name, megabytes)
    else:
        images.make_image(engine, name, extra={"etc/mark": secrets.token_bytes(8)})
    for message in engine.push(name, auth_config=auth, stream=True, decode=True):
        assert "error" not in message, message
    engine.remove_image(name)
    return name


async def test_a_pull_gives_the_id_names_and_the_repository_digest(
    runtime: DockerRuntime, engine: APIClient, registry: Registry
) -> None:
    name = await trio.to_thread.run_sync(in_registry, engine, registry.address)
    assert await runtime.image_status(name) is None
    image_id = await runtime.pull_image(name)
    found = await runtime.image_status(name)
    assert found is not None
    assert (found.id, found.repo_tags) == (image_id, (name,))
    assert found.repo_digests[0].startswith(name.removesuffix(":1") + "@sha256:")
    assert (found.cmd, found.env, found.uid) == (("/bin/sh",), {"PATH": "/bin"}, None)
    assert found.size_bytes > 0
    assert await runtime.image_status(image_id) == found
    assert await runtime.image_status(found.repo_digests[0]) == found
    assert image_id in {image.id for image in await runtime.list_images()}
    await runtime.remove_image(name)
    await runtime.remove_image(name)
    assert await runtime.image_status(name) is None
    assert await runtime.pull_image(found.repo_digests[0]) == image_id
    await runtime.remove_image(image_id)


async def test_progress_grows_to_the_total(
    runtime: DockerRuntime, engine: APIClient, registry: Registry, slow_registry: SlowProxy
) -> None:
    name = await trio.to_thread.run_sync(lambda: in_registry(engine, registry.address, megabytes=1))
    slow_name = name.replace(registry.address, slow_registry.address)
    seen: list[PullProgress] = []
    await runtime.pull_image(slow_name, progress=seen.append)
    await runtime.remove_image(slow_name)
    assert any(0 < progress.done_bytes < progress.total_bytes for progress in seen)
    assert seen[-1].done_bytes == seen[-1].total_bytes > 1 << 20
    assert slow_registry.peak in {1, 2}, "the layer, and its small configuration beside it or before"


async def test_a_cancelled_pull_ends_in_the_engine(
    runtime: DockerRuntime, engine: APIClient, registry: Registry, slow_registry: SlowProxy
) -> None:
    name = await trio.to_thread.run_sync(lambda: in_registry(engine, registry.address, megabytes=4))
    slow_name = name.replace(registry.address, slow_registry.address)
    with trio.move_on_after(1.5) as scope:
        await runtime.pull_image(slow_name)
    assert scope.cancelled_caught
    assert await trio.to_thread.run_sync(slow_registry.idle.wait, 10)
    assert await runtime.image_status(slow_name) is None


async def test_a_registry_with_a_password(
    runtime: DockerRuntime, engine: APIClient, password_registry: Registry, tmp_path: object
) -> None:
    right = {"username": registries.USER, "password": registries.PASSWORD}
    name = await trio.to_thread.run_sync(lambda: in_registry(engine, password_registry.address, auth=right))
    with pytest.raises(ImagePullError, match="no basic auth credentials"):
        await runtime.pull_image(name)
    with pytest.raises(ImagePullError) as raised:
        await runtime.pull_image(name, auth=AuthConfig(username="kemu", password=registries.PASSWORD.upper()))
    assert registries.PASSWORD.upper() not in str(raised.value)
    assert await runtime.pull_image(name, auth=AuthConfig(**right))
    await runtime.remove_image(name)


@pytest.mark.parametrize(
    ("make_name", "kind", "text"),
    [
        (
            lambda where: f"{where}/kemu/no-such-image:1",
            ImageNotFoundError,
            (
                'rpc error: code = NotFound desc = failed to pull and unpack image "{name}": '
                "failed to resolve image: {name}: not found"
            ),
        ),
        (
            lambda _where: "127.0.0.1:1/none:1",
            RegistryUnavailableError,
            (
                'failed to pull and unpack image "{name}": failed to resolve image: failed to do request: '
                'Head "https://127.0.0.1:1/v2/none/manifests/1": dial tcp 127.0.0.1:1: connect: connection refused'
            ),
        ),
    ],
    ids=["no such image", "nothing listens"],
)
async def test_pull_errors_have_kinds_and_containerds_form(
    runtime: DockerRuntime, registry: Registry, make_name: Callable[[str], str], kind: type[Exception], text: str
) -> None:
    name = make_name(registry.address)
    with pytest.raises(kind) as raised:
        await runtime.pull_image(name)
    assert str(raised.value) == text.format(name=name)


async def test_an_image_that_has_a_name_that_is_none_is_absent(runtime: DockerRuntime) -> None:
    assert await runtime.image_status("Not/A:Name:") is None
    assert await runtime.image_status("sha256:" + "0" * 64) is None
