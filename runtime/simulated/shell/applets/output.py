"""Words that print: echo, printf, yes, seq."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, put
from runtime.simulated.shell.escapes import ESCAPE, unescape

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_ECHO_ESCAPE = re.compile(r"\\(?:([ntrabfve\\])|x([0-9a-fA-F]{1,2})|0([0-7]{0,3})|(c))")
_B_ESCAPE = re.compile(r"\\(?:([ntrabfve\\])|x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|(c))")
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)")
_LENGTH = re.compile(r"(?<=%)[hlLjzt]+")
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlLjzt]*([diouxXcsbeEfFgGaA%])")


async def echo(process: Process, name: str, arguments: list[str]) -> int:
    """Print the arguments: -n without a newline, -e with escapes."""
    words, newline, escapes = list(arguments), "\n", False
    while words and len(words[0]) > 1 and words[0][0] == "-" and set(words[0][1:]) <= {"n", "e", "E"}:
        flags = words.pop(0)
        newline = "" if "n" in flags else newline
        escapes = flags.rfind("e") > flags.rfind("E") if "e" in flags or "E" in flags else escapes
    text = " ".join(words)
    if escapes:
        text, cut = unescape(text, _ECHO_ESCAPE)
        newline = "" if cut else newline
    await put(process, text + newline)
    return 0


async def printf(process: Process, name: str, arguments: list[str]) -> int:
    """Print by a format, again as long as there are arguments."""
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not words:
        raise AppletError("usage: printf FORMAT [ARGUMENT...]", 2)
    printer = _Printf(list(words[1:]))
    printer.run(words[0])
    for is_fault, text in printer.pieces:
        await (complain(process, name, text) if is_fault else put(process, text))
    return int(printer.has_failed)


class _Printf:
    """Makes the output of one printf; `pieces` are its texts and, between them, its faults."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.pieces: list[tuple[bool, str]] = []
        self.is_cut = False

    @property
    def has_failed(self) -> bool:
        return any(is_fault for is_fault, _ in self.pieces)

    def fault(self, text: str) -> None:
        self.pieces.append((True, text))

    def run(self, form: str) -> None:
        while True:
            before = len(self.arguments)
            self.once(form)
            if self.is_cut or not self.arguments or len(self.arguments) == before:
                return

    def once(self, form: str) -> None:
        at = 0
        while at < len(form) and not self.is_cut:
            text = form[at]
            end = at + 1
            if text == "%":
                match = _DIRECTIVE.match(form, at)
                if match is None:
                    self.fault(f"{_LENGTH.sub('', form[at:], count=1)}: invalid format")
                    self.is_cut = True
                    return
                text, end = self.directive(match), match.end()
            elif text == "\\" and (match := ESCAPE.match(form, at)):
                (text, self.is_cut), end = unescape(match[0]), match.end()
            self.pieces.append((False, text))
            at = end

    def next(self) -> str | None:
        return self.arguments.pop(0) if self.arguments else None

    def directive(self, match: re.Match[str]) -> str:
        flags, width, precision, kind = match[1], match[2] or "", match[3], match[4]
        if kind == "%":
            return "%"
        if width == "*":
            width = str(self.number(self.next()))
        if precision == "*":
            precision = str(max(0, self.number(self.next())))
        point = "" if precision is None and "." not in match[0] else f".{precision or 0}"
        value = self.next()
        if kind in "sbc":
            return self.text(kind, value or "", f"%{flags}{width}", point)
        if kind in "diouxX":
            number = self.number(value)
            shown = number + (1 << 64) if number < 0 and kind in "ouxX" else number
            if kind == "o":
                return str(f"%{flags}{width}s" % (("0" if "#" in flags else "") + f"{shown:o}"))
            return str(f"%{flags}{width}{point}{'d' if kind in 'iu' else kind}" % shown)
        return str(f"%{flags}{width}{point}{kind}" % self.real(value))

    def text(self, kind: str, value: str, form: str, point: str) -> str:
        """Return a text in its width, which counts bytes."""
        if kind == "b":
            value, self.is_cut = unescape(value, _B_ESCAPE)
        elif kind == "c":
            value, point = value[:1], ""
        data = value.encode(errors="surrogateescape").decode("latin-1")
        return str(f"{form}{point}s" % data).encode("latin-1").decode(errors="surrogateescape")

    def number(self, value: str | None) -> int:
        """Return an argument as a whole number; one that begins with a quote is the code of what follows."""
        text = (value or "").lstrip()
        if text[:1] in {"'", '"'}:
            return ord(text[1:2] or "\0")
        match = _INTEGER.fullmatch(text)
        if match is None:
            self.fault(f"invalid number '{text}'")
            return 0
        digits = match[2]
        base = 16 if digits[:2] in {"0x", "0X"} else 8 if digits.startswith("0") else 10
        return int(match[1] + digits, base)

    def real(self, value: str | None) -> float:
        try:
            return float(value or 0)
        except ValueError:
            self.fault(f"invalid number '{value}'")
            return 0.0


async def yes(process: Process, name: str, arguments: list[str]) -> int:
    """Print a line for ever."""
    line = (" ".join(arguments) or "y") + "\n"
    while True:
        process.step()
        await put(process, line * 64)


async def seq(process: Process, name: str, arguments: list[str]) -> int:
    """Print numbers: `seq [-w] [-s separator] [first [step]] last`."""
    words, separator, pads = list(arguments), "\n", False
    while words and len(words[0]) > 1 and words[0].startswith("-"):
        word = words.pop(0)
        if word[1] not in "ws":
            raise AppletError(f"invalid option -- '{word[1]}'")
        if word == "-w":
            pads = True
        else:
            separator = word[2:] or words.pop(0)
    if not 1 <= len(words) <= 3:
        raise UsageError("[-w] [-s SEP] [FIRST [INC]] LAST")
    numbers = [_seq_number(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else 1.0
    step = numbers[1] if len(numbers) > 2 else 1.0
    digits = max(len(word.partition(".")[2]) for word in words)
    width = max(len(f"{number:.{digits}f}") for number in (first, numbers[-1])) if pads else 0
    number, begin = 0, ""
    while _is_within(first + step * number, step, numbers[-1]):
        process.step()
        await put(process, begin + f"{first + step * number:.{digits}f}".zfill(width))
        number, begin = number + 1, separator
    if number:
        await put(process, "\n")
    return 0


def _is_within(value: float, step: float, last: float) -> bool:
    """Tell whether a number is not beyond the last one; steps of 0 never are."""
    slack = abs(step) * 1e-9
    return value <= last + slack if step >= 0 else value >= last - slack


def _seq_number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError("[-w] [-s SEP] [FIRST [INC]] LAST") from None
