"""Outcomes of probe attempts and what is told about them."""

from __future__ import annotations

import pytest

from kubelet_emu.api.v1_environment import EnvVar, EnvVarSource
from kubelet_emu.rules.http_request import HTTPOutcome
from kubelet_emu.rules.observed import ProbeKind, ProbeResult
from kubelet_emu.rules.probe_outcomes import (
    GRPCOutcome,
    ProbeEvent,
    ProbeOutcome,
    ProbeVerdict,
    counted_result,
    errored,
    exec_outcome,
    exec_timeout_outcome,
    expand_probe_command,
    grpc_outcome,
    http_outcome,
    probe_event,
    tcp_outcome,
)

SUCCESS, WARNING, FAILURE = ProbeVerdict.SUCCESS, ProbeVerdict.WARNING, ProbeVerdict.FAILURE
ERRORED, UNKNOWN = ProbeVerdict.ERRORED, ProbeVerdict.UNKNOWN

OUTCOMES = [
    ("exec exit 0", exec_outcome(0, b"fine", b""), SUCCESS, "fine"),
    ("exec exit 3: stdout, then stderr", exec_outcome(3, b"a\n", b"b\n"), FAILURE, "a\nb\n"),
    (
        "exec timeout",
        exec_timeout_outcome(("sh", "-c", 'echo "x"'), 90),
        FAILURE,
        'command timed out: "sh -c echo \\"x\\"" timed out after 1m30s',
    ),
    ("http 200", http_outcome(HTTPOutcome(status=200, body=b"ok")), SUCCESS, "ok"),
    (
        "http redirect not followed",
        http_outcome(HTTPOutcome(status=302, body=b"moved")),
        WARNING,
        "Probe terminated redirects, Response body: moved",
    ),
    ("http 400", http_outcome(HTTPOutcome(status=400)), FAILURE, "HTTP probe failed with statuscode: 400"),
    ("http 199", http_outcome(HTTPOutcome(status=199)), FAILURE, "HTTP probe failed with statuscode: 199"),
    ("http without answer", http_outcome(HTTPOutcome(error="refused")), FAILURE, "refused"),
    ("http body lost", http_outcome(HTTPOutcome(status=200, body_error="unexpected EOF")), ERRORED, "unexpected EOF"),
    ("tcp connected", tcp_outcome(""), SUCCESS, ""),
    ("tcp refused", tcp_outcome("refused"), FAILURE, "refused"),
    ("grpc serving", grpc_outcome(GRPCOutcome(status=1), "h", 9, 1), SUCCESS, "service healthy"),
    (
        "grpc not serving",
        grpc_outcome(GRPCOutcome(status=2), "h", 9, 1),
        FAILURE,
        'service unhealthy (responded with "NOT_SERVING")',
    ),
    (
        "grpc status without a name",
        grpc_outcome(GRPCOutcome(status=9), "h", 9, 1),
        FAILURE,
        'service unhealthy (responded with "9")',
    ),
    (
        "grpc no connection",
        grpc_outcome(GRPCOutcome(connected=False), "10.1.0.5", 9000, 2),
        FAILURE,
        'timeout: failed to connect service "10.1.0.5:9000" within 2s: context deadline exceeded',
    ),
    (
        "grpc no answer in time",
        grpc_outcome(GRPCOutcome(code=4, message="context deadline exceeded"), "h", 9, 1),
        FAILURE,
        "timeout: health rpc did not complete within 1s",
    ),
    (
        "grpc without health service",
        grpc_outcome(GRPCOutcome(code=12, message="unknown service"), "h", 9, 1),
        FAILURE,
        "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service",
    ),
    (
        "grpc unknown service name",
        grpc_outcome(GRPCOutcome(code=5, message="unknown service"), "h", 9, 1),
        FAILURE,
        "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service",
    ),
    (
        "grpc code without a name",
        grpc_outcome(GRPCOutcome(code=99, message="x"), "h", 9, 1),
        FAILURE,
        "error: health rpc probe failed: rpc error: code = Code(99) desc = x",
    ),
]


@pytest.mark.parametrize(
    ("outcome", "verdict", "output"), [row[1:] for row in OUTCOMES], ids=[row[0] for row in OUTCOMES]
)
def test_outcomes(outcome: ProbeOutcome, verdict: ProbeVerdict, output: str) -> None:
    assert (outcome.verdict, outcome.output) == (verdict, output)


def test_output_is_cut() -> None:
    assert len(exec_outcome(0, b"x" * 9_000, b"y" * 9_000).output) == 10_240


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (SUCCESS, ProbeResult.SUCCESS),
        (WARNING, ProbeResult.SUCCESS),
        (FAILURE, ProbeResult.FAILURE),
        (UNKNOWN, ProbeResult.FAILURE),
        (ERRORED, None),
    ],
)
def test_what_an_outcome_counts_as(verdict: ProbeVerdict, expected: ProbeResult | None) -> None:
    assert counted_result(ProbeOutcome(verdict=verdict)) is expected


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (ProbeOutcome(verdict=SUCCESS, output="x"), None),
        (ProbeOutcome(verdict=UNKNOWN, output="x"), None),
        (
            ProbeOutcome(verdict=WARNING, output="x"),
            ProbeEvent(reason="ProbeWarning", message="Readiness probe warning: x"),
        ),
        (ProbeOutcome(verdict=FAILURE), ProbeEvent(reason="Unhealthy", message="Readiness probe failed: ")),
        (
            errored("no such program"),
            ProbeEvent(
                reason="Unhealthy",
                message="Readiness probe errored and resulted in unknown state: no such program",
            ),
        ),
        (
            errored("EOF", state="failure"),
            ProbeEvent(reason="Unhealthy", message="Readiness probe errored and resulted in failure state: EOF"),
        ),
    ],
)
def test_what_is_told(outcome: ProbeOutcome, expected: ProbeEvent | None) -> None:
    assert probe_event(ProbeKind.READINESS, outcome) == expected


def test_commands_know_literal_values_only() -> None:
    env = [EnvVar(name="A", value="one"), EnvVar(name="B", value_from=EnvVarSource()), EnvVar(name="C", value="$(A)")]
    command = ("run", "$(A)", "[$(B)]", "$(C)", "$(D)", "$$(A)")
    assert expand_probe_command(command, env) == ("run", "one", "[]", "$(A)", "$(D)", "$(A)")
