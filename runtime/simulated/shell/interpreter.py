"""The shell: walks a parsed script on Trio's clock, with busybox ash's behaviour.

A foreground command runs inside the shell's own task, as a process with its own id and descriptors; a background one
and each stage of a pipeline is a task of the container. Traps run between commands and while `wait` waits. Every
process that begins or has slept takes its turn first, so that two at one instant always go in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import signals
from runtime.simulated.process import Disposition
from runtime.simulated.shell import globbing, launch, patterns
from runtime.simulated.shell.expand import expand_arithmetic, expand_pattern, expand_text, expand_words
from runtime.simulated.shell.faults import FunctionReturn, LoopControl, ShellExit, ShellFault
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
    Redirected,
    Script,
    Sequence,
    Simple,
    Subshell,
)
from runtime.simulated.shell.parse import parse_script
from runtime.simulated.shell.redirect import RedirectFault, redirect, restore
from runtime.simulated.shell.simple import run_simple
from runtime.simulated.shell.variables import ReadonlyFault, Variables
from runtime.simulated.shell.words import ShellSyntaxError
from runtime.simulated.streams import Buffer, NullFile, Pipe

if TYPE_CHECKING:
    from runtime.simulated.process import Process

EXIT = 0
MAX_DEPTH = 60
MAX_JOBS = 32


@define(eq=False)
class Shell:
    """One shell or subshell: a process and the shell's own state."""

    process: Process
    variables: Variables
    name: str = "sh"
    positional: list[str] = field(factory=list)
    functions: dict[str, Node] = field(factory=dict)
    options: set[str] = field(factory=set)
    traps: dict[int, str] = field(factory=dict)
    aliases: dict[str, str] = field(factory=dict)
    main_pid: int = 0
    status: int = 0
    substituted: int = 0
    background_pid: int | None = None
    jobs: dict[int, Process] = field(factory=dict)
    line: int = 1
    loops: int = 0
    depth: int = 0
    tested: int = 0
    option_offset: int = 0

    # -- what a script can ask

    def has_option(self, letter: str) -> bool:
        """Tell whether an option of `set` is on, by its letter or, without one, by its name."""
        return letter in self.options

    def parameter(self, name: str) -> str | None:  # noqa: C901, PLR0912 - POSIX's table of special parameters
        """Return the value of a parameter, None when it is unset."""
        match name:
            case "?":
                return str(self.status)
            case "#":
                return str(len(self.positional))
            case "$":
                return str(self.main_pid)
            case "!":
                return None if self.background_pid is None else str(self.background_pid)
            case "0":
                return self.name
            case "-":
                return "".join(sorted(option for option in self.options if len(option) == 1))
            case "@" | "*":
                return " ".join(self.positional)
            case "PPID":
                return str(self.process.parent_pid)
            case "LINENO":
                return str(self.line)
        if name.isdecimal():
            number = int(name)
            return self.positional[number - 1] if number <= len(self.positional) else None
        return self.variables.values.get(name)

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that a pattern matches."""
        return globbing.glob(self.process.container.tree, self.process.cwd, pattern)

    async def say(self, text: str) -> None:
        """Write a line of the shell's own to standard error."""
        await launch.try_write(self.process, 2, f"{self.name}: {text}\n".encode())

    # -- scripts

    async def run_script(self, text: str) -> int:
        """Run a script to its end, then the trap of EXIT; return the exit status."""
        try:
            await self.evaluate(text, is_last=True)
        except (ShellExit, FunctionReturn) as end:
            self.status = end.status
            if isinstance(end, ShellExit) and not end.runs_trap:
                return self.status
        except LoopControl:
            self.status = 0
        except ShellFault as fault:
            await self.say(str(fault))
            self.status = fault.status
        return await self._leave()

    async def _leave(self) -> int:
        """Run the trap of EXIT and return the status."""
        action = self.traps.pop(EXIT, "")
        if action:
            try:
                await self.evaluate(action)
            except (ShellExit, FunctionReturn) as end:
                return end.status
            except ShellFault as fault:
                await self.say(str(fault))
                return fault.status
        return self.status

    async def evaluate(self, text: str, *, is_last: bool = False) -> int:
        """Run a text as `eval` and traps do; ShellFault when it can't be parsed."""
        try:
            script = parse_script(text)
        except ShellSyntaxError as error:
            raise ShellFault(str(error)) from error
        await self.run(script.body, is_last=is_last)
        return self.status

    async def substitute(self, script: Script) -> str:
        """Run a command substitution and return its output without the newlines at the end."""
        buffer = Buffer()
        child = self.process.child(self.process.argv, self.process.env)
        child.fds[1] = buffer
        self.substituted = self.status = await self.fork(child).run_here(script.body)
        return buffer.data.decode(errors="surrogateescape").replace("\0", "").rstrip("\n")

    # -- subshells

    def fork(self, process: Process) -> Shell:
        """Return a copy of this shell for a child process: traps that catch are reset, as POSIX demands."""
        return Shell(
            process,
            self.variables.copy(),
            self.name,
            list(self.positional),
            dict(self.functions),
            set(self.options),
            {number: action for number, action in self.traps.items() if number != EXIT and not action},
            dict(self.aliases),
            self.main_pid,
            self.status,
            background_pid=self.background_pid,
            depth=self.depth + 1,
            tested=self.tested,
        )

    async def run_here(self, node: Node) -> int:
        """Run a subshell inside the task of its parent and return its status."""
        return await self.process.run(lambda _: self._run_body(node))

    def run_beside(self, node: Node) -> None:
        """Run a subshell as a task of the container."""
        process = self.process

        async def main(_: Process) -> int:
            await process.container.machine.turn(process.turn_key)
            return await self._run_body(node)

        process.container.spawn(process, main)

    async def _run_body(self, node: Node) -> int:
        if self.depth > MAX_DEPTH:
            await self.say("too many nested commands")
            return 2
        try:
            await self.run(node, is_last=True)
        except (ShellExit, FunctionReturn) as end:
            self.status = end.status
            if isinstance(end, ShellExit) and not end.runs_trap:
                return self.status
        except LoopControl:
            self.status = 0
        except ShellFault as fault:
            await self.say(str(fault))
            self.status = fault.status
        return await self._leave()

    # -- nodes

    async def run(self, node: Node, *, is_last: bool = False) -> int:  # noqa: C901, PLR0912 - one arm a kind of node
        """Run one node; `is_last` lets its last command take the shell's place, as ash does."""
        match node:
            case Simple():
                status = await run_simple(self, node, is_last=is_last)
                if self.process.pending:
                    await self.run_traps()
                return status
            case Sequence():
                return await self._sequence(node, is_last=is_last)
            case AndOr():
                status = await self._test(node.left)
                if (status == 0) == node.is_and:
                    status = await self.run(node.right, is_last=is_last)
                return status
            case If():
                return await self._if(node, is_last=is_last)
            case Loop():
                return await self._loop(node)
            case For():
                return await self._for(node)
            case Case():
                return await self._case(node, is_last=is_last)
            case Background():
                return self._background(node)
            case Pipeline():
                return await self._pipeline(node)
            case Subshell():
                child = self.process.child(self.process.argv, self.process.env)
                return await self.finish_child(child, await self.fork(child).run_here(node.body))
            case Redirected():
                return await self._redirected(node)
            case Negated():
                self.status = int(await self._test(node.body) == 0)
                return self.status
            case Function():
                self.functions[node.name] = node.body
                self.status = 0
                return 0
            case ArithmeticCommand():
                self.status = int(await expand_arithmetic(self, node.expression) == 0)
                return await self.check_errexit()

    async def check_errexit(self) -> int:
        """Leave the shell when `set -e` is on, the status is not 0 and nobody tests it; else return the status."""
        if self.status and not self.tested and "e" in self.options:
            raise ShellExit(self.status)
        return self.status

    async def finish_child(self, child: Process, status: int) -> int:
        """Take the status of a foreground child and say which signal it died of."""
        self.status = status
        if child.killed_by not in {0, signals.SIGINT, signals.SIGPIPE}:
            text = signals.DESCRIPTIONS.get(child.killed_by, f"Signal {child.killed_by}")
            await launch.try_write(self.process, 2, f"{text}\n".encode())
        if self.process.pending:
            await self.run_traps()
        return await self.check_errexit()

    async def run_traps(self) -> None:
        """Run the actions of the signals that have come; the status stays what it was."""
        while self.process.pending:
            action = self.traps.get(self.process.pending.pop(0))
            if action:
                status, tested = self.status, self.tested
                self.tested += 1
                await self.evaluate(action)
                self.status, self.tested = status, tested

    async def _test(self, node: Node) -> int:
        self.tested += 1
        try:
            return await self.run(node)
        finally:
            self.tested -= 1

    async def _sequence(self, node: Sequence, *, is_last: bool) -> int:
        items = node.items
        for number, item in enumerate(items, start=1):
            await self.run(item, is_last=is_last and number == len(items))
        if not items:
            self.status = 0
        return self.status

    async def _if(self, node: If, *, is_last: bool) -> int:
        for condition, body in node.branches:
            if await self._test(condition) == 0:
                return await self.run(body, is_last=is_last)
        self.status = 0
        return await self.run(node.otherwise, is_last=is_last) if node.otherwise is not None else 0

    async def _loop(self, node: Loop) -> int:
        status = 0
        self.loops += 1
        try:
            while (await self._test(node.condition) == 0) != node.is_until:
                if not await self._iterate(node.body):
                    status = self.status
                    break
                status = self.status
        except LoopControl as control:
            self._pass_on(control)
            status = 0
        finally:
            self.loops -= 1
        self.status = status
        return status

    async def _iterate(self, body: Node) -> bool:
        """Run a loop's body once; False when the loop ends here."""
        self.process.step()
        try:
            await self.run(body)
        except LoopControl as control:
            self._pass_on(control)
            self.status = 0
            return not control.is_break
        return True

    def _pass_on(self, control: LoopControl) -> None:
        """Raise on a `break` or `continue` that means an outer loop."""
        if control.levels > 1 and self.loops > 1:
            raise LoopControl(control.levels - 1, is_break=control.is_break)

    async def _for(self, node: For) -> int:
        values = self.positional if node.words is None else await expand_words(self, node.words)
        self.status = 0
        self.loops += 1
        try:
            for value in tuple(values):
                self.assign(node.name, value)
                if not await self._iterate(node.body):
                    break
        finally:
            self.loops -= 1
        return self.status

    async def _case(self, node: Case, *, is_last: bool) -> int:
        value = await expand_text(self, node.word)
        for choices, body in node.items:
            for choice in choices:
                if patterns.matches(await expand_pattern(self, choice), value):
                    self.status = 0
                    return await self.run(body, is_last=is_last)
        self.status = 0
        return 0

    def _background(self, node: Background) -> int:
        child = self.process.child(self.process.argv, self.process.env)
        child.fds.pop(0, NullFile()).release()
        child.fds[0] = NullFile()
        for number in (signals.SIGINT, signals.SIGQUIT):
            child.catch(number, Disposition.IGNORE)
        if len(self.jobs) > MAX_JOBS:
            self.jobs = {pid: job for pid, job in self.jobs.items() if job.exit_code is None}
        self.fork(child).run_beside(node.body)
        self.jobs[child.pid] = child
        self.background_pid = child.pid
        self.status = 0
        return 0

    async def _pipeline(self, node: Pipeline) -> int:
        stages: list[Process] = []
        source = None
        for number, stage in enumerate(node.stages, start=1):
            child = self.process.child(self.process.argv, self.process.env)
            if source is not None:
                child.fds.pop(0, NullFile()).release()
                child.fds[0] = source
            if number < len(node.stages):
                source, writer = Pipe().open_ends()
                child.fds.pop(1, NullFile()).release()
                child.fds[1] = writer
            self.fork(child).run_beside(stage)
            stages.append(child)
        codes = [await self.process.wait_exit(child) for child in stages]
        failed = [code for code in codes if code]
        status = failed[-1] if "pipefail" in self.options and failed else codes[-1]
        return await self.finish_child(stages[-1], status)

    async def _redirected(self, node: Redirected) -> int:
        try:
            saved = await redirect(self, self.process, node.redirects)
        except RedirectFault as fault:
            await self.say(str(fault))
            self.status = 1
            return await self.check_errexit()
        try:
            return await self.run(node.body)
        finally:
            restore(self.process, saved)

    async def call(self, body: Node, arguments: list[str]) -> int:
        """Call a function."""
        if self.depth > MAX_DEPTH:
            raise ShellFault("too many nested function calls")
        saved, loops = self.positional, self.loops
        self.positional, self.loops = arguments, 0
        self.depth += 1
        self.variables.enter()
        try:
            await self.run(body)
        except FunctionReturn as end:
            self.status = end.status
        finally:
            self.variables.leave()
            self.depth -= 1
            self.positional, self.loops = saved, loops
        return self.status

    def assign(self, name: str, value: str) -> None:
        """Set a variable; ShellFault when it is read-only."""
        try:
            self.variables.put(name, value)
        except ReadonlyFault as fault:
            raise ShellFault(str(fault)) from fault
