"""Words about processes: sleep, kill, pidof, ps, timeout and their like."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import trio

from runtime.simulated import signals
from runtime.simulated.process import Disposition
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, options, put, tell, whole_number
from runtime.simulated.shell.launch import ProgramMissing, drop, resolve_child

if TYPE_CHECKING:
    from runtime.simulated.process import Main, Process
    from runtime.simulated.shell.applets.base import Options

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+|inf(?:inity)?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(text: str) -> float:
    """Return the seconds that a text like 0.2, 5m or inf is; AppletError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise AppletError(f"invalid number '{text}'")
    return float(match[1]) * _UNITS[match[2]]


async def sleep(process: Process, name: str, arguments: list[str]) -> int:
    """Let time pass."""
    if not arguments:
        raise UsageError("[N]...")
    seconds = sum(duration(each) for each in arguments)
    if seconds == math.inf:
        await trio.sleep_forever()
    await process.sleep(seconds)
    return 0


async def usleep(process: Process, name: str, arguments: list[str]) -> int:
    """Let microseconds pass."""
    if not arguments:
        raise UsageError("N")
    await process.sleep(whole_number(arguments[0]) / 1e6)
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
        if text == "s" and words:
            text = words.pop(0)
        number = number_of_signal(text, "bad signal name")
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise AppletError("you need to specify whom to kill")
    status = 0
    for word in words:
        if not await _kill_one(process, name, word, number):
            status = 1
    await _die_now(process)
    return status


def number_of_signal(text: str, fault: str = "unknown signal") -> int:
    """Return the number of a signal; AppletError."""
    try:
        return signals.signal_number(text)
    except ValueError:
        raise AppletError(f"{fault} '{text}'") from None


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
            await put(process, f"{number_of_signal(word)}\n")
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
    taken = options(arguments, "flxvnoa", "Psd")
    found = _searched(process, taken)
    for each in found:
        await put(process, f"{each.pid}{' ' + ' '.join(each.argv) if taken.has('l', 'a') else ''}\n")
    return int(not found)


def _searched(process: Process, taken: Options) -> list[Process]:
    """Return the processes that pgrep or pkill means; UsageError."""
    if len(taken.rest) != 1:
        raise UsageError("[-flnovx] [-s SID] [-P PPID] [PATTERN]")
    found = _named(process, taken.rest[0], is_full=taken.has("f"), is_exact=taken.has("x"))
    return found[-1:] if taken.has("n") else found[:1] if taken.has("o") else found


def _take_signal(words: list[str], letters: str) -> int:
    """Take a signal like -9 or -TERM out of the arguments; AppletError."""
    for word in words:
        if word.startswith("-") and len(word) > 1 and not set(word[1:]) <= set(letters):
            words.remove(word)
            return number_of_signal(word[1:], "bad signal name")
    return signals.SIGTERM


async def pkill(process: Process, name: str, arguments: list[str]) -> int:
    """Send a signal to the processes whose name fits a pattern."""
    words = list(arguments)
    number = _take_signal(words, "fxnov")
    found = _searched(process, options(words, "fxnov"))
    for each in found:
        each.send(number)
    await _die_now(process)
    return int(not found)


async def killall(process: Process, name: str, arguments: list[str]) -> int:
    """Send a signal to the processes with a name."""
    if arguments[:1] == ["-l"]:
        return await _list_signals(process, arguments[1:])
    words = list(arguments)
    is_quiet = "-q" in words
    words = [word for word in words if word != "-q"]
    number, status = _take_signal(words, ""), 0
    if not words:
        raise AppletError("you need to specify whom to kill")
    for word in words:
        found = _named(process, re.escape(word), is_full=False, is_exact=True)
        for each in found:
            each.send(number)
        if not found:
            status = 1
            if not is_quiet:
                await complain(process, name, f"{word}: no process killed")
    await _die_now(process)
    return status


async def ps(process: Process, name: str, arguments: list[str]) -> int:
    """List the processes of the container, or of the pod that shares them."""
    wanted = [
        word
        for place, word in enumerate(arguments)
        if word == "-o" or arguments[place - 1 : place] == ["-o"] or word.startswith("-o")
    ]
    taken = options(wanted, "", "o")
    named = [each.partition("=") for text in taken.lists.get("o", ["pid,user,time,args"]) for each in text.split(",")]
    titles = [title if is_titled else _COLUMNS.get(column, ("", 0))[0] for column, is_titled, title in named]
    columns = [column for column, _, _ in named]
    for column in columns:
        if column not in _COLUMNS:
            raise AppletError(f"bad -o argument '{column}', supported arguments: {','.join(_COLUMNS)}")
    pids = process.container.pids
    rows = [[_cell(column, 1, 0, ("/pause",)) for column in columns]] if pids.is_shared else []
    running = sorted(pids.processes.values(), key=lambda other: other.pid)
    rows += [[_cell(column, each.pid, each.parent_pid, each.argv) for column in columns] for each in running]
    if any(titles):
        await _row(
            process, columns, [title.ljust(_COLUMNS[column][1]) for column, title in zip(columns, titles, strict=True)]
        )
    for row in rows:
        await _row(process, columns, row)
    return 0


