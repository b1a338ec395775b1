"""Built-ins about the shell itself: options, parameters, directory, jobs, what words mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell import launch
from runtime.simulated.shell.applets import processes
from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.arithmetic import ArithmeticFault, evaluate
from runtime.simulated.shell.builtins.flow import number_of
from runtime.simulated.shell.builtins.special import SPECIAL
from runtime.simulated.shell.launch import ProgramMissing
from runtime.simulated.shell.options import LONG_OPTIONS
from runtime.simulated.shell.quoting import single_quoted
from runtime.simulated.tree import Directory

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.interpreter import Shell


async def set_(shell: Shell, arguments: list[str]) -> int:
    """Set options and positional parameters; list the variables without arguments."""
    if len(arguments) == 1:
        for name, value in sorted(shell.variables.values.items()):
            await shell.process.write(1, f"{name}={single_quoted(value)}\n".encode())
        return 0
    at = 1
    while at < len(arguments) and arguments[at][:1] in {"-", "+"} and arguments[at] not in {"-", "+"}:
        word = arguments[at]
        at += 1
        if word == "--":
            shell.positional = arguments[at:]
            return 0
        for letter in word[1:]:
            if letter != "o":
                _option(shell, letter, is_on=word.startswith("-"))
            elif at < len(arguments):
                name = arguments[at]
                at += 1
                if name not in LONG_OPTIONS:
                    await shell.say(f"set: line {shell.line - 1}: illegal option {word[0]}o {name}")
                    return 1
                _option(shell, LONG_OPTIONS[name], is_on=word.startswith("-"))
    if at < len(arguments):
        shell.positional = arguments[at:]
    return 0


def _option(shell: Shell, letter: str, *, is_on: bool) -> None:
    (shell.options.add if is_on else shell.options.discard)(letter)
    shell.variables.exports_all = "a" in shell.options


async def shift(shell: Shell, arguments: list[str]) -> int:
    """Take positional parameters away."""
    count = number_of(shell, "shift", arguments[1]) if len(arguments) > 1 else 1
    if count > len(shell.positional):
        return 1
    del shell.positional[:count]
    return 0


async def cd(shell: Shell, arguments: list[str]) -> int:
    """Change the directory."""
    words = [word for word in arguments[1:] if word not in {"-P", "-L", "--"}]
    target = words[0] if words else shell.variables.values.get("HOME", "/")
    if target == "-":
        target = shell.variables.values.get("OLDPWD", shell.process.cwd)
        await shell.process.write(1, f"{target}\n".encode())
    try:
        found = access.find(shell.process, target)
        reason = None if isinstance(found.node, Directory) else "Not a directory"
        reason = "No such file or directory" if found.node is None else reason
    except OSError as error:
        reason = error.strerror
    if reason is not None:
        await shell.say(f"cd: line {shell.line - 1}: can't cd to {target}: {reason}")
        return 1
    shell.variables.values["OLDPWD"] = shell.process.cwd
    shell.process.cwd = shell.variables.values["PWD"] = found.path
    return 0


async def pwd(shell: Shell, arguments: list[str]) -> int:
    """Print the directory."""
    await shell.process.write(1, f"{shell.process.cwd}\n".encode())
    return 0


async def type_(shell: Shell, arguments: list[str]) -> int:
    """Say what words mean."""
    status = 0
    for word in arguments[1:]:
        meaning = _meaning(shell, word)
        if meaning is None:
            await shell.process.write(1, f"{word}: not found\n".encode())
            status = launch.NOT_FOUND
        else:
            await shell.process.write(1, f"{word} is {meaning}\n".encode())
    return status


def _meaning(shell: Shell, word: str) -> str | None:
    if word in shell.aliases:
        return f"an alias for {shell.aliases[word]}"
    if word in shell.functions:
        return "a function"
    if word in shell.builtins:
        return "a special shell builtin" if word in SPECIAL else "a shell builtin"
    try:
        shell.process.container.commands.resolve(shell.process, (word,))
    except ProgramMissing:
        return None
    return word if "/" in word else f"/bin/{word}"


async def command(shell: Shell, arguments: list[str]) -> int:
    """Run a word as no function; with -v say what it means."""
    words = arguments[1:]
    flag = ""
    while words and words[0] in {"-v", "-V", "-p", "--"}:
        flag = words.pop(0)
    if not words:
        return 0
    if flag in {"-v", "-V"}:
        meaning = _meaning(shell, words[0])
        if meaning is None:
            return launch.NOT_FOUND
        text = meaning if meaning.startswith("/") else words[0]
        await shell.process.write(1, (f"{text}\n" if flag == "-v" else f"{words[0]} is {meaning}\n").encode())
        return 0
    if words[0] in shell.builtins:
        return await shell.builtins[words[0]](shell, words)
    env = shell.variables.environment()
    process = shell.process.child(tuple(words), env)
    main, status = await launch.find_main(shell, process, tuple(words))
    if main is None:
        launch.drop(process)
        return status
    return await shell.finish_child(process, await process.run(main))


async def umask(shell: Shell, arguments: list[str]) -> int:
    """Show or set the mode bits that new files don't get."""
    if len(arguments) > 1:
        shell.process.umask = int(arguments[1], 8)
    else:
        await shell.process.write(1, f"{shell.process.umask:04o}\n".encode())
    return 0


