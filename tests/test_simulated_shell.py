"""Scripts in time: signals, traps, children, memory, the network, and what is no script at all."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from simulated_world import BUSYBOX, Seen, World, a_world, live, tell

from runtime.api import (
    CRIError,
    ExecStartError,
    ExecTimeoutError,
    LinuxSecurityContext,
    Mount,
    SeccompProfile,
    StartError,
    VolumeConfig,
)
from runtime.simulated import TYPICAL, Abilities, SimulatedImage

DISCIPLINED = "trap 'echo Terminated; sleep 2; echo Exiting; exit 0' TERM\necho Started\nsleep 600 & wait $!\n"
MEBI = 1 << 20


@pytest.mark.parametrize(
    ("why", "script", "stop_at", "lines", "code", "seconds"),
    [
        (
            "wait is interrupted at once and the trap sleeps",
            DISCIPLINED,
            3.0,
            ((0, "Started"), (3, "Terminated"), (5, "Exiting")),
            0,
            5,
        ),
        (
            "a trap runs when the foreground command has ended",
            "trap 'echo Got; exit 0' TERM; while :; do sleep 0.2; done",
            3.1,
            ((3.2, "Got"),),
            0,
            3.2,
        ),
        ("a first process without a trap ignores TERM", "echo Up; sleep 600", 3.0, ((0, "Up"),), 137, 8),
        ("an ignored TERM is ignored", "trap '' TERM; while :; do sleep 0.2; done", 2.0, (), 137, 7),
        (
            "a trap that stays goes on",
            "trap 'echo Got' TERM; while true; do sleep 1; done",
            2.5,
            ((3, "Got"),),
            137,
            7.5,
        ),
        ("exit in a trap has the status of before", "trap 'exit' TERM; true; sleep 9 & wait", 1.0, (), 143, 1),
        ("a trap's own code counts", "trap 'exit 143' TERM; sleep 9 & wait", 1.0, (), 143, 1),
        (
            "a stop in the instant of the start waits for the trap to be set",
            "trap 'echo T; exit 3' TERM; sleep 9 & wait",
            0.0,
            ((0, "T"),),
            3,
            0,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value and ";" not in value else "",
)
def test_a_stop(
    why: str, script: str, stop_at: float, lines: tuple[tuple[float, str], ...], code: int, seconds: float
) -> None:
    seen = live(script, stop_at=stop_at)
    assert (seen.lines, seen.code, seen.seconds) == (lines, code, seconds)


def test_a_stop_that_follows_the_start_at_once_finds_the_trap_set() -> None:
    seen = live("trap 'echo T; exit 3' TERM; sleep 9 & wait", stop_at=0.0, latencies=TYPICAL)
    assert ([text for _, text in seen.lines], seen.code) == (["T"], 3)


@pytest.mark.parametrize(
    ("why", "script", "lines", "code"),
    [
        ("sleep takes its time", "echo a; sleep 1.5; echo b", ((0, "a"), (1.5, "b")), 0),
        ("a background job is waited for", "sleep 5 & wait $!; echo done", ((5, "done"),), 0),
        ("what is left behind dies", "(sleep 5; echo late) & echo now; exit 3", ((0, "now"),), 3),
        ("an exit trap runs", "trap 'echo bye' EXIT; sleep 2", ((2, "bye"),), 0),
        ("a child that is killed is told", "(sleep 1; kill $(pidof sleep)) & sleep 77; echo $?; exit 5",
         ((1, "Terminated"), (1, "143")), 5),
        ("jobs run side by side", "(sleep 2; echo b) & (sleep 1; echo a) & wait; echo c",
         ((1, "a"), (2, "b"), (2, "c")), 0),
        ("a pipe has all its stages at once", "(echo a; sleep 1; echo b) | while read x; do echo got $x; done",
         ((0, "got a"), (1, "got b")), 0),
        ("timeout ends a command", "timeout 2 sleep 5; echo $?", ((2, "Terminated"), (2, "143")), 0),
        ("timeout kills what ignores it", "timeout -k 1 2 sh -c \"trap '' TERM; sleep 9\"; echo $?",
         ((3, "Killed"), (3, "137")), 0),
        ("tail follows a file", "touch f; tail -f f & sleep 1; echo x >>f; sleep 1", ((1, "x"),), 0),
        ("tail -F waits for its file", "tail -F f & sleep 1.5; echo x >f; sleep 2", ((2, "x"),), 0),
        ("a fifo joins two processes", "mkfifo p; (sleep 1; echo hi >p) & cat p", ((1, "hi"),), 0),
        ("read gives up after its time", "mkfifo p; sleep 9 >p & read -t 2 x <p; echo $?", ((2, "1"),), 0),
        ("a signal with a handler wakes wait",
         "trap 'echo u' USR1; (sleep 1; kill -USR1 $$) & sleep 9 & wait $!; echo $?",
         ((1, "u"), (1, "138")), 0),
        ("stdin of a job is empty", "cat & wait; echo end", ((0, "end"),), 0),
        ("usleep and units", "usleep 500000; sleep 1m; sleep 0.5s 0.5; echo x", ((61.5, "x"),), 0),
        ("date shows virtual time", "sleep 90; date -u +%H:%M:%S", ((90, "00:01:30"),), 0),
        ("kill reaches a group of names", "sleep 50 & sleep 60 & killall sleep; wait; echo $?", ((0, "0"),), 0),
        ("pkill finds a command line", "sleep 50 & sleep 60 & pkill -f 'sleep 5'; wait %1; echo $?; pgrep -l sleep",
         ((0, "Terminated"), (0, "143"), (0, "3 sleep 60")), 0),
        ("nc answers once",
         "echo pong | nc -l -p 99 & sleep 1; echo ping | nc 127.0.0.1 99", ((1, "pong"), (1, "ping")), 0),
    ],
    ids=lambda value: value if isinstance(value, str) and ";" not in value else "",
)  # fmt: skip
def test_time_passes_as_in_a_shell(why: str, script: str, lines: tuple[tuple[float, str], ...], code: int) -> None:
    seen = live(script)
    assert (seen.lines, seen.code) == (lines, code)


@pytest.mark.parametrize(
    "script", ["\nwhile :; do :; done", "\nwhile true; do true; done", "\nyes >/dev/null", "\ncat /dev/zero >/dev/null"]
)
def test_a_loop_without_a_sleep_is_stopped_with_a_clear_line(script: str) -> None:
    seen = live(script)
    assert (seen.code, seen.seconds) == (152, 0)
    assert seen.text.endswith(
        ": line 2 of the script in container 'main': 100000 steps and no time passed at 0 s: "
        "a loop without a sleep never lets time go on"
    )


def test_an_unknown_word_asks_for_a_program() -> None:
    seen = live("echo a\n\nnode export.js; exit $?")
    assert seen.code == 127
    assert "sh: node: not found (line 3: the simulation has no such program" in seen.text


@pytest.mark.parametrize(
    ("why", "script", "lines", "code", "reason"),
    [
        ("the first process goes over the limit", "sleep 2; exec tail /dev/zero", (), 137, "OOMKilled"),
        ("a big block is enough", "echo a; exec dd if=/dev/zero of=/dev/null bs=60M", ("a",), 137, "OOMKilled"),
        ("a child is killed, its parent lives",
         "tail /dev/zero; echo gone $?; exit 9", ("Killed", "gone 137"), 9, "OOMKilled"),
        ("within the limit nothing happens",
         "dd if=/dev/zero of=f bs=1M count=2 2>/dev/null; wc -c <f", ("2097152",), 0,
         "Completed"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value and ";" not in value else "",
)  # fmt: skip
def test_memory(why: str, script: str, lines: tuple[str, ...], code: int, reason: str) -> None:
    seen = live(script, limit=16 * MEBI)
    assert (tuple(line for _, line in seen.lines), seen.code, seen.reason) == (lines, code, reason)


def test_a_child_takes_the_container_down_where_the_kernel_kills_groups() -> None:
    seen = live("tail /dev/zero; echo no", limit=16 * MEBI, abilities=Abilities(oom_kills_group=True))
    assert (seen.lines, seen.code, seen.reason) == ((), 137, "OOMKilled")


SITE = """
trap 'exit 0' TERM; mkdir -p /www/cgi-bin; echo hello >/www/index.html
printf '#!/bin/sh\\necho cgi >/proc/1/fd/1\\necho "Status: 201"\\necho\\necho made\\n' >/www/cgi-bin/x
chmod +x /www/cgi-bin/x
sleep 2; httpd -p 8080 -h /www; echo Serving; sleep 600 & wait
"""


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("wget -q -O - http://127.0.0.1:8080/", "hello\n", 0),
        ("wget -q -O- http://localhost:8080/none", "wget: server returned error: HTTP/1.1 404 Not Found\n", 1),
        ("wget -q http://127.0.0.1:8080/index.html; cat index.html", "hello\n", 0),
        ("wget -q --spider http://127.0.0.1:8080/; echo $?", "0\n", 0),
        ("wget -qO- http://127.0.0.1:81/", "wget: can't connect to remote host (127.0.0.1): Connection refused\n", 1),
        ("wget -qO- http://nosuch/", "wget: bad address 'nosuch'\n", 1),
        ("wget -qO- http://127.0.0.1:8080/cgi-bin/x", "made\n", 0),
        ("curl -sf http://pod:8080/", "hello\n", 0),
        ("curl -sf http://127.0.0.1:8080/none", "", 22),
        ("curl -s http://127.0.0.1:81/", "", 7),
        ("curl -s http://nosuch/", "", 6),
        ("curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/cgi-bin/x", "201", 0),
        ("curl -sI http://127.0.0.1:8080/ | head -1", "HTTP/1.1 200 OK\r\n", 0),
        ("nc -z 127.0.0.1 8080", "", 0),
        ("nc -z 127.0.0.1 81", "", 1),
        ("nc -zv pod 8080", "pod (127.0.0.1:8080) open\n", 0),
        ("httpd -p 8080 -h /www", "httpd: bind: Address already in use\n", 1),
        ("httpd -p 9 -h /none", "httpd: can't change directory to '/none': No such file or directory\n", 1),
        ("ip addr | grep -c inet", "2\n", 0),
        ("ip link add dummy0 type dummy", "ip: RTNETLINK answers: Operation not permitted\n", 2),
        ("nslookup pod | tail -1", "Address: 127.0.0.1\n", 0),
        ("ping -c 1 localhost", "localhost is alive\n", 0),
    ],
)
async def test_the_pod_network(command: str, output: str, code: int, autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        await world.start(SITE)
        await trio.sleep(3)
        assert await world.exec(command) == (output, code)


async def test_waiting_loops_wait_for_another_container(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        await world.start(SITE, "server")
        await world.start("until nc -z 127.0.0.1 8080; do sleep 0.5; done; echo up; exit 4", "client")
        seen = await world.watch("client")
        assert (seen.lines, seen.code) == (((2, "up"),), 4)


async def test_a_volume_is_shared_and_a_read_only_mount_is_not_written(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        await world.start(
            "sleep 1; echo x >/a/f; sleep 600", "one", mounts=(Mount(container_path="/a", volume=volume),)
        )
        await world.start(
            "until [ -f /b/f ]; do sleep 0.1; done; cat /b/f; echo y >/b/f; rm /b/f",
            "two",
            mounts=(Mount(container_path="/b", volume=volume, readonly=True),),
        )
        seen = await world.watch("two")
        assert seen.text == (
            "x\nsh: can't create /b/f: Read-only file system\nrm: can't remove '/b/f': Read-only file system"
        )


async def test_who_runs_decides_what_may_be_written(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        security = LinuxSecurityContext(
            run_as_user=1000, run_as_group=3000, supplemental_groups=(5,), readonly_rootfs=False
        )
        await world.start("sleep 600", security=security)
        assert await world.exec("id -u; id -g; id -G; whoami") == ("1000\n3000\n3000 5\nwhoami: unknown uid 1000\n", 1)
        assert await world.exec("touch /f; echo x >/etc/passwd; touch /tmp/f && echo ok") == (
            "ok\ntouch: /f: Permission denied\nsh: can't create /etc/passwd: Permission denied\n",
            0,
        )


LISTS = {
    "/etc/passwd": b"root:x:0:0:::\napp:x:1000:1001:::\n",
    "/etc/group": b"root:x:0:\napp:x:1001:\nstaff:x:50000:app\n",
}
IDS = [
    ("the image's lists say which groups a user has", {"run_as_user": 1000}, "1001 50000"),
    ("a group of its own doesn't hide those", {"run_as_user": 1000, "run_as_group": 3000}, "3000 50000"),
    ("strict groups are those that are named", {"run_as_user": 1000, "supplemental_groups_policy": "Strict"}, "1001"),
    (
        "beside those of the pod",
        {"run_as_user": 1000, "run_as_group": 5, "supplemental_groups": (6, 5), "supplemental_groups_policy": "Strict"},
        "5 6",
    ),
    ("who isn't listed has root's group", {"run_as_user": 7}, "0"),
]


@pytest.mark.parametrize(("why", "security", "expected"), IDS, ids=[row[0] for row in IDS])
async def test_groups_are_those_of_the_image_and_of_the_pod(
    autojump_clock: trio.abc.Clock, why: str, security: dict[str, Any], expected: str
) -> None:
    async with a_world(images={BUSYBOX: SimulatedImage(is_present=True, files=LISTS)}) as world:
        await world.start("sleep 600", security=LinuxSecurityContext(**security))
        assert await world.exec("id -G") == (f"{expected}\n", 0)


RIGHTS = [
    ("root has what the runtime gives", {}, "0 0,  00000000a80425fb 00000000a80425fb 0 0"),
    (
        "others have nothing at hand",
        {"run_as_user": 1000, "run_as_group": 5, "supplemental_groups": (9, 7), "no_new_privs": True},
        "1000 5,7,9,50000,  0000000000000000 00000000a80425fb 1 0",
    ),
    (
        "what is dropped and added again",
        {"drop_capabilities": ("ALL",), "add_capabilities": ("chown", "NET_BIND_SERVICE"), "seccomp": SeccompProfile()},
        "0 0,  0000000000000401 0000000000000401 0 2",
    ),
    (
        "a privileged one has all",
        {"privileged": True, "seccomp": SeccompProfile()},
        "0 0,  000001ffffffffff 000001ffffffffff 0 0",
    ),
]
SHOW = """\
s() { sed -n "s/^$1:\\t*//p" /proc/self/status; }
echo "$(s Uid | cut -f1) $(s Groups | tr ' ' ',') $(s CapInh | grep -v '^0*$')"\
" $(s CapEff) $(s CapBnd) $(s NoNewPrivs) $(s Seccomp)"
"""


@pytest.mark.parametrize(("why", "security", "expected"), RIGHTS, ids=[row[0] for row in RIGHTS])
async def test_a_process_sees_what_it_may_do(
    autojump_clock: trio.abc.Clock, why: str, security: dict[str, Any], expected: str
) -> None:
    async with a_world(images={BUSYBOX: SimulatedImage(is_present=True, files=LISTS)}) as world:
        await world.start("sleep 600", security=LinuxSecurityContext(**security))
        assert await world.exec(SHOW) == (f"{expected}\n", 0)


async def test_id_tells_of_others_too(autojump_clock: trio.abc.Clock) -> None:
    async with a_world(images={BUSYBOX: SimulatedImage(is_present=True, files=LISTS)}) as world:
        await world.start("sleep 600", security=LinuxSecurityContext(run_as_group=9, supplemental_groups=(5,)))
        own, other = "uid=0(root) gid=9 groups=5,9", "uid=1000(app) gid=1001(app) groups=1001(app),50000(staff)"
        assert await world.exec("id; id app; id -G app") == (f"{own}\n{other}\n1001 50000\n", 0)


@pytest.mark.parametrize(("name", "expected"), [("app", "1000 1001"), ("who", "65532 0")])
async def test_an_image_may_have_its_user_by_name(autojump_clock: trio.abc.Clock, name: str, expected: str) -> None:
    async with a_world(images={BUSYBOX: SimulatedImage(is_present=True, files=LISTS, username=name)}) as world:
        await world.start("sleep 600")
        assert await world.exec("echo $(id -u) $(id -g)") == (f"{expected}\n", 0)


async def test_a_machine_has_the_app_armor_profiles_that_are_loaded(autojump_clock: trio.abc.Clock) -> None:
    loaded = Abilities(has_app_armor=True, app_armor_profiles=frozenset({"here"}))
    async with a_world(abilities=loaded) as world:
        assert (await world.runtime.status()).has_app_armor
        await world.start("sleep 600", security=LinuxSecurityContext(app_armor="localhost/here"))
        await world.start("sleep 600", "free", security=LinuxSecurityContext(app_armor="runtime/default"))
        with pytest.raises(CRIError, match=r"spec opts: apparmor profile not found gone$"):
            await world.start("sleep 600", "none", security=LinuxSecurityContext(app_armor="localhost/gone"))


async def test_a_machine_has_any_profile_unless_they_are_named(autojump_clock: trio.abc.Clock) -> None:
    async with a_world(abilities=Abilities(has_app_armor=True)) as world:
        await world.start("sleep 600", security=LinuxSecurityContext(app_armor="localhost/any"))


async def test_a_read_only_root_takes_no_files(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        await world.start("sleep 600", security=LinuxSecurityContext(readonly_rootfs=True))
        assert await world.exec("touch /f; mkdir /d") == (
            "touch: /f: Read-only file system\nmkdir: can't create directory '/d': Read-only file system\n",
            1,
        )


async def test_execs(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        container = await world.start("sleep 3; exit 0")
        assert await world.exec("echo to log >/proc/1/fd/1; echo $0 $$; exit 7") == ("sh 2\n", 7)
        with pytest.raises(ExecTimeoutError) as caught:
            await world.exec("echo before; sleep 9", seconds=1.0)
        assert caught.value.output == b"before\n"
        with pytest.raises(ExecStartError, match=r'exec: "/no/such": stat /no/such: no such file or directory'):
            await world.runtime.exec_sync(container, ("/no/such",))
        assert (await world.runtime.exec_sync(container, ("/bin/test", "-d", "/etc"))).exit_code == 0
        assert (await world.exec("sleep 99"))[1] == 137
        assert (await world.watch()).text == "to log"


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("/usr/bin/srever", "--port"), 'exec: "/usr/bin/srever": stat /usr/bin/srever: no such file or directory'),
        (("srever",), 'exec: "srever": executable file not found in $PATH'),
        (("/etc/passwd",), 'exec: "/etc/passwd": permission denied'),
    ],
)
async def test_a_command_that_is_not_there(argv: tuple[str, ...], text: str, autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        with pytest.raises(StartError) as caught:
            await world.start("", argv=argv)
        assert str(caught.value).endswith(f"unable to start container process: {text}")


def test_an_image_that_is_not_known_runs_and_answers() -> None:
    async def story(world: World) -> Seen:
        container = await world.start("", argv=("nginx", "-g", "daemon off;"), image="nginx:1.27")
        with pytest.raises(ConnectionRefusedError):
            await world.runtime.dial(world.sandbox, 80)
        assert await world.exec("pg_isready -U x; echo $?") == ("1\n", 0)
        await trio.sleep(1.5)
        stream = await world.runtime.dial(world.sandbox, 80)
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert await world.exec("pg_isready -U x && echo ready") == ("ready\n", 0)
        await world.runtime.stop_container(container, 5)
        return await world.watch()

    seen = tell(story)
    assert (seen.lines, seen.code, seen.seconds) == (((0, "nginx started (simulated)"),), 0, 1.5)


def test_the_same_run_is_the_same_in_any_order_of_the_scheduler() -> None:
    async def story(world: World) -> Seen:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        mounts = (Mount(container_path="/v", volume=volume),)
        script = "trap 'echo $N term >>/v/log; exit 0' TERM; while :; do echo $N >>/v/log; sleep 1; done & wait"
        for name in "abcdef":
            await world.start(f"N={name}; {script}", name, mounts=mounts)
        await world.start("sleep 3; wc -l /v/log; sleep 2; cat /v/log", "reader", mounts=mounts)
        await trio.sleep(4)
        async with trio.open_nursery() as nursery:
            for name in "abcdef":
                nursery.start_soon(world.runtime.stop_container, world.ids[name], 2.0)
        return await world.watch("reader")

    assert len({tell(story) for _ in range(20)}) == 1
