"""Probes, hooks and the actions of both (core/v1); loaded when a container has one.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.api.quantity import IntOrString


@frozen(kw_only=True)
class ExecAction:
    """`ExecAction` of core.v1."""

    command: tuple[str, ...] = ()


@frozen(kw_only=True)
class GRPCAction:
    """`GRPCAction` of core.v1."""

    port: int = 0
    service: str | None = None


@frozen(kw_only=True)
class HTTPGetAction:
    """`HTTPGetAction` of core.v1."""

    host: str | None = None
    http_headers: tuple[HTTPHeader, ...] = ()
    path: str | None = None
    port: IntOrString | None = None
    scheme: str | None = None


@frozen(kw_only=True)
class HTTPHeader:
    """`HTTPHeader` of core.v1."""

    name: str = ""
    value: str = ""


@frozen(kw_only=True)
class Lifecycle:
    """`Lifecycle` of core.v1."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


@frozen(kw_only=True)
class LifecycleHandler:
    """`LifecycleHandler` of core.v1."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


@frozen(kw_only=True)
class Probe:
    """`Probe` of core.v1."""

    exec: ExecAction | None = None
    failure_threshold: int | None = None
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int | None = None


@frozen(kw_only=True)
class SleepAction:
    """`SleepAction` of core.v1."""

    seconds: int = 0


@frozen(kw_only=True)
class TCPSocketAction:
    """`TCPSocketAction` of core.v1."""

    host: str | None = None
    port: IntOrString | None = None
