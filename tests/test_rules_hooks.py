"""What failed hooks say."""

from __future__ import annotations

import pytest

from kubelet_emu.api.v1_handlers import LifecycleHandler, TCPSocketAction
from kubelet_emu.rules.hooks import (
    exec_hook_error,
    exec_hook_failed,
    http_hook_failed,
    invalid_handler,
    no_networking_container,
    sleep_hook_failed,
)

POD = "p_ns(u)"


def test_a_command_that_failed() -> None:
    command = ("sh", "-c", "echo x; exit 3")
    error = exec_hook_error(command, 3, b"bad\n")
    assert exec_hook_failed(command, "a", POD, error, b"x\nbad\n") == (
        'Exec lifecycle hook ([sh -c echo x; exit 3]) for Container "a" in Pod "p_ns(u)" failed - error: '
        "command 'sh -c echo x; exit 3' exited with 3: bad\n"
        ', message: "x\\nbad\\n"'
    )


def test_a_request_that_failed() -> None:
    assert http_hook_failed("/x", "a", POD, "refused") == (
        'HTTP lifecycle hook (/x) for Container "a" in Pod "p_ns(u)" failed - error: refused'
    )


def test_a_sleep_that_was_cut() -> None:
    assert sleep_hook_failed(3, "a", POD) == (
        'Sleep lifecycle hook (3) for Container "a" in Pod "p_ns(u)" failed - error: '
        "container terminated before sleep hook finished"
    )


HANDLERS = [
    (LifecycleHandler(), "TCPSocket:nil"),
    (LifecycleHandler(tcp_socket=TCPSocketAction(port=80)), "TCPSocket:&TCPSocketAction{Port:{0 80 },Host:,}"),
    (
        LifecycleHandler(tcp_socket=TCPSocketAction(port="web", host="h")),
        "TCPSocket:&TCPSocketAction{Port:{1 0 web},Host:h,}",
    ),
]


@pytest.mark.parametrize(("handler", "text"), HANDLERS)
def test_handlers_that_the_kubelet_does_not_know(handler: LifecycleHandler, text: str) -> None:
    assert invalid_handler(handler) == (
        "Cannot run handler: invalid handler: &LifecycleHandler{Exec:nil,HTTPGet:nil," + text + ",Sleep:nil,}"
    )


def test_a_pod_without_address() -> None:
    assert no_networking_container(POD) == "failed to find networking container: p_ns(u)"
