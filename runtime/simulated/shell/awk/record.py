"""The present record and its fields: each is made from the other when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated.shell.applets.regex import extended
from runtime.simulated.shell.awk.values import UNSET, Value, seen, text

if TYPE_CHECKING:
    import re
    from collections.abc import Callable


def split(line: str, separator: str) -> list[str]:
    """Return the parts of a text: a blank means runs of blanks, one character itself, anything else a pattern."""
    if separator == " ":
        return line.split()
    if not line:
        return []
    if separator == "":
        return list(line)
    if len(separator) == 1 and separator != "\\":
        return line.split(separator)
    parts, at = [], 0
    for match in extended(separator).finditer(line):
        if match.end() > match.start():
            parts.append(line[at : match.start()])
            at = match.end()
    return [*parts, line[at:]]


@define
class Record:
    """`$0` and the fields; `separator` and `joiner` give FS and OFS when they are needed."""

    separator: Callable[[], str]
    joiner: Callable[[], str]
    line: str = ""
    _fields: list[Value] | None = field(default=None, init=False)

    def set_line(self, line: str) -> None:
        """Take a new record."""
        self.line = line
        self._fields = None

    @property
    def fields(self) -> list[Value]:
        """Return the fields."""
        if self._fields is None:
            self._fields = [seen(part) for part in split(self.line, self.separator())]
        return self._fields

    def get(self, index: int) -> Value:
        """Return a field, `$0` for 0."""
        if index == 0:
            return seen(self.line)
        return self.fields[index - 1] if 0 < index <= len(self.fields) else UNSET

    def put(self, index: int, value: Value) -> None:
        """Set a field; `$0` follows."""
        if index == 0:
            self.set_line(text(value))
            return
        self.resize(max(index, len(self.fields)))
        self.fields[index - 1] = value
        self._join()

    def resize(self, count: int) -> None:
        """Set the number of fields."""
        fields = self.fields
        del fields[count:]
        fields += [UNSET] * (count - len(fields))

    def set_count(self, count: int) -> None:
        """Set NF."""
        self.resize(count)
        self._join()

    def _join(self) -> None:
        self.line = self.joiner().join(text(each) for each in self.fields)


def matches(pattern: str, line: str) -> re.Match[str] | None:
    """Return the first match of an extended expression."""
    return extended(pattern).search(line)
