"""One attempt of a probe: the handler is called and its end named.

An attempt that could not be made is tried again at once, three times in all; a failure is not. The timeout of an exec
counts from the command's real start, which the runtime knows. Source: kubelet v1.36 prober.runProbeWithRetries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from kubelet_emu.kubelet.grpc_health import grpc_health_check
from kubelet_emu.kubelet.http_client import http_get
from kubelet_emu.kubelet.network import PodDialer, tcp_connect
from kubelet_emu.rules.http_request import InvalidPortError, probe_request, resolve_container_port
from kubelet_emu.rules.probe_outcomes import (
    MAX_PROBE_ATTEMPTS,
    ProbeOutcome,
    ProbeVerdict,
    errored,
    exec_outcome,
    exec_timeout_outcome,
    expand_probe_command,
    grpc_outcome,
    http_outcome,
    tcp_outcome,
)
from kubelet_emu.rules.probe_times import probe_times
from runtime.api import CRIError, ExecTimeoutError

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Container
    from kubelet_emu.api.v1_handlers import ExecAction, GRPCAction, HTTPGetAction, Probe, TCPSocketAction
    from kubelet_emu.kubelet.network import Dial
    from runtime.api import ContainerID, Runtime


async def attempt_probe(
    runtime: Runtime, container: Container, probe: Probe, container_id: ContainerID, *, pod_ip: str
) -> ProbeOutcome:
    """Make an attempt, and again while it can't be made; errors of the runtime are outcomes.

    Cancellation gives up what is under way. Source: kubelet v1.36 prober.runProbeWithRetries.
    """
    for _ in range(MAX_PROBE_ATTEMPTS):
        outcome = await _run_probe(runtime, container, probe, container_id, pod_ip)
        if outcome.verdict is not ProbeVerdict.ERRORED:
            break
    return outcome


async def _run_probe(
    runtime: Runtime, container: Container, probe: Probe, container_id: ContainerID, pod_ip: str
) -> ProbeOutcome:
    """Call the probe's handler once (kubelet v1.36 prober.runProbe)."""
    seconds = probe_times(probe).timeout
    try:
        if probe.exec is not None:
            return await _exec(runtime, container, probe.exec, container_id, seconds)
        sandbox_id = (await runtime.container_status(container_id)).sandbox_id
        dial = PodDialer(runtime, sandbox_id, pod_ip)
        deadline = trio.current_time() + seconds
        if probe.http_get is not None:
            return await _http_get(container, probe.http_get, pod_ip, dial, deadline)
        if probe.tcp_socket is not None:
            return await _tcp_socket(container, probe.tcp_socket, pod_ip, dial, deadline)
        if probe.grpc is not None:
            return await _grpc(probe.grpc, pod_ip, dial, seconds)
    except CRIError as error:
        return errored(str(error))
    return errored(f"missing probe handler for {container.name}")


async def _exec(
    runtime: Runtime, container: Container, action: ExecAction, container_id: ContainerID, seconds: int
) -> ProbeOutcome:
    command = expand_probe_command(action.command, container.env)
    try:
        result = await runtime.exec_sync(container_id, command, seconds)
    except ExecTimeoutError:
        return exec_timeout_outcome(command, seconds)
    return exec_outcome(result.exit_code, result.stdout, result.stderr)


async def _http_get(
    container: Container, action: HTTPGetAction, pod_ip: str, dial: Dial, deadline: float
) -> ProbeOutcome:
    try:
        request = probe_request(action, container, pod_ip)
    except InvalidPortError as error:
        return errored(str(error))
    return http_outcome(await http_get(request, dial, deadline))


async def _tcp_socket(
    container: Container, action: TCPSocketAction, pod_ip: str, dial: Dial, deadline: float
) -> ProbeOutcome:
    try:
        port = resolve_container_port(action.port, container)
    except InvalidPortError as error:
        return errored(str(error))
    return tcp_outcome(await tcp_connect(action.host or pod_ip, port, dial, deadline))


async def _grpc(action: GRPCAction, pod_ip: str, dial: Dial, seconds: int) -> ProbeOutcome:
    deadline = trio.current_time() + seconds
    answer = await grpc_health_check(pod_ip, action.port, action.service or "", dial, deadline)
    return grpc_outcome(answer, pod_ip, action.port, seconds)
