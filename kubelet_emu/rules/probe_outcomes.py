"""What one probe attempt came to, by handler, and what is told about it.

A failure counts; an attempt that ERRORED says nothing about the container and is thrown away; a warning counts as a
success. Source: kubelet v1.36 pkg/kubelet/prober/prober.go, pkg/probe.
"""

from __future__ import annotations

import enum
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from attrs import frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.gotext import format_duration, quote
from kubelet_emu.rules.expansion import expand
from kubelet_emu.rules.http_request import MAX_BODY_BYTES, join_host_port
from kubelet_emu.rules.observed import ProbeKind, ProbeResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1_environment import EnvVar
    from kubelet_emu.rules.http_request import HTTPOutcome

MAX_OUTPUT_BYTES = 10 * 1024
MAX_PROBE_ATTEMPTS = 3

_GRPC_CODE_NAMES = (
    "OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
    "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
    "Internal", "Unavailable", "DataLoss", "Unauthenticated",
)  # fmt: skip
_DEADLINE_EXCEEDED, _UNIMPLEMENTED = 4, 12
_HEALTH_NAMES = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")


class ProbeVerdict(enum.Enum):
    """How an attempt ended; UNKNOWN is a handler that says so without an error, and counts as a failure."""

    SUCCESS = "success"
    WARNING = "warning"
    FAILURE = "failure"
    UNKNOWN = "unknown"
    ERRORED = "errored"


@frozen(kw_only=True)
class ProbeOutcome:
    """The end of one attempt. `output` is what it printed, or the error; `state` goes into the text of an error."""

    verdict: ProbeVerdict
    output: str = ""
    state: str = "unknown"


@frozen(kw_only=True)
class ProbeEvent:
    """A Warning event about one attempt."""

    reason: str
    message: str


@frozen(kw_only=True)
class GRPCOutcome:
    """What a health check came to: a `status`, or the `code` and `message` of the call's error.

    `connected` is False when no HTTP/2 connection came about in time, and then the others are empty.
    """

    connected: bool = True
    status: int | None = None
    code: int = 0
    message: str = ""


def errored(error: str, *, state: str = "unknown") -> ProbeOutcome:
    """Return the outcome of an attempt that could not be made (kubelet v1.36 prober.probe)."""
    return ProbeOutcome(verdict=ProbeVerdict.ERRORED, output=error, state=state)


def exec_outcome(exit_code: int, stdout: bytes, stderr: bytes) -> ProbeOutcome:
    """Return the outcome of a command that ran to its end; its output is cut at MAX_OUTPUT_BYTES.

    Source: kubelet v1.36 execProber.Probe.
    """
    output = (stdout + stderr)[:MAX_OUTPUT_BYTES].decode(errors="replace")
    return ProbeOutcome(verdict=ProbeVerdict.FAILURE if exit_code else ProbeVerdict.SUCCESS, output=output)


def exec_timeout_outcome(command: Sequence[str], timeout_seconds: float) -> ProbeOutcome:
    """Return the outcome of a command that was killed after its time.

    Source: kubelet v1.36 execProber.Probe, remoteRuntimeService.ExecSync.
    """
    text = f"command timed out: {quote(' '.join(command))} timed out after {_duration(timeout_seconds)}"
    return ProbeOutcome(verdict=ProbeVerdict.FAILURE, output=text)


def expand_probe_command(command: Sequence[str], env: Sequence[EnvVar]) -> tuple[str, ...]:
    """Return an exec probe's command with $(NAME) filled in from the container's literal env values alone.

    An entry without a literal value is empty, an unknown name stays as written.
    Source: kubelet v1.36 ExpandContainerCommandOnlyStatic.
    """
    values = {entry.name: entry.value or "" for entry in env}
    return tuple(expand(part, values) for part in command)


