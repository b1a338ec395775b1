"""Small scripts at random over the grammar that the simulated shell knows.

They are harmless: they touch only files of their own folder, signal only themselves, and every loop ends. What real
processes may do in either order (the stages of a pipeline, a job and its shell) is kept out or made to wait.
"""

from __future__ import annotations

import sys
from random import Random
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SAMPLE = 250
VARIABLES = ("x", "y", "z")
_TEXTS = (
    "a",
    "b c",
    "*",
    "?",
    "",
    "-n",
    "1",
    "07",
    "a:b",
    "  p  q ",
    "x=y",
    "a/b.c",
    "[ab]",
    "$",
    "\\\\",
    "é",
    "#",
    "~",
)
_STRIPPED = ("*", "?", "a", "a*", "*b", "[ab]", " ", "*/", ".*", "$y", '"$y"')
_OPERATORS = ("+", "-", "*", "<", ">", "<=", "==", "!=", "&", "|", "^", "&&", "||", "<<", ",")
_STAGES = (
    "cat", "sort", "tr a-c A-C", 'while read -r v; do echo "<$v>"; done', "{ cat; echo e; }", "(cat; exit 2)", "wc -l",
    '{ read -r v; echo "$v"; cat; }',
)  # fmt: skip
_USERS = ("true", ":", "eval echo", "sh -c 'echo $x'")
_CHANGES = ("export x", "unset x", "unset y z", "export y=1", "shift", "shift 2", "IFS=:", "unset IFS", "IFS=")
_READERS = ("true", "false", ":", "cat d", "cat d nosuch", "echo $?", "echo $# $*", "pwd >/dev/null")
_PATTERNS = ("*", "a*", "?", "[ab]", "[!a]", "*b*", "a?c", "'*'", '"$x"', "$y", "[a-c]*", "\\*", "''", "x|y", "*.txt")
_ALONE = ("kill", "trap", "& wait")
_DEEPEST = 2


