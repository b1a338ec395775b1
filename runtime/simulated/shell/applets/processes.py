"""Words about processes: sleep, kill, pidof, ps, timeout and their like."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import trio

from runtime.simulated import signals
from runtime.simulated.shell.applets.base import AppletError, complain, options, put
from runtime.simulated.shell.launch import resolve_child

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+|inf(?:inity)?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_USAGE_STATUS = 1


def duration(text: str) -> float:
    """Return the seconds that a text like 0.2, 5m or inf is; AppletError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise AppletError(f"invalid number '{text}'")
    return float(match[1]) * _UNITS[match[2]]


async def sleep(process: Process, name: str, arguments: list[str]) -> int:
    """Let time pass."""
    if not arguments:
        raise AppletError("missing operand", _USAGE_STATUS)
    seconds = sum(duration(each) for each in arguments)
    if seconds == math.inf:
        await trio.sleep_forever()
    await process.sleep(seconds)
    return 0


async def usleep(process: Process, name: str, arguments: list[str]) -> int:
    """Let microseconds pass."""
    await process.sleep(int(arguments[0]) / 1e6 if arguments else 0)
    return 0


async def true(process: Process, name: str, arguments: list[str]) -> int:
    """Succeed."""
    return 0


async def false(process: Process, name: str, arguments: list[str]) -> int:
    """Fail."""
    return 1


async def kill(process: Process, name: str, arguments: list[str]) -> int:
    """Send a signal: `kill [-signal] pid...`, `kill -l [number]`."""
    words = list(arguments)
    if words[:1] == ["-l"]:
        return await _list_signals(process, words[1:])
    number = signals.SIGTERM
    if words and words[0].startswith("-") and words[0] != "--":
        text = words.pop(0)[1:]
        if text in {"s", "n"} and words:
            text = words.pop(0)
        try:
            number = signals.signal_number(text)
        except ValueError:
            raise AppletError(f"bad signal name '{text}'") from None
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise AppletError("you need to specify whom to kill")
    status = 0
    for word in words:
        if not await _kill_one(process, name, word, number):
            status = 1
    await _die_now(process)
    return status


async def _kill_one(process: Process, name: str, word: str, number: int) -> bool:
    if not re.fullmatch(r"-?\d+", word):
        await complain(process, name, f"invalid number '{word}'")
        return False
    table = process.container.pids.processes
    pid = int(word)
    if pid in {0, -1}:
        found = [each for each in table.values() if pid == 0 or each.pid != 1]
    else:
        found = [table[abs(pid)]] if abs(pid) in table else []
    if not found:
        await complain(process, name, f"can't kill pid {word}: No such process")
    for each in sorted(found, key=lambda other: other.pid):
        each.send(number)
    return bool(found)


async def _die_now(process: Process) -> None:
    """Let a process that killed itself, or whose container it killed, end before its next step."""
    if process.is_dying:
        await trio.lowlevel.checkpoint()


async def _list_signals(process: Process, words: list[str]) -> int:
    if not words:
        for number in range(1, 32):
            await put(process, f"{number:2}) {signals.signal_name(number).removeprefix('SIG')}\n")
    for word in words:
        if word.isdecimal():
            await put(process, f"{signals.signal_name(int(word) & 127).removeprefix('SIG')}\n")
        else:
            await put(process, f"{signals.signal_number(word)}\n")
    return 0


def _named(process: Process, pattern: str, *, is_full: bool, is_exact: bool) -> list[Process]:
    found = []
    for each in process.container.pids.processes.values():
        text = " ".join(each.argv) if is_full else each.name
        fits = re.fullmatch(pattern, text) if is_exact else re.search(pattern, text)
        if fits and each is not process:
            found.append(each)
    return sorted(found, key=lambda other: other.pid)


async def pidof(process: Process, name: str, arguments: list[str]) -> int:
    """Print the ids of the processes with a name, newest first."""
    wanted = {word.rsplit("/", 1)[-1] for word in arguments if not word.startswith("-")}
    found = [
        each.pid for each in process.container.pids.processes.values() if each.name in wanted and each is not process
    ]
    found.sort(reverse=True)
    if "-s" in arguments:
        found = found[:1]
    if found:
        await put(process, " ".join(map(str, found)) + "\n")
    return int(not found)


async def pgrep(process: Process, name: str, arguments: list[str]) -> int:
    """Print the ids of the processes whose name fits a pattern."""
    taken = options(arguments, "flxvno")
    found = _named(process, taken.rest[0] if taken.rest else "", is_full=taken.has("f"), is_exact=taken.has("x"))
    for each in found:
        await put(process, f"{each.pid}{' ' + ' '.join(each.argv) if taken.has('l') else ''}\n")
    return int(not found)


