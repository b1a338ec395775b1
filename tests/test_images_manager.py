"""The image manager in virtual time: policies, queue, back-off, texts (kubelet v1.36 image_manager.go, KEP-3673)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, field

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, LocalObjectReference, Pod, PodSpec, Secret
from kubelet_emu.images.backoff import PullBackoff
from kubelet_emu.images.manager import ImageManager
from kubelet_emu.images.mirrors import Mirror
from kubelet_emu.images.outcome import ImageOutcome, PullConfig, PullOverride, PullState, PullUpdate
from kubelet_emu.images.pulling import Puller
from kubelet_emu.journal.records import NoteRecord
from kubelet_emu.kubelet.timebase import Lane, Timebase
from runtime.api import AuthConfig, CRIError, Image, ImageID, ImagePullError, PullProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.records import Record

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
CANARY = "canary-password"


@define(eq=False)
class StubImages:
    """Images whose pulls take their time; `errors` holds a text or a CRIError by reference."""

    seconds: dict[str, float] = field(factory=dict)
    errors: dict[str, str | CRIError] = field(factory=dict)
    present: dict[str, Image] = field(factory=dict)
    passwords: dict[str, str] = field(factory=dict)
    inspect_error: str = ""
    is_forgetful: bool = False
    asked: list[tuple[str, str]] = field(factory=list)
    running: int = 0
    most_running: int = 0

    async def pull_image(
        self, image: str, *, auth: AuthConfig | None = None, progress: Callable[[PullProgress], None] | None = None
    ) -> ImageID:
        self.asked.append((image, auth.username if auth else ""))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if progress is not None:
                progress(PullProgress(done_bytes=1, total_bytes=2))
            await trio.sleep(self.seconds.get(image, 0))
        finally:
            self.running -= 1
        if image in self.errors:
            error = self.errors[image]
            raise error if isinstance(error, CRIError) else ImagePullError(error)
        if image in self.passwords and (auth is None or auth.password != self.passwords[image]):
            raise ImagePullError("denied")
        self.present[image] = Image(id=ImageID(f"id:{image}"), repo_digests=(f"{image}@d",), size_bytes=7)
        return ImageID(f"id:{image}")

    async def image_status(self, image: str) -> Image | None:
        if self.inspect_error:
            raise CRIError(self.inspect_error)
        if self.is_forgetful:
            return None
        by_id = {value.id: value for value in self.present.values()}
        return self.present.get(image) or by_id.get(ImageID(image))

    async def list_images(self) -> tuple[Image, ...]:
        return tuple(self.present.values())

    async def remove_image(self, image: str) -> None:
        self.present.pop(image, None)


@define(eq=False)
class Node:
    """An image manager with a stub of the runtime, and what it told."""

    images: StubImages = field(factory=StubImages)
    config: PullConfig = field(factory=PullConfig)
    mirrors: tuple[Mirror, ...] = ()
    secrets: dict[str, Secret] = field(factory=dict)
    verifies_access: bool = True
    events: list[tuple[float, str, str | None, str, str]] = field(factory=list)
    types: list[str] = field(factory=list)
    records: list[Record] = field(factory=list)
    updates: list[PullUpdate] = field(factory=list)
    timebase: Timebase = field(factory=lambda: Timebase(EPOCH, is_virtual=True))
    manager: ImageManager = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put the manager together."""

        async def turn(key: str) -> None:
            await self.timebase.turn(Lane.WORKER, key)

        self.manager = ImageManager(
            puller=Puller(runtime=self.images, mirrors=self.mirrors),
            timebase=self.timebase,
            event=self.on_event,
            emit=self.records.append,
            secret=lambda _namespace, name: self.secrets.get(name),
            config=self.config,
            turn=turn,
            verifies_access=self.verifies_access,
            progress=self.updates.append,
        )

    def on_event(self, pod: Pod, container: str | None, event_type: str, reason: str, message: str) -> None:
        self.types.append(event_type)
        self.events.append((self.timebase.seconds(), str(pod.metadata.name), container, reason, message))

    async def ensure(self, pod: Pod, *, container: int = 0, override: PullOverride | None = None) -> ImageOutcome:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.timebase.referee)
            chosen = pod.spec.containers[container]
            outcome = await self.manager.ensure_image_exists(pod, chosen, pull_policy_override=override)
            nursery.cancel_scope.cancel()
        return outcome

    async def ensure_all(self, pods: list[Pod]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.timebase.referee)
            async with trio.open_nursery() as pulls:
                for pod in pods:
                    pulls.start_soon(self.manager.ensure_image_exists, pod, pod.spec.containers[0])
            nursery.cancel_scope.cancel()

    def told(self) -> list[tuple[str, str]]:
        return [(reason, message) for _, _, _, reason, message in self.events]


