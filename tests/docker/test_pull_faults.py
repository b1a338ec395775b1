"""Pulls on a real engine from registries that hang, break off, send garbage or want a password; and odd engines."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import images
import pytest
import registry as registries
import trio
from engine_pods import new_instance
from faulty_registry import Fault, FaultyRegistry, Stage, Trouble
from stand_in import StandIn, Way

from kubelet_emu.images.credentials import Credential, Keyring
from kubelet_emu.images.mirrors import Mirror
from kubelet_emu.images.pulling import Puller
from runtime.api import AuthConfig, ImagePullError, RegistryUnavailableError, RuntimeUnavailableError
from runtime.docker import DockerRuntime
from runtime.docker.images import Images

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from docker import APIClient
    from registry import Registry

    from runtime.api import PullProgress

pytestmark = pytest.mark.docker


@pytest.fixture
def faulty(registry: Registry) -> Iterator[FaultyRegistry]:
    """Give the open registry behind a proxy that can fail."""
    with FaultyRegistry(registry.port) as opened:
        yield opened


@pytest.fixture
def name(engine: APIClient, registry: Registry, faulty: FaultyRegistry) -> Iterator[str]:
    """Give the name of an image behind that proxy, not on the engine before and after."""
    pushed = f"{registry.address}/kemu/test-{secrets.token_hex(4)}:1"
    images.make_image(engine, pushed, extra={"etc/mark": secrets.token_bytes(2000)})
    for message in engine.push(pushed, stream=True, decode=True):
        assert "error" not in message, message
    engine.remove_image(pushed)
    behind = pushed.replace(registry.address, faulty.address)
    yield behind
    for reference in (pushed, behind):
        if engine.images(name=reference):
            engine.remove_image(reference, force=True)


Row = tuple[str, Stage, Fault, type[ImagePullError], str]
TROUBLES: list[Row] = [
    ("the registry hangs up", Stage.PING, Fault.CUT, RegistryUnavailableError, 'Head "{url}": EOF'),
    ("it speaks no HTTP", Stage.PING, Fault.GARBAGE, RegistryUnavailableError, 'Head "{url}": net/http: HTTP/1.x'),
    ("it hangs up later", Stage.MANIFEST, Fault.CUT, RegistryUnavailableError, 'Head "{url}": EOF'),
    ("half a manifest", Stage.MANIFEST, Fault.CUT_BODY, RegistryUnavailableError, "resolve image: unexpected EOF"),
    ("it is broken", Stage.MANIFEST, Fault.SERVER_ERROR, ImagePullError, "to {url}: 500 Internal Server Error"),
    ("it is overloaded", Stage.MANIFEST, Fault.UNAVAILABLE, RegistryUnavailableError, "to {url}: 503 Service"),
    ("no such layer", Stage.BLOB, Fault.NOT_FOUND, ImagePullError, "failed to copy: error pulling image configuration"),
    ("other bytes", Stage.BLOB, Fault.BAD_BODY, ImagePullError, "verification failed for digest"),
]


@pytest.mark.parametrize("row", TROUBLES, ids=[row[0] for row in TROUBLES])
async def test_a_registry_that_fails_is_told_in_containerds_words(
    runtime: DockerRuntime, faulty: FaultyRegistry, name: str, row: Row
) -> None:
    why, stage, fault, kind, text = row
    faulty.troubles.append(Trouble(stage, fault))
    with pytest.raises(ImagePullError) as raised:
        await runtime.pull_image(name)
    host, _, path = name.removesuffix(":1").partition("/")
    url = f"https://{host}/v2/{path}/manifests/1"
    assert type(raised.value) is kind, why
    assert str(raised.value).startswith(f'failed to pull and unpack image "{name}": ')
    assert text.format(url=url) in str(raised.value)
    assert await runtime.image_status(name) is None


@pytest.mark.parametrize(("stage", "fault"), [(Stage.MANIFEST, Fault.HANG), (Stage.BLOB, Fault.HANG)])
async def test_a_pull_that_comes_no_further_is_given_up(
    runtime: DockerRuntime, faulty: FaultyRegistry, name: str, stage: Stage, fault: Fault
) -> None:
    faulty.troubles.append(Trouble(stage, fault))
    with pytest.raises(ImagePullError) as raised:
        await Images(runtime.bridge, silence_seconds=1.0).pull(name, None, None)
    assert str(raised.value) == (
        f'rpc error: code = Canceled desc = failed to pull and unpack image "{name}": '
        "no progress for 1s: context canceled"
    )


async def test_tries_that_bring_nothing_are_no_progress(
    runtime: DockerRuntime, faulty: FaultyRegistry, name: str
) -> None:
    faulty.troubles.append(Trouble(Stage.BLOB, Fault.CUT))
    with pytest.raises(ImagePullError, match="no progress for 3s"):
        await Images(runtime.bridge, silence_seconds=3.0).pull(name, None, None)


async def test_a_short_trouble_is_got_over(runtime: DockerRuntime, faulty: FaultyRegistry, name: str) -> None:
    faulty.troubles.append(Trouble(Stage.BLOB, Fault.CUT, times=1))
    assert await runtime.pull_image(name)


async def test_a_registry_that_sends_credentials_back_does_not_get_them_told(
    runtime: DockerRuntime, faulty: FaultyRegistry, name: str
) -> None:
    auth = AuthConfig(username="canary-user", password="canary-password")  # noqa: S106
    faulty.troubles.append(Trouble(Stage.PING, Fault.ECHO))
    faulty.troubles.append(Trouble(Stage.MANIFEST, Fault.ECHO))
    keyring = Keyring.of([(faulty.address, Credential(auth=auth))])
    with pytest.raises(ImagePullError) as raised:
        await Puller(runtime=runtime).pull(name, keyring, _ignore)
    assert "canary-password" not in str(raised.value)
    assert all("Y2FuYXJ5" not in text for text in (str(raised.value),))


def _ignore(progress: PullProgress) -> None:
    del progress


async def test_a_stand_in_never_gets_the_originals_name(
    runtime: DockerRuntime, engine: APIClient, name: str, faulty: FaultyRegistry
) -> None:
    path = name.partition("/")[2]
    puller = Puller(runtime=runtime, mirrors=(Mirror.parse(f"cgr.dev={faulty.address}"),))
    pulled = await puller.pull(f"cgr.dev/{path}", Keyring(), _ignore)
    inspected = engine.inspect_image(pulled.image_id)
    assert inspected["RepoTags"] == [name]
    assert all(digest.startswith(faulty.address) for digest in inspected["RepoDigests"])
    found = await puller.find(f"cgr.dev/{path}")
    assert found is not None
    assert (found.image.id, found.source.reference) == (pulled.image_id, name)


async def test_a_name_with_tag_and_digest_is_pulled_by_its_digest(
    runtime: DockerRuntime, engine: APIClient, name: str
) -> None:
    await runtime.pull_image(name)
    found = await runtime.image_status(name)
    assert found is not None
    both = f"{name}@{found.repo_digests[0].partition('@')[2]}"
    await runtime.remove_image(name)
    assert await runtime.image_status(both) is None
    assert await runtime.pull_image(both) == found.id
    again = await runtime.image_status(both)
    assert again is not None
    assert again.id == found.id
    await runtime.remove_image(found.id)


@asynccontextmanager
async def behind(stand_in: StandIn) -> AsyncIterator[DockerRuntime]:
    """Give a runtime whose engine is a stand-in."""
    async with trio.open_nursery() as nursery:
        await nursery.start(stand_in.serve)
        async with DockerRuntime(new_instance(), base_url=stand_in.url) as opened:
            yield opened
        nursery.cancel_scope.cancel()


ANSWERS = [
    ("no JSON", b"hello\n", "the engine's message can't be read"),
    ("no object", b"[1]\n", "the engine's message can't be read"),
    ("an error without an end of line", b'{"error": "boom"}', "failed to copy: boom"),
    ("an error that is no text", b'{"error": {"a": 1}}\n', "failed to copy: {'a': 1}"),
    ("nothing at all", b"", "but does not know it"),
    ("odd progress", b'{"status": 5, "id": 3, "progressDetail": [1]}\n', "but does not know it"),
]


@pytest.mark.parametrize(("why", "body", "text"), ANSWERS, ids=[row[0] for row in ANSWERS])
async def test_an_engine_that_answers_oddly_is_an_error_of_the_pull(why: str, body: bytes, text: str) -> None:
    stand_in = StandIn()
    stand_in.answer("POST .*/images/create", 200, body)
    async with behind(stand_in) as runtime:
        with pytest.raises(ImagePullError) as raised:
            await runtime.pull_image("reg.invalid/kemu/none:1")
    assert text in str(raised.value), why


async def test_an_engine_that_is_lost_in_mid_pull_has_not_pulled(name: str, faulty: FaultyRegistry) -> None:
    faulty.troubles.append(Trouble(Stage.BLOB, Fault.HANG))
    stand_in = StandIn()
    async with behind(stand_in) as runtime, trio.open_nursery() as nursery:
        nursery.start_soon(_lose, stand_in, faulty)
        with pytest.raises(RuntimeUnavailableError):
            await runtime.pull_image(name)
        stand_in.be(Way.PRESENT)


async def _lose(stand_in: StandIn, faulty: FaultyRegistry) -> None:
    await trio.to_thread.run_sync(faulty.wait_for_request, "/blobs/")
    stand_in.be(Way.GONE)


async def test_a_password_is_for_its_own_registry(
    runtime: DockerRuntime, engine: APIClient, password_registry: Registry
) -> None:
    right = {"username": registries.USER, "password": registries.PASSWORD}
    with FaultyRegistry(password_registry.port) as mirror:
        path = f"kemu/test-{secrets.token_hex(4)}:1"
        images.make_image(engine, f"{password_registry.address}/{path}", extra={"etc/mark": secrets.token_bytes(8)})
        for message in engine.push(f"{password_registry.address}/{path}", auth_config=right, stream=True, decode=True):
            assert "error" not in message, message
        engine.remove_image(f"{password_registry.address}/{path}")
        keyring = Keyring.of([(password_registry.address, Credential(auth=AuthConfig(**right)))])
        puller = Puller(runtime=runtime, mirrors=(Mirror.parse(f"{password_registry.address}={mirror.address}"),))
        pulled = await puller.pull(f"{password_registry.address}/{path}", keyring, _ignore)
        assert not pulled.source.is_mirror
        assert mirror.authorizations == {""}
        await runtime.remove_image(pulled.image_id)
