"""Why an expectation can't be read, in words: where, what may stand there, and what was likely meant."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from lark import UnexpectedInput

FUNCTIONS = (
    "gap",
    "overlap",
    "same-order",
    "at",
    "during",
    "ever",
    "always",
    "states",
    "count",
    "restarts",
    "runs",
    "exitcode",
    "reason",
    "message",
    "state",
    "ready",
    "started",
    "image",
    "log",
    "condition",
    "conditionreason",
    "conditionmessage",
    "pods",
    "job",
)
_COMPARISONS = "a comparison (== != < <= > >= in ~ contains lacks matches)"
_MOMENT = 'what happened, as in "started" or "exited(0)"'
_VALUE = 'a value, as in "phase" or "exitcode(c)"'
_WORDS = {
    "SUBJECT": "a container, pod, job or step",
    "VERB": _MOMENT,
    "CALL": _MOMENT,
    "_LINE": _MOMENT,
    "ORDER": '"<" or "<=" and another moment',
    "COMPARISON": _COMPARISONS,
    "CONTAINMENT": _COMPARISONS,
    "IN": _COMPARISONS,
    "MATCHES": _COMPARISONS,
    "TILDE": _COMPARISONS,
    "PLAIN_VALUE": _VALUE,
    "SUBJECT_VALUE": _VALUE,
    "ARGUMENT_VALUE": _VALUE,
    "COUNT": _VALUE,
    "NUMBER": "a number",
    "PATTERN": "a pattern, as in /^ready/",
    "LITERAL": "what to compare with",
    "WORD": "a word",
    "QUOTED": 'text in double quotes, as in line:"ready"',
    "COMMA": '","',
    "SEMICOLON": '";" and what happened to each',
    "RPAR": '")"',
    "RSQB": '"]"',
    "LSQB": '"[" and two numbers',
    "ARGUMENT": "a word",
    "HAS": '"has"',
    "SIDE": '"after" or "before"',
    "OCCURRENCE": "",
    "__ANON_0": '"+-" and a number',
    "$END": "the end",
}
_CALL = re.compile(r"([A-Za-z][A-Za-z-]*)\($")


def column_of(text: str, error: UnexpectedInput) -> int:
    """Return the column (from 1) at which a text can't be read on; behind the text when it stops too early."""
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return len(text) + 1
    return error.column if error.column and error.column > 0 else len(text) + 1


def words_of(text: str, error: UnexpectedInput) -> str:
    """Return what is wrong: a likely slip, else what may stand there."""
    column = column_of(text, error)
    expected = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None)
    return _slip(text[: column - 1], text[column - 1 :]) or _expected(expected or ())


def _slip(before: str, rest: str) -> str:
    if not before + rest:
        return "the expectation is empty"
    if rest.startswith("=") and not rest.startswith("=="):
        return 'a comparison is written "=="'
    if rest.startswith(">"):
        return 'an order is written "A < B": the earlier moment first'
    if rest.startswith(("and ", "or ", "&& ", "|| ")):
        return "one expectation says one thing: write two"
    if rest.startswith("(") and (call := _CALL.search(f"{before}(")):
        near = difflib.get_close_matches(call[1], FUNCTIONS, n=1)
        return f'there is no "{call[1]}(...)"' + (f"; did you mean {near[0]!r}?" if near else "")
    if (
        not rest
        and re.search(r"\w\s+[a-z]\S*$", before)
        and "(" not in before.split(maxsplit=1)[0]
        and "<" not in before
    ):
        return 'a single moment is written "some A" or "never A", an order "A < B"'
    return ""


def _expected(terminals: Collection[str]) -> str:
    if "QUANTIFIER" in terminals:
        return 'an expectation is an order "A < B", "never A", "some A", or a value with a comparison, "phase == X"'
    words = dict.fromkeys(word for name in sorted(terminals) if (word := _WORDS.get(name, "")))
    return f"{' or '.join(words) or 'something else'} is expected here"
