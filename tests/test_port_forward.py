"""`port-forward`: what its words mean, which pod they find, and how connections are carried."""

from __future__ import annotations

import errno
import io
import socket
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attrs import evolve, frozen
from click.testing import CliRunner
from kubelet_rig import a_node, a_pod, container, lives, stops

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import ConfigMap, ContainerPort
from kubelet_emu.api.v1_services import Service, ServicePort, ServiceSpec
from kubelet_emu.cli.forwarding.carrying import Carrier, NothingListensError, close, open_places
from kubelet_emu.cli.forwarding.finding import FoundPod, choose, pods_of
from kubelet_emu.cli.forwarding.forward import until_gone
from kubelet_emu.cli.forwarding.services_file import read_services, write_services
from kubelet_emu.cli.forwarding.targets import (
    NotRunningError,
    Port,
    PortWords,
    Target,
    TargetError,
    ports_of_pod,
    ports_of_service,
)
from kubelet_emu.cli.main import main
from runtime.api import CRIError, SandboxID

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from trio.testing import MockClock

TARGETS = [
    ("web", ("pods", "web")),
    ("pod/web", ("pods", "web")),
    ("po/web", ("pods", "web")),
    ("svc/web", ("services", "web")),
    ("Service/web", ("services", "web")),
    ("deploy/web", ("deployments.apps", "web")),
    ("deployment.apps/web", ("deployments.apps", "web")),
    ("rs/web", ("replicasets.apps", "web")),
    ("sts/web", ("statefulsets.apps", "web")),
    ("ds/web", ("daemonsets.apps", "web")),
    ("job/web", ("jobs.batch", "web")),
]


@pytest.mark.parametrize(("text", "expected"), TARGETS)
def test_a_target_is_a_pod_or_a_type_with_a_name(text: str, expected: tuple[str, str]) -> None:
    target = Target.parse(text)
    assert (target.kind, target.name) == expected


PORTS = [
    ("80", ("80", "80")),
    ("8080:80", ("8080", "80")),
    (":80", ("", "80")),
    ("0:80", ("0", "80")),
    ("web", ("web", "web")),
    ("8080:web", ("8080", "web")),
]


@pytest.mark.parametrize(("text", "expected"), PORTS)
def test_ports_are_read_as_kubectl_does(text: str, expected: tuple[str, str]) -> None:
    words = PortWords.parse(text)
    assert (words.local, words.remote) == expected


BAD_WORDS = [
    (("pod/", "80"), "'pod/' is neither NAME nor TYPE/NAME"),
    (("a/b/c", "80"), "'a/b/c' is neither NAME nor TYPE/NAME"),
    (("cm/web", "80"), "no ports can be forwarded to a 'cm': use pod, svc, deploy, rs, sts, ds or job"),
    (("web",), "Missing argument '[LOCAL:]REMOTE...'"),
    (("web", "80:81:82"), "invalid port format '80:81:82': use [LOCAL:]REMOTE"),
    (("web", "80:"), "invalid port format '80:': use [LOCAL:]REMOTE"),
    (("web", "http:80"), "error parsing local port 'http': it is no number"),
    (("web", "0"), "remote port must be > 0"),
    (("web", "8080:0"), "remote port must be > 0"),
    (("web", "65536"), "65536 is no port: the last one is 65535"),
    (("web", "65536:80"), "65536 is no port: the last one is 65535"),
    (("web", "80", "--address", "localhost,nowhere"), "--address: 'nowhere' is no IP address"),
    (("web", "80", "--pod-running-timeout", "soon"), "'soon' is not a valid"),
]


@pytest.mark.parametrize(("words", "expected"), BAD_WORDS)
def test_words_that_mean_nothing_are_refused(words: tuple[str, ...], expected: str) -> None:
    done = CliRunner().invoke(main, ["port-forward", *words])
    assert done.exit_code == 2
    assert expected in done.output


