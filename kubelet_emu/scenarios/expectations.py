"""What a scenario expects, as a syntax tree, and its parser.

`parse_expectation` is the only door; a text that can't be read is an ExpectationError that points into it.
"""

from __future__ import annotations

import difflib
import enum
from functools import cache
from importlib.resources import files
from typing import cast

from attrs import evolve, frozen
from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import VisitError

from kubelet_emu.scenarios.expectation_faults import column_of, words_of

LINES = {
    "prestop-start": "PreStop begin",
    "prestop-end": "PreStop end",
    "poststart-start": "PostStart begin",
    "poststart-end": "PostStart end",
}
POD_VERBS = frozenset(
    {"created", "deleted", "terminating", "phase", "condition", "ready", "unready", "event", "reason"}
)
JOB_VERBS = frozenset({"condition", "deleted", "event", "active", "succeeded", "failed", "ready", "terminating"})
CONTAINER_VERBS = frozenset(
    {
        "started",
        "exited",
        "ready",
        "unready",
        "startup-probe-ok",
        "waiting",
        "terminated",
        "line",
        "event",
        "sigterm",
        "sigkill",
    }
)
NEEDS_ARGUMENT = frozenset({"phase", "condition", "event", "reason", "waiting", "terminated"})


class ExpectationError(Exception):
    """An expectation can't be read: `why`, and the `column` of `text` (from 1) at which."""

    def __init__(self, text: str, column: int, why: str) -> None:
        """Point at `column` of `text`."""
        super().__init__(f"column {column}: {why}\n  {text}\n  {' ' * (column - 1)}^")
        self.text = text
        self.column = column
        self.why = why


@frozen(kw_only=True)
class Subject:
    """Who is meant: `pod` is a name, "@k" or "*"; `name` a container, "*", pod, job or step; `n` "3", "last", None."""

    pod: str = "*"
    name: str
    n: str | None = None


@frozen(kw_only=True)
class MomentExpression:
    """A moment: subject, verb, argument, text it must contain, and which occurrence ("1" is the first)."""

    subject: Subject
    verb: str
    argument: str | None = None
    text: str | None = None
    occurrence: str = "1"
    source: str = ""


@frozen(kw_only=True)
class ValueExpression:
    """A value of the trace: `function` with a subject, an argument or a moment."""

    function: str
    pod: str = "*"
    subject: Subject | None = None
    argument: str = ""
    moment: MomentExpression | None = None
    source: str = ""


Literal = int | float | bool | str | None


@frozen(kw_only=True)
class Comparison:
    """`operator` is ==, !=, <, <=, >, >=, in, contains, lacks or matches; `low` and `high` belong to `in`."""

    operator: str
    literal: Literal = None
    low: float = 0.0
    high: float = 0.0


@frozen
class Ordering:
    """Moments in this order; an operator between each two."""

    moments: tuple[MomentExpression, ...]
    operators: tuple[str, ...]


@frozen
class Existence:
    """A moment that must or must not occur, perhaps after or before another."""

    must_occur: bool
    moment: MomentExpression
    side: str = ""
    bound: MomentExpression | None = None


@frozen
class Gap:
    """Seconds between two moments."""

    first: MomentExpression
    second: MomentExpression
    comparison: Comparison


@frozen
class Overlap:
    """Runs of two containers overlap in time."""

    first: Subject
    second: Subject


class Scope(enum.Enum):
    """Which status records a value is looked at in."""

    END = "end"
    AT = "at"
    DURING = "during"
    EVER = "ever"
    ALWAYS = "always"


@frozen(kw_only=True)
class ValueCheck:
    """A value compared with a literal; `moments` bound the scope AT (one) and DURING (two)."""

    scope: Scope
    value: ValueExpression
    comparison: Comparison
    moments: tuple[MomentExpression, ...] = ()


@frozen
class Phases:
    """The phases seen, in order, repeats dropped."""

    phases: tuple[str, ...]


@frozen
class States:
    """States of a container that occur in this order."""

    subject: Subject
    states: tuple[str, ...]


Expectation = Ordering | Existence | Gap | Overlap | ValueCheck | Phases | States


