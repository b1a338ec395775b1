"""Lifecycle hooks: one handler run to its end.

There is no timeout here: whoever waits for a preStop hook stops waiting, and postStart is waited for as long as it
takes. Source: kubelet v1.36 handlerRunner (pkg/kubelet/lifecycle/handlers.go).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.labels import format_pod
from kubelet_emu.kubelet.http_client import HTTP_RESPONSE_TO_HTTPS, http_get
from kubelet_emu.kubelet.network import PodDialer
from kubelet_emu.rules.hooks import (
    exec_hook_error,
    exec_hook_failed,
    http_hook_failed,
    invalid_handler,
    no_networking_container,
    sleep_hook_failed,
)
from kubelet_emu.rules.http_request import (
    HTTPRequest,
    InvalidPortError,
    join_host_port,
    lifecycle_request,
    without_tls,
)
from runtime.api import CRIError

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_handlers import HTTPGetAction, LifecycleHandler
    from kubelet_emu.kubelet.network import Dial
    from kubelet_emu.kubelet.recorder import Recorder
    from runtime.api import ContainerID, Runtime, SandboxID


@frozen
class HookOutcome:
    """How a hook ended; `message` says why it failed."""

    ok: bool
    message: str = ""


OK = HookOutcome(ok=True)


async def run_handler(  # noqa: PLR0913 - what a handler needs to know
    runtime: Runtime,
    pod: Pod,
    container: AnyContainer,
    container_id: ContainerID,
    handler: LifecycleHandler,
    *,
    pod_ip: str,
    sandbox_id: SandboxID,
    recorder: Recorder,
) -> HookOutcome:
    """Run one handler and return how it ended; a CRIError of the runtime is a failed hook.

    `pod_ip` is empty while the pod has none. Cancellation gives an exec up, which then lives on in the container.
    Source: kubelet v1.36 handlerRunner.Run.
    """
    name, full_name = container.name, format_pod(pod)
    if handler.exec is not None:
        return await _exec(runtime, container_id, handler.exec.command, name, full_name)
    if handler.http_get is not None:
        dial = PodDialer(runtime, sandbox_id, pod_ip)
        error = await _http_get(handler.http_get, pod, container, pod_ip, dial, recorder)
        if not error:
            return OK
        return HookOutcome(ok=False, message=http_hook_failed(handler.http_get.path or "", name, full_name, error))
    if handler.sleep is not None:
        return await sleep_hook(handler.sleep.seconds, name, full_name, math.inf)
    return HookOutcome(ok=False, message=invalid_handler(handler))


async def sleep_hook(seconds: int, container: str, pod: str, deadline: float) -> HookOutcome:
    """Sleep, or fail at `deadline` (Trio time) when the container is stopped before.

    Source: kubelet v1.36 handlerRunner.runSleepHandler.
    """
    with trio.move_on_at(deadline):
        await trio.sleep(max(seconds, 0))
        return OK
    return HookOutcome(ok=False, message=sleep_hook_failed(seconds, container, pod))


async def _exec(
    runtime: Runtime, container_id: ContainerID, command: tuple[str, ...], container: str, pod: str
) -> HookOutcome:
    try:
        result = await runtime.exec_sync(container_id, command)
    except CRIError as error:
        return HookOutcome(ok=False, message=exec_hook_failed(command, container, pod, str(error), b""))
    if result.exit_code == 0:
        return OK
    error_text = exec_hook_error(command, result.exit_code, result.stderr)
    message = exec_hook_failed(command, container, pod, error_text, result.stdout + result.stderr)
    return HookOutcome(ok=False, message=message)


async def _http_get(
    action: HTTPGetAction, pod: Pod, container: AnyContainer, pod_ip: str, dial: Dial, recorder: Recorder
) -> str:
    """Send the request and return an error text: any response at all is a success."""
    if not action.host and not pod_ip:
        return no_networking_container(format_pod(pod))
    try:
        request = lifecycle_request(action, container, pod_ip)
    except InvalidPortError as error:
        return str(error)
    answer = await http_get(request, dial, math.inf)
    if answer.error.endswith(HTTP_RESPONSE_TO_HTTPS) and await _fall_back(request, dial):
        host = join_host_port(request.host, request.port)
        recorder.event(
            pod, None, reasons.WARNING, reasons.LIFECYCLE_HTTP_FALLBACK, reasons.lifecycle_http_fallback(host)
        )
        return ""
    return answer.error


async def _fall_back(request: HTTPRequest, dial: Dial) -> bool:
    """Try once more without TLS (kubelet v1.36 runHTTPHandler)."""
    answer = await http_get(without_tls(request), dial, math.inf)
    return answer.status is not None
