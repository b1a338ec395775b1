"""Built-ins that steer: loops, functions, exits, exec, traps, wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated import access, signals
from runtime.simulated.access import read_path
from runtime.simulated.process import Disposition
from runtime.simulated.shell import launch
from runtime.simulated.shell.builtins.base import fault, letters, number_of
from runtime.simulated.shell.faults import FunctionReturn, LoopControl, ShellExit
from runtime.simulated.shell.quoting import single_quoted
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.faults import ShellFault
    from runtime.simulated.shell.interpreter import Shell


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
        raise fault(shell, arguments[0], f"Illegal number: {levels}")
    shell.status = 0
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
    main, status = await launch.find_main(shell, shell.process, argv, f"exec: line {shell.line}: ")
    if main is None:
        raise ShellExit(status)
    shell.process.become(argv, shell.variables.environment())
    raise ShellExit(await main(shell.process), runs_trap=False)


async def eval_(shell: Shell, arguments: list[str]) -> int:
    """Run the arguments as a script."""
    return await shell.evaluate_as("eval", " ".join(arguments[1:]), shell.line) if any(arguments[1:]) else 0


async def source(shell: Shell, arguments: list[str]) -> int:
    """Run a file in this shell."""
    if len(arguments) < 2:
        return 2
    data = await read_path(shell.process, _sourced(shell, *arguments[:2]))
    saved = shell.positional
    if len(arguments) > 2:
        shell.positional = arguments[2:]
    try:
        return await shell.evaluate_as(arguments[1], data.decode(errors="surrogateescape"), 1)
    except FunctionReturn as end:
        return end.status
    finally:
        shell.positional = saved


def _sourced(shell: Shell, command: str, name: str) -> str:
    """Return the path of a file to source, found in PATH when it has no slash; ShellFault."""
    if "/" in name:
        node = access.get(shell.process, name)
        if node is None or not access.may(shell.process, node, access.READ):
            reason = "No such file or directory" if node is None else "Permission denied"
            raise fault(shell, command, f"can't open '{name}': {reason}")
        return name
    for folder in shell.variables.values.get("PATH", "").split(":"):
        path = f"{folder or '.'}/{name}"
        if isinstance(access.get(shell.process, path), File):
            return path
    raise fault(shell, command, f"{name}: not found")


async def trap(shell: Shell, arguments: list[str]) -> int:
    """Set, reset, ignore or list actions for signals; 0 is the shell's exit."""
    _, words = letters(shell, arguments)
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
            await shell.say(f"trap: line {shell.line}: {word}: invalid signal specification")
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
    flags, words = letters(shell, arguments, "n")
    if not words and not flags:
        return await _wait_all(shell)
    status = launch.NOT_FOUND if flags else 0
    for word in words:
        job = job_of(shell, word)
        if job is None and word.startswith("%"):
            raise no_such_job(shell, "wait", word)
        if job is None and not word.isdecimal():
            raise fault(shell, "wait", f"Illegal number: {word}")
        if job is None:
            status = launch.NOT_FOUND
            continue
        code = await shell.process.wait_child(job)
        if code is None:
            return 128 + shell.process.pending[0]
        shell.jobs.waited.add(job.pid)
        await _tell_signal(shell, job)
        status = code
    return status


async def _wait_all(shell: Shell) -> int:
    for _, job in shell.jobs.newest_first():
        if job.parent is not shell.process:
            continue
        if await shell.process.wait_child(job) is None:
            return 128 + shell.process.pending[0]
        shell.jobs.waited.add(job.pid)
    return 0


def no_such_job(shell: Shell, name: str, word: str) -> ShellFault:
    """Return the error for `%n` without such a job, to be raised."""
    return fault(shell, name, "No current job" if word in {"%%", "%+", "%"} else f"{word}: no such job")


def job_of(shell: Shell, word: str) -> Process | None:
    """Return the background job of this very shell that a word means."""
    job = shell.jobs.find(word)
    return job if job is not None and (word.startswith("%") or job.parent is shell.process) else None


async def _tell_signal(shell: Shell, job: Process) -> None:
    if job.killed_by not in {0, signals.SIGINT, signals.SIGPIPE}:
        text = signals.DESCRIPTIONS.get(job.killed_by, f"Signal {job.killed_by}")
        await launch.try_write(shell.process, 2, f"{text}\n".encode())
        job.killed_by = 0
