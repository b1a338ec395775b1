"""The words of the control socket: one JSON object a line, both ways (docs/CONTROL.md).

Theory of operation. The server greets; the client sends a request and reads its answer: `{"result": ...}` or
`{"error": ...}`, and before it, from a method that streams, any number of `{"event": ...}`. One request at a time goes
over a connection; who wants two at once opens two. While a method streams, lines of the client are its input.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field, frozen

from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from kubelet_emu.apiserver.errors import APIError

VERSION = 1
VERSIONS = (VERSION,)
MOST_LINE_BYTES = 1 << 20
CHUNK_BYTES = 65536


def of_api_error(error: APIError) -> ControlError:
    """Return an error of the API server as one of the protocol."""
    from kubelet_emu.apiserver.errors import ConflictError, InvalidError, NotFoundError  # noqa: PLC0415 - clients don't

    kinds = {NotFoundError: Reason.NOT_FOUND, ConflictError: Reason.CONFLICT, InvalidError: Reason.INVALID}
    return ControlError(kinds.get(type(error), Reason.BAD_REQUEST), str(error))


Message = Mapping[str, object]


@frozen(kw_only=True)
class Request:
    """One request: a method with its parameters."""

    method: str
    params: Message = field(factory=dict)

    @classmethod
    def parse(cls, line: bytes) -> Request:
        """Read a line; ControlError for one that is no request of a version that is spoken."""
        message = parse_message(line)
        version = message.get("version")
        if version not in VERSIONS or isinstance(version, bool):
            spoken = ", ".join(map(str, VERSIONS))
            raise ControlError(Reason.UNSUPPORTED_VERSION, f"version {version!r} is not spoken here: use {spoken}")
        method, params = message.get("method"), message.get("params", {})
        if not isinstance(method, str) or not isinstance(params, Mapping):
            raise ControlError(Reason.BAD_REQUEST, 'a request has a "method", a text, and "params", an object')
        return cls(method=method, params=params)

    def to_message(self) -> Message:
        """Return it as a message."""
        return {"version": VERSION, "method": self.method, "params": self.params}


def parse_message(line: bytes) -> Message:
    """Return the object of a line; ControlError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ControlError(Reason.BAD_REQUEST, f"no JSON: {error}") from error
    if not isinstance(message, Mapping):
        raise ControlError(Reason.BAD_REQUEST, f"expected a JSON object, got {type(message).__name__}")
    return message


def to_line(message: Message) -> bytes:
    """Return a message as its line; everything outside ASCII is escaped."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def error_message(error: ControlError) -> Message:
    """Return the answer that says an error."""
    return {"error": {"reason": error.reason.value, "message": str(error)}}


def raise_error(message: Message) -> None:
    """Raise the error that an answer says, if it says one; ControlError."""
    said = message.get("error")
    if isinstance(said, Mapping):
        known = {reason.value: reason for reason in Reason}
        reason = known.get(str(said.get("reason")), Reason.INTERNAL)
        raise ControlError(reason, str(said.get("message", "")))


@define(eq=False)
class LineReader:
    """Reads a stream line by line; a line of more than `most_bytes` ends the reading, and `is_too_long` says so."""

    stream: trio.abc.ReceiveStream
    most_bytes: int = MOST_LINE_BYTES
    is_too_long: bool = field(default=False, init=False)
    _pending: bytearray = field(factory=bytearray, init=False)
    _searched: int = field(default=0, init=False)

    async def next(self) -> bytes | None:
        """Return the next line without its end, None at the end of the stream or when it is cut.

        Cancellation loses nothing that has arrived.
        """
        while (end := self._pending.find(b"\n", self._searched)) < 0:
            self._searched = len(self._pending)
            if self._searched > self.most_bytes:
                self.is_too_long = True
                return None
            try:
                chunk = await self.stream.receive_some(CHUNK_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None
            if not chunk:
                return None
            self._pending += chunk
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        self._searched = 0
        await trio.lowlevel.checkpoint_if_cancelled()
        return line


@frozen(kw_only=True)
class Params:
    """The parameters of a request, each read with its type; ControlError for one that is of another."""

    given: Message

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default it must be there."""
        value = self.given.get(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None where there is none."""
        return None if self.given.get(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        """Return true or false, which is the default."""
        value = self.given.get(name, False)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def whole(self, name: str, *, least: int) -> int | None:
        """Return a whole number of at least `least`, None where there is none."""
        value = self.given.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._wrong(name, f"a whole number from {least} on")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, of which there is one at least."""
        value = self.given.get(name)
        if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
            raise self._wrong(name, "a list of texts")
        return tuple(cast("list[str]", value))

    @staticmethod
    def _wrong(name: str, wanted: str) -> ControlError:
        return ControlError(Reason.BAD_REQUEST, f"{name} must be {wanted}")
