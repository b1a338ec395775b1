"""What a server refuses and warns of at the creation or the change of a Pod or Job."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from kubelet_emu import manifests
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.validation import object_faults, object_warnings, update_faults
from kubelet_emu.manifests.validation.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

JOB_UID = "11111111-2222-3333-4444-555555555555"
CAUSES = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Duplicate value": "FieldValueDuplicate",
    "Not found": "FieldValueNotFound",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
}


def merge(target: Any, patch: Any) -> Any:  # noqa: ANN401
    """Apply a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def read(mapping: Mapping[str, Any]) -> manifests.LoadResult:
    return manifests.load_text(json.dumps(mapping), strict=True)


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    base = row.choice("base", shared["bases"])
    gates = FeatureGates(overrides=row.take("gates", {}))
    given = read(merge(base, row.take("merge", {})))
    expected = row.parts("errors")
    if (decode_error := row.take("decode_error", None)) is not None:
        texts = [problem.server_text for problem in given.problems]
        assert any(text in (decode_error, decode_error.removeprefix("strict decoding error: ")) for text in texts), (
            texts
        )
        assert not row.take("errors")
        return
    assert given.problems == ()
    obj = given.objects[0].object
    if "old" in row:
        old = read(merge(base, row.take("old"))).objects[0].object
        subresource = row.choice(
            "subresource", {"": "", "resize": "resize", "ephemeralcontainers": "ephemeralcontainers"}, ""
        )
        faults = update_faults(obj, old, gates, subresource)
    elif obj.metadata.namespace not in (None, "default"):
        text = "the namespace of the provided object does not match the namespace sent on the request"
        faults = (Fault("", "Bad request", text),)
    else:
        faults = object_faults(obj, gates, job_uid=JOB_UID)
    compare(expected, list(faults))
    if "warnings" in row:
        warnings = [str(each) for each in row.take("warnings")]
        found = [
            f"{fault.path}: {fault.detail}" if fault.path else fault.detail for fault in object_warnings(obj, gates)
        ]
        assert Counter(found) == Counter(warnings)


def compare(expected: list[Fields], faults: list[Fault]) -> None:
    rest = list(faults)
    order: list[int] = []
    for each in expected:
        path, cause = each.take("path"), each.take("type")
        text, prefix, suffix = (each.take(key, None) for key in ("text", "text_prefix", "text_suffix"))
        fits = [
            fault
            for fault in rest
            if fault.path == path and CAUSES.get(fault.type, cause) == cause and matches(fault, text, prefix, suffix)
        ]
        assert fits, f"missing: {path}: {text or prefix} among {[(fault.path, fault.text) for fault in rest]}"
        rest.remove(fits[0])
        if not str(path).endswith("]"):  # the keys of a map come in no order
            order.append(faults.index(fits[0]))
    assert not rest, f"too many: {[(fault.path, fault.text) for fault in rest]}"
    assert order == sorted(order), f"in another order: {[(fault.path, fault.text) for fault in faults]}"


def matches(fault: Fault, text: str | None, prefix: str | None, suffix: str | None) -> bool:
    said = fault.detail if fault.type == "Bad request" else fault.text
    if suffix is not None:
        return said.endswith(suffix)
    if prefix is not None:
        return said.startswith(prefix)
    return said == text