def a_pod(image: str, *, name: str = "p", policy: str | None = None, secrets: tuple[str, ...] = ()) -> Pod:
    containers = (Container(name="c", image=image, image_pull_policy=policy),)
    return Pod(
        metadata=ObjectMeta(name=name, namespace="ns", uid=f"uid-{name}"),
        spec=PodSpec(
            containers=containers, image_pull_secrets=tuple(LocalObjectReference(name=secret) for secret in secrets)
        ),
    )


def present(reference: str) -> dict[str, Image]:
    return {reference: Image(id=ImageID("id:present"), size_bytes=1)}


def a_secret(name: str, password: str) -> Secret:
    content = json.dumps({"auths": {"reg.io": {"username": name, "password": password}}})
    meta = ObjectMeta(name=name, namespace="ns", uid=name)
    return Secret(metadata=meta, type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": content.encode()})


async def test_a_missing_image_is_pulled(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(seconds={"a:1": 1.5034}))
    outcome = await node.ensure(a_pod("a:1"))
    assert outcome.image_id == "id:a:1"
    assert outcome.image_ref == "docker.io/library/a@d"
    assert node.told() == [
        ("Pulling", 'Pulling image "a:1"'),
        ("Pulled", 'Successfully pulled image "a:1" in 1.503s (1.503s including waiting). Image size: 7 bytes.'),
    ]
    assert node.types == ["Normal", "Normal"]


@pytest.mark.parametrize(
    ("verifies_access", "text"),
    [
        (True, 'Container image "a:1" already present on machine and can be accessed by the pod'),
        (False, 'Container image "a:1" already present on machine'),
    ],
)
async def test_a_present_image_is_used(
    autojump_clock: trio.testing.MockClock,
    verifies_access: bool,  # noqa: FBT001
    text: str,
) -> None:
    node = Node(StubImages(present=present("a:1")), verifies_access=verifies_access)
    outcome = await node.ensure(a_pod("a:1"))
    assert outcome.image_id == outcome.image_ref == "id:present"
    assert node.told() == [("Pulled", text)]
    assert node.images.asked == []


async def test_always_pulls_although_the_image_is_present(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(present=present("a:latest")))
    await node.ensure(a_pod("a"))
    assert node.images.asked == [("a:latest", "")]
    assert node.told()[0] == ("Pulling", 'Pulling image "a"')


@pytest.mark.parametrize(
    ("override", "policy", "pulls"),
    [
        (PullOverride.ALWAYS, "Never", 1),
        (PullOverride.MISSING, "Always", 0),
        (PullOverride.NEVER, "Always", 0),
    ],
)
async def test_an_override_comes_before_the_manifests_policy(
    autojump_clock: trio.testing.MockClock, override: PullOverride, policy: str, pulls: int
) -> None:
    node = Node(StubImages(present=present("a:1")))
    await node.ensure(a_pod("a:1", policy=policy), override=override)
    by_config = Node(StubImages(present=present("a:1")), config=PullConfig(override=override))
    await by_config.ensure(a_pod("a:1", policy=policy))
    assert len(node.images.asked) == len(by_config.images.asked) == pulls


async def test_never_refuses_an_absent_image(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    outcome = await node.ensure(a_pod("a:1", policy="Never"))
    text = 'Container image "a:1" is not present with pull policy of Never'
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.message) == ("ErrImageNeverPull", text)
    assert node.told() == [("ErrImageNeverPull", text), ("Failed", "Error: ErrImageNeverPull")]
    assert node.types == ["Warning", "Warning"]


async def test_an_invalid_name_is_refused(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    outcome = await node.ensure(a_pod("Foo"))
    text = (
        'Failed to apply default image tag "Foo": couldn\'t parse image name "Foo":'
        " invalid reference format: repository name (library/Foo) must be lowercase"
    )
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.message) == ("InvalidImageName", text)
    assert node.told() == [("InspectFailed", text), ("Failed", "Error: InvalidImageName")]


async def test_a_failed_lookup_names_no_image(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(inspect_error="no engine"))
    outcome = await node.ensure(a_pod("a:1"))
    text = 'Failed to inspect image "": no engine'
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.message) == ("ImageInspectError", text)
    assert node.told() == [("InspectFailed", text), ("Failed", "Error: ImageInspectError")]


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        ("not found", "ErrImagePull", "not found"),
        (
            "RegistryUnavailable: down",
            "RegistryUnavailable",
            "image pull failed for a:1 because the registry is unavailable: down",
        ),
        (
            "SignatureValidationFailed: bad",
            "SignatureValidationFailed",
            "image pull failed for a:1 because the signature validation failed: bad",
        ),
    ],
)
async def test_a_failed_pull_is_told_by_its_text(
    autojump_clock: trio.testing.MockClock, error: str, reason: str, message: str
) -> None:
    node = Node(StubImages(errors={"a:1": error}))
    outcome = await node.ensure(a_pod("a:1"))
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.message) == (reason, message)
    assert node.told()[1:] == [("Failed", f'Failed to pull image "a:1": {error}'), ("Failed", f"Error: {reason}")]


