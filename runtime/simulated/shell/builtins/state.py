"""Built-ins about the shell itself: options, parameters, directory, jobs, what words mean."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from runtime.simulated import access, signals
from runtime.simulated.shell import launch
from runtime.simulated.shell.applets import processes
from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.applets.modes import new_mode
from runtime.simulated.shell.arithmetic import ArithmeticFault, evaluate
from runtime.simulated.shell.builtins.base import fault, letters, number_of
from runtime.simulated.shell.builtins.flow import job_of, no_such_job
from runtime.simulated.shell.launch import ProgramMissing
from runtime.simulated.shell.options import LONG_OPTIONS, OPTION_LETTERS
from runtime.simulated.shell.quoting import KEYWORDS, single_quoted
from runtime.simulated.shell.special import SPECIAL
from runtime.simulated.shell.variables import ReadonlyFault
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
    words = arguments[1:]
    while words and words[0][:1] in {"-", "+"}:
        word = words.pop(0)
        if word in {"-", "--"}:
            if word == "-":
                shell.options -= {"x", "v"}
            shell.positional = words if words or word == "--" else shell.positional
            return 0
        for letter in word[1:]:
            if letter == "o" and words:
                if not await _named_option(shell, words.pop(0), is_on=word.startswith("-")):
                    return 1
            elif letter == "o":
                await _show_options(shell, as_commands=word.startswith("+"))
            elif letter in OPTION_LETTERS:
                _option(shell, letter, is_on=word.startswith("-"))
            else:
                raise fault(shell, "set", f"illegal option {word[0]}{letter}")
    if words:
        shell.positional = words
    return 0


async def _named_option(shell: Shell, name: str, *, is_on: bool) -> bool:
    """Set an option by its name; say so and return False when there is no such."""
    if name not in LONG_OPTIONS:
        await shell.say(f"set: line {shell.line}: illegal option {'-' if is_on else '+'}o {name}")
        return False
    _option(shell, LONG_OPTIONS[name], is_on=is_on)
    return True


async def _show_options(shell: Shell, *, as_commands: bool) -> None:
    for name, letter in LONG_OPTIONS.items():
        is_on = letter in shell.options
        text = f"set {'-' if is_on else '+'}o {name}" if as_commands else f"{name:<16}{'on' if is_on else 'off'}"
        await shell.process.write(1, f"{text}\n".encode())


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
    """Change the directory: as written, or with -P as symbolic links lead; relative ones are looked for in CDPATH."""
    flags, words = letters(shell, arguments, "LP")
    target = words[0] if words else shell.variables.values.get("HOME", "")
    is_told = target == "-"
    if is_told:
        target = shell.variables.values.get("OLDPWD") or shell.process.cwd
    reason: str | None = None
    for place in _places(shell, target):
        path, reason = _directory(shell, place)
        if reason is None:
            _enter(shell, path if "P" not in flags[-1:] else access.find(shell.process, path).path)
            if is_told or place not in {target, "."}:
                await shell.process.write(1, f"{shell.process.cwd}\n".encode())
            return 0
    raise fault(shell, "cd", f"can't cd to {target}: {reason}")


def _places(shell: Shell, target: str) -> list[str]:
    """Return the paths that `cd` tries."""
    folders = shell.variables.values.get("CDPATH", "")
    if not folders or target.startswith(("/", "./", "../")) or target in {".", ".."}:
        return [target or "."]
    return [*(f"{folder}/{target}" if folder else target for folder in folders.split(":")), target]


def _directory(shell: Shell, path: str) -> tuple[str, str | None]:
    """Return the whole path of a directory without `.` and `..`, and why it can't be entered."""
    try:
        found = access.find(shell.process, path)
    except OSError as error:
        return path, error.strerror
    whole = posixpath.normpath(posixpath.join(shell.variables.values.get("PWD") or shell.process.cwd, path))
    if found.node is None:
        return path, "No such file or directory"
    return whole, None if isinstance(found.node, Directory) else "Not a directory"


def _enter(shell: Shell, path: str) -> None:
    shell.variables.values["OLDPWD"] = shell.variables.values.get("PWD", shell.process.cwd)
    shell.process.cwd = shell.variables.values["PWD"] = path