@define
class Writer:
    """Writes one script; `depth` bounds how far things nest."""

    random: Random
    depth: int = 0
    loops: int = 0
    counters: int = 0
    named: int = 0
    functions: list[str] = field(factory=list)
    in_function: bool = False

    def pick(self, choices: Sequence[str]) -> str:
        return self.random.choice(choices)

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def one_of(self, *makers: Callable[[], str]) -> str:
        return self.random.choice(makers)()

    # -- words

    def variable(self) -> str:
        return self.pick(VARIABLES)

    def quoted(self, text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'"

    def word(self) -> str:
        return "".join(self.part() for _ in range(self.random.choice((1, 1, 1, 2, 3))))

    def part(self) -> str:
        return self.one_of(
            lambda: self.pick(("a", "b", "c.txt", "1", "x", "-", "abc", "a.b", ":", ",")),
            lambda: self.quoted(self.pick(_TEXTS)),
            self.double_quoted,
            self.parameter,
            self.parameter,
            self.substitution,
            self.arithmetic,
            lambda: self.pick(("\\*", "\\$", "\\ ", "\\\\", "\\a", '\\"', "\\'")),
            lambda: self.pick(("*", "?", "[ab]*", "[!a]", "*.txt")),
        )

    def double_quoted(self) -> str:
        inner = "".join(
            self.one_of(
                lambda: self.pick(("a", " ", "  b", "*", "'", "\\$", '\\"', "\\\\", "\\n", "\\`", "#", "}", "c d")),
                self.parameter,
                self.substitution,
                self.arithmetic,
            )
            for _ in range(self.random.randint(0, 3))
        )
        return f'"{inner}"'

    def parameter(self) -> str:
        name = self.pick((*VARIABLES, *VARIABLES, "1", "2", "@", "*", "#", "?", "u"))
        if self.maybe(0.45):
            return f"${name}" if not name.isalpha() or self.maybe(0.3) else f"${{{name}}}"
        name = self.pick((*VARIABLES, *VARIABLES, "1", "u", "@", "*")) if name in {"#", "?"} else name
        if self.maybe(0.15) and name not in {"@", "*"}:
            return f"${{#{name}}}"
        op = self.pick(("-", ":-", "+", ":+", "=", ":=", "#", "##", "%", "%%", "?", ":?"))
        if op in {"=", ":=", "?", ":?"} and (name not in VARIABLES or self.maybe(0.7)):
            op = ":-"
        if op[0] in "#%":
            return f"${{{self.variable()}{op}{self.pick(_STRIPPED)}}}"
        return f"${{{name}{op}{self.argument()}}}"

    def argument(self) -> str:
        return self.one_of(
            lambda: self.pick(("", "d", "d e", "'q r'", '"s  t"', "\\$", "*", "a:b")),
            lambda: f"${self.variable()}",
            lambda: f'"${self.variable()}"',
        )

    def substitution(self) -> str:
        if self.depth >= _DEEPEST:
            return "$(echo s)"
        self.depth += 1
        inner = self.one_of(
            lambda: f"echo {self.word()}",
            lambda: f"printf '%s\\n' {self.word()}",
            lambda: self.pick(("true", "false")),
            lambda: f"echo {self.word()}; echo {self.word()}", lambda: "cat d 2>/dev/null",
            lambda: f"echo {self.word()}; exit {self.random.randint(0, 3)}",
        )  # fmt: skip
        self.depth -= 1
        return f"$({inner})"

    def arithmetic(self) -> str:
        return f"$(({self.pick(('n++', '++n', 'n--', '--m')) if self.maybe(0.1) else self.expression()}))"

    def expression(self) -> str:
        if self.depth >= _DEEPEST or self.maybe(0.4):
            return self.pick(("0", "1", "2", "7", "-3", "n", "m", "$n", "${m}", "010", "0x1f"))
        self.depth += 1
        made = self.one_of(
            lambda: f"{self.expression()} {self.pick(_OPERATORS)} {self.expression()}",
            lambda: f"({self.expression()})",
            lambda: f"{self.pick(('-', '!', '~', '+'))}{self.pick(('1', '5', 'n', '(3)'))}",
            lambda: f"{self.random.randint(0, 1)} ? {self.random.randint(0, 9)} : (n + 1)",
            lambda: f"{self.pick(('n', 'm'))} {self.pick(('=', '+=', '-=', '*='))} {self.expression()}",
            lambda: f"{self.expression()} {self.pick(('/', '%'))} {self.pick(('2', '3', '-2', '7'))}",
        )
        self.depth -= 1
        return made

    # -- commands

    def command(self) -> str:
        made = self.compound() if self.depth < _DEEPEST and self.maybe(0.4) else self.simple()
        return made + self.redirection() if self.maybe(0.15) else made

    def redirection(self) -> str:
        return " " + self.pick(
            (">a", ">>b", "2>&1", "2>/dev/null", ">/dev/null", "<a", "</dev/null", ">&2", "3>c.txt", "2>>b", ">|a",
             '>"$x"', "<nosuch", "3>&1", "2>&-")
        )  # fmt: skip

    def simple(self) -> str:
        return self.one_of(
            self.echo, self.echo, self.echo, self.assignment, self.assignment, self.test, self.test, self.printf,
            lambda: self.pick(_READERS),
            self.setting, self.flow, self.call, self.eval, self.read, self.trap,
            lambda: f"{self.variable()}={self.word()} {self.pick(_USERS)}",
            lambda: self.pick(_CHANGES),
            lambda: self.pick(("rm -f a", "touch b", "echo 1 >d", "test -f a", "ls a b", "wc -l <a", "nosuchword")),
        )  # fmt: skip

    def echo(self) -> str:
        return "echo " + " ".join(self.word() for _ in range(self.random.randint(0, 3)))

    def printf(self) -> str:
        return f"printf '{self.pick(('%s|', '<%s>', '%s %s;', '%d,', '%5s%%', '%b', '[%-3s]'))}\\n' " + " ".join(
            self.word() for _ in range(self.random.randint(0, 3))
        )

    def assignment(self) -> str:
        if self.maybe(0.2):
            return f"{self.pick(('n', 'm'))}={self.random.randint(-2, 9)}"
        return " ".join(f"{self.variable()}={self.word()}" for _ in range(self.random.choice((1, 1, 2))))

    def test(self) -> str:
        inner = self.one_of(
            lambda: f"{self.pick(('-n', '-z', '-f', '-e', '-d', '-s', '!'))} {self.word()}",
            lambda: f"{self.word()} {self.pick(('=', '!=', '=', '-eq', '-lt'))} {self.word()}",
            lambda: f'"${self.variable()}" {self.pick(("=", "!="))} {self.word()}',
            lambda: (
                f"{self.random.randint(0, 3)} {self.pick(('-eq', '-ne', '-lt', '-ge'))} {self.random.randint(0, 3)}"
            ),
            self.word,
        )
        return f"[ {inner} ]" if self.maybe(0.8) else f"test {inner}"

    def setting(self) -> str:
        return self.pick(
            ("set -e", "set +e", "set -u", "set +u", "set -f", "set +f", "set --", "set -- a 'b c'", "set -- $x",
             'set -- "$@" z', "set -o pipefail", "set -C", "set +C", "set -a")
        )  # fmt: skip

    def flow(self) -> str:
        if self.loops and self.maybe(0.7):
            return self.pick(("break", "continue", "break 2", "continue 2"))
        if self.in_function and self.maybe(0.8):
            return self.pick(("return", "return 3", "return $?", "local x=1", "local y", "local z=$x"))
        return self.pick(("exit", "exit 3", "exit $?", "(exit 4)", "true", "false"))

    def call(self) -> str:
        if not self.functions:
            return self.echo()
        return f"{self.pick(self.functions)} {' '.join(self.word() for _ in range(self.random.randint(0, 2)))}"

    def eval(self) -> str:
        if self.depth >= _DEEPEST:
            return "eval echo e"
        self.depth += 1
        made = f"eval {self.quoted(self.command())}"
        self.depth -= 1
        return made

    def read(self) -> str:
        names = " ".join(self.random.sample(VARIABLES, self.random.randint(1, 2)))
        line = self.pick(("p q r", " s  t ", "a\\\\tb", "u:v:w", "", "one"))
        return f"read {self.pick(('', '-r '))}{names} <<E\n{line}\nE\n"

    def trap(self) -> str:
        return self.one_of(
            lambda: f"trap {self.quoted('echo t')} {self.pick(('EXIT', 'USR1', 'TERM', 'EXIT USR1'))}",
            lambda: self.pick(("trap - EXIT", "trap '' USR1", "trap", "trap - USR1")),
            lambda: "trap 'echo sig' USR1; kill -USR1 $$" if not self.depth else "sh -c 'kill -USR1 $$'",
        )

    # -- compound commands

    def list(self) -> str:
        return "; ".join(self.and_or() for _ in range(self.random.choice((1, 1, 1, 2, 2)))).replace("\n; ", "\n")

    def and_or(self) -> str:
        parts = [self.pipeline()]
        while self.maybe(0.25):
            parts.append(f"{self.pick(('&&', '||'))} {self.pipeline()}")
        if any("\n" in part for part in parts[:-1]) or any(each in part for part in parts for each in _ALONE):
            return parts[0]
        return " ".join(parts)

    def pipeline(self) -> str:
        first = self.command()
        if self.maybe(0.1) and "\n" not in first and not any(each in first for each in _ALONE):
            stage = self.pick(_STAGES)
            first = f"{first} | {stage}"
        if self.maybe(0.06) and "\n" not in first and not any(each in first for each in _ALONE):
            first = f"{{ {first}; }} & wait"
        return f"! {first}" if self.maybe(0.08) else first

    def compound(self) -> str:
        self.depth += 1
        makers = [
            self.group,
            self.subshell,
            self.condition,
            self.condition,
            self.loop,
            self.iteration,
            self.case,
            self.function,
        ]
        made = self.random.choice(makers)()
        self.depth -= 1
        return made

    def body(self) -> str:
        text = self.list()
        return text if text.endswith("\n") else f"{text}; "

    def group(self) -> str:
        return f"{{ {self.body()}}}"

    def subshell(self) -> str:
        return f"( {self.list()} )"

    def condition(self) -> str:
        text = f"if {self.body()}then {self.body()}"
        if self.maybe(0.3):
            text += f"elif {self.body()}then {self.body()}"
        if self.maybe(0.5):
            text += f"else {self.body()}"
        return f"{text}fi"

    def loop(self) -> str:
        self.counters += 1
        name = f"i{self.counters}"
        self.loops += 1
        made = (
            f"{name}=0; while [ ${name} -lt {self.random.randint(1, 3)} ]; do {name}=$(({name}+1)); {self.body()}done"
        )
        self.loops -= 1
        return f"{{ {made}; }}"

    def iteration(self) -> str:
        words = " ".join(self.word() for _ in range(self.random.randint(0, 3)))
        self.loops += 1
        made = f"for {self.variable()} in {words}; do {self.body()}done"
        self.loops -= 1
        return made

    def case(self) -> str:
        items = " ".join(
            f"{self.pick(_PATTERNS)}) {self.body().rstrip(' ;')}\n;;" for _ in range(self.random.randint(1, 3))
        )
        return f"case {self.word()} in {items} esac"

    def function(self) -> str:
        name = f"f{self.named}"
        self.named += 1
        loops, inside, self.loops, self.in_function = self.loops, self.in_function, 0, True
        made = f"{name}() {{ {self.body()}}}"
        self.loops, self.in_function = loops, inside
        self.functions.append(name)
        return made

    def script(self) -> str:
        lines = [self.list() for _ in range(self.random.randint(1, 3))]
        return "\n".join(line.rstrip("\n") for line in lines)


def random_script(random: Random) -> str:
    """Return a script."""
    return Writer(random).script()


def sample(count: int) -> str:
    """Return so many scripts as a topic: `python tests/random_scripts.py >fixtures/shell/random.txt` writes it."""
    rows = [random_script(Random(seed)).replace("\n", "\n> ") for seed in range(count)]  # noqa: S311 - no secrets
    return "\n".join(["# Scripts at random.", *rows, ""])


if __name__ == "__main__":
    sys.stdout.write(sample(SAMPLE))