async def _row(process: Process, columns: list[str], cells: list[str]) -> None:
    texts = [
        cell.rjust(_COLUMNS[column][1]) if column in {"pid", "ppid", "time"} else cell.ljust(_COLUMNS[column][1])
        for column, cell in zip(columns, cells, strict=True)
    ]
    await put(process, " ".join(texts).rstrip() + "\n")


_COLUMNS = {
    "pid": ("PID", 5), "user": ("USER", 8), "time": ("TIME", 5), "args": ("COMMAND", 0), "comm": ("COMMAND", 16),
    "ppid": ("PPID", 5), "stat": ("STAT", 4), "group": ("GROUP", 8), "pgid": ("PGID", 5), "nice": ("NI", 5),
    "tty": ("TT", 6), "vsz": ("VSZ", 4), "rss": ("RSS", 4), "sid": ("SID", 5), "etime": ("ELAPSED", 7),
}  # fmt: skip


def _cell(column: str, pid: int, parent: int, argv: tuple[str, ...]) -> str:
    values = {
        "pid": str(pid), "ppid": str(parent), "user": "root", "group": "root", "time": "0:00", "stat": "S",
        "args": " ".join(argv), "comm": argv[0].rsplit("/", 1)[-1][:15], "pgid": str(pid), "sid": str(pid),
        "tty": "?", "nice": "0", "vsz": "0", "rss": "0", "etime": "0:00",
    }  # fmt: skip
    return values[column]


async def timeout(process: Process, name: str, arguments: list[str]) -> int:
    """Become a command, with somebody who signals it when it takes too long: `timeout [-s SIG] [-k SECS] SECS PROG`."""
    words, number, patience = list(arguments), signals.SIGTERM, math.inf
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag == "--":
            break
        value = flag[2:] or (words.pop(0) if words else "")
        if flag.startswith("-s"):
            number = number_of_signal(value)
        elif flag.startswith("-k"):
            patience = duration(value)
        else:
            raise AppletError(f"invalid option -- '{flag[1:2]}'")
    if len(words) < 2:
        raise UsageError("[-s SIG] [-k KILL_SECS] SECS PROG ARGS")
    seconds, argv = duration(words[0]), tuple(words[1:])
    watcher = process.child(process.argv, process.env)
    process.argv = argv
    try:
        main = process.container.commands.resolve(process, argv)
    except ProgramMissing:
        drop(watcher)
        raise
    process.container.spawn(watcher, _watch(process, seconds, number, patience))
    try:
        return await main(process)
    finally:
        watcher.die(signals.SIGKILL)


def _watch(process: Process, seconds: float, number: int, patience: float) -> Main:
    async def main(watcher: Process) -> int:
        await watcher.sleep(seconds)
        process.send(number)
        if patience < math.inf:
            await watcher.sleep(patience)
            process.send(signals.SIGKILL)
        return 0

    return main


async def _become(process: Process, argv: tuple[str, ...], fault: str) -> int:
    """Become another program, or say why not in the words of the one that wanted to."""
    try:
        main = process.container.commands.resolve(process, argv)
    except ProgramMissing as missing:
        await tell(process, f"{fault}: {missing.reason}")
        return missing.status
    process.argv = argv
    return await main(process)


async def nice(process: Process, name: str, arguments: list[str]) -> int:
    """Run a command; no process waits for another here, so the priority changes nothing."""
    words = list(arguments)
    if words[:1] and re.fullmatch(r"-n.*|-\d+", words[0]):
        text = words.pop(0)[1:].removeprefix("n") or (words.pop(0) if words else "")
        if not re.fullmatch(r"[-+]?\d+", text):
            raise AppletError(f"invalid number '{text}'")
    if not words:
        await put(process, "0\n")
        return 0
    return await _become(process, tuple(words), f"nice: can't execute '{words[0]}'")


async def run_given(process: Process, name: str, arguments: list[str]) -> int:
    """Run the command that is given: nohup, setsid."""
    words = list(arguments)
    while words and words[0].startswith("-"):
        words.pop(0)
    if not words:
        raise UsageError("PROG ARGS")
    if name == "nohup":
        process.catch(signals.SIGHUP, Disposition.IGNORE)
    return await _become(process, tuple(words), f"{name}: can't execute '{words[0]}'")


async def ionice(process: Process, _: str, arguments: list[str]) -> int:
    """Run a command, whatever class and priority are asked for; tell those of the process where none is given."""
    words = list(arguments)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option[-1] in "cnp" and words:
            words.pop(0)
    if not words:
        await put(process, "none: prio 0\n")
        return 0
    return await _become(process, tuple(words), f"ionice: can't execute '{words[0]}'")


async def time(process: Process, name: str, arguments: list[str]) -> int:
    """Run a command and say how long it took."""
    words = [word for place, word in enumerate(arguments) if not (place == 0 and word in {"-p", "-v"})]
    if not words:
        raise UsageError("[-vpa] [-o FILE] PROG ARGS")
    argv, started = tuple(words), trio.current_time()
    child = process.child(argv, process.env)
    code = await child.run(resolve_child(child, argv))
    minutes, seconds = divmod(trio.current_time() - started, 60)
    await tell(process, f"real\t{minutes:.0f}m {seconds:.2f}s\nuser\t0m 0.00s\nsys\t0m 0.00s")
    return code
