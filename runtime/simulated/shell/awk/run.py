"""awk as a word: its options, BEGIN, the rules for every record, END."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, UsageError, options
from runtime.simulated.shell.awk.input import Input
from runtime.simulated.shell.awk.lexer import unescaped
from runtime.simulated.shell.awk.machine import Left, Machine
from runtime.simulated.shell.awk.nodes import Print
from runtime.simulated.shell.awk.parser import parse
from runtime.simulated.shell.awk.streams import Streams
from runtime.simulated.shell.awk.values import number, seen, truth
from runtime.simulated.shell.awk.variables import Variables

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.awk.nodes import Rule
    from runtime.simulated.shell.awk.variables import Scope

_WHOLE = Print((), is_formatted=False)


async def awk(process: Process, name: str, arguments: list[str]) -> int:
    """Run a program on lines: `awk [-F separator] [-v name=value] [-f file | program] [files]`."""
    end = next((place for place, word in enumerate(arguments) if not _is_option(arguments, place)), len(arguments))
    taken = options(arguments[:end], "", "Fvfe")
    rest = arguments[end:][1:] if arguments[end : end + 1] == ["--"] else arguments[end:]
    scripts = [await _read(process, path) for path in taken.lists.get("f", [])]
    scripts += taken.lists.get("e", [])
    if not scripts:
        if not rest:
            raise UsageError("[OPTIONS] [AWK_PROGRAM] [FILE]...")
        scripts.append(rest.pop(0))
    machine = Machine(
        process, parse("\n".join(scripts)), Input(process, rest), Streams(process), Variables(_values(process, rest))
    )
    if "F" in taken.values:
        separator = taken.values["F"]
        machine.variables.put("FS", "\t" if separator == "t" else unescaped(separator))
    for each in taken.lists.get("v", []):
        variable, _, value = each.partition("=")
        machine.variables.put(variable, seen(unescaped(value)))
    status = await _run(machine)
    await machine.streams.close_all()
    return status


async def _read(process: Process, path: str) -> str:
    try:
        return (await access.read_path(process, path)).decode(errors="surrogateescape")
    except OSError as error:
        raise AppletError(f"can't open '{path}': {error.strerror}") from error


def _is_option(arguments: list[str], place: int) -> bool:
    word = arguments[place]
    if place and arguments[place - 1] in {"-F", "-v", "-f", "-e"} and _is_option(arguments, place - 1):
        return True
    return word.startswith("-") and len(word) > 1 and word != "--"


def _values(process: Process, rest: list[str]) -> Scope:
    environment = {key: seen(value) for key, value in process.env.items()}
    arguments = {str(place): seen(word) for place, word in enumerate(["awk", *rest])}
    return {
        "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "NR": 0.0, "FNR": 0.0, "FILENAME": "", "SUBSEP": "\x1c",
        "CONVFMT": "%.6g", "OFMT": "%.6g", "RSTART": 0.0, "RLENGTH": -1.0, "ENVIRON": environment, "ARGV": arguments,
        "ARGC": float(len(arguments)),
    }  # fmt: skip


async def _run(machine: Machine) -> int:
    """Run a whole program and return its exit status; END runs after `exit`, too."""
    status = 0
    try:
        for block in machine.program.begin:
            await machine.run(block)
        if machine.program.rules or machine.program.end:
            await _records(machine)
    except Left as left:
        status = _status(left, status)
        if left.word == "exit" and not machine.program.end:
            return status
    try:
        for block in machine.program.end:
            await machine.run(block)
    except Left as left:
        status = _status(left, status)
    return status or machine.input.status


def _status(left: Left, before: int) -> int:
    return before if left.value is None else int(number(left.value)) & 255


async def _records(machine: Machine) -> None:
    open_ranges: set[int] = set()
    while (line := await machine.input.line(machine.variables)) is not None:
        machine.record.set_line(line)
        machine.variables.count("NR")
        machine.variables.count("FNR")
        try:
            for place, rule in enumerate(machine.program.rules):
                if await _applies(machine, rule, place, open_ranges):
                    await machine.run(rule.body or _WHOLE)
        except Left as left:
            if left.word != "next":
                raise


async def _applies(machine: Machine, rule: Rule, place: int, open_ranges: set[int]) -> bool:
    """Tell whether a rule is for this record; a range is open from its first pattern to its second."""
    if not rule.patterns:
        return True
    if len(rule.patterns) == 1:
        return truth(await machine.evaluate(rule.patterns[0]))
    if place not in open_ranges and not truth(await machine.evaluate(rule.patterns[0])):
        return False
    open_ranges.add(place)
    if truth(await machine.evaluate(rule.patterns[1])):
        open_ranges.discard(place)
    return True