def a_port(number: int, name: str | None = None, protocol: str | None = None) -> ContainerPort:
    return ContainerPort(container_port=number, name=name, protocol=protocol)


HAS = (a_port(8080, "web"), a_port(53, "dns", "UDP"), a_port(54, "both", "UDP"), a_port(54, "both-tcp"))
OF_PODS = [
    ("a number", "80", Port(80, 80)),
    ("another local one", "8000:80", Port(8000, 80)),
    ("any local one", ":80", Port(0, 80)),
    ("a name", "web", Port(8080, 8080)),
    ("a name behind a local one", "1:web", Port(1, 8080)),
    ("a name behind any", ":web", Port(0, 8080)),
    ("a number that is both", "54", Port(54, 54)),
]


@pytest.mark.parametrize(("why", "words", "expected"), OF_PODS, ids=[row[0] for row in OF_PODS])
def test_ports_of_a_pod(why: str, words: str, expected: Port) -> None:
    assert ports_of_pod([PortWords.parse(words)], "p", HAS) == (expected,)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("no", "Pod 'p' does not have a named port 'no'"),
        ("dns", "UDP protocol is not supported for dns"),
        ("53", "UDP protocol is not supported for 53"),
    ],
)
def test_ports_that_a_pod_has_not(words: str, text: str) -> None:
    with pytest.raises(TargetError) as raised:
        ports_of_pod([PortWords.parse(words)], "p", HAS)
    assert str(raised.value) == text


def a_service(*ports: ServicePort, name: str = "web", **spec: object) -> Service:
    given: dict[str, object] = {"selector": {"app": "web"}, "ports": ports, **spec}
    return Service(metadata=ObjectMeta(name=name, namespace="default"), spec=ServiceSpec(**given))  # type: ignore[arg-type]


OF_SERVICES = [
    ("its own port leads to the pod's", "80", ServicePort(port=80, target_port=8080), Port(80, 8080)),
    ("by the target's name", "80", ServicePort(port=80, target_port="web"), Port(80, 8080)),
    ("by the port's name", "http", ServicePort(port=80, name="http", target_port=8080), Port(80, 8080)),
    ("with another local one", "1:80", ServicePort(port=80, target_port=8080), Port(1, 8080)),
    ("with any", ":http", ServicePort(port=80, name="http", target_port="web"), Port(0, 8080)),
    ("the same where none is named", "80", ServicePort(port=80), Port(80, 80)),
]


@pytest.mark.parametrize(("why", "words", "port", "expected"), OF_SERVICES, ids=[row[0] for row in OF_SERVICES])
def test_ports_of_a_service(why: str, words: str, port: ServicePort, expected: Port) -> None:
    assert ports_of_service([PortWords.parse(words)], a_service(port), "p", HAS) == (expected,)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("81", "Service web does not have a service port 81"),
        ("53", "UDP protocol is not supported for 53"),
        ("80", "Pod 'p' does not have a named port 'no'"),
    ],
)
def test_ports_that_a_service_has_not(words: str, text: str) -> None:
    service = a_service(ServicePort(port=80, target_port="no"), ServicePort(port=53, protocol="UDP"))
    with pytest.raises(TargetError) as raised:
        ports_of_service([PortWords.parse(words)], service, "p", HAS)
    assert str(raised.value) == text


# --- which pod

START = datetime(2026, 1, 1, tzinfo=UTC)


def found(name: str, age: int = 0, *, is_running: bool = True, instance: str = "one", **labels: str) -> FoundPod:
    return FoundPod(
        instance=instance,
        sandbox_id=SandboxID(f"s-{name}"),
        name=name,
        namespace="default",
        created_at=START - timedelta(seconds=age),
        is_running=is_running,
        labels={key.replace("_", "-"): value for key, value in labels.items()},
        ports=HAS,
    )


