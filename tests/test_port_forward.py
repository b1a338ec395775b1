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
from kubelet_rig import a_node, a_pod, stops

from kubelet_emu.api.apps_v1 import Deployment, ReplicaSet, StatefulSet
from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.codec import encode
from kubelet_emu.api.meta import ObjectMeta, OwnerReference
from kubelet_emu.api.v1 import Container, ContainerPort, Pod, PodSpec
from kubelet_emu.api.v1_services import Service, ServicePort, ServiceSpec
from kubelet_emu.api.v1_status import PodCondition, PodStatus
from kubelet_emu.cli.forwarding.carrying import Carrier, NothingListensError, close, open_places
from kubelet_emu.cli.forwarding.finding import Chosen, Wanted, find
from kubelet_emu.cli.forwarding.forward import until_gone
from kubelet_emu.cli.forwarding.targets import (
    NotRunningError,
    Port,
    PortWords,
    Resource,
    TargetError,
    ports_of_pod,
    ports_of_service,
)
from kubelet_emu.cli.main import main
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from trio.testing import MockClock

    from kubelet_emu.apiserver.objects import APIObject

TARGETS = [
    ("web", ("Pod", "web")),
    ("pod/web", ("Pod", "web")),
    ("po/web", ("Pod", "web")),
    ("svc/web", ("Service", "web")),
    ("Service/web", ("Service", "web")),
    ("deploy/web", ("Deployment", "web")),
    ("deployment.apps/web", ("Deployment", "web")),
    ("rs/web", ("ReplicaSet", "web")),
    ("sts/web", ("StatefulSet", "web")),
    ("ds/web", ("DaemonSet", "web")),
    ("job/web", ("Job", "web")),
]


@pytest.mark.parametrize(("text", "expected"), TARGETS)
def test_a_target_is_a_pod_or_a_type_with_a_name(text: str, expected: tuple[str, str]) -> None:
    resource = Resource.parse(text)
    assert (resource.kind, resource.name) == expected


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
    (("web", "80", "--pod-running-timeout", "soon"), "'soon' is not a duration"),
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


@frozen
class Stored:
    """The objects of a run, as its control socket gives them."""

    objects: tuple[APIObject, ...]

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Mapping[str, object]]:
        """Return the objects of a kind."""
        await trio.lowlevel.checkpoint()
        return [
            encode(each)
            for each in self.objects
            if each.kind == kind and namespace in {None, each.metadata.namespace} and name in {None, each.metadata.name}
        ]


def pod(name: str, *owners: str, phase: str = "Running", age: int = 0, ready: bool = True, **labels: str) -> Pod:
    metadata = ObjectMeta(
        name=name,
        namespace="default",
        uid=f"uid-{name}",
        labels=labels,
        creation_timestamp=START - timedelta(seconds=age),
        owner_references=tuple(OwnerReference(name=each, uid=f"uid-{each}", controller=True) for each in owners),
    )
    conditions = (PodCondition(type="Ready", status="True" if ready else "False"),)
    spec = PodSpec(containers=(Container(name="c", ports=HAS),))
    return Pod(metadata=metadata, spec=spec, status=PodStatus(phase=phase, conditions=conditions))


def owner(kind: type[Job | Deployment | ReplicaSet | StatefulSet], name: str, *owners: str) -> APIObject:
    references = tuple(OwnerReference(name=each, uid=f"uid-{each}") for each in owners)
    return kind(metadata=ObjectMeta(name=name, namespace="default", uid=f"uid-{name}", owner_references=references))