async def pwd(shell: Shell, arguments: list[str]) -> int:
    """Print the directory, with -P without symbolic links."""
    flags, _ = letters(shell, arguments, "LP")
    path = access.find(shell.process, ".").path if "P" in flags else shell.process.cwd
    await shell.process.write(1, f"{path}\n".encode())
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
    if word in KEYWORDS:
        return "a shell keyword"
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
    flags, words = letters(shell, arguments, "vVp")
    if not words:
        return 0
    if "v" in flags or "V" in flags:
        return await _tell_meaning(shell, words[0], is_long="V" in flags)
    if words[0] in shell.builtins:
        return await shell.builtins[words[0]](shell, words)
    env = shell.variables.environment()
    process = shell.process.child(tuple(words), env)
    main, status = await launch.find_main(shell, process, tuple(words))
    if main is None:
        launch.drop(process)
        return status
    return await shell.finish_child(process, await process.run(main))


async def _tell_meaning(shell: Shell, word: str, *, is_long: bool) -> int:
    meaning = _meaning(shell, word)
    if meaning is None:
        if is_long:
            await shell.process.write(1, f"{word}: not found\n".encode())
        return launch.NOT_FOUND
    text = f"{word} is {meaning}" if is_long else meaning if meaning.startswith("/") else word
    await shell.process.write(1, f"{text}\n".encode())
    return 0


async def umask(shell: Shell, arguments: list[str]) -> int:
    """Show or set the mode bits that new files don't get, as digits or as letters (-S)."""
    flags, words = letters(shell, arguments, "S")
    if words:
        try:
            shell.process.umask = _mask(shell.process.umask, words[0])
        except AppletError as error:
            raise fault(shell, "umask", f"illegal mode: {words[0]}") from error
        return 0
    text = f"{shell.process.umask:04o}"
    if "S" in flags:
        kept = ~shell.process.umask
        texts = (
            "".join(letter for place, letter in enumerate("rwx") if kept >> (shift - place) & 1) for shift in (8, 5, 2)
        )
        text = ",".join(f"{who}={bits}" for who, bits in zip("ugo", texts, strict=True))
    await shell.process.write(1, f"{text}\n".encode())
    return 0


def _mask(old: int, text: str) -> int:
    """Return a new mask; letters say which bits files may have; AppletError."""
    if text[:1].isdigit():
        if not re.fullmatch("[0-7]{1,4}", text):
            raise AppletError(text)
        return int(text, 8) & 0o777
    return 0o777 & ~new_mode(0o777 & ~old, text, is_directory=False)


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
    """List the background jobs, newest first, or their process ids with -p; those that have ended are told once."""
    flags, words = letters(shell, arguments, "lp")
    for word in words:
        if job_of(shell, word) is None:
            raise no_such_job(shell, "jobs", word)
    current = "+"
    for number, job in shell.jobs.newest_first():
        state = _state(job)
        text = (
            str(job.pid) if "p" in flags else f"[{number}]{current}  {f'{job.pid} ' if 'l' in flags else ''}{state:<27}"
        )
        await shell.process.write(1, f"{text}\n".encode())
        if job.exit_code is None:
            current = "-" if current == "+" else " "
        else:
            shell.jobs.forget(number)
    return 0


def _state(job: Process) -> str:
    if job.exit_code is None:
        return "Running"
    if job.killed_by:
        return signals.DESCRIPTIONS.get(job.killed_by, f"Signal {job.killed_by}")
    return f"Done({job.exit_code})" if job.exit_code else "Done"


async def kill(shell: Shell, arguments: list[str]) -> int:
    """Send a signal; %n means a background job."""
    words: list[str] = []
    for word in arguments[1:]:
        job = job_of(shell, word) if word.startswith("%") else None
        if job is None and word.startswith("%"):
            raise no_such_job(shell, "kill", word)
        words.append(word if job is None else str(job.pid))
    try:
        return await processes.kill(shell.process, shell.name, words)
    except AppletError as error:
        await shell.say(str(error))
        return error.status


async def hash_(shell: Shell, arguments: list[str]) -> int:
    """Look words up; nothing is remembered."""
    status = 0
    for word in letters(shell, arguments, "r")[1]:
        if _meaning(shell, word) is None:
            await shell.say(f"hash: line {shell.line}: {word}: not found")
            status = 1
    return status


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
    if len(arguments) == 1:
        raise fault(shell, "let", "expression expected")
    for word in arguments[1:]:
        try:
            value = evaluate(word, lambda name: shell.parameter(name) or "", shell.variables.put)
        except (ArithmeticFault, ReadonlyFault) as error:
            raise fault(shell, "let", str(error)) from error
    return int(value == 0)
