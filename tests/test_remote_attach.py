"""`attach` and `exec` of a second terminal: which container is meant, what is said, which keys detach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio
from click.testing import CliRunner
from control_rig import FACTS, a_run
from remote_objects import BARE, JOB, SERVICE, Objects, a_pod

from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.attachable import Wanted, attachable_pod, container_of, name_of
from kubelet_emu.cli.remote.attaching import NO_PROMPT, RECORDED, AttachRequest, attach_to
from kubelet_emu.cli.remote.detaching import DetachKeys
from kubelet_emu.cli.remote.views import LiveView, get_pod
from kubelet_emu.cli.remote.words import Refusal

if TYPE_CHECKING:
    from trio.testing import MockClock

NOTED = f"{RECORDED}\n{NO_PROMPT}\n"

KEYS = [
    ("nothing of it", "ctrl-p,ctrl-q", [b"abc"], [(b"abc", False)]),
    ("all at once", "ctrl-p,ctrl-q", [b"ab\x10\x11c"], [(b"ab", True)]),
    ("key by key", "ctrl-p,ctrl-q", [b"\x10", b"\x11"], [(b"", False), (b"", True)]),
    ("a beginning that goes on otherwise", "ctrl-p,ctrl-q", [b"\x10", b"x"], [(b"", False), (b"\x10x", False)]),
    ("the beginning twice", "ctrl-p,ctrl-q", [b"\x10\x10", b"\x11"], [(b"\x10", False), (b"", True)]),
    ("the default", "", [b"\x10\x11"], [(b"", True)]),
    ("one sign", "~", [b"a~b"], [(b"a", True)]),
    ("the odd ones", "ctrl-@,CTRL-^,ctrl-\\,DEL", [b"\x00\x1e\x1c\x7f"], [(b"", True)]),
]


@pytest.mark.parametrize(("why", "keys", "typed", "expected"), KEYS, ids=[row[0] for row in KEYS])
def test_keys_detach(why: str, keys: str, typed: list[bytes], expected: list[tuple[bytes, bool]]) -> None:
    detach = DetachKeys.parse(keys)
    assert [detach.feed(data) for data in typed] == expected, why


@pytest.mark.parametrize("keys", ["ctrl-1", "ab", "ctrl-p,,", "ö"])
def test_keys_that_there_are_not_are_refused(keys: str) -> None:
    result = CliRunner().invoke(main, ["attach", "web", "--detach-keys", keys])
    assert (result.exit_code, result.output[:54]) == (1, "error: could not bind detach keys: unknown character: ")


READY = a_pod("ready", ready="30")
PENDING = a_pod("pending", phase="Pending")
CHOSEN = [
    ("a pod", "ready", [READY, PENDING], "ready"),
    ("a pod by its type", "po/pending", [READY, PENDING], "pending"),
    ("a Job's only pod, even if it doesn't run", "job/j", [PENDING, JOB], "pending"),
    ("the most active pod of a Service", "svc/s", [PENDING, a_pod("running"), READY, SERVICE], "ready"),
]


@pytest.mark.parametrize(("why", "word", "objects", "expected"), CHOSEN, ids=[row[0] for row in CHOSEN])
async def test_the_pod_that_is_meant_is_found(
    autojump_clock: MockClock, why: str, word: str, objects: list[dict[str, Any]], expected: str
) -> None:
    assert name_of(await attachable_pod(Objects(objects), "default", Wanted(resource=word))) == expected, why


async def test_a_jobs_first_pod_is_waited_for(autojump_clock: MockClock) -> None:
    view = Objects([JOB], later=[READY], at=50.0)
    assert name_of(await attachable_pod(view, "default", Wanted(resource="job/j"))) == "ready"
    with pytest.raises(Refusal, match="timed out waiting for the condition"):
        await attachable_pod(Objects([JOB]), "default", Wanted(resource="job/j", timeout=7.0))
    assert trio.current_time() == 57.0


REFUSED = [
    ("nodes/n", 'the server doesn\'t have a resource type "nodes"'),
    ("pod/a/b", "arguments in resource/name form must have a single resource and name: 'pod/a/b'"),
    ("cm/x", "cannot attach to *.ConfigMap: it has no pods"),
    ("svc/bare", "invalid service 'bare': it is defined without a selector"),
    ("deploy/x", 'from server (NotFound): deployments.apps "x" not found'),
]


@pytest.mark.parametrize(("word", "text"), REFUSED)
async def test_what_has_no_pod_is_refused(autojump_clock: MockClock, word: str, text: str) -> None:
    with pytest.raises(Refusal) as error:
        await attachable_pod(Objects([BARE]), "default", Wanted(resource=word))
    assert error.value.message == text


def annotated(name: str) -> dict[str, Any]:
    return {
        **READY,
        "metadata": {**READY["metadata"], "annotations": {"kubectl.kubernetes.io/default-container": name}},
    }


CONTAINERS = [
    ("the first", READY, Wanted(resource="ready"), "a", 'Defaulted container "a" out of: a, b, i (init)\n'),
    ("the first, quietly", READY, Wanted(resource="ready", is_quiet=True), "a", ""),
    ("one that is named", READY, Wanted(resource="ready", container="i"), "i", ""),
    ("the annotation's", annotated("b"), Wanted(resource="ready"), "b", ""),
    ("not the annotation's that there isn't", annotated("x"), Wanted(resource="ready", is_quiet=True), "a", ""),
]


@pytest.mark.parametrize(("why", "pod", "wanted", "name", "said"), CONTAINERS, ids=[row[0] for row in CONTAINERS])
def test_the_container_that_is_meant_is_found(
    capsys: pytest.CaptureFixture[str], why: str, pod: dict[str, Any], wanted: Wanted, name: str, said: str
) -> None:
    assert container_of(pod, wanted)["name"] == name, why
    assert capsys.readouterr().err == said


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: app, image: busybox, command: [sh, -c, "sleep 60; echo out; echo err >&2; exit 3"]}
  - {name: term, image: busybox, command: [sh, -c, "sleep 60; echo out; echo err >&2"], tty: true}
"""

