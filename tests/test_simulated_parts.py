"""Parts of the simulated machine on their own: signals, images, faults, files, the network."""

from __future__ import annotations

import errno
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import trio
from simulated_world import BUSYBOX, EPOCH, PRESENT, a_world, now

from runtime.api import (
    AuthConfig,
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
    DNSConfig,
    ImageID,
    ImageNotFoundError,
    ImagePullError,
    LinuxContainerResources,
    LinuxSecurityContext,
    Mount,
    NamespaceMode,
    NamespaceOptions,
    NotFoundError,
    PodSandboxConfig,
    PodSandboxMetadata,
    PodSandboxState,
    PullProgress,
    RegistryUnavailableError,
    RuntimeEventType,
    RuntimeUnavailableError,
    SignatureValidationError,
    VolumeConfig,
    VolumeFile,
)
from runtime.api.references import full_name
from runtime.simulated import (
    Abilities,
    FaultPlan,
    Latencies,
    LostEvents,
    PullFault,
    SimulatedImage,
    SimulatedRuntime,
    SlowStops,
)
from runtime.simulated.identity import make_address
from runtime.simulated.signals import signal_name, signal_number
from runtime.simulated.tree import Budget, Directory, File, MountPoint, Symlink, Tree

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("text", "number", "name"),
    [
        ("SIGTERM", 15, "SIGTERM"),
        ("TERM", 15, "SIGTERM"),
        ("usr1", 10, "SIGUSR1"),
        ("9", 9, "SIGKILL"),
        ("SIGRTMIN+3", 37, "SIGRTMIN+3"),
        ("RTMIN", 34, "SIGRTMIN"),
        ("SIGRTMAX-1", 63, "SIGRTMIN+29"),
        ("EXIT", 0, "EXIT"),
    ],
)
def test_signals_by_name(text: str, number: int, name: str) -> None:
    assert (signal_number(text), signal_name(signal_number(text))) == (number, name)


@pytest.mark.parametrize("text", ["", "NOSUCH", "SIGRTMIN-1", "99", "RTMINX"])
def test_what_is_no_signal(text: str) -> None:
    with pytest.raises(ValueError, match="no such signal"):
        signal_number(text)


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("a/b:1", "docker.io/a/b:1"),
        ("localhost/x", "localhost/x:latest"),
        ("127.0.0.1:5000/kemu/x:1", "127.0.0.1:5000/kemu/x:1"),
        ("r.test/x@sha256:ab", "r.test/x@sha256:ab"),
    ],
)
def test_full_names_of_images(name: str, full: str) -> None:
    assert full_name(name) == full


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (PullFault.NOT_FOUND, ImageNotFoundError, "failed to resolve image: r.test/x:1: not found"),
        (PullFault.UNAVAILABLE, RegistryUnavailableError, "dial tcp r.test: connect: connection refused"),
        (PullFault.UNAUTHORIZED, ImagePullError, "authorization failed"),
        (PullFault.SIGNATURE, SignatureValidationError, "SignatureValidationFailed: r.test/x:1"),
        (PullFault.BREAKS_OFF, RegistryUnavailableError, "failed to copy: unexpected EOF"),
        (PullFault.HANGS, ImagePullError, "no progress for 5m0s: context canceled"),
    ],
)
async def test_pulls_fail(
    fault: PullFault, kind: type[ImagePullError], text: str, autojump_clock: trio.abc.Clock
) -> None:
    image = SimulatedImage(fault=fault, size_bytes=100, bytes_per_second=10)
    progress: list[PullProgress] = []
    began = trio.current_time()
    async with SimulatedRuntime(now, images={"r.test/x:1": image}) as runtime:
        with pytest.raises(kind) as caught:
            await runtime.pull_image("r.test/x:1", progress=progress.append)
    assert text in str(caught.value)
    seconds = {PullFault.BREAKS_OFF: 5, PullFault.HANGS: 305}
    assert trio.current_time() - began == seconds.get(fault, 0)
    assert [each.done_bytes for each in progress] == ([25, 50] if fault in seconds else [])


async def test_planned_faults_come_first_and_then_end(autojump_clock: trio.abc.Clock) -> None:
    plan = FaultPlan(pulls={"r.test/x:1": (PullFault.NOT_FOUND, None)}, pull_delay_seconds=2.0)
    async with SimulatedRuntime(now, faults=plan) as runtime:
        with pytest.raises(ImageNotFoundError):
            await runtime.pull_image("r.test/x:1")
        await runtime.pull_image("r.test/x:1")
        assert trio.current_time() == 4.0


