"""Table `hooks`: handlers, their place in a start and a stop, and what they leave behind.

Rows about one handler call it; rows about a start or a stop run a pod on a simulated node.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import trio
import trio.testing
from attrs import evolve
from kubelet_stubs import StubRuntime, make_recorder
from memory_servers import HTTPServer, Network, Reply
from node_rig import listens, on_a_node
from table_rows import Fields, TableError

from kubelet_emu.api import reasons
from kubelet_emu.api.codec import encode
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, ContainerPort, Pod, PodSpec
from kubelet_emu.api.v1_handlers import (
    ExecAction,
    HTTPGetAction,
    HTTPHeader,
    Lifecycle,
    LifecycleHandler,
    SleepAction,
    TCPSocketAction,
)
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.kubelet.hooks import run_handler, sleep_hook
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.loading import load_text
from kubelet_emu.manifests.validation import validate
from kubelet_emu.rules.http_request import lifecycle_request
from kubelet_emu.rules.termination import ContainerStop, plan_stop_call
from runtime.api import ContainerID, SandboxID
from runtime.simulated import Exec, ExecAnswer, HttpAnswer, Run
from runtime.simulated.program import OnSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from node_rig import NodeRun

    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.journal.records import Record

IP = "10.1.0.5"
OBEYS = {"SIGTERM": OnSignal(0)}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    assert not shared
    given, expected = row.part("in"), row.part("out")
    expected.check(_shown(given))


def _shown(given: Fields) -> dict[str, Any]:
    kinds: dict[str, Callable[[Fields], dict[str, Any]]] = {
        "preStop": _pre_stop,
        "sleep": _sleep,
        "validate": _validate,
        "two_mains": _two_mains,
        "postStart": _post_start,
        "httpGet": _http_get,
    }
    for key, kind in kinds.items():
        if key in given:
            return kind(given)
    raise TableError("no hook in the row")


def _a_pod(*containers: Container, sidecars: tuple[Container, ...] = (), grace: int = 30) -> Pod:
    spec = PodSpec(
        containers=containers,
        init_containers=sidecars,
        restart_policy="Never",
        termination_grace_period_seconds=grace,
    )
    return set_defaults(Pod(metadata=ObjectMeta(name="p", namespace="ns"), spec=spec))


def _handler(word: str) -> LifecycleHandler:
    if found := re.fullmatch(r"sleep (\d+)", word):
        return LifecycleHandler(sleep=SleepAction(seconds=int(found[1])))
    if word in {"any", "exec", "exec exit 1", "takes 5 s", "hangs"}:
        return LifecycleHandler(exec=ExecAction(command=("hook",)))
    if word == "tcpSocket":
        return LifecycleHandler(tcp_socket=TCPSocketAction(port=80))
    if word.startswith("httpGet"):
        return LifecycleHandler(http_get=HTTPGetAction(path="/", port=80))
    raise TableError(f"unknown handler {word!r}")


def _answer(word: str) -> Run:
    """Return a container whose hook does what the word says."""
    answers = {
        "exec exit 1": ExecAnswer(1),
        "takes 5 s": ExecAnswer(takes_seconds=5),
        "hangs": ExecAnswer(takes_seconds=25),
    }
    http = {"": ((0.0, HttpAnswer(500)),)} if word == "httpGet answers 500" else {"": ((0.0, HttpAnswer()),)}
    port = () if word == "httpGet refused" else listens(80, http).ports
    return Run(on_signal=OBEYS, ports=port, execs=(Exec(("hook",), ((0.0, answers.get(word, ExecAnswer())),)),))


def _pre_stop(given: Fields) -> dict[str, Any]:
    word, grace = given.take("preStop"), given.take("G", 30)
    where = given.choice("container", {"main": "main", "sidecar": "sidecar", "exits by itself": "exits"}, "main")
    handler = _handler(word)
    if grace == 0:
        call = plan_stop_call(grace, ContainerStop(name="c", pre_stop=0))
        return {"runs": call.pre_stop_runs}
    hooked = Container(name="c", image="app", lifecycle=Lifecycle(pre_stop=handler))
    run = Run(duration=2.0) if where == "exits" else _answer(word)
    if where == "sidecar":
        sidecar = Container(name="c", image="app", restart_policy="Always", lifecycle=hooked.lifecycle)
        pod = _a_pod(Container(name="m", image="app"), sidecars=(sidecar,), grace=grace)
    else:
        pod = _a_pod(hooked, grace=grace)

    async def act(cluster: Cluster) -> None:
        await trio.sleep(5)
        if where != "exits":
            cluster.api.delete("Pod", "ns", "p")
        await trio.sleep(100)

    seen = on_a_node(pod, act, {"c": run})
    return {"runs": bool(seen.effects("preStop"))} | _stop(seen)


def _stop(seen: NodeRun) -> dict[str, Any]:
    """Return how long the stop of container c waited, its timeout, and the hook's event."""
    stops = [(at, record.timeout) for at, record in seen.stops() if record.container == "c"]
    if not stops:
        return {}
    began = next(at for at, reason, _, container in seen.events() if reason == "Killing" and container == "c")
    failed = [f"{reason}: {text}" for _, reason, text, _ in seen.events() if reason == reasons.FAILED_PRE_STOP_HOOK]
    ((at, timeout),) = stops
    return {
        "waited": at - began,
        "timeout": timeout,
        "event": failed[0] if failed else None,
        "stop_goes_on": bool(seen.exits()),
    }


