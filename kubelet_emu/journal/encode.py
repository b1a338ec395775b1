"""One record as one line of a lifecycle log, and back.

A line is `{"t", "pod", "n", "kind", ...}`: `t` is seconds since the header's epoch, `pod` the uid of the pod the
record is about (`uid` and `object` for another kind of object), `n` counts that object's records from 1. The rest is
the record's own fields. The header is the first line and says what `t` counts from.
"""

from __future__ import annotations

import json
import typing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import attrs

from kubelet_emu.journal.records import ObjectRef, Record
from kubelet_emu.journal.values import decode, encode_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1

RENAMED = {"sync": {"n": "sync"}, "step": {"n": "step"}}
_IN_EVERY_LINE = frozenset({"at", "ref"})
"""Fields of a record that its line has in other words."""
_RECORD_OF_KIND: Mapping[str, type[Record]] = {cls.kind: cls for cls in typing.get_args(Record)}


@attrs.frozen(kw_only=True)
class Entry:
    """One emitted record: `n` counts the records of its object from 1, `at` is when it happened."""

    n: int
    record: Record
    at: datetime = attrs.field(default=attrs.Factory(lambda self: self.record.at, takes_self=True))


def ref_of(record: Record) -> ObjectRef | None:
    """Return the object that a record is about, None for records of the whole run."""
    return getattr(record, "ref", None)


def encode_entry(entry: Entry, epoch: datetime) -> dict[str, object]:
    """Return an entry as the JSON object of its line."""
    record = entry.record
    body = encode_fields(record, _IN_EVERY_LINE)
    for name, wire in RENAMED.get(record.kind, {}).items():
        body[wire] = body.pop(name)
    line: dict[str, object] = {"t": round((entry.at - epoch).total_seconds(), 6)}
    if (ref := ref_of(record)) is not None:
        line.update(_encode_ref(ref))
    return {**line, "n": entry.n, "kind": record.kind, **body}


def _encode_ref(ref: ObjectRef) -> dict[str, object]:
    name = f"{ref.namespace}/{ref.name}"
    return {"pod": ref.uid, "name": name} if ref.kind == "Pod" else {"uid": ref.uid, "object": ref.kind, "name": name}


def to_line(entry: Entry, epoch: datetime) -> str:
    """Return an entry as text that ends in a newline; everything outside ASCII is escaped."""
    return json.dumps(encode_entry(entry, epoch), separators=(",", ":")) + "\n"


def decode_entry(line: Mapping[str, object], epoch: datetime) -> Entry:
    """Return the entry of one line; ValueError says which field can't be read."""
    kind = line.get("kind")
    if not isinstance(kind, str) or kind not in _RECORD_OF_KIND:
        raise ValueError(f"unknown kind {kind!r}")
    seconds, n = line.get("t"), line.get("n")
    if not isinstance(seconds, int | float) or not isinstance(n, int):
        raise ValueError("t and n must be numbers")  # noqa: TRY004 - bad input, not a bug
    body = {key: value for key, value in line.items() if key not in {"t", "pod", "uid", "n", "kind"}}
    for name, wire in RENAMED.get(kind, {}).items():
        body[name] = body.pop(wire, None)
    if (ref := _decode_ref(line)) is not None:
        body["ref"] = ref
    record = decode(_RECORD_OF_KIND[kind], body)
    return Entry(n=n, record=attrs.evolve(record, at=epoch + timedelta(seconds=seconds)))


def _decode_ref(line: Mapping[str, object]) -> dict[str, object] | None:
    uid = line.get("pod", line.get("uid"))
    if uid is None:
        return None
    namespace, _, name = str(line.get("name", "")).partition("/")
    return {"namespace": namespace, "name": name, "uid": uid, "kind": line.get("object", "Pod")}