OWNERS = [
    ("a Deployment's", "deploy/web", found("web-7d5f-x2x4v", pod_template_hash="7d5f"), True),
    ("not one of a longer name", "deploy/web", found("web-api-7d5f-x2x4v", pod_template_hash="7d5f"), False),
    ("not a bare one", "deploy/web", found("web"), False),
    ("a ReplicaSet's", "rs/web-7d5f", found("web-7d5f-x2x4v"), True),
    ("a DaemonSet's", "ds/web", found("web-x2x4v"), True),
    ("not one with vowels", "ds/web", found("web-proxy"), False),
    ("a StatefulSet's", "sts/web", found("web-10"), True),
    ("not another one's", "sts/web", found("web-a"), False),
    ("a Job's", "job/web", found("web-x2x4v", job_name="web"), True),
    ("by its label alone", "job/web", found("web-x2x4v"), False),
]


@pytest.mark.parametrize(("why", "target", "pod", "expected"), OWNERS, ids=[row[0] for row in OWNERS])
def test_a_workload_is_told_by_its_pods(why: str, target: str, pod: FoundPod, *, expected: bool) -> None:
    assert pod.belongs_to(Target.parse(target)) is expected


def chosen(target: str, *pods: FoundPod, services: tuple[Service, ...] = ()) -> str:
    found = choose(Target.parse(target), (PortWords.parse("80"),), "default", pods, services)
    return f"{found.pod.instance}/{found.pod.name} {found.ports[0].local}:{found.ports[0].remote}"


WEB = a_service(ServicePort(port=80, target_port="web"))


def test_the_oldest_pod_that_runs_is_taken() -> None:
    pods = found("web-1", 1), found("web-2", 3, is_running=False), found("web-0", 2)
    assert chosen("sts/web", *pods) == "one/web-0 80:80"
    assert chosen("web-1", *pods) == "one/web-1 80:80"


def test_a_service_leads_to_one_of_its_pods() -> None:
    pods = found("a"), found("b", app="web")
    assert chosen("svc/web", *pods, services=(WEB,)) == "one/b 80:8080"


ABSENT = [
    ("no", 'pods "no" not found; there are: a, b', TargetError),
    ("deploy/no", 'deployments.apps "no" not found; there are: a, b', TargetError),
    ("svc/no", 'services "no" not found; there are: bare, other, web', TargetError),
    ("svc/bare", "invalid service 'bare': Service is defined without a selector", TargetError),
    ("svc/other", "no pod of Service other is there", NotRunningError),
    ("a", "unable to forward port because pod a is not running", NotRunningError),
    ("svc/web", "unable to forward port because pod a is not running", NotRunningError),
    ("b", "several runs have pods 'b': name one of them with --run (one, two)", TargetError),
]


@pytest.mark.parametrize(("target", "text", "kind"), ABSENT)
def test_what_is_not_there_or_does_not_run_is_said(target: str, text: str, kind: type[TargetError]) -> None:
    services = WEB, a_service(name="bare", selector={}), a_service(name="other", selector={"app": "other"})
    pods = found("a", is_running=False, app="web"), found("b"), found("b", instance="two")
    with pytest.raises(TargetError) as raised:
        chosen(target, *pods, services=services)
    assert (str(raised.value), type(raised.value)) == (text, kind)


def test_pods_of_another_namespace_are_not_seen() -> None:
    with pytest.raises(TargetError, match=r'^pods "a" not found; there is one with -n other$'):
        chosen("a", evolve(found("a"), namespace="other"))