def http_outcome(answer: HTTPOutcome) -> ProbeOutcome:
    """Return the outcome of an httpGet: a final redirect is a warning, a lost body an error.

    Source: kubelet v1.36 DoHTTPProbe.
    """
    if answer.status is None:
        return ProbeOutcome(verdict=ProbeVerdict.FAILURE, output=answer.error)
    if answer.body_error:
        return errored(answer.body_error, state="failure")
    body = answer.body[:MAX_BODY_BYTES].decode(errors="replace")
    if 200 <= answer.status < 300:
        return ProbeOutcome(verdict=ProbeVerdict.SUCCESS, output=body)
    if 300 <= answer.status < 400:
        text = f"Probe terminated redirects, Response body: {body}"
        return ProbeOutcome(verdict=ProbeVerdict.WARNING, output=text)
    return ProbeOutcome(verdict=ProbeVerdict.FAILURE, output=f"HTTP probe failed with statuscode: {answer.status}")


def tcp_outcome(error: str) -> ProbeOutcome:
    """Return the outcome of a tcpSocket; `error` is empty when the connection came about.

    Source: kubelet v1.36 DoTCPProbe.
    """
    return ProbeOutcome(verdict=ProbeVerdict.FAILURE if error else ProbeVerdict.SUCCESS, output=error)


def grpc_outcome(answer: GRPCOutcome, host: str, port: int, timeout_seconds: float) -> ProbeOutcome:
    """Return the outcome of a grpc probe: SERVING is a success, everything else a failure, nothing an error.

    Source: kubelet v1.36 grpcProber.Probe.
    """
    if answer.status == _HEALTH_NAMES.index("SERVING"):
        return ProbeOutcome(verdict=ProbeVerdict.SUCCESS, output="service healthy")
    return ProbeOutcome(verdict=ProbeVerdict.FAILURE, output=_grpc_failure(answer, host, port, timeout_seconds))


def _grpc_failure(answer: GRPCOutcome, host: str, port: int, timeout_seconds: float) -> str:
    within = _duration(timeout_seconds)
    if not answer.connected:
        address = quote(join_host_port(host, port))
        return f"timeout: failed to connect service {address} within {within}: context deadline exceeded"
    if answer.status is not None:
        return f"service unhealthy (responded with {quote(health_name(answer.status))})"
    if answer.code == _UNIMPLEMENTED:
        health = "grpc.health.v1.Health"
        return f"error: this server does not implement the grpc health protocol ({health}): {answer.message}"
    if answer.code == _DEADLINE_EXCEEDED:
        return f"timeout: health rpc did not complete within {within}"
    name = _GRPC_CODE_NAMES[answer.code] if answer.code < len(_GRPC_CODE_NAMES) else f"Code({answer.code})"
    return f"error: health rpc probe failed: rpc error: code = {name} desc = {answer.message}"


def health_name(status: int) -> str:
    """Return a serving status by name, or its number as text (grpc.health.v1, HealthCheckResponse.ServingStatus)."""
    return _HEALTH_NAMES[status] if 0 <= status < len(_HEALTH_NAMES) else str(status)


def counted_result(outcome: ProbeOutcome) -> ProbeResult | None:
    """Return what an outcome counts as; None for one that is thrown away (kubelet v1.36 prober.probe)."""
    match outcome.verdict:
        case ProbeVerdict.SUCCESS | ProbeVerdict.WARNING:
            return ProbeResult.SUCCESS
        case ProbeVerdict.FAILURE | ProbeVerdict.UNKNOWN:
            return ProbeResult.FAILURE
        case ProbeVerdict.ERRORED:
            return None
        case _:
            assert_never(outcome.verdict)


def probe_event(kind: ProbeKind, outcome: ProbeOutcome) -> ProbeEvent | None:
    """Return the event of an attempt: one for each that did not succeed, below the threshold too.

    Source: kubelet v1.36 prober.probe.
    """
    name = kind.value.capitalize()
    match outcome.verdict:
        case ProbeVerdict.SUCCESS | ProbeVerdict.UNKNOWN:
            return None
        case ProbeVerdict.WARNING:
            return ProbeEvent(reason=reasons.PROBE_WARNING, message=reasons.probe_warning(name, outcome.output))
        case ProbeVerdict.FAILURE:
            return ProbeEvent(reason=reasons.UNHEALTHY, message=reasons.probe_failed(name, outcome.output))
        case ProbeVerdict.ERRORED:
            text = reasons.probe_errored(name, outcome.state, outcome.output)
            return ProbeEvent(reason=reasons.UNHEALTHY, message=text)
        case _:
            assert_never(outcome.verdict)


def _duration(seconds: float) -> str:
    return format_duration(timedelta(seconds=seconds))
