"""What depends on the engine's machine and on an image's lists: AppArmor, groups, seccomp profiles of the node."""

from __future__ import annotations

import io
import json
import secrets
import tarfile
from typing import TYPE_CHECKING

import images
import pytest
from command_line import containers_of, run, write_pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

CONTEXT = {
    "Dockerfile": f"FROM {images.BUSYBOX}\nCOPY passwd group /etc/\nUSER app\n",
    "passwd": "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001::/:/bin/sh\n",
    "group": "root:x:0:\napp:x:1001:\nstaff:x:50000:app\n",
}
GROUPS = """\
apiVersion: v1
kind: Pod
metadata: {name: groups}
spec:
  restartPolicy: Never
  securityContext: {fsGroup: 2000, supplementalGroups: [4000]POLICY}
  containers:
  - {name: user, image: IMAGE, command: [id, -G], securityContext: {runAsUser: 1000}}
  - {name: both, image: IMAGE, command: [id, -G], securityContext: {runAsUser: 1000, runAsGroup: 3000}}
  - {name: group, image: IMAGE, command: [id, -G], securityContext: {runAsGroup: 3000}}
  - {name: other, image: IMAGE, command: [id, -G], securityContext: {runAsUser: 7}}
  - {name: image, image: IMAGE, command: [id, -G]}
"""
MERGED = {
    "user": "1001 2000 4000 50000",
    "both": "3000 2000 4000 50000",
    "group": "3000 2000 4000 50000",
    "other": "0 2000 4000",
    "image": "1001 2000 4000 50000",
}
STRICT = {
    "user": "1001 2000 4000",
    "both": "3000 2000 4000",
    "group": "3000 2000 4000",
    "other": "0 2000 4000",
    "image": "1001 2000 4000",
}


@pytest.fixture
def image_of_app(engine: APIClient) -> Iterator[str]:
    """Give an image whose user app is a member of a group."""
    name = f"{images.REPOSITORY}/test-{secrets.token_hex(4)}:1"
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for path, text in CONTEXT.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    context.seek(0)
    for step in engine.build(fileobj=context, custom_context=True, tag=name, rm=True, decode=True):
        assert "error" not in step, step
    yield name
    engine.remove_image(name)


@pytest.mark.parametrize(("policy", "expected"), [("", MERGED), (", supplementalGroupsPolicy: Strict", STRICT)])
def test_groups_are_those_that_the_policy_asks_for(
    engine: APIClient, tmp_path: Path, image_of_app: str, policy: str, expected: dict[str, str]
) -> None:
    text = GROUPS.replace("IMAGE", image_of_app).replace("POLICY", policy)
    outcome = run(tmp_path, write_pod(tmp_path, "groups", text), "--pull", "never")
    assert outcome.status == 0, outcome.err
    seen = {name: outcome.lines(name)[0].split() for name in expected}
    assert {name: (groups[0], set(groups)) for name, groups in seen.items()} == {
        name: (groups.split()[0], set(groups.split())) for name, groups in expected.items()
    }
    assert "warning" not in outcome.err
    assert containers_of(engine, "groups") == []


ARMOURED = """\
apiVersion: v1
kind: Pod
metadata: {name: armoured}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: IMAGE, command: [echo, ran], securityContext: {appArmorProfile: {type: RuntimeDefault}}}
"""


def test_app_armor_is_asked_of_the_engines_machine(engine: APIClient, tmp_path: Path) -> None:
    manifest = write_pod(tmp_path, "armoured", ARMOURED.replace("IMAGE", images.BUSYBOX))
    outcome = run(tmp_path, manifest, "--pull", "missing")
    if "name=apparmor" in engine.info()["SecurityOptions"]:
        assert (outcome.status, outcome.lines("main")) == (0, ["ran"])
    else:
        refused = 'some pod event(AppArmor,"Cannot enforce AppArmor: AppArmor is not enabled on the host")'
        assert outcome.status == 1
        assert outcome.failures([refused, "phase == Failed", "never main started"]) == []


CONFINED = """\
apiVersion: v1
kind: Pod
metadata: {name: confined}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: IMAGE
    command: [sh, -c, "mkdir /made || echo refused; echo on"]
    securityContext: {seccompProfile: {type: Localhost, localhostProfile: own/no-mkdir.json}}
"""
NO_MKDIR = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}],
}


def test_a_seccomp_profile_is_found_in_the_folder_that_is_named(engine: APIClient, tmp_path: Path) -> None:
    (tmp_path / "profiles" / "own").mkdir(parents=True)
    (tmp_path / "profiles" / "own" / "no-mkdir.json").write_text(json.dumps(NO_MKDIR))
    manifest = write_pod(tmp_path, "confined", CONFINED.replace("IMAGE", images.BUSYBOX))
    outcome = run(tmp_path, manifest, "--pull", "missing", "--seccomp-profile-root", str(tmp_path / "profiles"))
    assert outcome.status == 0, outcome.err
    assert {"refused", "on"} <= set(outcome.lines("main"))
    assert "seccompProfile" not in outcome.err
    assert containers_of(engine, "confined") == []