async def test_the_back_off_doubles_to_its_cap_and_keeps_the_last_error(
    autojump_clock: trio.testing.MockClock,
) -> None:
    node = Node(StubImages(errors={"a:1": "not found"}))
    pod = a_pod("a:1")
    pulled_at = []
    for _ in range(1400):
        asked = len(node.images.asked)
        outcome = await node.ensure(pod)
        if len(node.images.asked) > asked:
            pulled_at.append(node.timebase.seconds())
        await trio.sleep(1)
    assert [b - a for a, b in pairwise(pulled_at)] == [10, 20, 40, 80, 160, 300, 300, 300]
    assert outcome.failure is not None
    assert outcome.failure.reason == "ImagePullBackOff"
    assert outcome.failure.message == 'Back-off pulling image "a:1": ErrImagePull: not found'
    assert node.told()[-2:] == [("BackOff", 'Back-off pulling image "a:1"'), ("Failed", "Error: ImagePullBackOff")]
    assert node.types[-2:] == ["Normal", "Warning"]


async def test_a_success_does_not_reset_the_back_off(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(errors={"a:1": "gone"}))
    pod = a_pod("a:1", policy="Always")
    await node.ensure(pod)
    await trio.sleep(10)
    node.images.errors.clear()
    assert (await node.ensure(pod)).failure is None
    node.images.errors["a:1"] = "gone again"
    await node.ensure(pod)
    await trio.sleep(15)
    outcome = await node.ensure(pod)
    assert outcome.failure is not None
    assert outcome.failure.message.endswith("ErrImagePull: gone again")


async def test_the_back_off_is_forgotten_after_ten_minutes(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(errors={"a:1": "gone"}))
    pod = a_pod("a:1")
    await node.ensure(pod)
    await trio.sleep(601)
    node.manager.collect_garbage(node.timebase.now())
    assert node.manager.backoff == PullBackoff(delays=node.manager.backoff.delays)
    await node.ensure(pod)
    await trio.sleep(10)
    await node.ensure(pod)
    assert len(node.images.asked) == 3


