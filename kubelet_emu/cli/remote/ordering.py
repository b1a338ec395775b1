"""The order of objects: as a server lists them, or by a field. Pure.

Source: kubectl v1.36 pkg/cmd/get sorter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.printers.jsonpath.finding import find
from kubelet_emu.printers.jsonpath.nodes import JSONPathError
from kubelet_emu.printers.jsonpath.reading import read_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from kubelet_emu.cli.remote.views import Object

_DIGITS = re.compile(r"(\d+)")


def as_listed(objects: Iterable[Object]) -> list[Object]:
    """Return objects as a server lists them: by namespace and name."""
    return sorted(objects, key=_key)


def _key(obj: Object) -> tuple[str, str]:
    metadata = part(obj, "metadata")
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def by_field(objects: Sequence[Object], path: str) -> list[Object]:
    """Return objects in the order of a field; those without it come first. Refusal."""
    try:
        steps = read_path(path)
        found = [next(iter(find(steps, each)), None) for each in objects]
    except JSONPathError as error:
        raise Refusal(f"--sort-by {path}: {error}") from error
    if objects and all(value is None for value in found):
        raise Refusal(f"couldn't find any field with path {quote(path)} in the list of objects")
    if any(isinstance(value, list | dict) for value in found):
        raise Refusal(f"--sort-by {path}: lists and mappings have no order; name a field in them")
    amounts = [_amount(value) for value in found]
    are_amounts = all(amount is not None for value, amount in zip(found, amounts, strict=True) if value is not None)
    keys = [_order(value, amount if are_amounts else None) for value, amount in zip(found, amounts, strict=True)]
    return [objects[index] for index in sorted(range(len(objects)), key=keys.__getitem__)]


def _amount(value: object) -> Decimal | None:
    try:
        return parse_quantity(str(value))
    except ValueError:
        return None


def _order(value: object, amount: Decimal | None) -> tuple[object, ...]:
    """Return what a value is sorted by: as an amount, or as a text whose numbers count as numbers."""
    if value is None:
        return (0,)
    if amount is not None:
        return (1, amount)
    words = _DIGITS.split(str(value).lower() if isinstance(value, bool) else str(value))
    return (1, tuple((word, 0) if at % 2 == 0 else ("", int(word)) for at, word in enumerate(words)))
