"""Variables of a shell: values, what is exported, read-only or local, and the positional parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Mapping


class ReadonlyFault(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """A read-only variable was to be changed."""


@define
class Variables:
    """All variables; a function's local ones are saved values that come back when it returns."""

    values: dict[str, str] = field(factory=dict)
    exported: set[str] = field(factory=set)
    readonly: set[str] = field(factory=set)
    exports_all: bool = False
    _frames: list[dict[str, tuple[str | None, bool]]] = field(factory=list, init=False)

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Variables:
        """Return the variables that a shell starts with."""
        valid = {name: value for name, value in env.items() if name.isidentifier()}
        level = env.get("SHLVL", "")
        valid["SHLVL"] = str(int(level) + 1 if level.isdecimal() else 1)
        return cls({"IFS": " \t\n", "PS4": "+ ", "OPTIND": "1", **valid}, set(valid))

    def copy(self) -> Variables:
        """Return the variables of a subshell."""
        other = Variables(dict(self.values), set(self.exported), set(self.readonly), self.exports_all)
        other._frames = [dict(frame) for frame in self._frames]
        return other

    def put(self, name: str, value: str) -> None:
        """Set a variable; ReadonlyFault."""
        if name in self.readonly:
            raise ReadonlyFault(f"{name}: is read only")
        self.values[name] = value
        if self.exports_all:
            self.exported.add(name)

    def unset(self, name: str) -> None:
        """Forget a variable; ReadonlyFault."""
        if name in self.readonly:
            raise ReadonlyFault(f"{name}: is read only")
        self.values.pop(name, None)
        self.exported.discard(name)

    def environment(self) -> dict[str, str]:
        """Return what a child process gets, in the order in which variables were first set."""
        return {name: value for name, value in self.values.items() if name in self.exported}

    @property
    def is_in_function(self) -> bool:
        """Tell whether a function runs."""
        return bool(self._frames)

    def enter(self) -> None:
        """Begin a function call."""
        self._frames.append({})

    def leave(self) -> None:
        """End a function call: local variables get their old values back."""
        for name, (value, was_exported) in self._frames.pop().items():
            if value is None:
                self.values.pop(name, None)
            else:
                self.values[name] = value
            (self.exported.add if was_exported else self.exported.discard)(name)

    def make_local(self, name: str) -> bool:
        """Make a variable local to the running function; False outside of one."""
        if not self._frames:
            return False
        if name not in self._frames[-1]:
            self._frames[-1][name] = (self.values.get(name), name in self.exported)
        return True
