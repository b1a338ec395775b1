"""The command where the engine is not there, and where the way to the pods is blocked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import images
import pytest
from command_line import FIXTURES, run, write_pod

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

PROBED = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: probed}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: server
    image: {images.BUSYBOX}
    command: [sh, -c, "mkdir /www; echo page > /www/index.html; exec httpd -f -p 8080 -h /www"]
    readinessProbe:
      periodSeconds: 1
      httpGet: {{path: /index.html, port: 8080}}
"""


@pytest.mark.parametrize(
    ("environment", "reason", "hint"),
    [
        ({"DOCKER_HOST": "unix:///nonexistent"}, "No such file or directory", "is an engine running"),
        ({"DOCKER_HOST": "tcp://127.0.0.1:1"}, "Connection refused", "is an engine running"),
        (
            {"DOCKER_HOST": "carrier-pigeon://loft"},
            "it does not begin with unix://, tcp:// or ssh://",
            "valid are unix:///var/run/docker.sock",
        ),
        (
            {"DOCKER_HOST": "", "DOCKER_CONTEXT": "none-of-ours"},
            "docker context 'none-of-ours' (of DOCKER_CONTEXT) has no readable ",
            "contexts that there are: ",
        ),
    ],
    ids=["no socket", "nothing listens", "no such scheme", "no such context"],
)
def test_no_engine_is_one_line_and_exit_status_3(
    tmp_path: Path, environment: dict[str, str], reason: str, hint: str
) -> None:
    strict = {"PYTHONDEVMODE": "1", **environment}
    outcome = run(tmp_path, FIXTURES / "slides" / "slide-15-pod.yaml", environment=strict)
    assert outcome.status == 3
    first, *hints = outcome.err.splitlines()
    assert first.startswith("error: no container engine: ")
    assert reason in first
    assert [each.startswith(hint) for each in hints] == [True]
    assert outcome.records == ()


@pytest.mark.docker
@pytest.mark.parametrize("is_blocked", [False, True], ids=["straight", "the direct way blocked"])
def test_an_http_probe_reaches_its_pod(
    engine: APIClient,
    tmp_path: Path,
    is_blocked: bool,  # noqa: FBT001 - a table's column
) -> None:
    manifest = write_pod(tmp_path, "probed", PROBED)
    # a network of its own, without any route, leaves the engine's socket and takes away the pods' addresses
    prefix = ("unshare", "--net") if is_blocked else ()
    outcome = run(tmp_path, manifest, "--pull", "missing", "--delete-when", "ready", "--timeout", "20", prefix=prefix)
    assert outcome.status == 0, outcome.err
    assert ("connections go through a relay in each pod" in outcome.err) is is_blocked
    assert outcome.failures(["some pod ready"]) == []
