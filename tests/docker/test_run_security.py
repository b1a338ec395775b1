"""Who a container runs as and what it may do, through the command, on a real engine with images of every kind."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

import images
import pytest
from command_line import run, write_pod
from docker.errors import APIError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from command_line import Outcome
    from docker import APIClient

pytestmark = pytest.mark.docker

USERS = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001::/home/app:/bin/sh\n",
    "etc/group": b"root:x:0:\napp:x:1001:\nvideo:x:44:app\naudio:x:29:app,root\n",
}
IMAGE_USERS = {
    "none": "",
    "name": "app",
    "names": "app:audio",
    "zero": "0",
    "both": "1000:1000",
    "number": "1000",
    "big": "2147483648",
    "absent": "ghost",
}


@pytest.fixture(scope="module")
def by_user(engine: APIClient) -> Iterator[Mapping[str, str]]:
    """Give images of one system that name different users."""
    stem = f"{images.REPOSITORY}/user-{secrets.token_hex(4)}"
    names = {key: f"{stem}-{key}:1" for key in IMAGE_USERS}
    for key, user in IMAGE_USERS.items():
        images.make_image(engine, names[key], extra=USERS, changes=(f"USER {user}",) if user else ())
    yield names
    for name in names.values():
        engine.remove_image(name)


def a_pod(containers: Mapping[str, tuple[str, str, str]], spec: str = "") -> str:
    """Return a pod: of each container image, command and security context."""
    lines = (
        f"  - name: {name}\n    image: {image}\n    securityContext: {{{context}}}\n"
        f"    command: {json.dumps(['sh', '-c', script])}\n"
        for name, (image, script, context) in containers.items()
    )
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n"
    return f"{head}{spec}  containers:\n{''.join(lines)}"


def run_pod(folder: Path, text: str, *words: str) -> Outcome:
    """Run a pod to its end, with images that the engine has."""
    return run(folder, write_pod(folder, "p", text), "--pull", "never", "--grace-period", "0", *words)


def lines_of(outcome: Outcome, containers: Mapping[str, object]) -> dict[str, list[str]]:
    return {name: outcome.lines(name) for name in containers}


def test_root_is_refused_by_what_pod_and_image_say(by_user: Mapping[str, str], tmp_path: Path) -> None:
    show = "id -u"
    containers = {key: (image, show, "") for key, image in by_user.items()}
    containers |= {
        "told-root": (by_user["number"], show, "runAsUser: 0"),
        "told": (by_user["name"], show, "runAsUser: 7"),
        "free": (by_user["none"], show, "runAsNonRoot: false"),
    }
    text = a_pod(containers, "  securityContext: {runAsNonRoot: true}\n")
    outcome = run_pod(tmp_path, text, "--delete-when", "free exited+1")
    assert {name: lines for name, lines in lines_of(outcome, containers).items() if lines} == {
        "both": ["1000"],
        "number": ["1000"],
        "told": ["7"],
        "free": ["0"],
    }
    refused = "container has runAsNonRoot and image"
    name = "has non-numeric user ({}), cannot verify user is non-root"
    expected = {
        "none": f"{refused} will run as root",
        "zero": f"{refused} will run as root",
        "name": f"{refused} {name.format('app')}",
        "names": f"{refused} {name.format('app')}",
        "absent": f"{refused} {name.format('ghost')}",
        "big": f"{refused} has an invalid user id (2147483648). (Must be 1-(2147483647)): "
        "must be between 0 and 2147483647, inclusive",
        "told-root": "container's runAsUser breaks non-root policy",
    }
    for container, why in expected.items():
        assert f'ended  {container} never started: CreateContainerConfigError: {why} (pod: "p_default(' in outcome.err


IDS = "id -u; id -g; id -G | tr ' ' '\\n' | sort -n | uniq | tr '\\n' ' '; echo; echo $HOME"
GROUPS = "  securityContext: {{fsGroup: 2345, supplementalGroups: [44, 7777]{}}}\n"


def ids(user: int, group: int, groups: str, home: str) -> list[str]:
    return [str(user), str(group), f"{groups} ", home]


def users_of(log: Path) -> dict[str, list[str]]:
    """Return who the statuses say that the containers ran as, in the form of `ids`."""
    found: dict[str, list[str]] = {}
    for line in log.read_text().splitlines():
        for status in json.loads(line).get("status", {}).get("containerStatuses", ()):
            if linux := status.get("user", {}).get("linux"):
                groups = " ".join(map(str, sorted(linux["supplementalGroups"])))
                found[status["name"]] = ids(linux.get("uid", 0), linux.get("gid", 0), groups, "")[:3]
    return found


def test_users_have_their_own_groups_and_those_of_the_image(by_user: Mapping[str, str], tmp_path: Path) -> None:
    containers = {
        "nobody": (by_user["none"], IDS, ""),
        "listed": (by_user["none"], IDS, "runAsUser: 1000"),
        "unlisted": (by_user["none"], IDS, "runAsUser: 4321"),
        "group": (by_user["none"], IDS, "runAsUser: 1000, runAsGroup: 3003"),
        "only-group": (by_user["name"], IDS, "runAsGroup: 3003"),
        "roots-group": (by_user["none"], IDS, "runAsGroup: 3003"),
        "name": (by_user["name"], IDS, ""),
        "names": (by_user["names"], IDS, ""),
        "both": (by_user["both"], IDS, ""),
        "absent": (by_user["absent"], IDS, ""),
        "last": (by_user["none"], IDS, "runAsUser: 2147483647, runAsGroup: 2147483647"),
    }
    outcome = run_pod(tmp_path, a_pod(containers, GROUPS.format("")), "--log", str(tmp_path / "log"))
    assert users_of(tmp_path / "log") == {
        name: lines[:3] for name, lines in lines_of(outcome, containers).items() if name != "absent"
    }
    assert lines_of(outcome, containers) == {
        "nobody": ids(0, 0, "0 29 44 2345 7777", "/root"),
        "listed": ids(1000, 1001, "29 44 1001 2345 7777", "/home/app"),
        "unlisted": ids(4321, 0, "0 44 2345 7777", "/"),
        "group": ids(1000, 3003, "29 44 2345 3003 7777", "/home/app"),
        "only-group": ids(1000, 3003, "29 44 2345 3003 7777", "/home/app"),
        "roots-group": ids(0, 3003, "29 44 2345 3003 7777", "/root"),
        "name": ids(1000, 1001, "29 44 1001 2345 7777", "/home/app"),
        "names": ids(1000, 29, "29 44 2345 7777", "/home/app"),
        "both": ids(1000, 1000, "29 44 1000 2345 7777", "/home/app"),
        "absent": [],
        "last": ids(2147483647, 2147483647, "44 2345 7777 2147483647", "/"),
    }
    assert "absent could not be started: failed to create containerd task: unable to find user ghost" in outcome.err


def test_strict_groups_are_those_of_the_pod_alone(by_user: Mapping[str, str], tmp_path: Path) -> None:
    containers = {
        "nobody": (by_user["none"], IDS, ""),
        "listed": (by_user["none"], IDS, "runAsUser: 1000"),
        "group": (by_user["none"], IDS, "runAsUser: 1000, runAsGroup: 3003"),
        "only-group": (by_user["name"], IDS, "runAsGroup: 3003"),
        "name": (by_user["name"], IDS, ""),
        "names": (by_user["names"], IDS, ""),
    }
    spec = GROUPS.format(", supplementalGroupsPolicy: Strict")
    outcome = run_pod(tmp_path, a_pod(containers, spec), "--log", str(tmp_path / "log"))
    assert users_of(tmp_path / "log") == {name: lines[:3] for name, lines in lines_of(outcome, containers).items()}
    assert "warning" not in outcome.err
    assert lines_of(outcome, containers) == {
        "nobody": ids(0, 0, "0 44 2345 7777", "/root"),
        "listed": ids(1000, 1001, "44 1001 2345 7777", "/home/app"),
        "group": ids(1000, 3003, "44 2345 3003 7777", "/home/app"),
        "only-group": ids(1000, 3003, "44 2345 3003 7777", "/home/app"),
        "name": ids(1000, 1001, "44 1001 2345 7777", "/home/app"),
        "names": ids(1000, 29, "29 44 2345 7777", "/home/app"),
    }


RIGHTS = "sed -n 's/^CapEff:.0*//p; s/^CapBnd:.0*//p; s/^NoNewPrivs:.//p; s/^Seccomp:.//p' /proc/self/status | xargs"
USUAL, CHOWN, SYS_PTRACE = 0xA80425FB, 1, 1 << 19


def test_rights_are_exactly_those_that_are_asked_for(tmp_path: Path) -> None:
    contexts = {
        "usual": "",
        "none": "capabilities: {drop: [ALL]}",
        "one": "capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}",
        "small": "capabilities: {drop: [all], add: [chown]}",
        "gone": "capabilities: {drop: [CHOWN], add: [CHOWN]}",
        "nothing-left": "capabilities: {add: [ALL], drop: [ALL]}",
        "prefixed": "capabilities: {drop: [CAP_CHOWN], add: [CAP_SYS_PTRACE, NO_SUCH]}",
        "fixed": "allowPrivilegeEscalation: false, capabilities: {add: [SYS_PTRACE]}",
        "user": "runAsUser: 7, capabilities: {add: [SYS_PTRACE]}",
        "filtered": "seccompProfile: {type: RuntimeDefault}",
        "free": "seccompProfile: {type: Unconfined}",
    }
    containers = {name: (images.BUSYBOX, RIGHTS, context) for name, context in contexts.items()}
    outcome = run_pod(tmp_path, a_pod(containers), "--allow-privileged")

    def rights(effective: int, bounding: int | None = None, *, fixed: int = 0, filtered: int = 0) -> list[str]:
        """Return what a program sees: two sets, whether it can't get more by a file, and its mode of seccomp."""
        first, second = (f"{each:x}" for each in (effective, effective if bounding is None else bounding))
        shown = " ".join(each for each in (first, second) if each != "0")
        return [f"{shown} {fixed} {filtered}".strip()]

    assert lines_of(outcome, containers) == {
        "usual": rights(USUAL),
        "none": rights(0),
        "one": rights(1 << 10),
        "small": rights(CHOWN),
        "gone": rights(USUAL & ~CHOWN),
        "nothing-left": rights(0),
        "prefixed": rights(USUAL),
        "fixed": rights(USUAL | SYS_PTRACE, fixed=1),
        "user": rights(0, USUAL | SYS_PTRACE),
        "filtered": rights(USUAL, filtered=2),
        "free": rights(USUAL),
    }


