"""How many images are pulled at once, seen at a slow registry."""

from __future__ import annotations

import itertools
import secrets
from typing import TYPE_CHECKING

import images
import pytest
from command_line import FIXTURES, run, write_pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient
    from registry import Registry, SlowProxy

pytestmark = pytest.mark.docker

PODS = 5
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {{name: pulled-{number}}}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: {image}
    command: ["true"]
"""
AT_ONCE = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
serializeImagePulls: false
maxParallelImagePulls: 2
"""


@pytest.fixture
def pulled(engine: APIClient, registry: Registry, slow_registry: SlowProxy) -> Iterator[list[str]]:
    """Give the names of images behind a slow line, about two seconds each; they are taken off the engine again."""
    slow_names = []
    for _ in range(PODS):
        name = f"{registry.address}/kemu/test-{secrets.token_hex(4)}:1"
        images.make_big_image(engine, name, 1)
        for message in engine.push(name, stream=True, decode=True):
            assert "error" not in message, message
        engine.remove_image(name)
        slow_names.append(name.replace(registry.address, slow_registry.address))
    slow_registry.history.clear()
    yield slow_names
    for name in slow_names:
        if engine.images(name=name):
            engine.remove_image(name, force=True)


def seconds_by_number(proxy: SlowProxy) -> dict[int, float]:
    """Return for how long so many images were on their way, from the first until the last one began."""
    history, begun, last = proxy.history, set[str](), 0.0
    for at, repositories in history:
        last = at if repositories - begun else last
        begun |= repositories
    assert len(begun) == PODS
    spent: dict[int, float] = {}
    for (at, repositories), (until, _) in itertools.pairwise(history):
        spent[len(repositories)] = spent.get(len(repositories), 0.0) + max(0.0, min(until, last) - at)
    return {number: seconds for number, seconds in spent.items() if seconds > 0}


@pytest.mark.parametrize(
    ("configuration", "at_once", "warning"),
    [
        (None, 1, ""),
        (AT_ONCE, 2, ""),
        ((FIXTURES / "slides" / "slide-05-kubelet-config.yaml").read_text(), 2, "warning: apiVersion: "),
    ],
    ids=["one by one unless told otherwise", "two at once", "the two lines of the slide alone"],
)
def test_pulls_are_bounded_and_the_bound_is_used(
    tmp_path: Path,
    pulled: list[str],
    slow_registry: SlowProxy,
    configuration: str | None,
    at_once: int,
    warning: str,
) -> None:
    text = "".join(POD.format(number=number, image=image) for number, image in enumerate(pulled))
    words: tuple[str, ...] = ()
    if configuration is not None:
        (tmp_path / "kubelet.yaml").write_text(configuration)
        words = ("--config", str(tmp_path / "kubelet.yaml"))
    outcome = run(tmp_path, write_pod(tmp_path, "pods", text), *words)
    assert outcome.status == 0, outcome.err
    assert warning in outcome.err
    spent = seconds_by_number(slow_registry)
    assert max(spent) == at_once, "the bound is reached and never passed"
