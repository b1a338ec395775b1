"""API objects of a log: decoded from JSON, or taken from manifests that stand beside it.

A real cluster's objects have fields that this program doesn't know; those are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.api.codec import DecodeError, decode_mapping
from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.kinds import READ_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.apiserver.objects import APIObject


def decode_object(obj: Mapping[str, object]) -> APIObject | None:
    """Return an object of a kind that is read, None for another kind or one that can't be decoded."""
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind not in READ_KINDS:
        return None
    try:
        return cast("APIObject", decode_mapping(api_type(kind), obj, ignore_unknown=True))
    except DecodeError:
        return None


def objects_of(manifests: Iterable[APIObject]) -> dict[tuple[str, str], APIObject]:
    """Return manifests by kind and name, with the API server's defaults.

    Which pod of the log was made from which of them is for the reader of the log to find out.
    """
    result: dict[tuple[str, str], APIObject] = {}
    for obj in manifests:
        name = obj.metadata.name or obj.metadata.generate_name or ""
        result[obj.kind, name] = set_defaults(obj)
    return result
