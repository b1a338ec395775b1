"""What scenarios on one machine have to wait for, and what they don't."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import trio
import trio.testing

from kubelet_emu.cli.suite.claims import Claims, claims_of
from kubelet_emu.cli.suite.host_folders import emptied
from kubelet_emu.cli.suite.node_images import images_in_registry, images_on_node
from kubelet_emu.manifests import load_text
from kubelet_emu.scenarios.scenario_file import Scenario, Step
from kubelet_emu.scenarios.steps import StepError

POD = """
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  hostNetwork: {host}
  containers:
  - name: a
    image: {registry}/kemu/{image}
    imagePullPolicy: {policy}
    ports: [{ports}]
"""


def scenario(
    *,
    host: bool = False,
    registry: str = "127.0.0.1:5000",
    image: str = "busybox:1",
    policy: str = "IfNotPresent",
    ports: str = "",
    **more: object,
) -> Scenario:
    manifest = POD.format(host=str(host).lower(), registry=registry, image=image, policy=policy, ports=ports)
    objects = load_text(manifest).objects
    return Scenario(name="s", path=Path("s/scenario.yaml"), objects=objects, **more)  # type: ignore[arg-type]


CLAIMS = [
    ("nothing", scenario(), set()),
    ("an image that must be absent", scenario(image="absent-2:1"), {"127.0.0.1:5000/kemu/absent-2:1"}),
    (
        "an absent image that a step brings",
        scenario(steps=(Step(action="patch", argument={"body": {"image": "127.0.0.1:5001/kemu/absent-x:7"}}),)),
        {"127.0.0.1:5001/kemu/absent-x:7"},
    ),
    (
        "an image made anew, in both registries",
        scenario(fresh_images={"big": 4}),
        {"127.0.0.1:5000/kemu/big:1", "127.0.0.1:5001/kemu/big:1"},
    ),
    ("a folder", scenario(needs=("empty /tmp/kemu-x", "nodeName")), {"folder /tmp/kemu-x"}),
    ("a host port", scenario(ports="{containerPort: 80, hostPort: 8080}"), {"port 8080"}),
    ("a port inside alone is nobody's", scenario(ports="{containerPort: 80}"), set()),
    ("every port with the host's network", scenario(host=True, ports="{containerPort: 80}"), {"port 80"}),
]


@pytest.mark.parametrize(("given", "wanted"), [row[1:] for row in CLAIMS], ids=[row[0] for row in CLAIMS])
def test_what_a_scenario_has_for_itself(given: Scenario, wanted: set[str]) -> None:
    assert claims_of(given) == wanted


ON_NODE = [
    ("one that its pod runs", scenario(), {"127.0.0.1:5000/kemu/busybox:1"}),
    (
        "for one that must be absent what it is a copy of",
        scenario(image="absent-2:1"),
        {"127.0.0.1:5000/kemu/busybox:1"},
    ),
    ("not another tag", scenario(image="busybox:12"), set()),
    (
        "what new images are made of",
        scenario(image="big:1", fresh_images={"big": 4}),
        {"127.0.0.1:5000/kemu/busybox:1"},
    ),
    (
        "one that a step brings, but not from another registry",
        scenario(
            image="none:1",
            steps=(
                Step(action="patch", argument={"image": "127.0.0.1:5000/kemu/busybox:2"}),
                Step(action="patch", argument={"image": "127.0.0.1:5999/kemu/busybox:1"}),
            ),
        ),
        {"127.0.0.1:5000/kemu/busybox:2"},
    ),
]


@pytest.mark.parametrize(("given", "wanted"), [row[1:] for row in ON_NODE], ids=[row[0] for row in ON_NODE])
def test_what_is_on_the_node(given: Scenario, wanted: set[str]) -> None:
    assert images_on_node(given) == wanted


IN_REGISTRY = [
    ("nothing for a pod that runs what is there", scenario(), set()),
    ("what is pulled though it is there", scenario(policy="Always"), {"127.0.0.1:5000/kemu/busybox:1"}),
    ("what must be absent from the node", scenario(image="absent-2:1"), {"127.0.0.1:5000/kemu/absent-2:1"}),
    (
        "the same behind the slow line",
        scenario(registry="127.0.0.1:5001", image="absent-2"),
        {"127.0.0.1:5000/kemu/absent-2"},
    ),
    ("nothing of another registry", scenario(registry="127.0.0.1:1", image="absent-2:1"), set()),
    (
        "what credentials may ask for again",
        scenario(needs=("imagePullCredentialsVerificationPolicy=AlwaysVerify",)),
        {"127.0.0.1:5000/kemu/busybox:1"},
    ),
]


@pytest.mark.parametrize(("given", "wanted"), [row[1:] for row in IN_REGISTRY], ids=[row[0] for row in IN_REGISTRY])
def test_what_is_in_the_registry(given: Scenario, wanted: set[str]) -> None:
    assert images_in_registry(given) == wanted


def test_a_folder_is_empty_before_and_gone_afterwards() -> None:
    with tempfile.TemporaryDirectory(prefix="kemu-") as name:
        folder = Path(name)
        (folder / "left").touch()
        with emptied(scenario(needs=(f"empty {name}",))):
            assert not folder.exists()
            folder.mkdir()
        assert not folder.exists()
        folder.mkdir()


@pytest.mark.parametrize("folder", ["/home/me", "/tmp", "/tmp/kemu-x/../other", "/tmp/kemu-", "tmp/kemu-x"])  # noqa: S108
def test_no_other_folder_is_emptied(folder: str) -> None:
    with pytest.raises(StepError, match="only folders /tmp/kemu-NAME"), emptied(scenario(needs=(f"empty {folder}",))):
        raise AssertionError


async def test_only_those_who_want_the_same_wait(autojump_clock: trio.testing.MockClock) -> None:
    claims, began = Claims(), dict[str, float]()

    async def hold(name: str, *wanted: str) -> None:
        async with claims.held(frozenset(wanted)):
            began[name] = trio.current_time()
            await trio.sleep(10)

    begin = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold, "first", "x")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(hold, "same", "y", "x")
        nursery.start_soon(hold, "other", "z")
    assert {name: at - begin for name, at in began.items()} == {"first": 0, "other": 0, "same": 10}


async def test_who_is_cancelled_holds_nothing(autojump_clock: trio.testing.MockClock) -> None:
    claims = Claims()
    with trio.move_on_after(1):
        async with claims.held(frozenset({"x"})):
            await trio.sleep_forever()
    with trio.fail_after(1):
        async with claims.held(frozenset({"x"})):
            pass
