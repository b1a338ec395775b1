"""Probes, hooks and stop signals. Source: kubernetes v1.36 validateProbe, validateHandler, validateLifecycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import (
    Fault,
    forbidden,
    invalid,
    required,
    unsupported,
    validate_not_negative,
)
from kubelet_emu.manifests.validation.names import header_errors, port_name_errors, port_number_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Container
    from kubelet_emu.api.v1_handlers import HTTPGetAction, Lifecycle, LifecycleHandler, Probe, SleepAction
    from kubelet_emu.manifests.validation.context import Context

_STOP_SIGNALS = """ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS
    TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX"""


def _stop_signals() -> tuple[str, ...]:
    names = [f"SIG{name}" for name in _STOP_SIGNALS.split()]
    names += [f"SIGRTMIN+{number}" for number in range(1, 16)] + [f"SIGRTMAX-{number}" for number in range(1, 15)]
    return tuple(sorted(names))


def validate_probes(container: Container, path: str, context: Context) -> Iterator[Fault]:
    """Check the three probes and the hooks of a container that may have them."""
    if container.lifecycle is not None:
        yield from _validate_lifecycle(container.lifecycle, f"{path}.lifecycle", context)
    if container.liveness_probe is not None:
        yield from _validate_probe(container.liveness_probe, f"{path}.livenessProbe", context, must_succeed_once=True)
    if container.readiness_probe is not None:
        at = f"{path}.readinessProbe"
        yield from _validate_probe(container.readiness_probe, at, context)
        if (grace := container.readiness_probe.termination_grace_period_seconds) is not None:
            yield invalid(f"{at}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
    if container.startup_probe is not None:
        yield from _validate_probe(container.startup_probe, f"{path}.startupProbe", context, must_succeed_once=True)


def _validate_probe(probe: Probe, path: str, context: Context, *, must_succeed_once: bool = False) -> Iterator[Fault]:
    yield from _validate_handler(probe, path, context)
    numbers = (
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    )
    yield from validate_not_negative(numbers, path)
    grace = probe.termination_grace_period_seconds
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if must_succeed_once and probe.success_threshold not in (None, 1):
        yield invalid(f"{path}.successThreshold", probe.success_threshold, "must be 1")


def _validate_lifecycle(lifecycle: Lifecycle, path: str, context: Context) -> Iterator[Fault]:
    if lifecycle.post_start is not None:
        yield from _validate_handler(lifecycle.post_start, f"{path}.postStart", context)
    if lifecycle.pre_stop is not None:
        yield from _validate_handler(lifecycle.pre_stop, f"{path}.preStop", context)
    if lifecycle.stop_signal is not None:
        yield from _validate_stop_signal(lifecycle.stop_signal, f"{path}.stopSignal", context)


def _validate_stop_signal(signal: str, path: str, context: Context) -> Iterator[Fault]:
    if context.spec.os is None:
        yield forbidden(path, "may not be set for containers with empty `spec.os.name`")
        return
    known = {"linux": _stop_signals(), "windows": ("SIGKILL", "SIGTERM")}.get(context.spec.os.name)
    if known is not None and signal not in known:
        yield unsupported(path, signal, known)


def _validate_handler(handler: Probe | LifecycleHandler, path: str, context: Context) -> Iterator[Fault]:
    """Check that there is one handler, and check it; a second one is forbidden where it stands."""
    count = 0
    checks = (
        ("exec", handler.exec),
        ("httpGet", handler.http_get),
        ("tcpSocket", handler.tcp_socket),
        ("grpc", getattr(handler, "grpc", None)),
        ("sleep", getattr(handler, "sleep", None)),
    )
    for name, action in checks:
        if action is None:
            continue
        count += 1
        if count > 1:
            yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")
        else:
            yield from _validate_action(name, action, f"{path}.{name}", context)
    if count == 0:
        yield required(path, "must specify a handler type")


def _validate_action(name: str, action: object, path: str, context: Context) -> Iterator[Fault]:
    if name == "exec" and not getattr(action, "command", ()):
        yield required(f"{path}.command")
    elif name == "httpGet":
        yield from _validate_http(action, path)  # type: ignore[arg-type]
    elif name == "tcpSocket":
        yield from _validate_port(getattr(action, "port", None), f"{path}.port")
    elif name == "grpc":
        yield from _validate_port(int(getattr(action, "port", 0)), f"{path}.port")
    elif name == "sleep":
        yield from _validate_sleep(action, path, context)  # type: ignore[arg-type]


def _validate_http(action: HTTPGetAction, path: str) -> Iterator[Fault]:
    if not action.path:
        yield required(f"{path}.path")
    yield from _validate_port(action.port, f"{path}.port")
    if action.scheme not in ("HTTP", "HTTPS"):
        yield unsupported(f"{path}.scheme", action.scheme or "", ("HTTP", "HTTPS"))
    for index, header in enumerate(action.http_headers):
        for text in header_errors(header.name):
            yield invalid(f"{path}.httpHeaders", header.name, text, at=f"{path}.httpHeaders[{index}].name")


def _validate_port(port: int | str | None, path: str) -> Iterator[Fault]:
    if isinstance(port, str):
        hint = f"as text it is the name of a port: write {port} without quotes" if port.isdecimal() else ""
        for text in port_name_errors(port):
            yield invalid(path, port, text, hint=hint)
    else:
        for text in port_number_errors(port or 0):
            yield invalid(path, port or 0, text)


def _validate_sleep(action: SleepAction, path: str, context: Context) -> Iterator[Fault]:
    """Check how long a hook sleeps (KEP-3960); that it may be 0 came later (KEP-4818)."""
    grace = context.grace_period_seconds
    hint = f"set terminationGracePeriodSeconds to {action.seconds} or more" if action.seconds > 0 else ""
    if not context.gates.enabled("PodLifecycleSleepActionAllowZero"):
        if not 0 < action.seconds <= grace:
            text = (
                f"must be greater than 0 and less than terminationGracePeriodSeconds ({grace}). "
                "Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."
            )
            yield invalid(path, action.seconds, text, hint=hint)
    elif not 0 <= action.seconds <= grace:
        text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        yield invalid(path, action.seconds, text, hint=hint)