async def test_pods_are_what_the_runtime_holds(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(1),), "done": (stops(1),)}) as node:
        ports = (ContainerPort(container_port=8080, name="web", protocol="TCP"),)
        node.create(a_pod(container("main", ports=ports), metadata={"labels": {"app": "web"}}))
        await node.until(5)
        (pod,) = await pods_of(node.runtime, "one")
        assert (pod.name, pod.namespace, pod.is_running, pod.labels["app"]) == ("p", "ns", True, "web")
        assert pod.ports == ports
        async with trio.open_nursery() as nursery:
            gone = trio.Event()

            async def watch() -> None:
                await until_gone(node.runtime, pod.sandbox_id)
                gone.set()

            nursery.start_soon(watch)
            await node.until(6)
            assert not gone.is_set()
            node.delete(grace=1)
            await gone.wait()
        assert [each.is_running for each in await pods_of(node.runtime, "one")] in ([], [False])
        await until_gone(node.runtime, pod.sandbox_id)


async def test_a_pod_runs_while_its_container_waits_to_restart(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1),)}) as node:
        node.create(a_pod())
        node.create(a_pod(container("main", image="kemu/none:1", image_pull_policy="Never"), name="waits"))
        await node.until(5)
        running = {each.name: each.is_running for each in await pods_of(node.runtime, "one")}
        assert running == {"p": True, "waits": False}


# --- Services of a run


def test_the_services_of_a_run_are_in_its_folder(tmp_path: Path) -> None:
    write_services(tmp_path, (ConfigMap(metadata=ObjectMeta(name="c")), WEB))
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_services(tmp_path) == (WEB,)


def test_a_run_without_services_has_no_file(tmp_path: Path) -> None:
    write_services(tmp_path, (ConfigMap(metadata=ObjectMeta(name="c")),))
    assert list(tmp_path.iterdir()) == []
    assert read_services(tmp_path) == ()
    (tmp_path / "services.json").write_text("[")
    assert read_services(tmp_path) == ()


def test_without_a_run_there_is_nothing_to_forward_to(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["port-forward", "web", "80", "--root-dir", str(tmp_path)])
    assert (done.exit_code, done.output) == (
        2,
        f"error: no run keeps its state in {tmp_path}: start one, or say --root-dir as it did\n",
    )
    (tmp_path / "instances/one").mkdir(parents=True)
    done = CliRunner().invoke(main, ["port-forward", "web", "80", "--run", "two", "--root-dir", str(tmp_path)])
    assert (done.exit_code, done.output) == (
        2,
        f"error: --run two: no run of this id keeps its state in {tmp_path}\n",
    )


# --- listening and carrying


@frozen
class Heard:
    """What a command has said."""

    said: list[str]
    complaints: list[str]


def heard() -> Heard:
    return Heard([], [])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


async def test_a_port_is_opened_at_every_address() -> None:
    told, port = heard(), free_port()
    places = await open_places([Port(port, 80)], ("127.0.0.1", "127.0.0.2"), told.said.append, told.complaints.append)
    await close(places)
    assert told.said == [f"Forwarding from 127.0.0.1:{port} -> 80", f"Forwarding from 127.0.0.2:{port} -> 80"]
    assert told.complaints == []


async def test_any_free_port_is_one_port() -> None:
    told = heard()
    places = await open_places([Port(0, 80)], ("127.0.0.1", "127.0.0.2"), told.said.append, told.complaints.append)
    await close(places)
    assert len({place.local for place in places}) == 1
    assert places[0].local > 0


async def test_one_address_is_enough_for_a_port() -> None:
    told = heard()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        places = await open_places(
            [Port(port, 80)], ("127.0.0.1", "127.0.0.2"), told.said.append, told.complaints.append
        )
        await close(places)
    assert told == Heard([f"Forwarding from 127.0.0.2:{port} -> 80"], [])


async def test_one_port_is_enough_to_go_on_and_none_is_an_error() -> None:
    told, free = heard(), free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        both = [Port(port, 80), Port(free, 81)]
        await close(await open_places(both, ("127.0.0.1",), told.said.append, told.complaints.append))
        with pytest.raises(NothingListensError) as raised:
            await open_places([Port(port, 80)], ("127.0.0.1",), told.said.append, told.complaints.append)
    refused = f"Unable to listen on port {port}: 127.0.0.1: address already in use"
    assert told == Heard([f"Forwarding from 127.0.0.1:{free} -> 81"], [refused, refused])
    assert str(raised.value) == f"unable to listen on any of the requested ports: {port}:80"


