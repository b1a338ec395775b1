"""Runs whose images come from a stand-in: by an option, by a folder of hosts files, by one file."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from typing import TYPE_CHECKING

import images
import pytest
from command_line import LIMIT_SECONDS, run, write_pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient
    from registry import Registry

pytestmark = pytest.mark.docker

HOST = "kemu.invalid"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: far}}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: {image}
    command: [echo, up]
"""
HOSTS = """\
server = "https://{host}"
[host."http://{mirror}/v2/kemu"]
  capabilities = ["pull", "resolve"]
  override_path = true
"""


@pytest.fixture
def name(engine: APIClient, registry: Registry) -> Iterator[str]:
    """Give the last part of an image's name in the registry, below kemu/; the engine doesn't have it."""
    last = f"test-{secrets.token_hex(4)}:1"
    pushed = f"{registry.address}/kemu/{last}"
    images.make_image(engine, pushed, extra={"etc/mark": secrets.token_bytes(8)})
    for message in engine.push(pushed, stream=True, decode=True):
        assert "error" not in message, message
    engine.remove_image(pushed)
    yield last
    if engine.images(name=pushed):
        engine.remove_image(pushed, force=True)


@pytest.mark.parametrize("way", ["an option", "a folder", "one file"])
def test_an_image_of_a_mirror_is_told_by_the_manifests_name(
    tmp_path: Path, engine: APIClient, registry: Registry, name: str, way: str
) -> None:
    folder = tmp_path / "certs.d"
    (folder / HOST).mkdir(parents=True)
    (folder / HOST / "hosts.toml").write_text(HOSTS.format(host=HOST, mirror=registry.address))
    words = {
        "an option": ("--registry-mirror", f"{HOST}={registry.address}/kemu"),
        "a folder": ("--registry-hosts", str(folder)),
        "one file": ("--registry-hosts", str(folder / HOST / "hosts.toml")),
    }[way]
    log = tmp_path / "run.log"
    outcome = run(tmp_path, write_pod(tmp_path, "pod", POD.format(image=f"{HOST}/{name}")), *words, "--log", str(log))
    assert outcome.lines("main") == ["up"], outcome.err
    records = [json.loads(line) for line in log.read_text().splitlines()]
    notes = [record["text"] for record in records if record["kind"] == "note"]
    assert f"image {HOST}/{name} was pulled from {registry.address}/kemu/{name}" in notes
    statuses = [record["status"] for record in records if record["kind"] == "status"]
    [shown] = statuses[-1]["containerStatuses"]
    assert shown["image"] == f"{HOST}/{name}"
    assert shown["imageID"].startswith(f"{HOST}/{name.removesuffix(':1')}@sha256:")
    assert [tag for tag in images_named(engine, name) if not tag.startswith(registry.address)] == []


SCENARIO = """\
end: pod terminal
expect:
- some main exited(0)
"""


@pytest.mark.parametrize("way", ["test", "drill", "record", "python"])
def test_every_way_to_run_a_pod_finds_its_image_at_a_mirror(
    tmp_path: Path, engine: APIClient, registry: Registry, name: str, way: str
) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(HOSTS.format(host=HOST, mirror=registry.address) + "skip_verify = true\n")
    manifest = write_pod(tmp_path, "manifest", POD.format(image=f"{HOST}/{name}"))
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    program = "import kubelet_emu as k, sys; [log] = k.run(sys.argv[1], runtime='docker', registry_hosts=sys.argv[3])"
    words = {
        "test": ("-m", "kubelet_emu", "test", str(tmp_path), "--runtime", "docker"),
        "drill": ("-m", "kubelet_emu", "drill", str(manifest), "--runtime", "docker", "-k", "undisturbed"),
        "record": ("-m", "kubelet_emu", "record", str(manifest)),
        "python": ("-c", program, str(manifest)),
    }[way]
    done = subprocess.run(
        [sys.executable, *words, "--registry-hosts", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    assert done.returncode == (2 if way == "drill" else 0), done.stdout + done.stderr
    assert images_named(engine, name) == [f"{registry.address}/kemu/{name}"]
    assert way == "python" or "skip_verify: how a registry is spoken to" in done.stderr


def images_named(engine: APIClient, name: str) -> list[str]:
    """Return every name that ends so and that the engine knows."""
    return [tag for image in engine.images() for tag in image["RepoTags"] or () if tag.endswith(name)]


def test_a_hosts_file_that_cannot_be_followed_starts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(HOSTS.format(host=HOST, mirror="user:canary-pw@m.io"))
    outcome = run(tmp_path, write_pod(tmp_path, "pod", POD.format(image="x")), "--registry-hosts", str(file))
    assert outcome.status == 2
    assert "a user and a password have no place here" in outcome.err
    assert "canary-pw" not in outcome.err