SESSIONS = [
    ("a container", "app", {}, "out\n", f"{NOTED}err\n"),
    ("a terminal that there isn't", "app", {"wants_tty": True}, "out\n",
     f"error: Unable to use a TTY - container app did not allocate one\n{NOTED}err\n"),
    ("a container's terminal, which is none without an input", "term", {"wants_tty": True}, "out\r\nerr\r\n", NOTED),
]  # fmt: skip


@pytest.mark.parametrize(("why", "name", "given", "out", "err"), SESSIONS, ids=[row[0] for row in SESSIONS])
async def test_what_a_session_shows(  # noqa: PLR0913, PLR0917 - columns of the table
    autojump_clock: MockClock,
    capsys: pytest.CaptureFixture[str],
    why: str,
    name: str,
    given: dict[str, Any],
    out: str,
    err: str,
) -> None:
    async with a_run() as rig:
        await rig.running(POD)
        capsys.readouterr()
        view = LiveView(rig.client, FACTS, rig.connect)
        wanted = Wanted(resource="web", container=name)
        request = AttachRequest(wanted=wanted, detach_keys=DetachKeys.parse(""), **given)
        await attach_to(view, "default", await get_pod(view, "default", "web"), request)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (out, err), why


async def test_a_session_that_can_not_be_is_refused_as_kubectl_does(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = [
        ("other", "cannot attach to the container: container other not found in pod web"),
        ("app", "unable to upgrade connection: container app not found in pod web_default"),
    ]
    async with a_run() as rig:
        await rig.running(POD.replace("sleep 60; echo out; echo err >&2; exit 3", "sleep 1; exit 3"))
        await trio.sleep(5)
        view = LiveView(rig.client, FACTS, rig.connect)
        for name, text in refused:
            wanted = Wanted(resource="web", container=name, is_quiet=True)
            with pytest.raises(Refusal) as error:
                await attach_to(
                    view,
                    "default",
                    await get_pod(view, "default", "web"),
                    AttachRequest(wanted=wanted, detach_keys=DetachKeys.parse("")),
                )
            assert error.value.message == text
    assert capsys.readouterr().err == ""