async def alias(shell: Shell, arguments: list[str]) -> int:
    """Set or list aliases."""
    for word in arguments[1:]:
        name, _, value = word.partition("=")
        shell.aliases[name] = value
    if len(arguments) == 1:
        for name, value in sorted(shell.aliases.items()):
            await shell.process.write(1, f"{name}={single_quoted(value)}\n".encode())
    return 0


async def unalias(shell: Shell, arguments: list[str]) -> int:
    """Forget aliases."""
    if "-a" in arguments[1:]:
        shell.aliases.clear()
    for word in arguments[1:]:
        shell.aliases.pop(word, None)
    return 0


async def jobs(shell: Shell, arguments: list[str]) -> int:
    """List the background jobs, or their process ids with -p."""
    for number, job in enumerate(shell.jobs.values(), start=1):
        if job.exit_code is None:
            text = str(job.pid) if "-p" in arguments else f"[{number}]+  Running                 {' '.join(job.argv)}"
            await shell.process.write(1, f"{text}\n".encode())
    return 0


async def kill(shell: Shell, arguments: list[str]) -> int:
    """Send a signal; %n means a background job."""
    running = [job for job in shell.jobs.values() if job.exit_code is None]
    words = [_job_pid(word, running) for word in arguments]
    if None in words:
        await shell.say(f"kill: line {shell.line - 1}: {arguments[words.index(None)]}: no such job")
        return 2
    try:
        return await processes.kill(shell.process, shell.name, [word for word in words[1:] if word is not None])
    except AppletError as error:
        await shell.say(str(error))
        return error.status


def _job_pid(word: str, running: list[Process]) -> str | None:
    if not word.startswith("%"):
        return word
    number = int(word[1:]) if word[1:].isdecimal() else len(running)
    return str(running[number - 1].pid) if 0 < number <= len(running) else None


async def times(shell: Shell, arguments: list[str]) -> int:
    """Print the time used: none."""
    await shell.process.write(1, b"0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
    return 0


async def ulimit(shell: Shell, arguments: list[str]) -> int:
    """Print a limit; there are none."""
    if len(arguments) <= 2 and not any(word.isdecimal() for word in arguments[1:]):
        await shell.process.write(1, b"unlimited\n")
    return 0


async def let(shell: Shell, arguments: list[str]) -> int:
    """Evaluate arithmetic; 0 when the last value isn't 0."""
    value = 0
    for word in arguments[1:]:
        try:
            value = evaluate(word, lambda name: shell.parameter(name) or "", shell.variables.put)
        except ArithmeticFault as fault:
            await shell.say(f"let: line {shell.line - 1}: {fault}")
            return 2
    return int(value == 0)
