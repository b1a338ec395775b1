"""The shell: walks a parsed script on Trio's clock, with busybox ash's behaviour.

A foreground command runs inside the shell's own task, as a process with its own id and descriptors; a background one
and each stage of a pipeline is a task of the container. Traps run between commands and while `wait` waits. Every
process that begins or has slept takes its turn first, so that two at one instant always go in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import signals
from runtime.simulated.shell import globbing, launch, walk
from runtime.simulated.shell.faults import FunctionReturn, LoopControl, ShellExit, ShellFault
from runtime.simulated.shell.jobs import Jobs
from runtime.simulated.shell.options import OPTION_LETTERS
from runtime.simulated.shell.parse import good_lines, parse_script
from runtime.simulated.shell.variables import ReadonlyFault, Variables
from runtime.simulated.shell.words import ShellSyntaxError
from runtime.simulated.streams import Buffer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from runtime.simulated.process import Process
    from runtime.simulated.shell.nodes import Node, Script

    Builtin = Callable[["Shell", list[str]], Awaitable[int]]
    """A word that the shell runs in itself: the shell, and the word with its arguments."""

EXIT = 0
MAX_DEPTH = 60


@define(eq=False)
class Shell:
    """One shell or subshell: a process and the shell's own state."""

    process: Process
    variables: Variables
    builtins: Mapping[str, Builtin]
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
    jobs: Jobs = field(factory=Jobs)
    first_line: int = 0
    line: int = 0
    command: str = ""
    loops: int = 0
    depth: int = 0
    tested: int = 0
    option_offset: int = 0
    was_broken: bool = field(default=False, init=False)

    # -- what a script can ask

    def has_option(self, letter: str) -> bool:
        """Tell whether an option of `set` is on, by its letter or, without one, by its name."""
        return letter in self.options

    def parameter(self, name: str) -> str | None:
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
                return "".join(letter for letter in OPTION_LETTERS if letter in self.options)
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
        await launch.try_write(self.process, 2, f"{self.name}: {text}\n".encode(errors="surrogateescape"))

    async def complain(self, text: str) -> None:
        """Write a line about what went wrong, with its place when that is in a file or in what `eval` runs."""
        await self.say(self.place + text)

    async def tell(self, fault: ShellFault) -> None:
        """Write what an error says, once: where it happens, standard error may be another than further out."""
        if not fault.is_told:
            fault.is_told = True
            await self.say(str(fault) if fault.has_place else self.place + str(fault))

    @property
    def place(self) -> str:
        """Return what messages begin with behind the shell's name: nothing for a script of -c, as in ash."""
        if not self.command:
            return ""
        command = "" if self.command == self.name else f"{self.command}: "
        return f"{command}line {self.line}: "

    # -- scripts

    async def run_script(self, text: str) -> int:
        """Run a script to its end, then the trap of EXIT; return the exit status."""
        return await self._run_to_end(lambda: self.evaluate(text, is_last=True))

    async def _run_to_end(self, begin: Callable[[], Awaitable[int]]) -> int:
        try:
            await begin()
        except (ShellExit, FunctionReturn) as end:
            self.status = end.status
            if isinstance(end, ShellExit) and not end.runs_trap:
                return self.status
        except LoopControl:
            pass
        except ShellFault as fault:
            await self.tell(fault)
            self.status = fault.status
        return await self._leave()

    async def _leave(self) -> int:
        """Run the trap of EXIT and return the status."""
        action, status = self.traps.pop(EXIT, ""), self.status
        if action:
            try:
                await self.evaluate(action)
            except (ShellExit, FunctionReturn) as end:
                return end.status
            except ShellFault as fault:
                await self.tell(fault)
                return fault.status
        return status

    async def evaluate(self, text: str, *, is_last: bool = False) -> int:
        """Run a text as `eval` and traps do; ShellFault when it can't be parsed.

        A shell reads a script command by command, so what stands on the lines before a syntax error is run.
        """
        first_line = self.line
        try:
            script = parse_script(text, first_line)
        except ShellSyntaxError as error:
            good = good_lines(text)
            if good:
                await self.run(parse_script(good, first_line).body)
            raise ShellFault(str(error)) from error
        await self.run(script.body, is_last=is_last)
        return self.status

    async def evaluate_as(self, command: str, text: str, line: int) -> int:
        """Run a text from a line on as what `command` runs: messages name that."""
        saved = self.command, self.line
        self.command, self.line = command, line
        try:
            return await self.evaluate(text)
        except ShellFault as fault:
            await self.tell(fault)
            raise
        finally:
            self.command, self.line = saved

    async def substitute(self, script: Script) -> str:
        """Run a command substitution and return its output without the newlines at the end."""
        buffer = Buffer()
        child = self.process.child(self.process.argv, self.process.env)
        child.replace(1, buffer)
        shell = self.fork(child)
        shell.options.discard("e")
        self.substituted = await shell.run_here(script.body)
        return buffer.data.decode(errors="surrogateescape").replace("\0", "").rstrip("\n")

    # -- subshells

    def fork(self, process: Process) -> Shell:
        """Return a copy of this shell for a child process: traps that catch are reset, as POSIX demands."""
        return Shell(
            process,
            self.variables.copy(),
            self.builtins,
            self.name,
            list(self.positional),
            dict(self.functions),
            set(self.options),
            {number: action for number, action in self.traps.items() if number != EXIT and not action},
            dict(self.aliases),
            self.main_pid,
            self.status,
            background_pid=self.background_pid,
            jobs=self.jobs.copy(),
            first_line=self.first_line,
            line=self.line,
            command=self.command,
            loops=self.loops,
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
        return await self._run_to_end(lambda: self.run(node, is_last=True))

    async def run(self, node: Node, *, is_last: bool = False) -> int:
        """Run one node; `is_last` lets its last command take the shell's place, as ash does."""
        return await walk.run(self, node, is_last=is_last)

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

    async def call(self, body: Node, arguments: list[str]) -> int:
        """Call a function."""
        if self.depth > MAX_DEPTH:
            raise ShellFault("too many nested function calls")
        saved, self.positional = self.positional, arguments
        self.depth += 1
        self.variables.enter()
        try:
            await self.run(body)
        except FunctionReturn as end:
            self.status = end.status
        finally:
            self.variables.leave()
            self.depth -= 1
            self.positional = saved
        return self.status

    def assign(self, name: str, value: str) -> None:
        """Set a variable; ShellFault when it is read-only."""
        try:
            self.variables.put(name, value)
        except ReadonlyFault as fault:
            raise ShellFault(str(fault)) from fault
