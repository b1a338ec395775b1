"""Credentials of pulls on a real engine: which are used, and that nothing that is written shows them."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from typing import TYPE_CHECKING

import images
import pytest
from attrs import frozen
from command_line import LIMIT_SECONDS, run, write_pod
from faulty_registry import FaultyRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient
    from registry import Registry

pytestmark = pytest.mark.docker

USER, PASSWORD, WRONG = "canary-user", "canary-3f1a-password", "canary-9c2e-password"
MANIFEST = """\
---
apiVersion: v1
kind: Secret
metadata: {{name: {name}}}
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{content}'
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  restartPolicy: Never
  imagePullSecrets: {secrets}
  containers:
  - name: main
    image: {image}
    command: [echo, up]
"""


@frozen
class Private:
    """An image behind a password."""

    proxy: FaultyRegistry
    image: str

    def secret(self, name: str, password: str) -> str:
        entry = {"username": USER, "password": password}
        return MANIFEST.format(name=name, content=json.dumps({"auths": {self.proxy.address: entry}}))

    def pod(self, name: str, *secret_names: str) -> str:
        names = json.dumps([{"name": secret} for secret in secret_names])
        return POD.format(name=name, secrets=names, image=self.image)

    def canaries(self) -> tuple[str, ...]:
        return (PASSWORD, WRONG, self.proxy.encoded_credentials)


@pytest.fixture
def private(engine: APIClient, registry: Registry) -> Iterator[Private]:
    with FaultyRegistry(registry.port, credentials=f"{USER}:{PASSWORD}") as proxy:
        pushed = f"{registry.address}/kemu/test-{secrets.token_hex(4)}:1"
        images.make_image(engine, pushed, extra={"etc/mark": secrets.token_bytes(8)})
        for message in engine.push(pushed, stream=True, decode=True):
            assert "error" not in message, message
        engine.remove_image(pushed)
        image = pushed.replace(registry.address, proxy.address)
        yield Private(proxy, image)
        if engine.images(name=image):
            engine.remove_image(image, force=True)


@pytest.mark.usefixtures("kept_alone")
def test_nothing_that_is_written_shows_a_credential(tmp_path: Path, engine: APIClient, private: Private) -> None:
    text = (
        private.secret("good", PASSWORD)
        + private.secret("bad", WRONG)
        + private.pod("right", "bad", "good")
        + private.pod("wrong", "bad")
    )
    log, root = tmp_path / "run.log", tmp_path / "root"
    command = [sys.executable, "-m", "kubelet_emu", "run", str(write_pod(tmp_path, "pods", text)), "--keep"]
    command += ["--log", str(log), "--log-values", "--trace", str(tmp_path / "trace"), "-o", "json", "--timeout", "6"]
    done = subprocess.run([*command, "--root-dir", str(root)], capture_output=True, check=False, timeout=60)
    try:
        instance = json.loads(log.read_text().splitlines()[0])["instance"]
        kept = engine.containers(all=True, filters={"label": f"kubelet-emu/instance={instance}"})
        assert any("k8s_main_right" in name for container in kept for name in container["Names"])
        inspected = json.dumps([engine.inspect_container(container["Id"]) for container in kept])
        files = [
            path.read_text(errors="replace")
            for path in tmp_path.rglob("*")
            if path.name != "pods.yaml" and path.is_file()
        ]
        written = "\n".join([done.stdout.decode(), done.stderr.decode(), inspected, *files])
    finally:
        prune = [sys.executable, "-m", "kubelet_emu", "prune", "--root-dir", str(root)]
        subprocess.run(prune, capture_output=True, check=False, timeout=60)
    assert "authorization failed" in written, "the wrong password was tried"
    assert "Successfully pulled image" in written
    assert [canary for canary in private.canaries() if canary in written] == []


def test_an_image_pulled_with_a_secret_is_not_for_a_pod_without(tmp_path: Path, private: Private) -> None:
    stranger = private.pod("stranger").replace("command: [echo, up]", "command: [echo, stolen]")
    late = stranger.replace(
        "  containers:",
        "  initContainers: [{name: first, image: 127.0.0.1:5000/kemu/busybox:1, command: [sleep, '3']}]\n  containers:",
    )
    text = private.secret("good", PASSWORD) + private.pod("owner", "good") + late
    outcome = run(tmp_path, write_pod(tmp_path, "pods", text), "--timeout", "6")
    assert outcome.lines("main") == ["up"]
    told = [
        str(r.get("message")) for r in outcome.records if r.get("pod") == "stranger" and r.get("reason") == "Failed"
    ]
    assert any("authorization failed: no basic auth credentials" in message for message in told)


@pytest.mark.parametrize("has_helper", [True, False], ids=["a helper", "the file itself"])
def test_the_users_own_docker_config_is_used(tmp_path: Path, private: Private, *, has_helper: bool) -> None:
    folder = tmp_path / "docker"
    folder.mkdir()
    helper = folder / "docker-credential-kemu"
    helper.write_text(f"""#!/bin/sh\necho '{{"Username": "{USER}", "Secret": "{PASSWORD}"}}'\n""")
    helper.chmod(0o755)
    held = {"auths": {private.proxy.address: {"auth": private.proxy.encoded_credentials}}}
    config = {"credHelpers": {private.proxy.address: "kemu"}} if has_helper else held
    (folder / "config.json").write_text(json.dumps(config))
    environment = {"DOCKER_CONFIG": str(folder), "PATH": f"{folder}:/usr/bin:/bin"}
    log = tmp_path / "run.log"
    outcome = run(tmp_path, write_pod(tmp_path, "pods", private.pod("own")), "--log", str(log), environment=environment)
    assert outcome.lines("main") == ["up"], outcome.err
    written = outcome.out + outcome.err + log.read_text()
    assert [canary for canary in private.canaries() if canary in written] == []


def test_scenarios_use_the_users_own_docker_config_too(tmp_path: Path, private: Private) -> None:
    folder = tmp_path / "docker"
    folder.mkdir()
    held = {"auths": {private.proxy.address: {"auth": private.proxy.encoded_credentials}}}
    (folder / "config.json").write_text(json.dumps(held))
    (tmp_path / "scenario.yaml").write_text("end: pod terminal\nexpect: [some main exited(0)]\n")
    write_pod(tmp_path, "manifest", private.pod("own"))
    words = ["test", str(tmp_path), "--runtime", "docker", "--root-dir", str(tmp_path / "root")]
    done = subprocess.run(
        [sys.executable, "-m", "kubelet_emu", *words, "--trace-dir", str(tmp_path / "traces")],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
        env={**os.environ, "DOCKER_CONFIG": str(folder)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    traces = "".join(path.read_text() for path in (tmp_path / "traces").iterdir())
    assert [canary for canary in private.canaries() if canary in done.stdout + done.stderr + traces] == []


def test_a_secret_that_is_not_there_is_told_and_the_pull_tried(tmp_path: Path, private: Private) -> None:
    outcome = run(tmp_path, write_pod(tmp_path, "pods", private.pod("p", "gone", "away")), "--timeout", "4")
    told = [r["message"] for r in outcome.records if r.get("reason") == "FailedToRetrieveImagePullSecret"]
    assert told[0] == (
        "Unable to retrieve some image pull secrets (gone, away); attempting to pull the image may not succeed."
    )
    assert "authorization failed: no basic auth credentials" in outcome.err
