"""From a patch request to the object that it would make: which parts a subresource may change, and how it merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, assert_never, cast

from attrs import evolve

from kubelet_emu.api.codec import DecodeError, decode_mapping, encode
from kubelet_emu.apiserver.errors import InvalidError
from kubelet_emu.apiserver.merge import PatchError, json_merge_patch, json_patch, strategic_merge_patch
from kubelet_emu.apiserver.objects import APIObject, evolved
from kubelet_emu.apiserver.subresources import resized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubelet_emu.api.v1 import Pod

PatchType: TypeAlias = Literal["strategic", "merge", "json"]
PatchBody: TypeAlias = "Mapping[str, object] | Sequence[Mapping[str, object]]"
T = TypeVar("T", bound=APIObject)


def patched(obj: T, body: PatchBody, patch_type: PatchType, subresource: str) -> T:
    """Return the object after a patch of itself ("") or of its status, resize or ephemeralcontainers.

    Raises InvalidError when the patch does not apply. What the subresource may not change is silently kept, as the API
    server does.
    """
    try:
        new = decode_mapping(type(obj), _merged(encode(obj), body, patch_type))
    except (PatchError, DecodeError) as error:
        metadata = obj.metadata
        raise InvalidError(obj.kind, metadata.namespace or "", metadata.name or "", (str(error),)) from error
    return _restricted(obj, new, subresource)


def _merged(before: Mapping[str, object], body: PatchBody, patch_type: PatchType) -> Mapping[str, object]:
    """Apply the body by its type."""
    match patch_type:
        case "strategic":
            return strategic_merge_patch(before, cast("Mapping[str, object]", body))
        case "merge":
            return json_merge_patch(before, cast("Mapping[str, object]", body))
        case "json":
            return json_patch(before, cast("Sequence[Mapping[str, object]]", body))
        case _:
            assert_never(patch_type)


def _restricted(old: T, new: T, subresource: str) -> T:
    """Keep of the new object only what the subresource may change; identity and deletion never change by a patch."""
    metadata = old.metadata
    if subresource == "":
        metadata = evolve(
            new.metadata,
            name=old.metadata.name,
            namespace=old.metadata.namespace,
            uid=old.metadata.uid,
            creation_timestamp=old.metadata.creation_timestamp,
            deletion_timestamp=old.metadata.deletion_timestamp,
            deletion_grace_period_seconds=old.metadata.deletion_grace_period_seconds,
            generation=old.metadata.generation,
            resource_version=old.metadata.resource_version,
        )
        status = {"status": old.status} if hasattr(old, "status") else {}
        return evolved(new, metadata=metadata, **status)
    if subresource == "status":
        return evolved(old, status=new.status)  # type: ignore[attr-defined]
    spec = _restricted_spec(cast("Pod", old), cast("Pod", new), subresource)
    return evolved(old, spec=spec)


def _restricted_spec(old: Pod, new: Pod, subresource: str) -> object:
    """Return the spec that a pod's resize or ephemeralcontainers subresource makes."""
    if subresource == "resize":
        return resized(old.spec, new.spec)
    if subresource == "ephemeralcontainers":
        return evolve(old.spec, ephemeral_containers=new.spec.ephemeral_containers)
    raise InvalidError(
        old.kind, old.metadata.namespace or "", old.metadata.name or "", (f"unknown subresource {subresource!r}",)
    )
