"""Takes the values of Secrets out of what a record says in words.

A probe or hook may print a value, a runtime may quote one in an error: a node repeats that in events, statuses and
logs. Here a value is replaced by `***` wherever a text has it. Names, codes and times are never touched.
Differs: a kubelet shows such texts as they are.
"""

from __future__ import annotations

import functools
import json
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import attrs
from attrs import define, field

from kubelet_emu.api.gotext import quote
from kubelet_emu.journal.deferred import Deferred
from kubelet_emu.journal.records import LogRecord, ManifestRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.journal.records import Record

STAND_IN = "***"
MIN_LENGTH = 4
"""Shorter values are left: a text has them by chance."""
_TEXTS = frozenset(
    {"message", "error", "text", "results", "termination_messages", "why", "details", "input", "actions"}
)
_NESTED = frozenset({"password", "auth", "identitytoken", "registrytoken"})


@define(eq=False)
class SecretValues:
    """The values of the Secrets that were recorded, without those that another manifest shows openly.

    What manifests show is known by uid, as long as their objects exist.
    """

    _hidden: set[str] = field(factory=set, init=False)
    _open: dict[str, frozenset[str]] = field(factory=dict, init=False)
    _pattern: re.Pattern[str] | None = field(default=None, init=False)

    def learn(self, manifest: Mapping[str, object], shown: Mapping[str, object]) -> None:
        """Take note of an object as it was accepted and as it is shown.

        What another manifest shows anyway (a user who is called like an image) is no secret.
        """
        before = frozenset(self._hidden)
        if manifest.get("kind") == "Secret":
            new = set(_values_of(manifest)) - before
            self._hidden |= {value for value in new if not self._is_open(value)}
        else:
            texts = self._open[_uid_of(manifest)] = frozenset(_texts_of(shown))
            self._hidden = {value for value in before if not any(value in text for text in texts)}
        if self._hidden != before:
            self._compile()

    def forget(self, uid: str) -> None:
        """Drop the texts of an object that is gone; what was no secret beside them stays none."""
        self._open.pop(uid, None)

    def _is_open(self, value: str) -> bool:
        return any(value in text for texts in self._open.values() for text in texts)

    def _compile(self) -> None:
        forms = {form for value in self._hidden for form in (value, quote(value)[1:-1])}
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def scrub(self, text: str) -> str:
        """Return a text without the values."""
        return text if self._pattern is None else self._pattern.sub(STAND_IN, text)

    def clean_object(self, obj: Mapping[str, object]) -> dict[str, object]:
        """Return an object as the API has it, without the values in the messages of its status."""
        if self._pattern is None or "status" not in obj:
            return dict(obj)
        return {**obj, "status": self._clean_messages(obj["status"])}

    def _clean_messages(self, value: object) -> object:
        match value:
            case Mapping():
                return {
                    key: self.scrub(item) if key == "message" and isinstance(item, str) else self._clean_messages(item)
                    for key, item in value.items()
                }
            case list():
                return [self._clean_messages(item) for item in value]
            case _:
                return value

    def clean(self, record: Record) -> Record:
        """Return a record without the values; what a container printed itself stays."""
        if self._pattern is None or isinstance(record, LogRecord | ManifestRecord):
            return record
        return cast("Record", self._clean_fields(record))

    def _clean(self, value: object, *, is_text: bool) -> object:
        """Return a value with its texts scrubbed; the value itself when nothing was found."""
        cleaned = value
        match value:
            case str():
                return self.scrub(value) if is_text else value
            case Deferred():
                return Deferred(functools.partial(self._made, value.make))
            case Mapping():
                cleaned = {key: self._clean(item, is_text=is_text) for key, item in value.items()}
            case tuple() | list():
                cleaned = type(value)(self._clean(item, is_text=is_text) for item in value)
            case _ if attrs.has(type(value)):
                return self._clean_fields(value)
        return value if cleaned == value else cleaned

    def _made(self, make: Callable[[], Mapping[str, object]]) -> Mapping[str, object]:
        return cast("Mapping[str, object]", self._clean(make(), is_text=True))

    def _clean_fields(self, value: object) -> object:
        changes = {}
        for each in attrs.fields(cast("type[attrs.AttrsInstance]", type(value))):
            old = getattr(value, each.name)
            new = self._clean(old, is_text=each.name in _TEXTS)
            if new is not old:
                changes[each.alias] = new
        return attrs.evolve(value, **changes) if changes else value  # type: ignore[misc]  # asked by the caller


def _uid_of(manifest: Mapping[str, object]) -> str:
    metadata = manifest.get("metadata")
    return str(metadata.get("uid") or metadata.get("name")) if isinstance(metadata, Mapping) else ""


def _texts_of(shown: object) -> Iterator[str]:
    """Yield all text of a manifest."""
    match shown:
        case str():
            yield shown
        case Mapping():
            for item in shown.values():
                yield from _texts_of(item)
        case list() | tuple():
            for item in shown:
                yield from _texts_of(item)


def _values_of(manifest: Mapping[str, object]) -> Iterator[str]:
    """Yield the values of a Secret as text, the lines of long ones, and passwords in a docker configuration."""
    data = manifest.get("data")
    for encoded in data.values() if isinstance(data, Mapping) else ():
        text = b64decode(str(encoded)).decode(errors="replace")
        yield from _forms(text)
        yield from _nested(text)


def _forms(text: str) -> Iterator[str]:
    lines = text.splitlines()
    yield from (part for part in dict.fromkeys([text, text.strip(), *lines]) if len(part.strip()) >= MIN_LENGTH)


def _nested(text: str) -> Iterator[str]:
    if not text.lstrip().startswith("{"):
        return
    try:
        found = [json.loads(text)]
    except ValueError:
        return
    while found:
        item = found.pop()
        if isinstance(item, Mapping):
            found += item.values()
            named = (value for key, value in item.items() if key in _NESTED and isinstance(value, str))
            yield from (value for value in named if len(value) >= MIN_LENGTH)
