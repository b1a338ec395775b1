"""Errors of the API server's validation: a field path, a kind, and the text after the path.

Source: k8s.io/apimachinery v1.36 util/validation/field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from attrs import fields, has

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.kinds import json_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from attrs import AttrsInstance

NOT_NEGATIVE = "must be greater than or equal to 0"


class Fault(NamedTuple):
    """One error; `at` is where it stands in the manifest, if that is not `path` (some of the server's paths differ)."""

    path: str
    type: str
    detail: str = ""
    at: str = ""
    hint: str = ""

    @property
    def text(self) -> str:
        """The server's text after the path."""
        return f"{self.type}: {self.detail}" if self.detail else self.type


def required(path: str, detail: str = "", *, at: str = "", hint: str = "") -> Fault:
    """Return the error for a value that is missing."""
    return Fault(path, "Required value", detail, at, hint)


def invalid(path: str, value: object, detail: str, *, at: str = "", hint: str = "") -> Fault:
    """Return the error for a value that breaks a rule."""
    return Fault(path, "Invalid value", f"{go_value(value)}: {detail}", at, hint)


def validate_required(text: str | None, path: str, errors: Callable[[str], Iterable[str]]) -> Iterator[Fault]:
    """Check a text that must be there; `errors` says what is wrong with it."""
    if not text:
        yield required(path)
        return
    for error in errors(text):
        yield invalid(path, text, error)


def validate_not_negative(numbers: Iterable[tuple[str, int | None]], path: str) -> Iterator[Fault]:
    """Check fields by name that may be left out (ValidateNonnegativeField)."""
    for name, number in numbers:
        if number is not None and number < 0:
            yield invalid(f"{path}.{name}", number, NOT_NEGATIVE)


def unsupported(path: str, value: object, supported: Iterable[str], *, at: str = "", hint: str = "") -> Fault:
    """Return the error for a value outside of a closed set, printed in the order given."""
    allowed = list(supported)
    names = ", ".join(quote(each) for each in allowed)
    if not hint and isinstance(value, str):
        found = [each for each in allowed if each.lower() == value.lower()]
        hint = f"values are case sensitive: {found[0]}" if found else ""
    return Fault(path, "Unsupported value", f"{go_value(value)}: supported values: {names}", at, hint)


def forbidden(path: str, detail: str, *, at: str = "", hint: str = "") -> Fault:
    """Return the error for a value that may not be there."""
    return Fault(path, "Forbidden", detail, at, hint)


def duplicate(path: str, value: object, *, at: str = "") -> Fault:
    """Return the error for a value that stands twice."""
    return Fault(path, "Duplicate value", go_value(value), at)


def not_found(path: str, value: object, detail: str = "", *, at: str = "", hint: str = "") -> Fault:
    """Return the error for a name that refers to nothing."""
    text = go_value(value)
    return Fault(path, "Not found", f"{text}: {detail}" if detail else text, at, hint)


def too_long(path: str, most_bytes: int, *, at: str = "") -> Fault:
    """Return the error for a text beyond its length."""
    return Fault(path, "Too long", f"may not be more than {most_bytes} bytes", at)


def too_short(path: str, value: str, least: int) -> Fault:
    """Return the error for a text below its length."""
    unit = "byte" if least == 1 else "bytes"
    return Fault(path, "Too short", f"{go_value(value)}: must be at least {least} {unit}")


def too_many(path: str, count: int, most: int) -> Fault:
    """Return the error for a list beyond its length."""
    return Fault(path, "Too many", f"{count}: must have at most {most} items")


def go_value(value: object) -> str:
    """Print a value as field errors do: text quoted, numbers bare, anything else as JSON with Go's names."""
    match value:
        case str():
            return quote(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int():
            return str(value)
        case _:
            import json  # noqa: PLC0415 - start-up is felt first

            return json.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(each) for each in value] or None
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in sorted(value.items())} or None
    if has(type(value)):
        return {
            _go_name(json_name(each)): _plain(getattr(value, each.name))
            for each in fields(cast("type[AttrsInstance]", type(value)))
        }
    return value


def _go_name(name: str) -> str:
    if name.startswith("seLinux"):
        return "SEL" + name[3:]
    return name[:1].upper() + name[1:]


def each_of(amounts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Return the entries of a resource list, by name."""
    return sorted(amounts.items())
