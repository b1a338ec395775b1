"""A stream of JSON objects, one after another, each on one line or printed over many (`kubectl get -w -o json`).

An object that is printed over many lines begins and ends in the first column, as kubectl and jq print it; it is parsed
when its last line is there, so memory is bounded by the largest object. What is no JSON is named with its line, and
reading goes on at the next line that begins with a brace.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubelet_emu.lifecycle.reading.streams import Line

MOST_OBJECT_BYTES = 256 * 1024 * 1024
_DECODER = json.JSONDecoder()


class JSONObject(NamedTuple):
    """One object and the line where it begins."""

    line: int
    value: dict[str, object]


@define(eq=False)
class JSONObjects:
    """Splits lines into objects. `fault` gets what can't be read; `is_torn` says that the last object was cut."""

    fault: Callable[[int, str], None]
    most_bytes: int = MOST_OBJECT_BYTES
    is_torn: bool = field(default=False, init=False)
    _parts: list[bytes] = field(factory=list, init=False)
    _begun_at: int = field(default=0, init=False)
    _bytes: int = field(default=0, init=False)

    def read(self, lines: Iterable[Line]) -> Iterator[JSONObject]:
        """Yield the objects in their order."""
        for line in lines:
            data = line.data
            if data.startswith(b"{"):
                yield from self._close(is_cut=True)
                self._begun_at = line.number
            elif not self._parts:
                if data.strip():
                    self.fault(line.number, "no JSON object begins here")
                continue
            self._keep(data)
            if data.startswith(b"}") or (len(self._parts) == 1 and data.endswith(b"}")):
                yield from self._close(is_cut=False)
        yield from self._close(is_cut=True, is_last=True)

    def _keep(self, data: bytes) -> None:
        self._parts.append(data)
        self._bytes += len(data)
        if self._bytes > self.most_bytes:
            self.fault(self._begun_at, f"an object of more than {self.most_bytes} bytes")
            self._drop()

    def _drop(self) -> None:
        self._parts, self._bytes = [], 0

    def _close(self, *, is_cut: bool, is_last: bool = False) -> Iterator[JSONObject]:
        """Yield the objects in what was kept; what is left of it is a fault, at the very end it was cut off."""
        if not self._parts:
            return
        text = b"\n".join(self._parts).decode("utf-8", "replace")
        self._drop()
        position = 0
        try:
            while position < len(text):
                value, position = _DECODER.raw_decode(text, position)
                if not isinstance(value, dict):
                    self.fault(self._begun_at, f"expected a JSON object, got {type(value).__name__}")
                    return
                yield JSONObject(self._begun_at, value)
                position += len(text[position:]) - len(text[position:].lstrip())
        except json.JSONDecodeError as error:
            if is_last:
                self.is_torn = True
                return
            what = "the object is cut off before its end" if is_cut else f"{error.msg} at column {error.colno}"
            self.fault(self._begun_at + text.count("\n", 0, error.pos), f"no JSON: {what}")
        except RecursionError:
            self.fault(self._begun_at, "JSON that is nested too deep")
