"""A parsed awk program."""

from __future__ import annotations

from attrs import frozen


@frozen
class Constant:
    """A number or a string."""

    value: float | str


@frozen
class Pattern:
    """A regular expression; alone it is matched with the record."""

    text: str


@frozen
class Variable:
    """A variable by name."""

    name: str


@frozen
class Field:
    """`$expression`."""

    index: Expression


@frozen
class Element:
    """An array's element."""

    array: str
    index: tuple[Expression, ...]


@frozen
class Group:
    """An expression in parentheses, several for `(i, j) in array`."""

    items: tuple[Expression, ...]


@frozen
class Assign:
    """`target op= value`; `op` is "" for a plain assignment."""

    target: Target
    op: str
    value: Expression


@frozen
class Step:
    """`++` or `--` before or behind a target."""

    target: Target
    change: int
    is_prefix: bool


@frozen
class Binary:
    """Two operands; `op` " " joins strings, ~ and !~ match."""

    op: str
    left: Expression
    right: Expression


@frozen
class Unary:
    """One operand: - + !."""

    op: str
    operand: Expression


@frozen
class Choice:
    """`condition ? one : other`."""

    condition: Expression
    one: Expression
    other: Expression


@frozen
class Membership:
    """`index in array`."""

    index: tuple[Expression, ...]
    array: str


@frozen
class Call:
    """A call of a function, the program's own or a built-in one."""

    name: str
    arguments: tuple[Expression, ...]
    is_builtin: bool


@frozen
class Getline:
    """`getline`, from the input, a file (<) or a command (|)."""

    target: Target | None
    kind: str
    source: Expression | None


Target = Variable | Field | Element
Expression = (
    Constant | Pattern | Variable | Field | Element | Group | Assign | Step | Binary | Unary | Choice | Membership
    | Call | Getline
)  # fmt: skip


@frozen
class Evaluate:
    """An expression as a statement."""

    expression: Expression


@frozen
class Print:
    """print or printf, into a file (> or >>) or a command (|) if asked."""

    arguments: tuple[Expression, ...]
    is_formatted: bool
    redirect: str = ""
    target: Expression | None = None


@frozen
class Block:
    """Statements one after the other."""

    statements: tuple[Statement, ...]


@frozen
class If:
    """A condition with its two ways."""

    condition: Expression
    then: Statement
    otherwise: Statement | None


@frozen
class Loop:
    """for, while and do: `is_late` tests behind the body."""

    begin: Statement | None
    condition: Expression | None
    step: Statement | None
    body: Statement
    is_late: bool = False


@frozen
class ForIn:
    """`for (name in array)`."""

    name: str
    array: str
    body: Statement


@frozen
class Delete:
    """An element, or a whole array."""

    array: str
    index: tuple[Expression, ...] | None


@frozen
class Leave:
    """break, continue, next, exit or return, with a value for the last two."""

    word: str
    value: Expression | None = None


Statement = Evaluate | Print | Block | If | Loop | ForIn | Delete | Leave


@frozen
class Rule:
    """A pattern, or a range of two, with what is done for a record; no body prints it."""

    patterns: tuple[Expression, ...]
    body: Statement | None


@frozen
class Function:
    """A function of the program."""

    parameters: tuple[str, ...]
    body: Statement


@frozen
class Program:
    """All of it."""

    begin: tuple[Statement, ...]
    rules: tuple[Rule, ...]
    end: tuple[Statement, ...]
    functions: dict[str, Function]
