"""How programs with a node end: interrupted, cancelled, failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from click.testing import CliRunner

import kubelet_emu
from kubelet_emu.cli.main import main

if TYPE_CHECKING:
    from trio.testing import MockClock

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 7
  containers:
  - {name: main, image: busybox, command: [sh, -c, "trap 'echo bye; exit 0' TERM; while :; do sleep 1; done"]}
"""
IN_A_GROUP = BaseExceptionGroup("nursery", [KeyboardInterrupt()])
INTERRUPTS = {
    "by itself": KeyboardInterrupt(),
    "in a group": IN_A_GROUP,
    "deeper": BaseExceptionGroup("nursery", [IN_A_GROUP, KeyboardInterrupt()]),
}


@pytest.mark.parametrize("error", INTERRUPTS.values(), ids=INTERRUPTS.keys())
def test_an_interrupt_of_a_command_is_a_line_and_130(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_given: object) -> None:
        raise error

    monkeypatch.setattr("kubelet_emu.cli.verify.command.callback", interrupted)
    ran = CliRunner().invoke(main, ["verify", "log"])
    assert (ran.exit_code, ran.output) == (130, "interrupted\n")


async def test_a_node_that_is_cancelled_ends_at_once(autojump_clock: MockClock) -> None:
    began_at = trio.current_time()
    with trio.move_on_after(20):
        async with kubelet_emu.open_node() as node:
            await node.run(POD)
            await trio.sleep_forever()
    assert trio.current_time() == began_at + 20


async def test_a_node_ends_at_once_when_its_cluster_has_been_cancelled(autojump_clock: MockClock) -> None:
    began_at = trio.current_time()
    with trio.CancelScope() as scope:
        async with kubelet_emu.open_node() as node:
            await node.run(POD)
            await trio.sleep(20)
            scope.cancel()
    assert trio.current_time() == began_at + 20


async def test_a_body_that_fails_leaves_its_pods_a_second(autojump_clock: MockClock) -> None:
    pods = []

    async def program() -> None:
        async with kubelet_emu.open_node() as node:
            pods.append(await node.run(POD))
            await pods[0].wait_for("Ready")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await program()
    assert pods[0].log.lines("main") == ("bye",)