START = datetime(2026, 1, 1, tzinfo=UTC)
WEB = a_service(ServicePort(port=80, target_port="web"))
BARE = a_service(name="bare", selector={})
EMPTY = a_service(name="empty", selector={"app": "nobody"})
OBJECTS: tuple[APIObject, ...] = (
    owner(Deployment, "web"),
    owner(ReplicaSet, "web-7d5f", "web"),
    owner(ReplicaSet, "web-api-1", "web-api"),
    owner(StatefulSet, "db"),
    owner(Job, "work"),
    WEB,
    BARE,
    EMPTY,
    pod("web-7d5f-a", "web-7d5f", phase="Pending", age=9, app="web"),
    pod("web-7d5f-b", "web-7d5f", age=2, app="web"),
    pod("web-7d5f-c", "web-7d5f", age=8, ready=False, app="web"),
    pod("web-7d5f-d", "web-7d5f", age=3, app="web"),
    pod("web-api-1-a", "web-api-1", age=10),
    pod("db-0", "db"),
    pod("work-a", "work", phase="Succeeded"),
    pod("solo"),
    evolve(pod("far"), metadata=evolve(pod("far").metadata, namespace="other")),
)


async def found(target: str, patience: float = 0) -> Chosen:
    wanted = Wanted(resource=Resource.parse(target), ports=(PortWords.parse("80"),), timeout=patience)
    return await find(Stored(OBJECTS), wanted)


FOUND = [
    ("a pod by its name", "solo", "solo", Port(80, 80)),
    ("of a Deployment the oldest that is ready", "deploy/web", "web-7d5f-d", Port(80, 80)),
    ("of its ReplicaSet, too", "rs/web-7d5f", "web-7d5f-d", Port(80, 80)),
    ("of a StatefulSet", "sts/db", "db-0", Port(80, 80)),
    ("of a Service, with its ports", "svc/web", "web-7d5f-d", Port(80, 8080)),
]


@pytest.mark.parametrize(("why", "target", "name", "port"), FOUND, ids=[row[0] for row in FOUND])
async def test_a_pod_is_found(why: str, target: str, name: str, port: Port) -> None:
    chosen = await found(target)
    assert (chosen.pod.metadata.name, chosen.ports) == (name, (port,))


NOT_RUNNING = "unable to forward port because pod is not running. Current status="
ABSENT = [
    ("no", 'pods "no" not found; there are: db-0, solo, ', TargetError),
    ("far", 'pods "far" not found; there is one with -n other', TargetError),
    ("deploy/no", 'deployments.apps "no" not found; there are: web', TargetError),
    ("ds/no", 'daemonsets.apps "no" not found', TargetError),
    ("svc/no", 'services "no" not found; there are: bare, empty, web', TargetError),
    ("svc/bare", "invalid service 'bare': Service is defined without a selector", TargetError),
    ("svc/empty", "no pod of Service empty is there", NotRunningError),
    ("web-7d5f-a", f"{NOT_RUNNING}Pending", NotRunningError),
    ("job/work", f"{NOT_RUNNING}Succeeded", NotRunningError),
]


@pytest.mark.parametrize(("target", "text", "kind"), ABSENT)
async def test_what_is_not_there_or_does_not_run_is_said(target: str, text: str, kind: type[TargetError]) -> None:
    with pytest.raises(TargetError) as raised:
        await found(target)
    assert str(raised.value).startswith(text)
    assert type(raised.value) is kind


async def test_a_pod_of_a_workload_is_waited_for(autojump_clock: MockClock) -> None:
    with pytest.raises(NotRunningError):
        await found("job/work", patience=30)
    assert trio.current_time() == 30
    with pytest.raises(NotRunningError):
        await found("web-7d5f-a", patience=30)
    assert trio.current_time() == 30


async def test_a_sandbox_is_watched_until_it_is_gone(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(1),)}) as node:
        node.create(a_pod())
        await node.until(5)
        (sandbox,) = await node.runtime.list_pod_sandboxes()
        async with trio.open_nursery() as nursery:
            gone = trio.Event()

            async def watch() -> None:
                await until_gone(node.runtime, sandbox.id)
                gone.set()

            nursery.start_soon(watch)
            await node.until(6)
            assert not gone.is_set()
            node.delete(grace=1)
            await gone.wait()
        await until_gone(node.runtime, sandbox.id)


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
