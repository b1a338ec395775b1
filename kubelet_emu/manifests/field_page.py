"""docs/FIELDS.md from the table of fields: `python -m kubelet_emu.manifests.field_page > docs/FIELDS.md`."""

from __future__ import annotations

import sys
from itertools import groupby

from kubelet_emu.manifests.field_support import FieldSupport, Support, walk

_INTRODUCTION = """\
# Fields of a pod

Every field of a Pod of Kubernetes v1.36, and what becomes of it here. This page is made by `make fields` from the
table that the warnings of `validate` and `run` are made from; tests hold that no field is missing and that each warning
comes.

| word | meaning |
|---|---|
| works | on Docker as on a node, and in virtual time where it can be seen there |
| in part | what is said doesn't work, or not by itself; a manifest that asks for it gets a warning |
| warning | has no effect, with all that is below it; a manifest that has it gets a warning with the reason |

Where something works in another way than on a node, [DIFFERENCES.md](DIFFERENCES.md) tells it. What a server would
refuse is an error here, too. Fields of a server's own (`uid`, `resourceVersion`) are set here as a server sets them.
"""


def field_page() -> str:
    """Return the text of the page."""
    parts = [_INTRODUCTION]
    for type_name, fields in groupby(walk(), key=lambda each: each.type):
        found = list(fields)
        parts.append(f"## {type_name}\n\n" + _works(found) + _rest(found))
    return "\n".join(parts)


def _works(fields: list[FieldSupport]) -> str:
    names = [f"`{each.name}`" for each in fields if each.support is Support.WORKS]
    return f"Works: {', '.join(names)}.\n" if names else ""


def _rest(fields: list[FieldSupport]) -> str:
    rows = [each for each in fields if each.support is not Support.WORKS]
    if not rows:
        return ""
    lines = [f"| `{each.name}` | {each.support.value} | {each.reason} |\n" for each in rows]
    return "\n| field | what | why |\n|---|---|---|\n" + "".join(lines)


if __name__ == "__main__":
    sys.stdout.write(field_page())
