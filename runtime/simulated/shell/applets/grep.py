"""grep and its like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, Lines, UsageError, options, put, whole_number
from runtime.simulated.shell.applets.regex import basic, extended
from runtime.simulated.tree import Directory, File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.streams import OpenFile

_TROUBLE = 2
_LONG = {"quiet": "q", "count": "c", "ignore-case": "i", "line-number": "n", "invert-match": "v"}


@frozen
class _Wanted:
    """What a line must have: one of some patterns, as a word or a whole line if asked, or none of them."""

    patterns: tuple[re.Pattern[str], ...]
    is_word: bool
    is_line: bool
    is_inverted: bool

    def find(self, line: str, start: int = 0) -> re.Match[str] | None:
        """Return the first match of the first pattern that has one."""
        for pattern in self.patterns:
            at = start
            while (match := pattern.search(line, at)) is not None:
                if self.is_line:
                    if pattern.fullmatch(line):
                        return match
                    break
                if not self.is_word or _is_word(line, match):
                    return match
                at = match.start() + 1
                if at > len(line):
                    break
        return None

    def selects(self, line: str) -> bool:
        """Tell whether a line is one to print."""
        return (self.find(line) is not None) != self.is_inverted


def _is_word(line: str, match: re.Match[str]) -> bool:
    around = line[max(0, match.start() - 1) : match.start()] + line[match.end() : match.end() + 1]
    return re.search(r"\w", around) is None


async def _wanted(process: Process, taken: Options, name: str) -> tuple[_Wanted, list[str]]:
    """Return what is looked for, and the files that are left of the arguments; AppletError."""
    rest = list(taken.rest)
    texts = list(taken.lists.get("e", []))
    for path in taken.lists.get("f", []):
        data = await access.read_path(process, path)
        texts += [data.decode(errors="surrogateescape").removesuffix("\n")]
    if not texts:
        if not rest:
            raise UsageError(
                "[-HhnlLoqvsrRiwFE] [-m N] [-A|B|C N] { PATTERN | -e PATTERN... | -f FILE... } [FILE]...", _TROUBLE
            )
        texts = [rest.pop(0)]
    is_fixed, is_extended = taken.has("F") or name == "fgrep", taken.has("E") or name == "egrep"
    found = []
    for text in "\n".join(texts).split("\n"):
        if is_fixed:
            found.append(re.compile(re.escape(text), re.IGNORECASE if taken.has("i", "y") else re.NOFLAG))
        else:
            found.append((extended if is_extended else basic)(text, ignores_case=taken.has("i", "y")))
    return _Wanted(tuple(found), taken.has("w"), taken.has("x"), taken.has("v")), rest


async def grep(process: Process, name: str, arguments: list[str]) -> int:
    """Print the lines that match; 1 when none does, 2 on trouble."""
    try:
        taken = options(arguments, "EFivclLqnsxwohHrRzay", "emABCf", _LONG)
    except AppletError as error:
        raise AppletError(str(error), _TROUBLE) from error
    wanted, paths = await _wanted(process, taken, name)
    is_deep = taken.has("r", "R")
    if is_deep:
        paths = _below(process, paths)
    inputs = Inputs(process, name, paths, is_silent=taken.has("s"))
    with_names = (len(paths) > 1 or taken.has("H") or is_deep) and not taken.has("h")
    has_match = has_hit = False
    async for path, file in inputs.files():
        if not is_deep and path != "-" and isinstance(access.get(process, path), Directory):
            continue
        shown = "(standard input)" if path == "-" else path
        search = _Search(process, taken, wanted, f"{shown}" if with_names else "")
        await search.run(file)
        has_match = has_match or search.count > 0
        if taken.has("q") and has_match:
            return 0
        if taken.has("c") and not taken.has("l", "L"):
            await put(process, f"{shown + ':' if with_names else ''}{search.count}\n")
        if (taken.has("l") and search.count) or (taken.has("L") and not search.count):
            has_hit = True
            await put(process, f"{shown}\n")
    if inputs.status:
        return _TROUBLE
    return int(not (has_hit if taken.has("L") else has_match))


def _below(process: Process, paths: list[str]) -> list[str]:
    """Return the files of some trees."""
    found: list[str] = []
    for path in paths:
        node = access.get(process, path)
        if isinstance(node, Directory):
            below = process.container.tree.walk(node)
            found.extend(f"{path.rstrip('/')}/{name}" for name, each in below if isinstance(each, File))
        else:
            found.append(path)
    return found


@define
class _Search:
    """The search in one file: lines with those around them that -A, -B and -C ask for."""

    process: Process
    taken: Options
    wanted: _Wanted
    shown: str
    count: int = field(default=0, init=False)
    number: int = field(default=0, init=False)
    _printed: int = field(default=0, init=False)
    _before: list[tuple[int, str]] = field(factory=list, init=False)
    _after: int = field(default=0, init=False)

    def size(self, letter: str) -> int:
        values = self.taken.values
        return whole_number(values.get(letter) or values.get("C") or "0")

    async def run(self, file: OpenFile) -> None:
        limit = whole_number(self.taken.values.get("m", "-1"))
        if limit == 0:
            return
        async for raw in Lines(self.process, file):
            self.number += 1
            line = raw.decode(errors="surrogateescape").removesuffix("\n")
            if self.wanted.selects(line):
                self.count += 1
                if self.taken.has("q", "l", "L"):
                    return
                if not self.taken.has("c"):
                    await self.hit(line)
                if self.count == limit:
                    return
            elif not self.taken.has("c", "o", "q", "l", "L"):
                await self.miss(line)

    async def hit(self, line: str) -> None:
        """Print a line that was found, and before it those that wait."""
        if self.taken.has("o"):
            await self.parts(line)
            return
        if self.size("A") + self.size("B") > 0 and self._printed:
            first = self._before[0][0] if self._before else self.number
            if first > self._printed + 1:
                await put(self.process, "--\n")
        for number, text in self._before:
            await self.show(number, text, "-")
        self._before.clear()
        await self.show(self.number, line, ":")
        self._after = self.size("A")

    async def miss(self, line: str) -> None:
        """Print or keep a line around the ones that are found."""
        if self._after:
            self._after -= 1
            await self.show(self.number, line, "-")
        elif self.size("B"):
            self._before = [*self._before, (self.number, line)][-self.size("B") :]

    async def parts(self, line: str) -> None:
        if self.wanted.is_inverted:
            return
        at = 0
        while (match := self.wanted.find(line, at)) is not None:
            if match[0]:
                await self.show(self.number, match[0], ":")
            at = max(match.end(), match.start() + 1)
            if at > len(line):
                return

    async def show(self, number: int, text: str, mark: str) -> None:
        self._printed = number
        place = f"{number}{mark}" if self.taken.has("n") else ""
        await put(self.process, f"{self.shown + mark if self.shown else ''}{place}{text}\n")