def a_carrier(dial: Callable[[int], Awaitable[trio.abc.Stream]], told: Heard) -> Carrier:
    return Carrier(pod="web", dial=dial, say=told.said.append, complain=told.complaints.append)


async def test_a_connection_is_carried_both_ways_with_its_half_close(autojump_clock: MockClock) -> None:
    told, (client, near), (far, server) = heard(), *(trio.testing.memory_stream_pair() for _ in range(2))
    dialled = []

    async def dial(port: int) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        dialled.append(port)
        return far

    async def serve() -> None:
        received = b"".join([bytes(chunk) async for chunk in server])
        await server.send_all(received.upper())
        await server.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        nursery.start_soon(lambda: a_carrier(dial, told).carry(near, local=8080, remote=80))
        await client.send_all(b"hello")
        await client.send_eof()
        assert b"".join([bytes(chunk) async for chunk in client]) == b"HELLO"
    assert (dialled, told) == ([80], Heard(["Handling connection for 8080"], []))


async def test_the_pods_end_ends_a_connection(autojump_clock: MockClock) -> None:
    told, (client, near), (far, server) = heard(), *(trio.testing.memory_stream_pair() for _ in range(2))

    async def dial(_port: int) -> trio.abc.Stream:
        await server.send_all(b"bye")
        await server.aclose()
        return far

    await a_carrier(dial, told).carry(near, local=1, remote=2)
    assert await client.receive_some() == b"bye"


async def test_a_client_that_breaks_off_ends_a_connection(autojump_clock: MockClock) -> None:
    told, (client, near), (far, server) = heard(), *(trio.testing.memory_stream_pair() for _ in range(2))

    async def dial(_port: int) -> trio.abc.Stream:
        await client.aclose()
        await server.send_all(b"bye")
        return far

    await a_carrier(dial, told).carry(near, local=1, remote=2)
    assert told.complaints == []


FAILURES = [
    (
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        "nothing listens on port 80 of pod web (connection refused)",
    ),
    (CRIError("no such container"), "no such container"),
]


@pytest.mark.parametrize(("error", "text"), FAILURES)
async def test_a_connection_that_fails_is_told_and_others_go_on(error: Exception, text: str) -> None:
    told, (client, near) = heard(), trio.testing.memory_stream_pair()

    async def dial(_port: int) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        raise error

    await a_carrier(dial, told).carry(near, local=8080, remote=80)
    assert told.complaints == [f"an error occurred forwarding 8080 -> 80: {text}"]
    await client.aclose()


async def test_each_place_leads_to_its_port() -> None:
    told, dialled = heard(), trio.open_memory_channel[int](2)

    async def dial(port: int) -> trio.abc.Stream:
        await dialled[0].send(port)
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    places = await open_places([Port(0, 80), Port(0, 81)], ("127.0.0.1",), told.said.append, told.complaints.append)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(a_carrier(dial, told).serve, places)
        for place in places:
            async with await trio.open_tcp_stream("127.0.0.1", place.local):
                assert await dialled[1].receive() == place.remote
        nursery.cancel_scope.cancel()
    for channel in dialled:
        channel.close()


def test_a_reader_that_has_gone_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubelet_emu.cli.forwarding import forward  # noqa: PLC0415 - one test's
    from kubelet_emu.cli.standard_streams import OutputError  # noqa: PLC0415 - one test's

    class Gone(io.TextIOWrapper):
        def write(self, _text: str) -> int:
            raise OutputError("its reader has gone")

    with (tmp_path / "out").open("wb") as out:
        monkeypatch.setattr("sys.stdout", Gone(out))
        forward.say("Handling connection for 1")
    assert (tmp_path / "out").read_bytes() == b""