def parse_expectation(text: str) -> Expectation:
    """Return the syntax tree of one expectation; ExpectationError."""
    stripped = text.strip()
    try:
        tree = _parser().parse(stripped)
    except UnexpectedInput as error:
        raise ExpectationError(stripped, column_of(stripped, error), words_of(stripped, error)) from None
    try:
        expectation = cast("Expectation", _Builder(stripped, visit_tokens=False).transform(tree))
    except VisitError as error:
        raise error.orig_exc from None
    return expectation


def parse_moment(text: str) -> MomentExpression:
    """Return the syntax tree of one moment, as steps name them; ExpectationError."""
    prefix, stripped = "some ", text.strip()
    try:
        expectation = parse_expectation(prefix + stripped)
    except ExpectationError as error:
        raise ExpectationError(stripped, max(1, error.column - len(prefix)), error.why) from None
    if not isinstance(expectation, Existence) or expectation.bound is not None:
        raise ExpectationError(stripped, 1, "a single moment is wanted here")
    return expectation.moment


@cache
def _parser() -> Lark:
    grammar = files(__package__).joinpath("expectations.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def _subject(text: str) -> Subject:
    pod, _, rest = text.strip().rpartition("/")
    name, _, n = rest.partition("#")
    return Subject(pod=pod or "*", name=name, n=n or None)


def unquote(text: str) -> str:
    """Return what a quoted text means; another one is itself."""
    text = text.strip()
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text
    out, escaped = [], False
    for character in text[1:-1]:
        if character == "\\" and not escaped:
            escaped = True
            continue
        out.append(character)
        escaped = False
    return "".join(out)


def _literal(text: str) -> Literal:
    text = text.strip()
    if text.startswith('"'):
        return unquote(text)
    known: dict[str, Literal] = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in known:
        return known[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@v_args(inline=True)
class _Builder(Transformer[Token, object]):
    """Builds the syntax tree from the parser's."""

    def __init__(self, source: str, *, visit_tokens: bool) -> None:
        super().__init__(visit_tokens=visit_tokens)
        self.source = source

    def ordering(self, *parts: MomentExpression | Token) -> Ordering:
        return Ordering(
            tuple(part for part in parts if isinstance(part, MomentExpression)),
            tuple(str(part) for part in parts if isinstance(part, Token)),
        )

    def existence(
        self, quantifier: Token, moment: MomentExpression, bound: tuple[str, MomentExpression] | None = None
    ) -> Existence:
        side, limit = bound or ("", None)
        return Existence(quantifier == "some", moment, side, limit)

    def bound(self, side: Token, moment: MomentExpression) -> tuple[str, MomentExpression]:
        return str(side), moment

    def gap(self, first: MomentExpression, second: MomentExpression, comparison: Comparison) -> Gap:
        return Gap(first, second, comparison)

    def overlap(self, first: Token, second: Token) -> Overlap:
        return Overlap(_subject(first), _subject(second))

    def same_order(self, *parts: Token | MomentExpression) -> Ordering:
        *subjects, what = parts
        if not isinstance(what, MomentExpression):
            raise TypeError(what)
        moments = tuple(self.moment(subject, what) for subject in subjects if isinstance(subject, Token))
        return Ordering(moments, ("<",) * (len(moments) - 1))

    def at(self, moment: MomentExpression, value: ValueExpression, comparison: Comparison) -> ValueCheck:
        return ValueCheck(scope=Scope.AT, value=value, comparison=comparison, moments=(moment,))

    def during(
        self, first: MomentExpression, last: MomentExpression, value: ValueExpression, comparison: Comparison
    ) -> ValueCheck:
        return ValueCheck(scope=Scope.DURING, value=value, comparison=comparison, moments=(first, last))

    def ever(self, value: ValueExpression, comparison: Comparison) -> ValueCheck:
        return ValueCheck(scope=Scope.EVER, value=value, comparison=comparison)

    def always(self, value: ValueExpression, comparison: Comparison) -> ValueCheck:
        return ValueCheck(scope=Scope.ALWAYS, value=value, comparison=comparison)

    def compare(self, value: ValueExpression, comparison: Comparison) -> ValueCheck:
        return ValueCheck(scope=Scope.END, value=value, comparison=comparison)

    def phases(self, _keyword: Token, *words: Token) -> Phases:
        return Phases(tuple(word.strip() for word in words))

    def states(self, subject: Token, *words: Token) -> States:
        return States(_subject(subject), tuple(word.strip() for word in words))

    def moment(self, subject: Token, what: MomentExpression) -> MomentExpression:
        known = evolve(what, subject=_subject(subject), source=f"{subject} {what.source}")
        self._check_verb(known, (subject.column or 1) + len(subject) + 1)
        return known

    def _check_verb(self, moment: MomentExpression, column: int) -> None:
        """Refuse a verb that this kind of subject doesn't have, and a missing argument."""
        name = moment.subject.name
        verbs = {"pod": POD_VERBS, "job": JOB_VERBS, "step": frozenset({"done"})}.get(name, CONTAINER_VERBS)
        if moment.verb not in verbs:
            near = difflib.get_close_matches(moment.verb, verbs, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(verbs))}"
            whose = f"a {name}" if name in {"pod", "job", "step"} else "a container"
            raise ExpectationError(self.source, column, f"{whose} has no moment {moment.verb!r}; {known}")
        if moment.verb in NEEDS_ARGUMENT and not moment.argument:
            raise ExpectationError(self.source, column, f"{moment.verb} needs an argument, as in {moment.verb}(X)")

    def what(self, verb: MomentExpression, occurrence: Token | None = None) -> MomentExpression:
        if occurrence is None:
            return verb
        return evolve(verb, occurrence=occurrence.strip("[]"), source=verb.source + occurrence)

    def line(self, text: Token) -> MomentExpression:
        return _what("line", argument=unquote(text), source=f"line:{text}")

    def plain(self, verb: Token) -> MomentExpression:
        if verb in LINES:
            return _what("line", argument=LINES[verb], source=str(verb))
        return _what(str(verb), source=str(verb))

    def called(self, call: Token, *arguments: Token | str) -> MomentExpression:
        argument = str(arguments[0]).strip() if arguments else None
        text = str(arguments[1]) if len(arguments) > 1 else None
        source = f"{call}{', '.join(map(str, arguments))})"
        return _what(call.rstrip("("), argument=argument, text=text, source=source)

    def text(self, text: Token) -> str:
        return unquote(text)

    def plain_value(self, token: Token) -> ValueExpression:
        pod, _, name = token.rpartition("/")
        return ValueExpression(function=name, pod=pod or "*", source=str(token))

    def subject_value(self, call: Token, subject: Token) -> ValueExpression:
        pod, _, name = call.rstrip("(").rpartition("/")
        of = _subject(subject)
        pod = of.pod if of.pod != "*" else pod or "*"
        return ValueExpression(function=name, pod=pod, subject=of, source=f"{call}{subject})")

    def argument_value(self, call: Token, argument: Token) -> ValueExpression:
        pod, _, name = call.rstrip("(").rpartition("/")
        return ValueExpression(function=name, pod=pod or "*", argument=argument.strip(), source=f"{call}{argument})")

    def count_value(self, _call: Token, moment: MomentExpression) -> ValueExpression:
        return ValueExpression(function="count", moment=moment, source=f"count({moment.source})")

    def comparison(self, operator: Token, literal: Token) -> Comparison:
        return Comparison(operator=str(operator), literal=_literal(literal))

    def within(self, low: Token, high: Token) -> Comparison:
        return Comparison(operator="in", low=float(low), high=float(high))

    def about(self, middle: Token, tolerance: Token) -> Comparison:
        return Comparison(operator="in", low=float(middle) - float(tolerance), high=float(middle) + float(tolerance))

    def containment(self, operator: Token, text: Token) -> Comparison:
        return Comparison(operator=str(operator), literal=unquote(text))

    def pattern(self, pattern: Token) -> Comparison:
        return Comparison(operator="matches", literal=pattern.strip()[1:-1])


def _what(verb: str, *, source: str, argument: str | None = None, text: str | None = None) -> MomentExpression:
    """Return a moment whose subject comes later."""
    return MomentExpression(subject=Subject(name="*"), verb=verb, argument=argument, text=text, source=source)