async def test_two_pods_have_their_own_back_off(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(errors={"a:1": "gone"}))
    await node.ensure(a_pod("a:1", name="p"))
    await node.ensure(a_pod("a:1", name="q"))
    assert len(node.images.asked) == 2


async def test_serial_pulls_queue_in_the_order_of_their_pods(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(seconds={"x:1": 4}))
    await node.ensure_all([a_pod("x:1", name=name, policy="Always") for name in ("c", "a", "b")])
    assert [(at, pod) for at, pod, _, reason, _ in node.events if reason == "Pulling"] == [(0, "a"), (0, "b"), (0, "c")]
    pulled = [
        (at, pod, message.split("Image size")[0]) for at, pod, _, reason, message in node.events if reason == "Pulled"
    ]
    assert pulled == [
        (4, "a", 'Successfully pulled image "x:1" in 4s (4s including waiting). '),
        (8, "b", 'Successfully pulled image "x:1" in 4s (8s including waiting). '),
        (12, "c", 'Successfully pulled image "x:1" in 4s (12s including waiting). '),
    ]
    assert node.images.most_running == 1
    assert [update.state for update in node.updates].count(PullState.QUEUED) == 2


@pytest.mark.parametrize(("limit", "most", "ends"), [(1, 1, 20), (2, 2, 12), (3, 3, 8), (None, 5, 4)])
async def test_parallel_pulls_are_bounded_over_all_pods(
    autojump_clock: trio.testing.MockClock, limit: int | None, most: int, ends: float
) -> None:
    node = Node(StubImages(seconds={"x:1": 4}), config=PullConfig(serialize=False, max_parallel=limit))
    await node.ensure_all([a_pod("x:1", name=name, policy="Always") for name in "abcde"])
    assert node.images.most_running == most
    assert node.timebase.seconds() == ends


async def test_the_same_collision_gives_the_same_events(autojump_clock: trio.testing.MockClock) -> None:
    def tell(node: Node) -> list[tuple[float, str, str]]:
        return [(round(at % 100, 3), pod, reason) for at, pod, _, reason, _ in node.events if reason == "Pulling"]

    runs = set()
    for _ in range(20):
        node = Node(StubImages(seconds={"x:1": 4}))
        await node.ensure_all([a_pod("x:1", name=name, policy="Always") for name in "dbac"])
        runs.add(tuple(tell(node)))
    assert len(runs) == 1


async def test_a_cancelled_waiter_leaves_the_queue(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(seconds={"x:1": 4}))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(node.timebase.referee)
        nursery.start_soon(node.manager.ensure_image_exists, a_pod("x:1", name="a"), Container(name="c", image="x:1"))
        with trio.move_on_after(2):
            await node.manager.ensure_image_exists(a_pod("x:1", name="b"), Container(name="c", image="x:1"))
        assert (node.manager.slots.running, node.manager.slots.waiting) == (1, 0)
        await node.manager.ensure_image_exists(a_pod("x:1", name="d"), Container(name="c", image="x:1"))
        nursery.cancel_scope.cancel()
    assert node.timebase.seconds() == 8


async def test_pulls_that_nobody_wants_any_more_end_at_once_and_so_do_later_ones(
    autojump_clock: trio.testing.MockClock,
) -> None:
    node = Node(StubImages(seconds={"x:1": 400}))

    async def give_up() -> None:
        await trio.sleep(2)
        node.manager.give_up()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(give_up)
        await node.ensure_all([a_pod("x:1", name=name) for name in "ab"])
    later = await node.ensure(a_pod("x:1", name="c"))
    assert node.timebase.seconds() == 2
    canceled = (
        'rpc error: code = Canceled desc = failed to pull and unpack image "docker.io/library/x:1": context canceled'
    )
    assert later.failure is not None
    assert (later.failure.reason, later.failure.message) == ("ErrImagePull", canceled)
    failed = [message for reason, message in node.told() if message.startswith("Failed to pull")]
    assert failed == [f'Failed to pull image "x:1": {canceled}'] * 3
    assert (node.manager.slots.running, node.manager.slots.waiting) == (0, 0)


