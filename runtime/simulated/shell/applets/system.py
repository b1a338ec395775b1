"""Words about the system: env, id, hostname, date, uname and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from runtime.simulated import access
from runtime.simulated.ids import read_accounts
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, options, put, tell
from runtime.simulated.shell.applets.modes import account_number
from runtime.simulated.shell.applets.naming import whole_name
from runtime.simulated.shell.launch import NOT_FOUND
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.simulated.process import Process


async def env(process: Process, name: str, arguments: list[str]) -> int:
    """Print the environment, or run a command in a changed one."""
    words, variables = list(arguments), dict(process.env)
    end = "\n"
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word in {"-i", "-"}:
            variables.clear()
        elif word.startswith("-u"):
            variables.pop(word[2:] or (words.pop(0) if words else ""), None)
        elif word == "-0":
            end = "\0"
        else:
            raise AppletError(f"invalid option -- '{word[1]}'")
    while words and "=" in words[0]:
        key, _, value = words.pop(0).partition("=")
        variables[key] = value
    if not words:
        await put(process, "".join(f"{key}={value}{end}" for key, value in variables.items()))
        return 0
    process.env = variables
    return await run_in_place(process, tuple(words))


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
    """Print user and groups, the process's own or those of a user."""
    taken = options(arguments, "ugGnr")
    container = process.container
    uid, groups = container.ids.uid, container.ids.groups
    if taken.rest:
        uid = account_of(process, taken.rest[0])
        accounts = read_accounts(container.tree)
        groups = (accounts.primary_group(str(uid)), *sorted(accounts.other_groups(str(uid))))
    if taken.has("u", "g"):
        number, path = (uid, "/etc/passwd") if taken.has("u") else (groups[0], "/etc/group")
        text = (_account(process, path, number) or str(number)) if taken.has("n") else str(number)
        await put(process, f"{text}\n")
        return 0
    if taken.has("G"):
        await _print_groups(process, groups, by_name=taken.has("n"))
        return 0
    named = {each: _with_name(each, _account(process, "/etc/group", each)) for each in groups}
    rest = f" groups={','.join(named[each] for each in sorted(named))}"
    await put(process, f"uid={_with_name(uid, _account(process, '/etc/passwd', uid))} gid={named[groups[0]]}{rest}\n")
    return 0


def account_of(process: Process, name: str) -> int:
    """Return the number of a user by name; AppletError, for a number too."""
    if name.isdecimal():
        raise AppletError(f"unknown user {name}")
    return account_number(process, "user", name)


async def _print_groups(process: Process, groups: tuple[int, ...], *, by_name: bool) -> None:
    texts = [(_account(process, "/etc/group", each) if by_name else None) or str(each) for each in groups]
    await put(process, " ".join(texts) + "\n")


async def groups(process: Process, name: str, arguments: list[str]) -> int:
    """Print the names of the process's groups."""
    await _print_groups(process, process.container.ids.groups, by_name=True)
    return 0


def _with_name(number: int, name: str | None) -> str:
    return f"{number}({name})" if name else str(number)


async def whoami(process: Process, name: str, arguments: list[str]) -> int:
    """Print the user's name."""
    if arguments:
        raise UsageError("")
    user = _account(process, "/etc/passwd", process.container.ids.uid)
    if user is None:
        await complain(process, name, f"unknown uid {process.container.ids.uid}")
        return 1
    await put(process, f"{user}\n")
    return 0


async def hostname(process: Process, name: str, arguments: list[str]) -> int:
    """Print the pod's host name, its address with -i, the name that /etc/hosts gives it with -f."""
    taken = options(arguments, "sidf")
    if taken.rest:
        raise AppletError("sethostname: Operation not permitted")
    text = process.container.hostname
    if taken.has("i"):
        text = process.container.sandbox.address or "127.0.0.1"
    elif taken.has("d"):
        text = whole_name(process).partition(".")[2]
    elif taken.has("f"):
        text = whole_name(process)
    elif taken.has("s"):
        text = text.partition(".")[0]
    await put(process, f"{text}\n")
    return 0


