"""What keeps a program from being started in a simulated container, in runc's words (libcontainer, exec.LookPath)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulated_world import a_world, tell

from runtime.api import LinuxSecurityContext, Mount, StartError, VolumeConfig, VolumeFile

if TYPE_CHECKING:
    import trio
    from simulated_world import Seen, World

CREATED = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
)
INIT = "unable to start container process: error during container init: "
EXEC = "unable to start container process: exec: "
SOMEBODY = LinuxSecurityContext(run_as_user=1000)

REFUSED = [
    ("no such file", ("/no/such",), {}, f'{EXEC}"/no/such": stat /no/such: no such file or directory'),
    ("not in PATH", ("nosuch",), {}, f'{EXEC}"nosuch": executable file not found in $PATH'),
    ("no name at all", ("",), {}, f'{EXEC}"": executable file not found in $PATH'),
    ("a line of shell", ("sh -c true",), {}, f'{EXEC}"sh -c true": executable file not found in $PATH'),
    ("a quote in it", ('/a"b',), {}, f'{EXEC}"/a\\"b": stat /a"b: no such file or directory'),
    ("a folder", ("/var",), {}, f'{EXEC}"/var": is a directory'),
    ("no program", ("/etc/passwd",), {}, f'{EXEC}"/etc/passwd": permission denied'),
    ("below a file", ("/etc/passwd/x",), {}, f'{EXEC}"/etc/passwd/x": stat /etc/passwd/x: not a directory'),
    ("nothing beside", ("./x",), {"working_dir": "/var"}, f'{EXEC}"./x": stat ./x: no such file or directory'),
    (
        "in a folder of root's",
        ("/root/x",),
        {"security": SOMEBODY},
        f'{EXEC}"/root/x": stat /root/x: permission denied',
    ),
    ("PATH elsewhere", ("true",), {"envs": {"PATH": "/nowhere:"}}, f'{EXEC}"true": executable file not found in $PATH'),
    ("a relative folder to work in", ("true",), {"working_dir": "data"}, "Cwd must be an absolute path"),
    ("a file to work in", ("true",), {"working_dir": "/etc/group"}, f"{INIT}mkdir /etc/group: not a directory"),
    ("a folder below a file", ("true",), {"working_dir": "/etc/group/a/b"}, f"{INIT}mkdir /etc/group: not a directory"),
]


@pytest.mark.parametrize(("argv", "settings", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_what_runc_does_not_start(
    argv: tuple[str, ...], settings: dict[str, object], text: str, autojump_clock: trio.abc.Clock
) -> None:
    async with a_world() as world:
        with pytest.raises(StartError) as caught:
            await world.start("", argv=argv, **settings)
        status = await world.runtime.container_status(world.ids["main"])
        assert (str(caught.value), status.message) == (CREATED + text, CREATED + text)
        assert (status.reason, status.exit_code, status.started_at) == ("StartError", 128, None)


PLACES = [
    ("a folder over a file", "/etc/passwd", "", "not a directory"),
    ("a file over a folder", "/var", "file", "not a directory"),
    ("below a file", "/etc/passwd/a", "", "not a directory"),
    ("inside /proc", "/proc/x", "", '"/proc/x" cannot be mounted because it is inside /proc'),
    ("/proc itself", "/proc", "", '"/proc" cannot be mounted because it is not of type proc'),
    ("inside /sys", "/sys/x", "", "mkdirat /sys/x: read-only file system"),
]


@pytest.mark.parametrize(("target", "path", "why"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
async def test_what_can_not_be_mounted(target: str, path: str, why: str, autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        await world.runtime.write_volume(volume, {"file": VolumeFile(data=b"x")})
        with pytest.raises(StartError) as caught:
            await world.start("", mounts=(Mount(container_path=target, volume=volume, sub_path=path),))
        source = f"/var/lib/kubelet/pods/u/v/{path}".rstrip("/")
        assert str(caught.value) == f'{CREATED}{INIT}error mounting "{source}" to rootfs at "{target}": {why}'


async def test_a_file_of_proc_may_be_mounted_over(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        await world.runtime.write_volume(volume, {"file": VolumeFile(data=b"mine\n")})
        mount = Mount(container_path="/proc/cpuinfo", volume=volume, sub_path="file")
        await world.start("exit 0", mounts=(mount,))
        assert (await world.watch()).code == 0


SCRIPTS = [
    ("a script", b"#!/bin/sh\necho $0 $@\n", "/v/x one", 0),
    ("with an argument of its own", b"#! /bin/sh\t-e \nfalse\necho no\n", "", 1),
    ("no line that says what runs it", b"echo hi\n", "exec /v/x: exec format error", 255),
    ("an empty one", b"", "exec /v/x: exec format error", 255),
    ("the end of its line is Windows'", b"#!/bin/sh\r\necho hi\r\n", "exec /v/x: no such file or directory", 255),
    ("what runs it is not there", b"#!/opt/python\n", "exec /v/x: no such file or directory", 255),
]


@pytest.mark.parametrize(("data", "text", "code"), [row[1:] for row in SCRIPTS], ids=[row[0] for row in SCRIPTS])
def test_a_file_is_run_as_the_kernel_would(data: bytes, text: str, code: int) -> None:
    async def story(world: World) -> Seen:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        await world.runtime.write_volume(volume, {"x": VolumeFile(data=data, mode=0o755)})
        await world.start("", argv=("/v/x", "one"), mounts=(Mount(container_path="/v", volume=volume),))
        return await world.watch()

    seen = tell(story)
    assert (seen.text, seen.code) == (text, code)


LONG = "x" * (128 << 10)
TOO_LONG = [
    ("one argument", ("true", LONG), {}, "exec /bin/true: argument list too long"),
    ("one variable", ("true",), {"A": LONG}, "exec /bin/true: argument list too long"),
    ("all together", ("true",), {f"A{n}": LONG[:-9] for n in range(17)}, "exec /bin/true: argument list too long"),
    ("a zero byte", ("true", "a\0b"), {}, "exec /bin/true: invalid argument"),
]


@pytest.mark.parametrize(("argv", "envs", "text"), [row[1:] for row in TOO_LONG], ids=[row[0] for row in TOO_LONG])
def test_words_that_the_kernel_does_not_take(argv: tuple[str, ...], envs: dict[str, str], text: str) -> None:
    async def story(world: World) -> Seen:
        await world.start("", argv=argv, envs=envs)
        return await world.watch()

    seen = tell(story)
    assert (seen.text, seen.code) == (text, 255)


def test_a_program_goes_by_the_name_that_it_is_called_and_a_copy_is_one_too() -> None:
    script = """mkdir /x; cp /bin/busybox /x/seq; ln -s /bin/sh /x/basename; ln -s /bin/busybox /x/foo
cd /bin; ./echo beside; cd /; bin/echo below; /x/seq 2; /x/basename /a/b; /x/foo; echo $?; PATH=/x; foo; basename /c"""

    async def story(world: World) -> Seen:
        await world.start(script)
        return await world.watch()

    expected = "beside\nbelow\n1\n2\nb\nfoo: applet not found\n127\nfoo: applet not found\nc"
    assert tell(story).text == expected


def test_a_program_of_another_image_is_what_it_was_there() -> None:
    async def story(world: World) -> Seen:
        await world.start("cp /bin/seq /tmp/count; /tmp/count 2", image="nginx:1")
        return await world.watch()

    assert tell(story).text == "1\n2"


def test_the_folder_to_work_in_is_where_its_path_leads() -> None:
    async def story(world: World) -> Seen:
        await world.start("pwd", working_dir="/var/../etc/")
        return await world.watch()

    assert tell(story).text == "/etc"
