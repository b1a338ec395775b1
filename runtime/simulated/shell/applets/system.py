"""Words about the system: env, id, hostname, date, uname and their like."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import trio

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, complain, options, put

if TYPE_CHECKING:
    from runtime.simulated.process import Process


async def env(process: Process, name: str, arguments: list[str]) -> int:
    """Print the environment, or run a command in a changed one."""
    words, variables = list(arguments), dict(process.env)
    while words:
        if words[0] in {"-i", "-"}:
            variables.clear()
            words.pop(0)
        elif words[0] == "-u" and len(words) > 1:
            variables.pop(words[1], None)
            del words[:2]
        elif "=" in words[0]:
            key, _, value = words.pop(0).partition("=")
            variables[key] = value
        else:
            break
    if not words:
        await put(process, "".join(f"{key}={value}\n" for key, value in variables.items()))
        return 0
    main = process.container.commands.resolve(process, tuple(words))
    process.argv, process.env = tuple(words), variables
    return await main(process)


async def printenv(process: Process, name: str, arguments: list[str]) -> int:
    """Print the environment, or the values of some variables."""
    if not arguments:
        await put(process, "".join(f"{key}={value}\n" for key, value in process.env.items()))
        return 0
    status = 0
    for key in arguments:
        if key in process.env:
            await put(process, f"{process.env[key]}\n")
        else:
            status = 1
    return status


def _account(process: Process, path: str, number: int) -> str | None:
    """Return the name of a user or a group from /etc/passwd or /etc/group."""
    node = access.get(process, path)
    data = bytes(getattr(node, "data", b"")).decode(errors="replace")
    for row in data.splitlines():
        parts = row.split(":")
        if len(parts) > 2 and parts[2] == str(number):
            return parts[0]
    return None


async def id_(process: Process, name: str, arguments: list[str]) -> int:
    """Print user and groups."""
    taken = options(arguments, "ugGnr")
    container = process.container
    groups = container.groups
    if taken.has("u", "g"):
        number, path = (container.uid, "/etc/passwd") if taken.has("u") else (groups[0], "/etc/group")
        text = (_account(process, path, number) or str(number)) if taken.has("n") else str(number)
        await put(process, f"{text}\n")
        return 0
    if taken.has("G"):
        texts = [
            (_account(process, "/etc/group", each) or str(each)) if taken.has("n") else str(each) for each in groups
        ]
        await put(process, " ".join(texts) + "\n")
        return 0
    named = [_with_name(each, _account(process, "/etc/group", each)) for each in groups]
    user = _with_name(container.uid, _account(process, "/etc/passwd", container.uid))
    rest = f" groups={','.join(named)}" if container.config.security.supplemental_groups else ""
    await put(process, f"uid={user} gid={named[0]}{rest}\n")
    return 0


def _with_name(number: int, name: str | None) -> str:
    return f"{number}({name})" if name else str(number)


async def whoami(process: Process, name: str, arguments: list[str]) -> int:
    """Print the user's name."""
    user = _account(process, "/etc/passwd", process.container.uid)
    if user is None:
        await complain(process, name, f"unknown uid {process.container.uid}")
        return 1
    await put(process, f"{user}\n")
    return 0


async def hostname(process: Process, name: str, arguments: list[str]) -> int:
    """Print the pod's host name, its address with -i."""
    text = process.container.sandbox.address if "-i" in arguments else process.container.hostname
    if "-s" in arguments:
        text = text.partition(".")[0]
    await put(process, f"{text}\n")
    return 0


_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?")


async def date(process: Process, name: str, arguments: list[str]) -> int:
    """Print the virtual time: `date [-u] [-d time] [-I] [+format]`."""
    taken = options(arguments, "uRI", "dDr", {"utc": "u", "date": "d", "iso-8601": "I"})
    at = process.container.machine.now().astimezone(UTC)
    if "d" in taken.values:
        at = parse_date(taken.values["d"], at)
    form = taken.rest[0][1:] if taken.rest and taken.rest[0].startswith("+") else "%a %b %e %H:%M:%S UTC %Y"
    if taken.has("I"):
        form = "%Y-%m-%d"
    if taken.has("R"):
        form = "%a, %d %b %Y %H:%M:%S +0000"
    form = form.replace("%s", str(int(at.timestamp()))).replace("%N", f"{at.microsecond * 1000:09d}")
    await put(process, at.strftime(form.replace("%Z", "UTC").replace("%z", "+0000")) + "\n")
    return 0


def parse_date(text: str, now: datetime) -> datetime:
    """Return the time that a text means: @seconds, now, or a date with or without a time of day; AppletError."""
    if text.startswith("@") and text[1:].isdecimal():
        return datetime.fromtimestamp(int(text[1:]), UTC)
    if text == "now":
        return now
    match = _DATE.match(text)
    if match is None:
        raise AppletError(f"invalid date '{text}'")
    parts = [int(each or 0) for each in match.groups()]
    return datetime(parts[0], parts[1], parts[2], tzinfo=UTC) + timedelta(
        hours=parts[3], minutes=parts[4], seconds=parts[5]
    )


async def uname(process: Process, name: str, arguments: list[str]) -> int:
    """Print the system's name."""
    taken = options(arguments, "asnrvmpo")
    values = {
        "s": "Linux",
        "n": process.container.hostname,
        "r": "6.1.0",
        "v": "#1 SMP",
        "m": "x86_64",
        "o": "GNU/Linux",
    }
    wanted = list(values) if taken.has("a") else [key for key in values if taken.has(key)] or ["s"]
    await put(process, " ".join(values[key] for key in wanted) + "\n")
    return 0


async def nproc(process: Process, name: str, arguments: list[str]) -> int:
    """Print the number of processors."""
    await put(process, f"{process.container.machine.cpus}\n")
    return 0


async def uptime(process: Process, name: str, arguments: list[str]) -> int:
    """Print how long the machine is up."""
    minutes = int(trio.current_time() // 60)
    await put(
        process, f" {process.container.machine.now():%H:%M:%S} up {minutes} min,  load average: 0.00, 0.00, 0.00\n"
    )
    return 0


async def which(process: Process, name: str, arguments: list[str]) -> int:
    """Print where programs are."""
    status = 0
    for word in arguments:
        if word in process.container.words:
            await put(process, f"/bin/{word}\n")
        else:
            status = 1
    return status


async def busybox(process: Process, name: str, arguments: list[str]) -> int:
    """Run one of busybox's words."""
    if not arguments:
        await put(process, "BusyBox (simulated)\n")
        return 0
    main = process.container.commands.resolve(process, tuple(arguments))
    process.argv = tuple(arguments)
    return await main(process)


async def pwd(process: Process, name: str, arguments: list[str]) -> int:
    """Print the directory."""
    await put(process, f"{process.cwd}\n")
    return 0


async def sync(process: Process, name: str, arguments: list[str]) -> int:
    """Do nothing: there is no disk."""
    return 0