async def test_the_same_seed_gives_the_same_faults(autojump_clock: trio.abc.Clock) -> None:
    async def outcomes(seed: int) -> list[bool]:
        found = []
        async with SimulatedRuntime(now, seed=seed, faults=FaultPlan(pull_failure_rate=0.5)) as runtime:
            for _ in range(20):
                try:
                    await runtime.pull_image("x")
                    found.append(True)
                except RegistryUnavailableError:
                    found.append(False)
        return found

    assert await outcomes(1) == await outcomes(1)
    assert await outcomes(1) != await outcomes(2)
    assert set(await outcomes(1)) == {True, False}


async def test_credentials_are_asked_for(autojump_clock: trio.abc.Clock) -> None:
    images = {"r.test/x:1": SimulatedImage(credentials=("me", "word"))}
    async with SimulatedRuntime(now, images=images) as runtime:
        with pytest.raises(ImagePullError, match="authorization failed"):
            await runtime.pull_image("r.test/x:1")
        with pytest.raises(ImagePullError, match="authorization failed"):
            await runtime.pull_image("r.test/x:1", auth=AuthConfig(username="me", password="no"))  # noqa: S106 - a made-up one
        await runtime.pull_image("r.test/x:1", auth=AuthConfig(username="me", password="word"))  # noqa: S106 - a made-up one


async def test_images_have_names_ids_and_digests(autojump_clock: trio.abc.Clock) -> None:
    row = SimulatedImage(is_present=True, content="one", size_bytes=7)
    async with SimulatedRuntime(now, images={"r.test/x:1": row, "r.test/y:2": row, "*/z:*": row}) as runtime:
        first = await runtime.image_status("r.test/x:1")
        second = await runtime.image_status("r.test/y:2")
        assert first is not None
        assert second is not None
        assert first.id == second.id
        assert await runtime.image_status(first.id) is not None
        assert await runtime.image_status(first.repo_digests[0]) is not None
        assert await runtime.image_status("r.test/z:9") is not None
        (merged, *_) = await runtime.list_images()
        assert merged.repo_tags == ("r.test/x:1", "r.test/y:2", "r.test/z:9")
        await runtime.remove_image("r.test/x:1")
        assert await runtime.image_status("r.test/x:1") is None
        await runtime.remove_image(first.id)
        assert await runtime.list_images() == ()
        await runtime.remove_image("r.test/none:1")


async def test_slow_stops_and_lost_events(autojump_clock: trio.abc.Clock) -> None:
    plan = FaultPlan(slow_stops=(SlowStops(delay=3.0),), lost_events=(LostEvents(),))
    async with a_world(faults=plan) as world, world.runtime.events() as events:
        container = await world.start("trap 'exit 0' TERM; sleep 99 & wait")
        await trio.sleep(1)
        await world.runtime.stop_container(container, 10)
        assert trio.current_time() == 4.0
        with trio.move_on_after(5) as scope:
            await anext(events)
        assert scope.cancelled_caught


async def test_a_runtime_that_is_not_open(autojump_clock: trio.abc.Clock) -> None:
    runtime = SimulatedRuntime(now)
    with pytest.raises(RuntimeUnavailableError, match="not open"):
        await runtime.version()
    async with runtime:
        assert (await runtime.version()).runtime_name == "simulated"
        status = await runtime.status()
        assert (status.ready, status.host_ip) == (True, "10.244.0.1")
    with pytest.raises(RuntimeUnavailableError, match="not open"):
        await runtime.status()


async def test_calls_take_the_time_that_they_are_given(autojump_clock: trio.abc.Clock) -> None:
    latencies = Latencies(run_sandbox=1.0, create=2.0, start=3.0)
    async with a_world(latencies=latencies) as world:
        await world.start("echo up")
        assert trio.current_time() == 6.0
        assert (await world.watch()).lines == ((6.0, "up"),)


