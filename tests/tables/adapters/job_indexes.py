"""Which indexes come next, generateName of an indexed pod, interval text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.jobs.rules.indexes import (
    first_pending_indexes,
    format_indexes,
    parse_indexes,
    pod_generate_name_with_index,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given, out = row.part("in"), row.part("out")
    if "pick" in given:
        completions = given.take("completions")
        taken = frozenset(given.take("active", None) or ())
        taken |= parse_indexes(given.take("succeeded", None) or "", completions)
        taken |= parse_indexes(given.take("failed", None) or "", completions)
        out.check({"indexes": list(first_pending_indexes(given.take("pick"), completions, taken))})
    elif "set" in given:
        out.check({"text": format_indexes(given.take("set"))})
    elif "text" in given:
        out.check({"set": sorted(parse_indexes(given.take("text"), given.take("completions", 2**31)))})
    else:
        out.check({"generateName": pod_generate_name_with_index(given.take("job"), given.take("index"))})
