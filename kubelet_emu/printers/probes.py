"""A probe in one line, as `describe` has it. Source: kubectl v1.36 DescribeProbe."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from kubelet_emu.api.gotext import quote_list

if TYPE_CHECKING:
    from kubelet_emu.api.quantity import IntOrString
    from kubelet_emu.api.v1_handlers import HTTPGetAction, Probe

_SAFE_IN_PATH = "$&+,/:;=@"


def describe_probe(probe: Probe) -> str:
    """Return what a probe does and its numbers."""
    numbers = (
        f"delay={probe.initial_delay_seconds or 0}s timeout={probe.timeout_seconds or 0}s "
        f"period={probe.period_seconds or 0}s #success={probe.success_threshold or 0} "
        f"#failure={probe.failure_threshold or 0}"
    )
    return f"{_action(probe)} {numbers}"


def _action(probe: Probe) -> str:
    if probe.exec is not None:
        return f"exec {quote_list(probe.exec.command)}"
    if probe.http_get is not None:
        return f"http-get {_url(probe.http_get)}"
    if probe.tcp_socket is not None:
        return f"tcp-socket {_host_port(probe.tcp_socket.host, probe.tcp_socket.port)}"
    if probe.grpc is not None:
        return f"grpc <pod>:{probe.grpc.port} {probe.grpc.service or ''}"
    return "unknown"


def _url(action: HTTPGetAction) -> str:
    path = quote(action.path or "", safe=_SAFE_IN_PATH)
    if path and not path.startswith("/"):
        path = f"/{path}"
    return f"{(action.scheme or '').lower()}://{_host_port(action.host, action.port)}{path}"


def _host_port(host: str | None, port: IntOrString | None) -> str:
    name = host or ""
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
