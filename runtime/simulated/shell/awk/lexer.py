"""awk's words: from text to tokens. Whether a slash divides or begins a pattern follows from what stands before it."""

from __future__ import annotations

import enum
import re

from attrs import frozen

from runtime.simulated.shell.applets.base import AppletError

KEYWORDS = frozenset(
    {"BEGIN", "END", "if", "else", "while", "for", "do", "break", "continue", "next", "exit", "return", "delete",
     "in", "print", "printf", "getline", "function", "func"}
)  # fmt: skip
BUILTINS = frozenset(
    {"length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "tolower", "toupper", "int", "sqrt",
     "exp", "log", "sin", "cos", "atan2", "rand", "srand", "system", "close", "fflush", "systime", "and", "or", "xor",
     "compl", "lshift", "rshift"}
)  # fmt: skip
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\r?\n|\#[^\n]*)|(?P<newline>\n)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*")|(?P<name>[A-Za-z_]\w*)
    |(?P<mark>\+\+|--|\*\*=|\*\*|[-+*/%^<>=!]=|&&|\|\||!~|>>|[-+*/%^!<>~?:,;(){}[\]$=|])""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = re.compile(r"/((?:[^/\\\[\n]|\\.|\[\^?\]?[^\]\n]*\])*)/")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "/": "/", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Kind(enum.Enum):
    """What a token is."""

    NUMBER = "number"
    STRING = "string"
    PATTERN = "pattern"
    NAME = "name"
    CALL = "call"
    BUILTIN = "builtin"
    WORD = "word"
    MARK = "mark"
    NEWLINE = "newline"
    END = "end"


@frozen
class Token:
    """One token."""

    kind: Kind
    text: str


def tokens(script: str) -> list[Token]:
    """Return the tokens of a script, with one of the kind END behind the last; AppletError."""
    found: list[Token] = []
    at = 0
    while at < len(script):
        if script[at] == "/" and not _ends_operand(found) and (pattern := _PATTERN.match(script, at)):
            found.append(Token(Kind.PATTERN, pattern[1].replace(r"\/", "/")))
            at = pattern.end()
            continue
        match = _TOKEN.match(script, at)
        if match is None:
            raise AppletError("cmd. line:1: Unexpected token")
        at = match.end()
        if match.lastgroup != "blank":
            found.append(_token(match, script[at : at + 1]))
    return [*found, Token(Kind.END, "")]


def _ends_operand(found: list[Token]) -> bool:
    """Tell whether what was read last is an operand, behind which a slash divides."""
    if not found:
        return False
    last = found[-1]
    return last.kind in {Kind.NUMBER, Kind.STRING, Kind.NAME, Kind.BUILTIN} or last.text in {")", "]", "$", "++", "--"}


def _token(match: re.Match[str], following: str) -> Token:
    word = match[0]
    match match.lastgroup:
        case "number":
            return Token(Kind.NUMBER, word)
        case "string":
            return Token(Kind.STRING, unescaped(word[1:-1]))
        case "newline":
            return Token(Kind.NEWLINE, word)
        case "mark":
            return Token(Kind.MARK, "^" if word == "**" else "^=" if word == "**=" else word)
    if word in KEYWORDS:
        return Token(Kind.WORD, "function" if word == "func" else word)
    if word in BUILTINS:
        return Token(Kind.BUILTIN, word)
    return Token(Kind.CALL if following == "(" else Kind.NAME, word)


def unescaped(text: str) -> str:
    """Return the text of a string between its quotes."""

    def one(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 8))
        return _ESCAPES.get(match[2], f"\\{match[2]}")

    return re.sub(r"\\(?:([0-7]{1,3})|(.))", one, text, flags=re.DOTALL)
