"""What a lifecycle hook that failed says of itself.

The text becomes the message of waiting reason PostStartHookError; events of hooks carry no details. Commands are used
as written: $(NAME) is not filled in. Source: kubelet v1.36 handlerRunner.Run (pkg/kubelet/lifecycle/handlers.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api import reasons
from kubelet_emu.api.gotext import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.quantity import IntOrString
    from kubelet_emu.api.v1_handlers import LifecycleHandler, TCPSocketAction


def exec_hook_error(command: Sequence[str], exit_code: int, stderr: bytes) -> str:
    """Return the error of a command that failed (kubelet v1.36 remoteRuntimeService.ExecSync)."""
    return f"command '{' '.join(command)}' exited with {exit_code}: {stderr.decode(errors='replace')}"


def exec_hook_failed(command: Sequence[str], container: str, pod: str, error: str, output: bytes) -> str:
    """Return what a failed exec hook says; `output` is stdout, then stderr.

    Source: kubelet v1.36 handlerRunner.Run.
    """
    hook = f"Exec lifecycle hook ([{' '.join(command)}])"
    text = reasons.hook_failed(hook, container, pod, error)
    return f"{text}, message: {quote(output.decode(errors='replace'))}"


def http_hook_failed(path: str, container: str, pod: str, error: str) -> str:
    """Return what a failed httpGet hook says (kubelet v1.36 handlerRunner.Run)."""
    return reasons.hook_failed(f"HTTP lifecycle hook ({path})", container, pod, error)


def sleep_hook_failed(seconds: int, container: str, pod: str) -> str:
    """Return what a sleep hook says that was cut short (kubelet v1.36 handlerRunner.runSleepHandler)."""
    return reasons.hook_failed(f"Sleep lifecycle hook ({seconds})", container, pod, reasons.SLEEP_HOOK_CUT)


def invalid_handler(handler: LifecycleHandler) -> str:
    """Return what a hook says whose handler the kubelet doesn't know: a tcpSocket, or none at all.

    Source: kubelet v1.36 handlerRunner.Run, and the generated LifecycleHandler.String.
    """
    socket = handler.tcp_socket
    text = "nil" if socket is None else f"&TCPSocketAction{{Port:{_port(socket)},Host:{socket.host or ''},}}"
    return f"Cannot run handler: invalid handler: &LifecycleHandler{{Exec:nil,HTTPGet:nil,TCPSocket:{text},Sleep:nil,}}"


def no_networking_container(pod: str) -> str:
    """Return the error of an httpGet hook when the pod has no address (kubelet v1.36 handlerRunner.runHTTPHandler)."""
    return f"failed to find networking container: {pod}"


def _port(socket: TCPSocketAction) -> str:
    port: IntOrString = socket.port or 0
    return f"{{1 0 {port}}}" if isinstance(port, str) else f"{{0 {port} }}"
