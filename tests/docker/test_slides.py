"""The slides' manifests, unmodified, through a mirror of their registry.

The expectations are those of the same pods on a real node (kubelet v1.36, containerd 2.3).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import images
import pytest
from command_line import FIXTURES, image_names, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient
    from registry import Registry

pytestmark = pytest.mark.docker

NAME = "cgr.dev/chainguard/wolfi-base:latest"


@pytest.fixture(scope="module")
def mirror(engine: APIClient, registry: Registry) -> Iterator[str]:
    """Give the address of a registry that has the slides' image, which the engine has not."""
    name = f"{registry.address}/chainguard/wolfi-base:latest"
    images.make_image(engine, name, extra={"etc/mark": secrets.token_bytes(8)})
    for message in engine.push(name, stream=True, decode=True):
        assert "error" not in message, message
    engine.remove_image(name)
    yield registry.address
    if engine.images(name=name):
        engine.remove_image(name, force=True)


@pytest.mark.parametrize(
    ("slide", "words", "expectations"),
    [
        pytest.param(
            "slide-15-pod.yaml",
            ("--delete-when", "regular-1 started+5"),
            (
                "init-1 exited(0) < sidecar-1 started",
                "sidecar-1 started < init-2 started",
                "init-2 exited(0) < sidecar-2 started",
                "sidecar-2 started < regular-1 started",
                'regular-1 started < regular-1 line:"PostStart Executed"',
                "regular-1 exited < sidecar-2 sigterm",
                "sidecar-2 exited < sidecar-1 sigterm",
                'gap(sidecar-1 line:"PreStop Executed", sidecar-1 line:"PreStop Done") >= 4.9',
                'sidecar-1 line:"PreStop Done" < sidecar-1 line:"Terminated"',
                f"image(init-1) == {NAME}",
                f'some init-1 event(Pulled, "{NAME}")',
            ),
            id="15: sidecars between init containers, a preStop that the others wait for",
        ),
        pytest.param(
            "slide-17-pod.yaml",
            ("--delete-when", "sidecar-2 ready+3"),
            (
                'sidecar-1 started < sidecar-1 line:"StartupProbe Started"',
                'sidecar-1 line:"Ready" < sidecar-1 startup-probe-ok',
                "sidecar-1 startup-probe-ok < sidecar-2 started",
                "sidecar-2 started < regular-1 started",
                'regular-1 started < sidecar-2 line:"ReadinessProbe Started"',
            ),
            id="17: a startup probe gates, a readiness probe does not",
        ),
        pytest.param(
            "slide-19-job.yaml",
            (),
            (
                "init-1 exited(0) < sidecar-1 started",
                "sidecar-1 started < regular-1 started",
                "regular-1 exited(0) < sidecar-1 sigterm",
                'sidecar-1 line:"Terminated" < job condition(Complete=True)',
                "phase == Succeeded",
            ),
            id="19: a Job is complete though its sidecar would run for ever",
        ),
        pytest.param(
            "slide-12-deployment.yaml",
            ("--delete-when", "ready+1"),
            (
                "gap(pod terminating, nginx sigterm) >= 9.9",
                'nginx sigterm < nginx line:"Terminated"',
                "never nginx exited(137)",
            ),
            id="12: a preStop sleep of 10 s comes before TERM",
        ),
    ],
)
def test_a_slides_manifest_runs_unmodified(
    engine: APIClient,
    mirror: str,
    tmp_path: Path,
    slide: str,
    words: tuple[str, ...],
    expectations: tuple[str, ...],
) -> None:
    outcome = run(tmp_path, FIXTURES / "slides" / slide, "--registry-mirror", f"cgr.dev={mirror}", *words)
    assert outcome.status == 0, outcome.err
    assert outcome.failures(expectations) == []
    names = image_names(engine)
    assert f"{mirror}/chainguard/wolfi-base:latest" in names
    assert not any("cgr.dev" in name for name in names), "the engine keeps no name that the mirror stood in for"