async def pkill(process: Process, name: str, arguments: list[str]) -> int:
    """Send a signal to the processes whose name fits a pattern."""
    words, number = list(arguments), signals.SIGTERM
    for word in arguments:
        if word.startswith("-") and word not in {"-f", "-x"}:
            number = signals.signal_number(word[1:])
            words.remove(word)
    taken = options(words, "fx")
    found = _named(process, taken.rest[0] if taken.rest else "", is_full=taken.has("f"), is_exact=taken.has("x"))
    for each in found:
        each.send(number)
    await _die_now(process)
    return int(not found)


async def killall(process: Process, name: str, arguments: list[str]) -> int:
    """Send a signal to the processes with a name."""
    number, status = signals.SIGTERM, 0
    for word in arguments:
        if word.startswith("-"):
            number = signals.signal_number(word[1:]) if word != "-q" else number
            continue
        found = _named(process, re.escape(word), is_full=False, is_exact=True)
        for each in found:
            each.send(number)
        if not found:
            await complain(process, name, f"{word}: no process killed")
            status = 1
    await _die_now(process)
    return status


async def ps(process: Process, name: str, arguments: list[str]) -> int:
    """List the processes of the container, or of the pod that shares them."""
    taken = options(
        [word for word in arguments if word.startswith("-") or "," in word or word in _COLUMNS], "aefTwA", "o"
    )
    columns = taken.values.get("o", "pid,user,time,args").split(",")
    rows = [[_COLUMNS.get(column, column.upper()) for column in columns]]
    pids = process.container.pids
    if pids.is_shared:
        rows.append([_cell(column, 1, 0, ("/pause",)) for column in columns])
    running = sorted(pids.processes.values(), key=lambda other: other.pid)
    rows += [[_cell(column, each.pid, each.parent_pid, each.argv) for column in columns] for each in running]
    widths = {"pid": 5, "ppid": 5, "user": 8, "time": 5, "stat": 4, "comm": 16}
    for row in rows:
        cells = [
            cell
            if place == len(row) - 1
            else cell.rjust(widths.get(column, 8))
            if "pid" in column
            else cell.ljust(widths.get(column, 8))
            for place, (cell, column) in enumerate(zip(row, columns, strict=True))
        ]
        await put(process, " ".join(cells) + "\n")
    return 0


_COLUMNS = {
    "pid": "PID", "user": "USER", "time": "TIME", "args": "COMMAND", "comm": "COMMAND", "ppid": "PPID", "stat": "STAT",
}  # fmt: skip


def _cell(column: str, pid: int, parent: int, argv: tuple[str, ...]) -> str:
    values = {
        "pid": str(pid), "ppid": str(parent), "user": "root", "time": "0:00", "stat": "S",
        "args": " ".join(argv), "comm": argv[0].rsplit("/", 1)[-1][:15],
    }  # fmt: skip
    return values.get(column, "-")


async def timeout(process: Process, name: str, arguments: list[str]) -> int:
    """Run a command, and signal it when it takes too long: `timeout [-s signal] [-k seconds] seconds command`."""
    words, number, patience = list(arguments), signals.SIGTERM, math.inf
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        value = flag[2:] or (words.pop(0) if words else "")
        if flag.startswith("-s"):
            number = signals.signal_number(value)
        elif flag.startswith("-k"):
            patience = duration(value)
        else:
            raise AppletError(f"invalid option -- '{flag[1:2]}'")
    if len(words) < 2:
        raise AppletError("usage: timeout [-s SIG] [-k SECS] SECS PROG ARGS")
    argv = tuple(words[1:])
    child = process.child(argv, process.env)
    process.container.spawn(child, resolve_child(child, argv))
    return await _limit(process, child, duration(words[0]), number, patience)


async def _limit(process: Process, child: Process, seconds: float, number: int, patience: float) -> int:
    with trio.move_on_after(seconds):
        return await process.wait_exit(child)
    child.send(number)
    with trio.move_on_after(patience):
        return await process.wait_exit(child)
    child.send(signals.SIGKILL)
    return await process.wait_exit(child)


async def run_given(process: Process, name: str, arguments: list[str]) -> int:
    """Run the command that is given: nohup, setsid, nice, time, exec-like words."""
    words = [word for place, word in enumerate(arguments) if not (place == 0 and word.startswith("-"))]
    if not words:
        raise AppletError("no command given")
    argv = tuple(words)
    main = process.container.commands.resolve(process, argv)
    process.argv = argv
    return await main(process)