def _sleep(given: Fields) -> dict[str, Any]:
    seconds, left = given.take("sleep"), given.take("context_deadline")

    async def run() -> tuple[bool, str]:
        outcome = await sleep_hook(seconds, "c", "p_ns(u)", trio.current_time() + left)
        return outcome.ok, outcome.message

    ok, message = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    return {"ok": ok, "error": message.rpartition("failed - error: ")[2] or None}


def _validate(given: Fields) -> dict[str, Any]:
    grace, handler = given.take("tgps"), _handler(given.take("validate"))
    container = Container(name="c", image="app", lifecycle=Lifecycle(pre_stop=handler))
    loaded = load_text(json.dumps(encode(_a_pod(container, grace=grace))))
    problems = (*loaded.problems, *validate(loaded.objects, FeatureGates()))
    return {"accepted": not any(problem.severity == "error" for problem in problems)}


def _two_mains(given: Fields) -> dict[str, Any]:
    assert given.flag("two_mains")
    word = given.take("postStart_of_first")
    first = Container(name="c", image="app", lifecycle=Lifecycle(post_start=_handler(word)))

    async def act(cluster: Cluster) -> None:
        await trio.sleep(60)

    seen = on_a_node(_a_pod(first, Container(name="d", image="app")), act, {"c": _answer(word)})
    started = {c: at for at, reason, _, c in seen.events() if reason == reasons.STARTED}
    created = {c: at for at, reason, _, c in seen.events() if reason == reasons.CREATED}
    return {"second_created_after": created["d"] - started["c"]}


def _post_start(given: Fields) -> dict[str, Any]:
    word = given.take("postStart")
    is_deleted = given.choice("pod", {"deleted": True, None: False}, None)
    hooked = Container(name="c", image="app", lifecycle=Lifecycle(post_start=_handler(word)))
    waiting: set[str | None] = set()

    async def act(cluster: Cluster) -> None:
        await trio.sleep(3)
        if is_deleted:
            cluster.api.delete("Pod", "ns", "p")
        for _ in range(60):
            await trio.sleep(1)
            pods = cluster.api.list("Pod")
            waiting.update(c.state.waiting.reason for p in pods for c in p.status.container_statuses if c.state.waiting)

    pod = _a_pod(hooked)
    pod = evolve(pod, spec=evolve(pod.spec, restart_policy="Always"))
    seen = on_a_node(pod, act, {"c": _answer(word)})
    hook_ended = next(at for at, what, _ in seen.effects("postStart") if what != "started")
    events = [
        f"{reason}: {text}" for _, reason, text, _ in seen.events() if reason in {"FailedPostStartHook", "Killing"}
    ]
    kills = [at for at, reason, _, _ in seen.events() if reason == "Killing"]
    after = bool(kills) and kills[0] >= hook_ended
    return {
        "ok": all(what != "failed" for _, what, _ in seen.effects("postStart")),
        "events": events[:2],
        "container_killed": bool(seen.stops()),
        "waiting_reason": reasons.POST_START_HOOK_ERROR if reasons.POST_START_HOOK_ERROR in waiting else None,
        "termination_starts": "only after the hook returns" if after else "at once",
    }


def _http_get(given: Fields) -> dict[str, Any]:
    spec = given.part("httpGet")
    headers = tuple(HTTPHeader(name=name, value=value) for name, value in spec.take("headers", {}).items())
    action = HTTPGetAction(
        path=spec.take("path", "/"),
        port=spec.take("port", 80),
        host=spec.take("host", None),
        scheme=spec.take("scheme", None),
        http_headers=headers,
    )
    ports = given.take("ports", {})
    container = Container(
        name="c", ports=tuple(ContainerPort(name=name, container_port=number) for name, number in ports.items())
    )
    request = lifecycle_request(action, container, given.take("podIP", IP))
    shown: dict[str, Any] = {"url": request.url, "http_host": request.http_host}
    if given.choice("server", {"plain http": True, None: False}, None):
        shown |= _against_plain_http(action, container)
    return shown


def _against_plain_http(action: HTTPGetAction, container: Container) -> dict[str, Any]:
    records: list[Record] = []

    async def run() -> bool:
        async with trio.open_nursery() as nursery:
            network = Network(nursery, {80: HTTPServer({"/": Reply()})})
            outcome = await run_handler(
                StubRuntime(network),  # type: ignore[arg-type]
                Pod(metadata=ObjectMeta(name="p", namespace="ns", uid="u")),
                container,
                ContainerID("c1"),
                LifecycleHandler(http_get=action),
                pod_ip=IP,
                sandbox_id=SandboxID("s"),
                recorder=make_recorder(records),
            )
            nursery.cancel_scope.cancel()
        return outcome.ok

    ok = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    return {"ok": ok, "event": records[0].reason if records else None}  # type: ignore[union-attr]