PRIVILEGED = "sed -n 's/^CapEff:.0*//p; s/^Seccomp:.//p' /proc/self/status; ls /dev | grep -c .; touch /sys/x 2>&1"


def test_a_privileged_container_has_all_or_says_what_the_machine_lacks(engine: APIClient, tmp_path: Path) -> None:
    containers = {
        "plain": (images.BUSYBOX, PRIVILEGED, ""),
        "privileged": (images.BUSYBOX, PRIVILEGED, "privileged: true, capabilities: {drop: [ALL]}"),
        "all": (images.BUSYBOX, PRIVILEGED, "capabilities: {add: [ALL]}"),
    }
    outcome = run_pod(tmp_path, a_pod(containers), "--allow-privileged")
    shown = lines_of(outcome, containers)
    assert shown["plain"][:2] == [f"{USUAL:x}", "0"]
    assert "Read-only file system" in shown["plain"][3]
    if has_every_right(engine):
        assert shown["privileged"][0] == shown["all"][0] == f"{(1 << 41) - 1:x}"
        assert int(shown["privileged"][2]) > int(shown["plain"][2]) == int(shown["all"][2])
        assert "Read-only" not in shown["privileged"][3]
    else:
        assert shown["privileged"] == shown["all"] == []
        for name in ("privileged", "all"):
            assert f"{name} could not be started: failed to create containerd task: " in outcome.err


def has_every_right(engine: APIClient) -> bool:
    """Tell whether the engine can give all capabilities: within a container it may lack some itself."""
    created = engine.create_container(images.BUSYBOX, ["true"], host_config=engine.create_host_config(privileged=True))
    try:
        engine.start(created)
    except APIError:
        return False
    finally:
        engine.remove_container(created, force=True)
    return True