async def uname(process: Process, name: str, arguments: list[str]) -> int:
    """Print the system's name."""
    taken = options(arguments, "asnrvmpoi")
    if taken.rest:
        raise UsageError("[-amnrspvio]")
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
    taken = options(arguments, "a")
    if not taken.rest:
        raise UsageError("[-a] COMMAND...")
    status = 0
    for word in taken.rest:
        path = program_path(process, word)
        if path is None:
            status = 1
        else:
            await put(process, f"{path}\n")
    return status


def program_path(process: Process, word: str) -> str | None:
    """Return where the program is that a word means, None when there is none."""
    folders = [""] if "/" in word else [f"{folder or '.'}/" for folder in process.env.get("PATH", "").split(":")]
    for folder in folders:
        node = access.get(process, folder + word)
        if isinstance(node, File) and node.mode & 0o111:
            return folder + word
    return None


async def busybox(process: Process, name: str, arguments: list[str]) -> int:
    """Run one of busybox's words, or list them."""
    if not arguments or arguments[0].startswith("--"):
        words = "\n".join(sorted(process.container.words))
        await put(process, f"{words}\n" if arguments[:1] == ["--list"] else f"BusyBox (simulated). Words:\n{words}\n")
        return 0
    if arguments[0] not in process.container.words:
        return await no_applet(process, arguments[0], arguments)
    return await run_in_place(process, tuple(arguments))


async def no_applet(process: Process, name: str, arguments: list[str]) -> int:
    """Say that busybox has no word of the name that it was called by."""
    await tell(process, f"{name}: applet not found")
    return NOT_FOUND


async def run_in_place(process: Process, argv: tuple[str, ...]) -> int:
    """Become another program; ProgramMissing."""
    process.argv = argv
    return await process.container.commands.resolve(process, argv)(process)


async def arch(process: Process, name: str, arguments: list[str]) -> int:
    """Print the machine's kind."""
    return await uname(process, name, ["-m"])


async def tty(process: Process, name: str, arguments: list[str]) -> int:
    """Name the terminal that the input is, or say that there is none."""
    if process.is_terminal(0):
        await put(process, "/dev/pts/0\n")
        return 0
    if not options(arguments, "s").has("s"):
        await put(process, "not a tty\n")
    return 1


async def free(process: Process, name: str, arguments: list[str]) -> int:
    """Print the machine's memory: nothing of it is used."""
    taken = options(arguments, "bkmgh")
    unit = 1 if taken.has("b") else 1 << 20 if taken.has("m") else 1 << 30 if taken.has("g") else 1024
    total = process.container.machine.memory_bytes // unit
    await put(process, "              total        used        free      shared  buff/cache   available\n")
    await put(process, f"Mem:    {total:11} {0:11} {total:11} {0:11} {0:11} {total:11}\n")
    await put(process, f"Swap:   {0:11} {0:11} {0:11}\n")
    return 0


async def mount(process: Process, name: str, arguments: list[str]) -> int:
    """List what is mounted; nothing can be mounted."""
    if options(arguments, "arwvn", "to").rest:
        raise AppletError("permission denied (are you root?)")
    await process.write(1, await access.read_path(process, "/proc/mounts"))
    return 0


async def mountpoint(process: Process, name: str, arguments: list[str]) -> int:
    """Tell whether something is mounted at a path."""
    taken = options(arguments, "qdxn")
    if len(taken.rest) != 1:
        raise UsageError("[-q] { [-dn] DIR | -x DEVICE }")
    path = taken.rest[0]
    if access.get(process, path) is None:
        if not taken.has("q"):
            await complain(process, name, f"{path}: No such file or directory")
        return 1
    mounted = {"/", "/proc", "/dev", "/sys", *(each.container_path for each in process.container.config.mounts)}
    is_one = access.find(process, path).path in mounted
    if not taken.has("q"):
        await put(process, f"{path} is {'' if is_one else 'not '}a mountpoint\n")
    return int(not is_one)


async def clear(process: Process, name: str, arguments: list[str]) -> int:
    """Clear the screen that isn't there."""
    await put(process, "\x1b[H\x1b[J")
    return 0


async def pwd(process: Process, name: str, arguments: list[str]) -> int:
    """Print the directory."""
    await put(process, f"{process.cwd}\n")
    return 0


async def sync(process: Process, name: str, arguments: list[str]) -> int:
    """Do nothing: there is no disk."""
    return 0
