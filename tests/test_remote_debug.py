"""`debug` of a second terminal: the container that is added, what is said, what is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import trio
from click.testing import CliRunner
from control_rig import FACTS, POD, ControlRig, a_run

from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.attaching import NO_PROMPT, RECORDED
from kubelet_emu.cli.remote.debugging import DebugRequest, debug_in
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.control.errors import ControlError

if TYPE_CHECKING:
    from trio.testing import MockClock

REFUSED = [
    ("no image", [], "you must specify --image"),
    ("no image name", ["--image", "A b"], 'invalid image name "A b": invalid reference format'),
    ("a terminal alone", ["--image", "b", "-t"], "-i/--stdin is required for containers with -t/--tty=true"),
]


@pytest.mark.parametrize(("why", "words", "text"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_can_not_be_is_refused(why: str, words: list[str], text: str) -> None:
    result = CliRunner().invoke(main, ["debug", "web", *words])
    assert (result.exit_code, result.output) == (1, f"error: {text}\n"), why


def asked(**more: Any) -> DebugRequest:  # noqa: ANN401 - fields of all types
    return DebugRequest(**{"pod": "web", "image": "busybox", "command": ("sh", "-c", "echo seen; exit 3"), **more})


async def debugged(rig: ControlRig, request: DebugRequest) -> None:
    await debug_in(LiveView(rig.client, FACTS, rig.connect), "default", request)


def spec_of(rig: ControlRig) -> Any:  # noqa: ANN401 - a pod's
    pod = rig.node.cluster.api.get("Pod", "default", "web")
    assert pod is not None
    return pod


async def test_an_ephemeral_container_is_added_and_run(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_run() as rig:
        await rig.running(POD)
        capsys.readouterr()
        await debugged(rig, asked(target="app", has_stdin=True, wants_tty=True, pull_policy="Never"))
        out = capsys.readouterr().out
        await trio.sleep(5)
        pod = spec_of(rig)
        (because,) = [line for line in rig.node.log_lines() if "kubelet-emu debug" in line]
    (container,) = pod.spec.ephemeral_containers
    assert out == (
        'Targeting container "app". If you don\'t see processes from this container it may be because the container '
        f"runtime doesn't support this feature.\nDefaulting debug container name to {container.name}.\n"
    )
    assert re.fullmatch(r"debugger-[bcdfghjklmnpqrstvwxz2-9]{5}", container.name)
    told = (container.image, container.image_pull_policy, container.target_container_name)
    assert told == ("busybox", "Never", "app")
    assert (container.stdin, container.tty, container.command[0]) == (True, True, "sh")
    assert f"debug with {container.image}" in because
    (status,) = pod.status.ephemeral_container_statuses
    assert status.state.terminated.exit_code == 3
    assert status.restart_count == 0


async def test_words_may_be_arguments_and_nothing_need_be_said(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_run() as rig:
        await rig.running(POD)
        capsys.readouterr()
        await debugged(rig, asked(command=("x",), are_arguments=True, target="app", is_quiet=True))
        pod = spec_of(rig)
    (container,) = pod.spec.ephemeral_containers
    assert (container.command, container.args, container.stdin) == ((), ("x",), None)
    assert capsys.readouterr().out == ""


async def test_who_attaches_sees_what_it_writes(autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]) -> None:
    async with a_run() as rig:
        await rig.running(POD)
        capsys.readouterr()
        await debugged(rig, asked(container="slow", attaches=True, command=("sh", "-c", "sleep 5; echo seen")))
        shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("seen\n", f"{RECORDED}\n{NO_PROMPT}\n")


async def test_the_log_of_one_that_has_ended_already_is_shown(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_run() as rig:
        await rig.running(POD)
        capsys.readouterr()
        await debugged(rig, asked(container="fast", attaches=True))
        assert capsys.readouterr().out.splitlines()[-1] == "seen"


async def test_a_name_that_is_taken_and_a_pod_that_there_is_not_are_refused(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running(POD)
        with pytest.raises(ControlError, match="Duplicate value"):
            await debugged(rig, asked(container="app"))
        with pytest.raises(ControlError, match='pods "other" not found'):
            await debugged(rig, asked(pod="other"))