async def test_requests_beyond_the_burst_fail_at_once(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(config=PullConfig(serialize=False, registry_qps=1, registry_burst=2))
    outcomes = [await node.ensure(a_pod("a:1", name=name, policy="Always")) for name in "abc"]
    assert [outcome.failure is None for outcome in outcomes] == [True, True, False]
    assert node.told()[-2:] == [
        ("Failed", 'Failed to pull image "a:1": pull QPS exceeded'),
        ("Failed", "Error: ErrImagePull"),
    ]
    await trio.sleep(1)
    assert (await node.ensure(a_pod("a:1", name="d", policy="Always"))).failure is None


async def test_a_rate_of_zero_is_no_limit(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(config=PullConfig(serialize=False, registry_qps=0, registry_burst=0))
    assert (await node.ensure(a_pod("a:1"))).failure is None


async def test_a_runtime_that_names_no_image_is_an_error(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(is_forgetful=True))
    outcome = await node.ensure(a_pod("a:1"))
    assert outcome.failure is not None
    assert outcome.failure.message == 'imageRef of image "a:1" is not set'


async def test_a_mirror_serves_under_its_own_name(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(mirrors=(Mirror.parse("cgr.dev=127.0.0.1:5000/kemu"),))
    outcome = await node.ensure(a_pod("cgr.dev/a/b:1"))
    assert outcome.image_id == "id:127.0.0.1:5000/kemu/a/b:1"
    assert node.images.asked == [("127.0.0.1:5000/kemu/a/b:1", "")]
    assert node.told()[0] == ("Pulling", 'Pulling image "cgr.dev/a/b:1"')
    assert [note.text for note in node.records if isinstance(note, NoteRecord)] == [
        "image cgr.dev/a/b:1 was pulled from 127.0.0.1:5000/kemu/a/b:1"
    ]
    again = await node.ensure(a_pod("cgr.dev/a/b:1"))
    assert again.image_id == outcome.image_id
    assert len(node.images.asked) == 1


async def test_a_mirror_without_the_image_is_passed_over(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(errors={"m.io/a:1": "not here"}), mirrors=(Mirror.parse("cgr.dev=m.io"),))
    assert (await node.ensure(a_pod("cgr.dev/a:1"))).image_id == "id:cgr.dev/a:1"
    node.images.errors["cgr.dev/b:1"] = "nor here"
    node.images.errors["m.io/b:1"] = "not here"
    outcome = await node.ensure(a_pod("cgr.dev/b:1"))
    assert outcome.failure is not None
    assert outcome.failure.message == "[not here, nor here]"


async def test_equal_errors_are_told_once(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(errors={"m.io/a:1": "same", "cgr.dev/a:1": "same"}), mirrors=(Mirror.parse("cgr.dev=m.io"),))
    outcome = await node.ensure(a_pod("cgr.dev/a:1"))
    assert outcome.failure is not None
    assert outcome.failure.message == "same"


async def test_every_fitting_credential_is_tried_and_anonymous_is_not(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(passwords={"reg.io/x:1": CANARY}))
    node.secrets = {"bad": a_secret("bad", "wrong"), "good": a_secret("good", CANARY)}
    outcome = await node.ensure(a_pod("reg.io/x:1", secrets=("bad", "good", "", "absent")))
    assert outcome.failure is None
    assert node.images.asked == [("reg.io/x:1", "bad"), ("reg.io/x:1", "good")]
    assert CANARY not in repr(node.events) + repr(node.records) + repr(outcome)


async def test_a_mirror_never_sees_the_registrys_credentials(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(mirrors=(Mirror.parse("reg.io=m.io"),))
    node.secrets = {"s": a_secret("s", CANARY)}
    await node.ensure(a_pod("reg.io/x:1", secrets=("s",)))
    assert node.images.asked == [("m.io/x:1", "")]


async def test_an_image_pulled_with_a_secret_is_pulled_again_without_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    node = Node(StubImages(passwords={"reg.io/x:1": CANARY}))
    node.secrets = {"s": a_secret("s", CANARY)}
    await node.ensure(a_pod("reg.io/x:1", name="owner", secrets=("s",)))
    refused = await node.ensure(a_pod("reg.io/x:1", name="stranger"))
    never = await node.ensure(a_pod("reg.io/x:1", name="offline", policy="Never"))
    allowed = await node.ensure(a_pod("reg.io/x:1", name="friend", secrets=("s",)))
    assert refused.failure is not None
    assert refused.failure.reason == "ErrImagePull"
    assert never.failure is not None
    assert never.failure.reason == "ErrImageNeverPull"
    assert allowed.failure is None
    assert len(node.images.asked) == 2


async def test_a_malformed_pull_secret_stops_the_pull_only(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(present=present("reg.io/y:1")))
    meta = ObjectMeta(name="s", namespace="ns")
    node.secrets = {"s": Secret(metadata=meta, type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b"{"})}
    assert (await node.ensure(a_pod("reg.io/y:1", secrets=("s",)))).failure is None
    outcome = await node.ensure(a_pod("reg.io/x:1", secrets=("s",)))
    assert outcome.failure is not None
    assert outcome.failure.reason == outcome.failure.message
    assert node.images.asked == []
    await node.ensure(a_pod("reg.io/x:1", secrets=("s",)))
    notes = [record.text for record in node.records if isinstance(record, NoteRecord)]
    assert notes == ["the content of Secret s is no pull secret's: invalid character in pull secret: not JSON"]


async def test_a_malformed_pull_secret_is_told_where_credentials_decide_who_may_use_an_image(
    autojump_clock: trio.testing.MockClock,
) -> None:
    node = Node(StubImages(passwords={"reg.io/x:1": "right"}))
    node.secrets = {"good": a_secret("good", "right")}
    assert (await node.ensure(a_pod("reg.io/x:1", secrets=("good",)))).failure is None
    node.secrets["bad"] = Secret(type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b"{"})
    other = await node.ensure(a_pod("reg.io/x:1", name="q", policy="Never", secrets=("bad",)))
    assert other.failure is not None
    assert other.failure.reason == other.failure.message == "invalid character in pull secret: not JSON"


async def test_absent_pull_secrets_are_told_once_a_sync(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    node.secrets = {"there": a_secret("there", "x")}
    node.manager.tell_missing_pull_secrets(a_pod("a:1", secrets=("there",)))
    assert node.events == []
    node.manager.tell_missing_pull_secrets(a_pod("a:1", secrets=("x", "there", "", "y")))
    assert node.events == [
        (
            0,
            "p",
            None,
            "FailedToRetrieveImagePullSecret",
            "Unable to retrieve some image pull secrets (x, y); attempting to pull the image may not succeed.",
        )
    ]


async def test_a_local_latest_that_cannot_be_pulled_is_explained(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(present=present("mine:latest"), errors={"mine:latest": "not found", "mine:1": "not found"}))
    await node.ensure(a_pod("mine"))
    await node.ensure(a_pod("mine:1", policy="Always"))
    await node.ensure(a_pod("other", name="q"))
    notes = [note for note in node.records if isinstance(note, NoteRecord)]
    assert len(notes) == 1
    assert "--pull missing" in notes[0].text


async def test_no_hint_where_the_runtime_does_not_answer(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubImages(errors={"mine:latest": "gone"}, inspect_error="no engine"))
    outcome = await node.ensure(a_pod("mine"))
    assert outcome.failure is not None
    assert node.records == []


async def test_progress_is_shown_while_a_pull_runs(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    await node.ensure(a_pod("a:1"))
    assert [update.state for update in node.updates] == [PullState.RUNNING, PullState.RUNNING, PullState.DONE]
    assert node.updates[1].progress == PullProgress(done_bytes=1, total_bytes=2)
    assert (node.updates[0].running, node.updates[0].limit) == (1, 1)
