"""Table `probe_outcome`: one attempt against a command, a server or a port -> its result, texts, what was sent.

The attempt is the real one, in virtual time, against servers in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio
import trio.testing
from attrs import define, field
from kubelet_stubs import StubRuntime
from memory_servers import HealthServer, HTTPServer, Network, Reply, headers_of, says, silent
from table_rows import Fields, TableError

from kubelet_emu.api.v1 import Container, ContainerPort
from kubelet_emu.api.v1_environment import EnvVar
from kubelet_emu.api.v1_handlers import ExecAction, GRPCAction, HTTPGetAction, HTTPHeader, Probe, TCPSocketAction
from kubelet_emu.kubelet.http_client import http_get
from kubelet_emu.kubelet.probing import attempt_probe
from kubelet_emu.rules.http_request import InvalidPortError, probe_request, resolve_container_port
from kubelet_emu.rules.observed import ProbeKind
from kubelet_emu.rules.probe_outcomes import ProbeOutcome, ProbeVerdict, counted_result, probe_event
from runtime.api import ContainerID, CRIError, ExecResult, ExecStartError, ExecTimeoutError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

IP = "10.1.0.5"
SANDBOX = "s"
START_ERRORS = ("cannot_start", "start_error", "not_started", "missing_binary", "missing")
OTHER_ERRORS = ("error", "runtime_error")
HEALTH = {"UNKNOWN": 0, "SERVING": 1, "NOT_SERVING": 2, "SERVICE_UNKNOWN": 3}
# Words that tell, wherever they stand in a row's text.
GRPC_WITHOUT_HEALTH = ("implement", "no health service", "without the health service")
GRPC_CLOSED = ("refused", "no connection", "no server", "unreachable", "closed")
GRPC_SILENT = ("timeout", "times out", "no answer", "hangs", "slow", "deadline exceeded")
BODY_ERRORS = ("body_error", "body_read_error", "body_cut", "body_truncated")
CUT_SHORT = b"HTTP/1.1 %d Status\r\nContent-Length: 100\r\n\r\nshort"


@define
class _Attempt:
    """A world to probe in, and what is seen of the attempt."""

    probe: Probe
    container: Container
    servers: dict[int, Any] = field(factory=dict)
    on_exec: Callable[[tuple[str, ...]], Awaitable[ExecResult]] | None = None
    commands: list[tuple[str, ...]] = field(factory=list)
    dialed: list[tuple[str, int]] = field(factory=list)

    def run(self) -> ProbeOutcome:
        return trio.run(self._run, clock=trio.testing.MockClock(autojump_threshold=0))

    async def _run(self) -> ProbeOutcome:
        async with trio.open_nursery() as nursery:
            network = Network(nursery, self.servers, self.dialed)
            runtime = StubRuntime(network) if self.on_exec is None else StubRuntime(network, self.on_exec)
            outcome = await attempt_probe(
                runtime,  # type: ignore[arg-type]
                self.container,
                self.probe,
                ContainerID("c1"),
                pod_ip=IP,
            )
            self.commands += [command for _, command, _ in runtime.execs]
            nursery.cancel_scope.cancel()
        return outcome


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given = row.part("in")
    for key, handler in (("exec", _exec), ("http", _http), ("port", _port), ("tcp", _tcp), ("grpc", _grpc)):
        if key in given:
            _compare(row.part("out"), handler(given))
            return
    _compare(row.part("out"), _without_error(given))


def _compare(expected: Fields, shown: dict[str, Any]) -> None:
    """Compare; what a row says of a part only (of a text, of the headers) is cut out first."""
    headers, text = shown.get("headers", {}), shown["text"]
    shown["sent"] = {name: headers.get(name.lower()) for name in expected.take("sent", {})}
    shown["not_sent"] = [name for name in expected.take("not_sent", []) if name.lower() not in headers]
    part = expected.take("text_has", "")
    shown["text_has"] = part if part in text else text
    if expected.take("error", None) is True and shown["result"] == "errored":
        shown["error"] = True
    expected.check(shown)


def _shown(outcome: ProbeOutcome) -> dict[str, Any]:
    event = probe_event(ProbeKind.LIVENESS, outcome)
    counted = counted_result(outcome)
    return {
        "result": outcome.verdict.value,
        "text": outcome.output,
        "event": f"{event.reason}: {event.message}" if event is not None else None,
        "event_reason": event.reason if event is not None else None,
        "counts_as": counted.value if counted is not None else None,
        "error": outcome.output if outcome.verdict is ProbeVerdict.ERRORED else None,
    }


def _exec(given: Fields) -> dict[str, Any]:
    spec = given.part("exec")
    command = tuple(spec.take("command", "check").split(" "))
    seconds, output = spec.take("timeoutSeconds", None), spec.take("output", "").encode()
    output = output or b"x" * spec.take("output_bytes", 0)
    result: ExecResult | CRIError = ExecResult(exit_code=spec.take("exit", 0), stdout=output)
    if spec.flag("timeout"):
        result = ExecTimeoutError("timed out")
    if text := next((spec.take(key) for key in START_ERRORS if key in spec), None):
        result = ExecStartError(str(text))
    if text := next((spec.take(key) for key in OTHER_ERRORS if key in spec), None):
        result = CRIError(str(text))

    async def run(command: tuple[str, ...]) -> ExecResult:
        if isinstance(result, CRIError):
            raise result
        return result

    env = tuple(_env(name, value) for name, value in spec.take("env", {}).items())
    probe = Probe(exec=ExecAction(command=command), timeout_seconds=seconds)
    attempt = _Attempt(probe, Container(name="c", env=env), on_exec=run)
    outcome = attempt.run()
    shown = {
        "command": " ".join(attempt.commands[0]),
        "output_kept": len(outcome.output),
        "tries": len(attempt.commands),
        "attempts": len(attempt.commands),
    }
    return _shown(outcome) | shown


def _env(name: str, value: object) -> EnvVar:
    """Return an entry with a literal value; one that takes its value from elsewhere has none."""
    return EnvVar(name=name, value=value if isinstance(value, str) and value != "valueFrom" else None)


def _http(given: Fields) -> dict[str, Any]:
    spec = given.take("http")
    if isinstance(spec, str):
        return _http_words(spec)
    spec = given.part("http")
    if any(spec.take(key) for key in BODY_ERRORS if key in spec):
        return _shown_http({80: says(CUT_SHORT % spec.take("status", 200))})
    body = b"x" * spec.take("body_bytes", 0)
    final = Reply(spec.take("status", spec.take("then", 200)), body, after=spec.take("slow_seconds", 0))
    headers = spec.take("headers", {})
    server = HTTPServer(_replies(spec, final))
    action = HTTPGetAction(
        path="/0", port=80, http_headers=tuple(HTTPHeader(name=name, value=value) for name, value in headers.items())
    )
    attempt = _Attempt(
        Probe(http_get=action, timeout_seconds=spec.take("timeoutSeconds", None)), Container(name="c"), {80: server}
    )
    outcome = attempt.run()
    sent = headers_of(server.requests[0])
    (host, _), *_ = attempt.dialed
    return _shown(outcome) | {
        "body_kept": _body_kept(action, server),
        "headers": sent,
        "http_host": sent["host"],
        "address": "pod IP" if host == SANDBOX else host,
    }


def _http_words(word: str) -> dict[str, Any]:
    servers: dict[str, dict[int, Any]] = {
        "refused": {},
        "hangs": {80: silent},
        "timeout": {80: silent},
        "closes": {80: says(b"")},
        "body error": {80: says(CUT_SHORT % 200)},
    }
    if word not in servers:
        raise TableError(f"http: unknown value {word!r}")
    return _shown_http(servers[word])


def _shown_http(servers: dict[int, Any]) -> dict[str, Any]:
    return _shown(_Attempt(Probe(http_get=HTTPGetAction(path="/", port=80)), Container(name="c"), servers).run())


def _replies(spec: Fields, final: Reply) -> dict[str, Reply]:
    target = spec.choice("redirect", {"same hostname": "same", "other hostname": "other", None: None}, None)
    if target is None:
        return {"/0": final}
    if target == "other":
        return {"/0": Reply(302, headers=(("Location", "http://other.test/1"),))}
    hops = spec.take("hops", 1)
    chain = {f"/{n}": Reply(302, headers=(("Location", f"http://{IP}:80/{n + 1}"),)) for n in range(hops)}
    return chain | {f"/{hops}": final}


def _body_kept(action: HTTPGetAction, server: HTTPServer) -> int:
    async def get() -> int:
        async with trio.open_nursery() as nursery:
            network = Network(nursery, {80: server})
            request = probe_request(action, Container(name="c"), IP)
            answer = await http_get(request, network.dial, trio.current_time() + 60)
            nursery.cancel_scope.cancel()
        return len(answer.body)

    return trio.run(get, clock=trio.testing.MockClock(autojump_threshold=0))


def _port(given: Fields) -> dict[str, Any]:
    ports = given.take("ports", {})
    container = Container(
        name="c", ports=tuple(ContainerPort(name=name, container_port=number) for name, number in ports.items())
    )
    port = given.take("port")
    outcome = _Attempt(Probe(tcp_socket=TCPSocketAction(port=port)), container, {}).run()
    try:
        number = resolve_container_port(port, container)
    except InvalidPortError:
        number = None
    return _shown(outcome) | {"port": number}


def _tcp(given: Fields) -> dict[str, Any]:
    servers = given.choice("tcp", {"accepts": {80: silent}, "refused": {}})
    return _shown(_Attempt(Probe(tcp_socket=TCPSocketAction(port=80)), Container(name="c"), servers).run())


def _grpc(given: Fields) -> dict[str, Any]:
    word = given.take("grpc")
    if word in HEALTH:
        servers: dict[int, Any] = {9000: HealthServer({"": HEALTH[word]})}
    elif _has(word, GRPC_WITHOUT_HEALTH):
        servers = {9000: HealthServer(code=12, message="unknown service grpc.health.v1.Health")}
    elif _has(word, GRPC_CLOSED):
        servers = {}
    elif _has(word, GRPC_SILENT):
        servers = {9000: HealthServer(answer=False)}
    else:
        raise TableError(f"grpc: unknown value {word!r}")
    return _shown(_Attempt(Probe(grpc=GRPCAction(port=9000)), Container(name="c"), servers).run())


def _has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text.lower() for word in words)


def _without_error(given: Fields) -> dict[str, Any]:
    verdict = given.choice("result_without_error", {verdict.value: verdict for verdict in ProbeVerdict})
    return _shown(ProbeOutcome(verdict=verdict))