async def test_what_does_not_exist(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        runtime, nothing = world.runtime, ImageID("none")
        for call in (
            lambda: runtime.pod_sandbox_status(world.sandbox.__class__("none")),
            lambda: runtime.container_status(world.sandbox.__class__("none")),  # type: ignore[arg-type]
            lambda: runtime.read_volume("none", "x", last_bytes=1),  # type: ignore[arg-type]
        ):
            with pytest.raises(NotFoundError):
                await call()
        await runtime.stop_container("none", 1)  # type: ignore[arg-type]
        await runtime.remove_container("none")  # type: ignore[arg-type]
        await runtime.stop_pod_sandbox("none")  # type: ignore[arg-type]
        assert nothing == "none"


async def test_a_container_needs_its_image(autojump_clock: trio.abc.Clock) -> None:
    async with a_world(images={}) as world:
        with pytest.raises(NotFoundError, match="failed to get image"):
            await world.start("true")


async def test_removing_kills_what_runs(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        container = await world.start("sleep 99")
        again = await world.start("sleep 99")
        assert again == container
        async with world.runtime.events() as events:
            await world.runtime.remove_container(container)
            kinds = [(await anext(events)).type for _ in range(3)]
        assert kinds == [
            RuntimeEventType.CONTAINER_SIGNALLED,
            RuntimeEventType.CONTAINER_EXITED,
            RuntimeEventType.CONTAINER_REMOVED,
        ]
        assert await world.runtime.list_containers("u") == ()


async def test_limits_change_while_a_container_runs(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        container = await world.start("sleep 1; exec tail /dev/zero")
        limit = LinuxContainerResources(memory_limit_bytes=1 << 20)
        await world.runtime.update_container_resources(container, limit)
        await world.runtime.update_container_resources(container, LinuxContainerResources(cpu_shares=2))
        assert (await world.watch()).reason == "OOMKilled"


MEBI = 1 << 20
HOLD = "exec dd if=/dev/zero of=/dev/null bs=%dM"


@pytest.mark.parametrize(
    ("why", "scores", "killed"),
    [
        ("the larger one is killed", (0, 0), "large"),
        ("a score that speaks for it spares it", (-997, 500), "small"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_containers_pass_their_pods_memory_together(
    autojump_clock: trio.abc.Clock, why: str, scores: tuple[int, int], killed: str
) -> None:
    limits = [LinuxContainerResources(memory_limit_bytes=48 * MEBI, oom_score_adj=score) for score in scores]
    async with a_world(
        LinuxContainerResources(memory_limit_bytes=56 * MEBI), abilities=Abilities(oom_kills_group=True)
    ) as world:
        await world.start(HOLD % 40, "large", resources=limits[0])
        await world.start(f"sleep 1; {HOLD % 24}", "small", resources=limits[1])
        seen = await world.watch(killed)
        assert (seen.code, seen.reason, seen.seconds) == (137, "OOMKilled", 1.0)
        other = world.ids["small" if killed == "large" else "large"]
        assert (await world.runtime.container_status(other)).state is ContainerState.RUNNING


async def test_what_eats_memory_outlives_its_neighbour_but_not_the_limit(autojump_clock: trio.abc.Clock) -> None:
    spared, first = (LinuxContainerResources(oom_score_adj=score) for score in (-997, 999))
    async with a_world(LinuxContainerResources(memory_limit_bytes=64 * MEBI)) as world:
        await world.start(HOLD % 32, "victim", resources=first)
        await world.start("exec tail /dev/zero", "eater", resources=spared)
        seen = [await world.watch(name) for name in ("victim", "eater")]
        assert [(each.code, each.reason) for each in seen] == [(137, "OOMKilled")] * 2
        assert [each.seconds for each in seen] == [0.062, 0.125], "half of the limit, then all of it"


async def test_logs_by_tail_and_time(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        container = await world.start("echo a; sleep 1; echo b; sleep 1; printf c; sleep 1")
        await trio.sleep(2.5)
        runtime = world.runtime
        async with runtime.container_logs(container) as log:
            assert [line.line async for line in log] == [b"a", b"b"]
        await trio.sleep(1)
        async with runtime.container_logs(container, tail=2) as log:
            assert [line.line async for line in log] == [b"b", b"c"]
        async with runtime.container_logs(container, since=EPOCH + timedelta(seconds=0.5)) as log:
            assert [line.line async for line in log] == [b"b", b"c"]
        async with runtime.container_logs(container, follow=True) as log:
            assert (await anext(log)).line == b"a"


async def test_containers_that_share_processes_see_each_other(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        shared = LinuxSecurityContext(namespaces=NamespaceOptions(pid=NamespaceMode.POD))
        await world.start("sleep 77", "one", security=shared)
        script = (
            "sleep 1; ps -o args | grep -c '^sleep 7'; cat /proc/1/cmdline | tr '\\0' ' '; echo $$; kill $(pidof sleep)"
        )
        await world.start(script, "two", security=shared)
        assert (await world.watch("two")).text == "1\n/pause 3"
        assert (await world.watch("one")).code == 143
        third = await world.start("sleep 9", "three", security=shared)
        await world.runtime.kill_pod_sandbox(world.sandbox)
        await trio.sleep(1)
        assert (await world.runtime.container_status(third)).exit_code == 137
        assert (await world.runtime.pod_sandbox_status(world.sandbox)).state is PodSandboxState.NOT_READY


async def test_a_container_joins_the_processes_of_another(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        target = await world.start("sleep 77", "main")
        options = NamespaceOptions(pid=NamespaceMode.TARGET, target_id=target)
        await world.start("pidof sleep", "debug", security=LinuxSecurityContext(namespaces=options))
        assert (await world.watch("debug")).text == "1"


async def test_a_container_ends_with_the_one_whose_processes_it_joined(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        target = await world.start("sleep 5; exit 3", "main")
        options = NamespaceOptions(pid=NamespaceMode.TARGET, target_id=target)
        joined = LinuxSecurityContext(namespaces=options)
        await world.start("trap '' TERM; while :; do sleep 1; done", "debug", security=joined)
        await world.start("sleep 1; exit 4", "short", security=joined)
        assert (await world.watch("short")).code == 4
        seen = await world.watch("debug")
        assert (seen.code, seen.seconds) == (137, 5.0)
        assert (await world.watch("main")).code == 3


async def test_pods_reach_each_other_and_share_the_node(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        await world.start("mkdir /w; echo hi >/w/index.html; httpd -f -p 80 -h /w", "server")
        address = (await world.runtime.pod_sandbox_status(world.sandbox)).ip
        host = NamespaceOptions(network=NamespaceMode.NODE)
        dns = DNSConfig(servers=("10.0.0.10",), searches=("svc", "local"), options=("ndots:5",))
        other = PodSandboxConfig(
            metadata=PodSandboxMetadata(name="other", namespace="ns", uid="v"), hostname="box", namespaces=host, dns=dns
        )
        sandbox = await world.runtime.run_pod_sandbox(other)
        assert (await world.runtime.pod_sandbox_status(sandbox)).ip == ""
        await trio.sleep(1)
        script = f"hostname; cat /etc/resolv.conf; wget -qO- http://{address}/; wget -qO- http://10.244.9.9/; echo $?"
        config = ContainerConfig(
            metadata=ContainerMetadata(name="c"),
            image=ImageID(BUSYBOX),
            image_name=BUSYBOX,
            command=("sh", "-c", script),
        )
        world.ids["client"] = await world.runtime.create_container(sandbox, config, other)
        await world.runtime.start_container(world.ids["client"])
        assert (await world.watch("client")).text.split("\n") == [
            "box",
            "search svc local",
            "nameserver 10.0.0.10",
            "options ndots:5",
            "hi",
            "wget: can't connect to remote host (10.244.9.9): No route to host",
            "1",
        ]
        assert len(await world.runtime.list_pod_sandboxes()) == 2
        assert len(await world.runtime.list_containers()) == 2


async def test_volumes_and_host_paths_are_mounted_by_sub_path(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        runtime = world.runtime
        volume = await runtime.create_volume(VolumeConfig(pod_uid="u", name="v", medium="Memory", size_limit_bytes=10))
        await runtime.write_volume(volume, {"sub/key": VolumeFile(data=b"value"), "link": VolumeFile(target="sub/key")})
        mounts = (
            Mount(container_path="/all", volume=volume),
            Mount(container_path="/etc/one", volume=volume, sub_path="sub/key"),
            Mount(container_path="/all/new", volume=volume, sub_path="made"),
            Mount(container_path="/host", host_path="/var/data"),
        )
        await world.start(
            "cat /all/link /etc/one; ls -d /all/new; echo shared >/host/f; echo too much text >/all/big; rm /etc/one",
            mounts=mounts,
        )
        assert (await world.watch()).text == (
            "valuevalue/all/new\n"
            "sh: write error: No space left on device\n"
            "rm: can't remove '/etc/one': Device or resource busy"
        )
        await world.start("cat /host/f", "second", mounts=mounts)
        assert (await world.watch("second")).text == "shared"


def a_tree(**children: File | Directory | Symlink | MountPoint) -> Tree:
    return Tree(Directory(dict(children)), lambda: 1.0)


def fault(call: Callable[[], object]) -> int | None:
    """Return the number of the OSError that a call ends with."""
    try:
        call()
    except OSError as error:
        return error.errno
    return None


@pytest.mark.parametrize(
    ("path", "number"),
    [("/none/x", errno.ENOENT), ("/f/x", errno.ENOTDIR), ("/loop/x", errno.ELOOP), ("", errno.ENOENT)],
)
def test_paths_that_lead_nowhere(path: str, number: int) -> None:
    tree = a_tree(f=File(), loop=Symlink("loop"))
    assert fault(lambda: tree.find(path)) == number


def test_the_tree_keeps_its_rules() -> None:
    tree = a_tree(f=File(), m=MountPoint(Directory(), readonly=True), up=Symlink("../f"))
    assert tree.get("/a/../f") is None
    assert tree.get("/../f") is tree.get("up")
    assert tree.find("/").path == "/"
    assert fault(lambda: tree.put("/m/x", File())) == errno.EROFS
    assert fault(lambda: tree.make_directories("/f")) == errno.EEXIST
    assert fault(lambda: tree.make_directories("/f/x")) == errno.ENOTDIR
    assert fault(lambda: tree.make_directories("/m/x")) == errno.EROFS
    assert fault(lambda: tree.directory("/f")) == errno.ENOTDIR
    assert fault(lambda: tree.directory("/none")) == errno.ENOENT
    assert fault(lambda: tree.detach(tree.find("/m"))) == errno.EBUSY
    assert fault(lambda: tree.detach(tree.find("/m/x"))) == errno.EROFS


def test_a_limited_volume_gives_space_back() -> None:
    tree = Tree(Directory(budget=Budget(4)), lambda: 1.0)
    file = File()
    tree.put("/f", file)
    file.write(0, b"1234")
    with pytest.raises(OSError, match="No space left"):
        file.resize(5)
    tree.detach(tree.find("/f"))
    other = File()
    tree.put("/g", other)
    other.write(0, b"abcd")
    assert bytes(other.data) == b"abcd"


def test_addresses_avoid_each_other() -> None:
    first = make_address(0, "u", 0, set())
    second = make_address(0, "u", 0, {first})
    assert first != second
    assert first.startswith("10.244.")


async def test_the_grpc_image_serves_after_four_seconds(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        container = await world.start("", argv=(), image="127.0.0.1:5000/kemu/grpc:1")
        await trio.sleep(5)
        await world.runtime.stop_container(container, 5)
        seen = await world.watch()
        assert (seen.lines, seen.code) == (((0, "Started"), (4, "Serving"), (5, "Terminated")), 0)


async def test_an_image_may_ignore_its_stop(autojump_clock: trio.abc.Clock) -> None:
    images = {"app": SimulatedImage(is_present=True, entrypoint=("/app",), cmd=("serve",), stop_signal="SIGQUIT")}
    async with a_world(images=images, exit_code_on_term=None) as world:
        container = await world.start("", argv=(), image="app")
        await trio.sleep(1)
        await world.runtime.stop_container(container, 3)
        status = await world.runtime.container_status(container)
        assert (status.exit_code, status.stop_signal) == (137, "SIGQUIT")
        assert (status.state, trio.current_time()) == (ContainerState.EXITED, 4.0)


async def test_a_script_of_a_volume_is_a_program(autojump_clock: trio.abc.Clock) -> None:
    async with a_world(images=PRESENT) as world:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        script = VolumeFile(data=b"#!/bin/sh\necho run $1\nexit 4\n", mode=0o755)
        await world.runtime.write_volume(volume, {"go": script})
        mounts = (Mount(container_path="/v", volume=volume),)
        await world.start("", argv=("/v/go", "now"), mounts=mounts)
        seen = await world.watch()
        assert (seen.text, seen.code) == ("run now", 4)
        await world.start("PATH=/v:$PATH; go there; echo $?", "second", mounts=mounts)
        assert (await world.watch("second")).text == "run there\n4"
