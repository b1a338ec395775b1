"""find: walks trees with an expression of tests and actions."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from runtime.simulated import access
from runtime.simulated.shell import patterns
from runtime.simulated.shell.applets.base import AppletError, complain, put, whole_number
from runtime.simulated.shell.applets.modes import kind_letter
from runtime.simulated.shell.launch import ProgramMissing, resolve_child
from runtime.simulated.tree import Directory, File, plain, size_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runtime.simulated.process import Process
    from runtime.simulated.tree import Entry

    Test = Callable[["_Visit"], Awaitable[bool]]
    """A test or an action: whether the expression goes on behind it."""

_BLOCKS = {"": 512, "b": 512, "c": 1, "k": 1024}
_DAY, _MINUTE = 86400.0, 60.0
_ALONE = frozenset({"-print", "-print0", "-delete", "-prune", "-quit", "-empty", "-executable", "-true", "-false"})
_VALUED = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-type", "-size", "-newer", "-mmin", "-mtime",
     "-perm", "-user", "-group", "-inum", "-links"}
)  # fmt: skip
_ACTIONS = frozenset({"-print", "-print0", "-delete", "-exec", "-quit"})


@define
class _Walk:
    """What one run of find keeps: its limits, its status, and files that wait for `-exec ... +`."""

    process: Process
    name: str
    deepest: float = math.inf
    shallowest: int = 0
    is_depth_first: bool = False
    status: int = 0
    has_quit: bool = False
    waiting: dict[tuple[str, ...], list[str]] = field(factory=dict)


@define
class _Visit:
    """One file that is visited."""

    walk: _Walk
    path: str
    node: Entry
    prunes: bool = False

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rsplit("/", 1)[-1] or "/"


@frozen
class _Compared:
    """A number with + (more) or - (less) in front."""

    sign: str
    number: int

    @classmethod
    def of(cls, text: str) -> _Compared:
        sign = text[0] if text[:1] in {"+", "-"} else ""
        return cls(sign, whole_number(text.removeprefix(sign)))

    def fits(self, value: float) -> bool:
        match self.sign:
            case "+":
                return value > self.number
            case "-":
                return value < self.number
        return value == self.number


async def find(process: Process, name: str, arguments: list[str]) -> int:
    """Walk trees and act on what fits."""
    words = [word for word in arguments if word not in {"-H", "-L", "-P"}]
    roots: list[str] = []
    while words and not words[0].startswith(("-", "!", "(")):
        roots.append(words.pop(0))
    walk = _Walk(process, name)
    test = _Reader(walk, words).read()
    for root in roots or ["."]:
        node = access.get(process, root, follow="-L" in arguments)
        if node is None:
            await complain(process, name, f"{root}: No such file or directory")
            walk.status = 1
            continue
        await _visit(walk, test, root, node, 0)
    for argv, paths in walk.waiting.items():
        await _run(walk, [word for each in argv for word in (paths if each == "{}" else [each])])
    return walk.status


async def _visit(walk: _Walk, test: Test, path: str, node: Entry, depth: int) -> None:
    walk.process.step()
    visit = _Visit(walk, path, node)
    if not walk.is_depth_first and depth >= walk.shallowest and not walk.has_quit:
        await test(visit)
    if isinstance(node, Directory) and depth < walk.deepest and not visit.prunes:
        for name in sorted(node.children):
            child = plain(node.children[name])
            if child is not None and not walk.has_quit:
                await _visit(walk, test, f"{path.rstrip('/')}/{name}", child, depth + 1)
    if walk.is_depth_first and depth >= walk.shallowest and not walk.has_quit:
        await test(visit)


async def _run(walk: _Walk, argv: list[str]) -> bool:
    child = walk.process.child(tuple(argv), walk.process.env)
    try:
        main = resolve_child(child, tuple(argv))
    except ProgramMissing as missing:
        await complain(walk.process, walk.name, f"{argv[0]}: {missing.reason}")
        return False
    return await child.run(main) == 0


@define
class _Reader:
    """Reads an expression: `-o` binds less than `-a`, both less than `!`."""

    walk: _Walk
    words: list[str]
    has_action: bool = False

    def read(self) -> Test:
        """Return the whole expression, with -print when it has no action; AppletError."""
        test = self.any() if self.words else _always
        if self.words:
            raise AppletError(f"unrecognized: {self.words[0]}")
        return test if self.has_action else _both(test, _print("\n"))

    def any(self) -> Test:
        test = self.all()
        while self.words[:1] in (["-o"], ["-or"]):
            self.words.pop(0)
            test = _either(test, self.all() if self.words else _opposite(_always))
        return test

    def all(self) -> Test:
        test = self.one()
        while self.words and self.words[0] not in {"-o", "-or", ")"}:
            if self.words[0] in {"-a", "-and"}:
                self.words.pop(0)
            test = _both(test, self.one())
        return test

    def one(self) -> Test:
        word = self.take("expression")
        if word in {"!", "-not"}:
            return _opposite(self.one())
        if word == "(":
            test = self.any()
            if not self.words or self.words.pop(0) != ")":
                raise AppletError("unpaired '('")
            return test
        self.has_action = self.has_action or word in _ACTIONS
        if word == "-exec":
            return self.exec()
        if word in {"-maxdepth", "-mindepth"}:
            number = whole_number(self.take(word))
            self.walk.deepest, self.walk.shallowest = (
                (number, self.walk.shallowest) if word == "-maxdepth" else (self.walk.deepest, number)
            )
            return _always
        if word in {"-depth", "-xdev", "-follow", "-mount"}:
            self.walk.is_depth_first = self.walk.is_depth_first or word == "-depth"
            return _always
        if word in _ALONE:
            self.walk.is_depth_first = self.walk.is_depth_first or word == "-delete"
            return _alone(word)
        if word in _VALUED:
            return _valued(self.walk, word, self.take(word))
        raise AppletError(f"unrecognized: {word}")

    def take(self, what: str) -> str:
        if not self.words:
            raise AppletError(f"{what} requires an argument" if what.startswith("-") else f"missing {what}")
        return self.words.pop(0)

    def exec(self) -> Test:
        end = next((place for place, word in enumerate(self.words) if word in {";", "+"}), None)
        if end is None:
            raise AppletError("-exec requires an argument")
        argv, is_one_by_one = self.words[:end], self.words[end] == ";"
        del self.words[: end + 1]
        return _exec(tuple(argv), is_one_by_one=is_one_by_one)


async def _always(visit: _Visit) -> bool:
    return True


def _both(first: Test, second: Test) -> Test:
    async def test(visit: _Visit) -> bool:
        return await first(visit) and await second(visit)

    return test


def _either(first: Test, second: Test) -> Test:
    async def test(visit: _Visit) -> bool:
        return await first(visit) or await second(visit)

    return test


def _opposite(inner: Test) -> Test:
    async def test(visit: _Visit) -> bool:
        return not await inner(visit)

    return test


def _print(end: str) -> Test:
    async def test(visit: _Visit) -> bool:
        await put(visit.walk.process, visit.path + end)
        return True

    return test


def _exec(argv: tuple[str, ...], *, is_one_by_one: bool) -> Test:
    async def test(visit: _Visit) -> bool:
        if not is_one_by_one:
            visit.walk.waiting.setdefault(argv, []).append(visit.path)
            return True
        return await _run(visit.walk, [word.replace("{}", visit.path) for word in argv])

    return test


def _alone(word: str) -> Test:
    if word in {"-print", "-print0"}:
        return _print("\n" if word == "-print" else "\0")

    async def test(visit: _Visit) -> bool:
        match word:
            case "-delete":
                return await _delete(visit)
            case "-prune":
                visit.prunes = True
            case "-quit":
                visit.walk.has_quit = True
            case "-empty":
                return _is_empty(visit.node)
            case "-executable":
                return access.may(visit.walk.process, visit.node, access.EXECUTE) and bool(visit.node.mode & 0o111)
        return word != "-false"

    return test


async def _delete(visit: _Visit) -> bool:
    if visit.path in {".", "/"}:
        return True
    if isinstance(visit.node, Directory) and visit.node.children:
        text = f"can't delete '{visit.path}': Directory not empty"
    else:
        try:
            access.remove(visit.walk.process, visit.path)
        except OSError as error:
            text = f"can't delete '{visit.path}': {error.strerror}"
        else:
            return True
    await complain(visit.walk.process, visit.walk.name, text)
    visit.walk.status = 1
    return False


def _is_empty(node: Entry) -> bool:
    if isinstance(node, Directory):
        return not node.children
    return isinstance(node, File) and not node.data


def _valued(walk: _Walk, word: str, value: str) -> Test:
    fits = _fit(walk, word, value)

    async def test(visit: _Visit) -> bool:
        return fits(visit)

    return test


def _fit(walk: _Walk, word: str, value: str) -> Callable[[_Visit], bool]:
    """Return a test that has a value; AppletError."""
    match word:
        case "-name" | "-iname":
            return _matcher(value, lambda visit: visit.name, folds_case=word == "-iname")
        case "-path" | "-ipath" | "-wholename":
            return _matcher(value, lambda visit: visit.path, folds_case=word == "-ipath")
        case "-regex":
            return lambda visit: re.fullmatch(value, visit.path) is not None
        case "-type":
            if value not in set("fdlpcbs"):
                raise AppletError(f"invalid argument '{value}' to '-type'")
            return lambda visit: {"-": "f"}.get(kind_letter(visit.node), kind_letter(visit.node)) == value
        case "-size":
            return _size(value)
        case "-newer":
            found = access.get(walk.process, value)
            if found is None:
                raise AppletError(f"can't stat '{value}': No such file or directory")
            than = found.mtime
            return lambda visit: visit.node.mtime > than
        case "-mmin" | "-mtime":
            unit, compared = (_MINUTE if word == "-mmin" else _DAY), _Compared.of(value)
            now = walk.process.container.tree.now()
            return lambda visit: compared.fits((now - visit.node.mtime) // unit)
        case "-perm":
            return _permission(value)
        case "-user" | "-group":
            number = 0 if value == "root" else whole_number(value)
            return lambda visit: (visit.node.uid if word == "-user" else visit.node.gid) == number
    compared = _Compared.of(value)
    return lambda _: compared.fits(1)


def _matcher(pattern: str, text: Callable[[_Visit], str], *, folds_case: bool) -> Callable[[_Visit], bool]:
    if folds_case:
        return lambda visit: patterns.matches(pattern.lower(), text(visit).lower())
    return lambda visit: patterns.matches(pattern, text(visit))


def _size(value: str) -> Callable[[_Visit], bool]:
    match = re.fullmatch(r"([-+]?\d+)([bck]?)", value)
    if match is None:
        raise AppletError(f"invalid number '{value}'")
    compared, unit = _Compared.of(match[1]), _BLOCKS[match[2]]
    return lambda visit: compared.fits(size_of(visit.node) / unit)


def _permission(value: str) -> Callable[[_Visit], bool]:
    bits = int(value.lstrip("-+/"), 8)
    match value[:1]:
        case "-":
            return lambda visit: visit.node.mode & bits == bits
        case "+" | "/":
            return lambda visit: bool(visit.node.mode & bits)
    return lambda visit: visit.node.mode & 0o7777 == bits
