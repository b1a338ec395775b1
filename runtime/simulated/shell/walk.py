"""Running the nodes of a script, one function a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated import signals
from runtime.simulated.process import Disposition
from runtime.simulated.shell import launch, patterns
from runtime.simulated.shell.expand import expand_arithmetic, expand_pattern, expand_text, expand_words
from runtime.simulated.shell.faults import FunctionReturn, LoopControl, ShellFault
from runtime.simulated.shell.nodes import (
    AndOr,
    ArithmeticCommand,
    Background,
    Case,
    For,
    Function,
    If,
    Loop,
    Negated,
    Node,
    Pipeline,
    Redirect,
    Redirected,
    Sequence,
    Simple,
    Subshell,
)
from runtime.simulated.shell.redirect import RedirectFault, keep, redirect, restore
from runtime.simulated.shell.simple import run_simple
from runtime.simulated.streams import NullFile, Pipe

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.interpreter import Shell


async def run(shell: Shell, node: Node, *, is_last: bool = False) -> int:  # noqa: C901, PLR0912 - one arm a kind
    """Run one node; `is_last` lets its last command take the shell's place, as ash does."""
    match node:
        case Simple():
            status = shell.status if "n" in shell.options else await run_simple(shell, node, is_last=is_last)
            if shell.process.pending:
                await shell.run_traps()
            return status
        case Sequence():
            return await _sequence(shell, node, is_last=is_last)
        case AndOr():
            status = await _test(shell, node.left)
            if (status == 0) == node.is_and:
                status = await run(shell, node.right, is_last=is_last)
            return status
        case If():
            return await _if(shell, node, is_last=is_last)
        case Loop():
            return await _loop(shell, node)
        case For():
            return await _for(shell, node)
        case Case():
            return await _case(shell, node, is_last=is_last)
        case Background():
            return _background(shell, node)
        case Pipeline():
            return await _pipeline(shell, node)
        case Subshell() if is_last and not shell.traps:
            return await run(shell, node.body, is_last=True)
        case Subshell():
            return await _subshell(shell, node, ())
        case Redirected(body=Subshell() as body) if is_last and not shell.traps:
            return await _take_over(shell, body, node)
        case Redirected(body=Subshell() as body):
            shell.line = node.line
            return await _subshell(shell, body, node.redirects)
        case Redirected():
            return await _redirected(shell, node)
        case Negated():
            return await _negated(shell, node)
        case Function():
            shell.functions[node.name] = node.body
            shell.status = 0
            return 0
        case ArithmeticCommand():
            shell.status = int(await expand_arithmetic(shell, node.expression) == 0)
            return await shell.check_errexit()


async def _subshell(shell: Shell, node: Subshell, redirects: tuple[Redirect, ...]) -> int:
    """Run a subshell, whose redirections are its own."""
    child = shell.process.child(shell.process.argv, shell.process.env)
    copy = shell.fork(child)
    try:
        keep(await redirect(copy, child, redirects))
    except RedirectFault as fault:
        await copy.complain(str(fault))
        launch.drop(child)
        shell.status = 2
        return await shell.check_errexit()
    return await shell.finish_child(child, await copy.run_here(node.body))


async def _take_over(shell: Shell, node: Subshell, redirected: Redirected) -> int:
    """Run a subshell in the place of the shell, which has nothing else to do."""
    shell.line = redirected.line
    try:
        keep(await redirect(shell, shell.process, redirected.redirects))
    except RedirectFault as fault:
        raise ShellFault(str(fault)) from fault
    return await run(shell, node.body, is_last=True)


async def _negated(shell: Shell, node: Negated) -> int:
    """Turn a status round, also that with which `break`, `continue` or `return` leaves."""
    try:
        shell.status = int(await _test(shell, node.body) == 0)
    except LoopControl:
        shell.status = int(shell.status == 0)
        raise
    except FunctionReturn as end:
        raise FunctionReturn(int(end.status == 0)) from end
    return shell.status


async def _test(shell: Shell, node: Node) -> int:
    shell.tested += 1
    try:
        return await run(shell, node)
    finally:
        shell.tested -= 1


async def _sequence(shell: Shell, node: Sequence, *, is_last: bool) -> int:
    items = node.items
    for number, item in enumerate(items, start=1):
        await run(shell, item, is_last=is_last and number == len(items))
    if not items:
        shell.status = 0
    return shell.status


