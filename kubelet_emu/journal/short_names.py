"""Objects by the names that people read: without the namespace while that leaves no doubt.

Whoever reads records one after the other can't know what comes: the first namespace in which a name is seen has the
plain name, an object of the same name in another one is told as NAMESPACE/NAME.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import define, evolve, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.records import ObjectRef, Record


@define(eq=False)
class ShortNames:
    """Remembers in which namespace each name was seen first."""

    _first: dict[tuple[str, str], str] = field(factory=dict, init=False)

    def label(self, kind: str, namespace: str, name: str) -> str:
        """Return the name of an object as it is told."""
        is_first = self._first.setdefault((kind, name), namespace) == namespace
        return name if is_first else f"{namespace}/{name}"

    def told(self, record: Record) -> Record:
        """Return a record whose object has the name that is told, the same record where that is its own."""
        ref: ObjectRef | None = getattr(record, "ref", None)
        if ref is None:
            return record
        name = self.label(ref.kind, ref.namespace, ref.name)
        if name == ref.name:
            return record
        renamed = cast("Callable[..., Record]", evolve)  # each kind of record has the field
        return renamed(record, ref=evolve(ref, name=name))
