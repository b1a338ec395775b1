"""Built-ins that steer: loops, functions, exits, exec, traps, wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated import signals
from runtime.simulated.access import read_path
from runtime.simulated.process import Disposition
from runtime.simulated.shell import launch
from runtime.simulated.shell.faults import FunctionReturn, LoopControl, ShellExit, ShellFault
from runtime.simulated.shell.quoting import single_quoted

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.interpreter import Shell


def number_of(shell: Shell, name: str, text: str) -> int:
    """Return a number given as an argument; ShellFault."""
    if not text.isdecimal():
        raise ShellFault(f"{name}: line {shell.line - 1}: Illegal number: {text}")
    return int(text)


async def false(shell: Shell, arguments: list[str]) -> int:
    """Fail."""
    return 1


async def break_(shell: Shell, arguments: list[str]) -> int:
    """Leave a loop, or that many."""
    return _control(shell, arguments, is_break=True)


async def continue_(shell: Shell, arguments: list[str]) -> int:
    """Go on with the next round of a loop."""
    return _control(shell, arguments, is_break=False)


def _control(shell: Shell, arguments: list[str], *, is_break: bool) -> int:
    levels = number_of(shell, arguments[0], arguments[1]) if len(arguments) > 1 else 1
    if levels < 1:
        raise ShellFault(f"{arguments[0]}: line {shell.line - 1}: Illegal number: {levels}")
    if shell.loops:
        raise LoopControl(min(levels, shell.loops), is_break=is_break)
    return 0


async def return_(shell: Shell, arguments: list[str]) -> int:
    """Return from a function or a sourced script."""
    raise FunctionReturn(number_of(shell, "return", arguments[1]) if len(arguments) > 1 else shell.status)


async def exit_(shell: Shell, arguments: list[str]) -> int:
    """End the shell."""
    raise ShellExit(number_of(shell, "exit", arguments[1]) if len(arguments) > 1 else shell.status)


async def exec_(shell: Shell, arguments: list[str]) -> int:
    """Put a program in the shell's place; without one only the redirections stay."""
    argv = tuple(arguments[2:] if arguments[1:2] == ["--"] else arguments[1:])
    if not argv:
        return 0
    main, status = await launch.find_main(shell, shell.process, argv)
    if main is None:
        raise ShellExit(status)
    shell.process.become(argv, shell.variables.environment())
    raise ShellExit(await main(shell.process), runs_trap=False)


async def eval_(shell: Shell, arguments: list[str]) -> int:
    """Run the arguments as a script."""
    return await shell.evaluate(" ".join(arguments[1:])) if any(arguments[1:]) else 0


async def source(shell: Shell, arguments: list[str]) -> int:
    """Run a file in this shell."""
    if len(arguments) < 2:
        return 2
    try:
        data = await read_path(shell.process, arguments[1])
    except OSError as error:
        text = f"{arguments[0]}: line {shell.line - 1}: can't open '{arguments[1]}': {error.strerror}"
        raise ShellFault(text) from error
    saved = shell.positional
    if len(arguments) > 2:
        shell.positional = arguments[2:]
    try:
        return await shell.evaluate(data.decode(errors="replace"))
    except FunctionReturn as end:
        return end.status
    finally:
        shell.positional = saved


async def trap(shell: Shell, arguments: list[str]) -> int:
    """Set, reset, ignore or list actions for signals; 0 is the shell's exit."""
    words = arguments[2:] if arguments[1:2] == ["--"] else arguments[1:]
    if not words:
        for number, text in sorted(shell.traps.items()):
            name = signals.signal_name(number).removeprefix("SIG")
            await shell.process.write(1, f"trap -- {single_quoted(text)} {name}\n".encode())
        return 0
    action: str | None = words[0] if len(words) > 1 and not words[0].isdecimal() else None
    for word in words if action is None else words[1:]:
        try:
            number = signals.signal_number(word)
        except ValueError:
            await shell.say(f"trap: {word}: invalid signal specification")
            return 1
        _set_trap(shell, number, None if action in {None, "-"} else action)
    return 0


def _set_trap(shell: Shell, number: int, action: str | None) -> None:
    disposition = Disposition.DEFAULT
    if action is None:
        shell.traps.pop(number, None)
    else:
        shell.traps[number] = action
        disposition = Disposition.CATCH if action else Disposition.IGNORE
    if number:
        shell.process.catch(number, disposition)


async def wait(shell: Shell, arguments: list[str]) -> int:
    """Wait for children, all or the given ones; a trapped signal ends it at once with 128 + its number."""
    if len(arguments) == 1:
        return await _wait_all(shell)
    status = 0
    for word in arguments[1:]:
        pid = int(word.removeprefix("%")) if word.removeprefix("%").isdecimal() else -1
        job = _job(shell, word, pid)
        if job is None:
            status = launch.NOT_FOUND
            continue
        code = await shell.process.wait_child(job)
        if code is None:
            return 128 + shell.process.pending[0]
        await _tell_signal(shell, job)
        status = code
    return status


async def _wait_all(shell: Shell) -> int:
    for job in [job for job in shell.jobs.values() if job.parent is shell.process]:
        if await shell.process.wait_child(job) is None:
            return 128 + shell.process.pending[0]
        shell.jobs.pop(job.pid, None)
    return 0


def _job(shell: Shell, word: str, pid: int) -> Process | None:
    if word.startswith("%"):
        jobs = list(shell.jobs.values())
        if word in {"%%", "%+", "%"}:
            return jobs[-1] if jobs else None
        return jobs[pid - 1] if 0 < pid <= len(jobs) else None
    job = shell.jobs.get(pid)
    return job if job is not None and job.parent is shell.process else None


async def _tell_signal(shell: Shell, job: Process) -> None:
    if job.killed_by not in {0, signals.SIGINT, signals.SIGPIPE}:
        text = signals.DESCRIPTIONS.get(job.killed_by, f"Signal {job.killed_by}")
        await launch.try_write(shell.process, 2, f"{text}\n".encode())
        job.killed_by = 0