async def _if(shell: Shell, node: If, *, is_last: bool) -> int:
    for condition, body in node.branches:
        if await _test(shell, condition) == 0:
            return await run(shell, body, is_last=is_last)
    if node.otherwise is not None:
        return await run(shell, node.otherwise, is_last=is_last)
    shell.status = 0
    return 0


async def _loop(shell: Shell, node: Loop) -> int:
    status = 0
    shell.loops += 1
    try:
        while await _goes_on(shell, node) and await _iterate(shell, node.body):
            status = shell.status
        if shell.was_broken:
            status = shell.status
    finally:
        shell.loops -= 1
    shell.status = status
    return status


async def _goes_on(shell: Shell, node: Loop) -> bool:
    """Run a loop's condition; a `break` in it ends the loop."""
    shell.was_broken = False
    try:
        return (await _test(shell, node.condition) == 0) != node.is_until
    except LoopControl as control:
        _pass_on(shell, control)
        return not control.is_break


async def _iterate(shell: Shell, body: Node) -> bool:
    """Run a loop's body once; False when the loop ends here."""
    shell.process.step()
    try:
        await run(shell, body)
    except LoopControl as control:
        _pass_on(shell, control)
        shell.was_broken = control.is_break
        return not control.is_break
    return True


def _pass_on(shell: Shell, control: LoopControl) -> None:
    """Raise on a `break` or `continue` that means an outer loop."""
    if control.levels > 1 and shell.loops > 1:
        raise LoopControl(control.levels - 1, is_break=control.is_break)


async def _for(shell: Shell, node: For) -> int:
    values = shell.positional if node.words is None else await expand_words(shell, node.words)
    if not values:
        shell.status = 0
    shell.loops += 1
    try:
        for value in tuple(values):
            shell.assign(node.name, value)
            if not await _iterate(shell, node.body):
                break
    finally:
        shell.loops -= 1
    return shell.status


async def _case(shell: Shell, node: Case, *, is_last: bool) -> int:
    value = await expand_text(shell, node.word)
    for choices, body in node.items:
        for choice in choices:
            if patterns.matches(await expand_pattern(shell, choice), value):
                return await run(shell, body, is_last=is_last)
    shell.status = 0
    return 0


def _background(shell: Shell, node: Background) -> int:
    child = shell.process.child(_name_of(node.body) or shell.process.argv, shell.process.env)
    child.replace(0, NullFile())
    for number in (signals.SIGINT, signals.SIGQUIT):
        child.catch(number, Disposition.IGNORE)
    shell.fork(child).run_beside(_inside(node.body))
    shell.jobs.add(child)
    shell.background_pid = child.pid
    shell.status = 0
    return 0


def _name_of(node: Node) -> tuple[str, ...]:
    """Return the words of a job that is one plain command: it bears its program's name from the start."""
    if not isinstance(node, Simple):
        return ()
    words = [word.plain for word in node.words if word.plain is not None]
    return tuple(words) if len(words) == len(node.words) else ()


def _inside(node: Node) -> Node:
    """Return what a process of its own runs: a subshell needs no second one."""
    return node.body if isinstance(node, Subshell) else node


async def _pipeline(shell: Shell, node: Pipeline) -> int:
    stages: list[Process] = []
    source = None
    for number, stage in enumerate(node.stages, start=1):
        child = shell.process.child(shell.process.argv, shell.process.env)
        if source is not None:
            child.replace(0, source)
        if number < len(node.stages):
            source, writer = Pipe().open_ends()
            child.replace(1, writer)
        shell.fork(child).run_beside(_inside(stage))
        stages.append(child)
    codes = [await shell.process.wait_exit(child) for child in stages]
    failed = [code for code in codes if code]
    status = failed[-1] if "pipefail" in shell.options and failed else codes[-1]
    return await shell.finish_child(stages[-1], status)


async def _redirected(shell: Shell, node: Redirected) -> int:
    shell.line = node.line
    try:
        saved = await redirect(shell, shell.process, node.redirects)
    except RedirectFault as fault:
        await shell.complain(str(fault))
        shell.status = 1
        return 1
    try:
        return await run(shell, node.body)
    except ShellFault as fault:
        await shell.tell(fault)
        raise
    finally:
        restore(shell.process, saved)
