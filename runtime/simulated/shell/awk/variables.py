"""The variables of an awk program: its own, and those of the function that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.awk.record import Record
from runtime.simulated.shell.awk.values import UNSET, Value, number, text

if TYPE_CHECKING:
    Scope = dict[str, Value | dict[str, Value]]


@define
class Variables:
    """Values and arrays by name; NF is that of the record."""

    values: Scope
    locals: list[Scope] = field(factory=list, init=False)
    record: Record = field(init=False)

    @record.default
    def _make_record(self) -> Record:
        return Record(lambda: self.string("FS"), lambda: self.string("OFS"))

    def scope(self, name: str) -> Scope:
        """Return where a variable is: in the function that runs, or outside."""
        return self.locals[-1] if self.locals and name in self.locals[-1] else self.values

    def get(self, name: str) -> Value:
        """Return a value; AppletError for an array."""
        if name == "NF":
            return float(len(self.record.fields))
        value = self.scope(name).get(name, UNSET)
        if isinstance(value, dict):
            raise AppletError("cmd. line:1: Not a scalar")
        return value

    def string(self, name: str) -> str:
        """Return a value as a text."""
        return text(self.get(name))

    def put(self, name: str, value: Value) -> None:
        """Set a variable; NF changes the record."""
        if name == "NF":
            self.record.set_count(int(number(value)))
        else:
            self.scope(name)[name] = value

    def array(self, name: str) -> dict[str, Value]:
        """Return an array, made when it isn't there."""
        scope = self.scope(name)
        value = scope.get(name)
        if not isinstance(value, dict):
            value = scope[name] = {}
        return value

    def count(self, name: str) -> None:
        """Count one more in NR or FNR."""
        self.put(name, number(self.get(name)) + 1)
