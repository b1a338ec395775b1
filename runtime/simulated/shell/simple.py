"""Simple commands: assignments, redirections, then a function, a built-in or a program."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from runtime.simulated.shell import launch
from runtime.simulated.shell.expand import expand_text, expand_words
from runtime.simulated.shell.faults import ShellFault
from runtime.simulated.shell.quoting import show
from runtime.simulated.shell.redirect import RedirectFault, keep, redirect, restore
from runtime.simulated.shell.special import SPECIAL

if TYPE_CHECKING:
    from runtime.simulated.shell.interpreter import Shell
    from runtime.simulated.shell.nodes import Simple
    from runtime.simulated.streams import OpenFile


async def run_simple(shell: Shell, node: Simple, *, is_last: bool) -> int:
    """Run a simple command and return its status."""
    shell.process.step()
    shell.line = node.line
    shell.process.line = node.line - shell.first_line + 1
    shell.substituted = 0
    arguments = await expand_words(shell, node.words)
    if arguments and shell.aliases:
        arguments = _replace_alias(shell, arguments)
    if not arguments:
        return await _assign_only(shell, node)
    name = arguments[0]
    if name in shell.functions:
        return await _with_redirects(shell, node, arguments)
    if name in shell.builtins:
        return await _with_redirects(shell, node, arguments)
    return await _run_program(shell, node, arguments, is_last=is_last)


def _replace_alias(shell: Shell, arguments: list[str]) -> list[str]:
    value = shell.aliases.get(arguments[0])
    return arguments if value is None else [*value.split(), *arguments[1:]]


async def _assignments(shell: Shell, node: Simple) -> list[tuple[str, str]]:
    return [(name, await expand_text(shell, word)) for name, word in node.assignments]


async def _trace(shell: Shell, assigned: list[tuple[str, str]], arguments: list[str], target: OpenFile | None) -> None:
    """Write what runs to `target`, which is standard error as it is without the command's own redirections."""
    if "x" in shell.options and target is not None:
        prefix = shell.variables.values.get("PS4", "+ ")
        words = [f"{name}={show(value)}" for name, value in assigned] + [show(each) for each in arguments]
        with suppress(OSError):
            await target.write(f"{prefix}{' '.join(words)}\n".encode(errors="surrogateescape"))


async def _assign_only(shell: Shell, node: Simple) -> int:
    """Assign in the shell itself; the status is that of the last command substitution."""
    target = shell.process.fds.get(2)
    try:
        saved = await redirect(shell, shell.process, node.redirects)
    except RedirectFault as fault:
        await shell.complain(str(fault))
        shell.status = 1
        return await shell.check_errexit()
    try:
        assigned: list[tuple[str, str]] = []
        for name, word in node.assignments:
            value = await expand_text(shell, word)
            shell.assign(name, value)
            assigned.append((name, value))
        await _trace(shell, assigned, [], target)
    except ShellFault as fault:
        await shell.tell(fault)
        raise
    finally:
        restore(shell.process, saved)
    shell.status = shell.substituted
    return await shell.check_errexit()


async def _with_redirects(shell: Shell, node: Simple, arguments: list[str]) -> int:
    """Run a function or a built-in in the shell itself, between redirections that come and go."""
    name = arguments[0]
    target = shell.process.fds.get(2)
    try:
        saved = await redirect(shell, shell.process, node.redirects)
    except RedirectFault as fault:
        if name in SPECIAL and name not in shell.functions:
            raise ShellFault(str(fault), 1) from fault
        await shell.complain(str(fault))
        shell.status = 1
        return await shell.check_errexit()
    is_exec = name == "exec" and name not in shell.functions
    try:
        assigned = await _assignments(shell, node)
        await _trace(shell, assigned, arguments, target)
        shell.status = await _run_inside(shell, arguments, assigned)
    except ShellFault as fault:
        await shell.tell(fault)
        raise
    finally:
        if is_exec:
            keep(saved)
        else:
            restore(shell.process, saved)
    return await shell.check_errexit()


async def _run_inside(shell: Shell, arguments: list[str], assigned: list[tuple[str, str]]) -> int:
    name = arguments[0]
    body = shell.functions.get(name)
    lasts = body is None and name in SPECIAL
    before = (
        {}
        if lasts
        else {key: (shell.variables.values.get(key), key in shell.variables.exported) for key, _ in assigned}
    )
    for key, value in assigned:
        shell.assign(key, value)
        if not lasts or name == "exec":
            shell.variables.exported.add(key)
    try:
        if body is not None:
            return await shell.call(body, arguments[1:])
        return await _builtin(shell, arguments)
    finally:
        for key, (old, was_exported) in before.items():
            shell.variables.unset(key) if old is None else shell.variables.values.update({key: old})
            if not was_exported:
                shell.variables.exported.discard(key)


async def _builtin(shell: Shell, arguments: list[str]) -> int:
    try:
        return await shell.builtins[arguments[0]](shell, arguments)
    except ShellFault as fault:
        if arguments[0] in SPECIAL:
            raise
        await shell.tell(fault)
        return fault.status
    except OSError as error:
        if arguments[0] != "printf":
            await shell.say(f"write error: {error.strerror}")
        return 1
    except ValueError as error:
        await shell.say(f"{arguments[0]}: line {shell.line}: {error}")
        return 2


async def _run_program(shell: Shell, node: Simple, arguments: list[str], *, is_last: bool) -> int:
    """Run a program as a child, or in the shell's place when nothing comes after it.

    The redirections are the shell's own while the program runs, as in ash: messages about it follow them, too.
    """
    target = shell.process.fds.get(2)
    try:
        saved = await redirect(shell, shell.process, node.redirects)
    except RedirectFault as fault:
        await shell.complain(str(fault))
        shell.status = 1
        return await shell.check_errexit()
    try:
        assigned = await _assignments(shell, node)
        await _trace(shell, assigned, arguments, target)
        env = shell.variables.environment() | dict(assigned)
        return await _run_found(shell, tuple(arguments), env, takes_over=is_last and not shell.traps)
    except ShellFault as fault:
        await shell.tell(fault)
        raise
    finally:
        restore(shell.process, saved)


async def _run_found(shell: Shell, argv: tuple[str, ...], env: dict[str, str], *, takes_over: bool) -> int:
    """Find a program and run it."""
    process = shell.process if takes_over else shell.process.child(argv, env)
    main, status = await launch.find_main(shell, process, argv)
    if main is not None and takes_over:
        process.become(argv, env)
        shell.status = await main(process)
        return shell.status
    if main is not None:
        return await shell.finish_child(process, await process.run(main))
    if not takes_over:
        launch.drop(process)
    shell.status = status
    return await shell.check_errexit()
