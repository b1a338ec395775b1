"""What mends a fault that a server only states: a name that would be taken, a template that isn't filled in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.manifests.advice import UNFILLED, is_unfilled, nearest
from kubelet_emu.manifests.validation.configuration import REDACTED

if TYPE_CHECKING:
    from kubelet_emu.manifests.validation.faults import Fault

_VALUE = re.compile(r'"((?:[^"\\]|\\.)*)": ')
_LABEL, _SUBDOMAIN = "RFC 1123 label", "RFC 1123 subdomain"
_PREFIX = "prefix part"
_LONGEST_LABEL, _LONGEST_SUBDOMAIN = 63, 253
_RESOURCES = ("cpu", "memory", "ephemeral-storage")


def hint_of(fault: Fault) -> str:
    """Return the hint for a fault: its own, or what its value suggests."""
    found = _VALUE.match(fault.detail)
    if fault.hint or found is None or fault.type != "Invalid value":
        return fault.hint
    value = found[1]
    if value == REDACTED:
        return ""
    if is_unfilled(value):
        return UNFILLED
    if "must be a standard resource" in fault.detail:
        likely = nearest(value, _RESOURCES)
        return f"did you mean {likely!r}?" if likely else ""
    if _LABEL in fault.detail or _SUBDOMAIN in fault.detail:
        part, rest = value, ""
        if _PREFIX in fault.detail:
            part, slash, behind = value.partition("/")
            rest = slash + behind
        name = _as_name(part, dots=_SUBDOMAIN in fault.detail)
        return f"write {name}{rest}" if name and name != part else ""
    return ""


def _as_name(text: str, *, dots: bool) -> str:
    """Return a text as a name that a server takes, nothing where there is no letter in it."""
    kept = re.sub(r"[^a-z0-9.-]+" if dots else r"[^a-z0-9-]+", "-", text.lower())
    parts = (part.strip("-") for part in kept.split("."))
    longest = _LONGEST_SUBDOMAIN if dots else _LONGEST_LABEL
    return ".".join(part for part in parts if part)[:longest].strip("-.")
