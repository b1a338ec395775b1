"""The parsed form of a script: what the interpreter walks. Values, shared by all containers that run the same text."""

from __future__ import annotations

from attrs import frozen


@frozen
class Literal:
    """Text that stands for itself; quoted text is neither split nor a pattern."""

    text: str
    is_quoted: bool = False


@frozen
class Parameter:
    """`$name` or `${name op argument}`; `op` is one of - = ? + with or without a colon, # ## % %% / // : or len."""

    name: str
    op: str = ""
    argument: Word | None = None
    replacement: Word | None = None
    is_quoted: bool = False


@frozen
class Substitution:
    """`$(script)`."""

    script: Script
    is_quoted: bool = False


@frozen
class Arithmetic:
    """`$((expression))`; expansions inside come first."""

    expression: Word
    is_quoted: bool = False


Part = Literal | Parameter | Substitution | Arithmetic


@frozen
class Word:
    """One word; `plain` is its text when nothing in it needs expanding."""

    parts: tuple[Part, ...]
    plain: str | None = None


@frozen
class Redirect:
    """`fd op target`; `op` is > >> >| < <> >& <& or <<, whose target is the text itself."""

    fd: int
    op: str
    target: Word


@frozen
class Simple:
    """Assignments, words and redirections; `line` counts from 1."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    line: int = 1


@frozen
class Redirected:
    """A compound command with redirections."""

    body: Node
    redirects: tuple[Redirect, ...]
    line: int


@frozen
class Pipeline:
    """Commands connected by pipes."""

    stages: tuple[Node, ...]


@frozen
class Negated:
    """`! command`."""

    body: Node


@frozen
class AndOr:
    """`left && right`, or `left || right`."""

    left: Node
    right: Node
    is_and: bool


@frozen
class Sequence:
    """Commands one after the other."""

    items: tuple[Node, ...]


@frozen
class Background:
    """`command &`."""

    body: Node


@frozen
class Subshell:
    """`( commands )`."""

    body: Node


@frozen
class If:
    """Conditions with their bodies, and the body of else."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@frozen
class Loop:
    """`while` or `until`."""

    condition: Node
    body: Node
    is_until: bool


@frozen
class For:
    """`for name in words`; no words means the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Node
    line: int


@frozen
class Case:
    """`case word in patterns) body`."""

    word: Word
    items: tuple[tuple[tuple[Word, ...], Node], ...]


@frozen
class Function:
    """`name() body`."""

    name: str
    body: Node


@frozen
class ArithmeticCommand:
    """`((expression))`."""

    expression: Word


Node = (
    Simple
    | Redirected
    | Pipeline
    | Negated
    | AndOr
    | Sequence
    | Background
    | Subshell
    | If
    | Loop
    | For
    | Case
    | Function
    | ArithmeticCommand
)


@frozen
class Script:
    """A whole script."""

    body: Sequence
