"""Object metadata, labels and annotations. Source: kubernetes v1.36 ValidateObjectMeta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, invalid, required, too_long
from kubelet_emu.manifests.validation.names import (
    label_errors,
    label_value_errors,
    qualified_name_errors,
    subdomain_errors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.meta import LabelSelector, ObjectMeta

_MOST_ANNOTATION_BYTES = 256 * 1024
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def validate_metadata(metadata: ObjectMeta, path: str = "metadata") -> Iterator[Fault]:
    """Check the metadata of an object that is created."""
    if metadata.generate_name:
        stem = metadata.generate_name
        prefix = f"{stem[:-1]}a" if stem.endswith("-") else stem
        for text in subdomain_errors(prefix):
            yield invalid(f"{path}.generateName", stem, text)
    if not metadata.name:
        if not metadata.generate_name:
            yield required(f"{path}.name", "name or generateName is required")
    else:
        for text in subdomain_errors(metadata.name):
            yield invalid(f"{path}.name", metadata.name, text)
    for text in label_errors(metadata.namespace) if metadata.namespace else ():
        yield invalid(f"{path}.namespace", metadata.namespace, text)
    yield from validate_labels(metadata.labels, f"{path}.labels")
    yield from _validate_annotations(metadata.annotations, f"{path}.annotations")
    for index, name in enumerate(metadata.finalizers):
        yield from _validate_finalizer(name, f"{path}.finalizers[{index}]")


def validate_labels(labels: Mapping[str, str], path: str) -> Iterator[Fault]:
    """Check labels; the server's path has no key."""
    for key, value in labels.items():
        at = f"{path}[{key}]"
        for text in qualified_name_errors(key):
            yield invalid(path, key, text, at=at)
        for text in label_value_errors(value):
            yield invalid(path, value, text, at=at)


def _validate_annotations(annotations: Mapping[str, str], path: str) -> Iterator[Fault]:
    for key in annotations:
        for text in qualified_name_errors(key.lower()):
            yield invalid(path, key, text, at=f"{path}[{key}]")
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _MOST_ANNOTATION_BYTES:
        yield too_long(path, _MOST_ANNOTATION_BYTES)


def _validate_finalizer(name: str, path: str) -> Iterator[Fault]:
    errors = qualified_name_errors(name)
    for text in errors:
        yield invalid(path, name, text)
    if not errors and "/" not in name and name not in _STANDARD_FINALIZERS:
        yield invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")


def validate_selector(selector: LabelSelector, path: str) -> Iterator[Fault]:
    """Check a label selector."""
    yield from validate_labels(selector.match_labels, f"{path}.matchLabels")
    for index, each in enumerate(selector.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        if each.operator in ("In", "NotIn"):
            if not each.values:
                yield required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif each.operator in ("Exists", "DoesNotExist"):
            if each.values:
                yield Fault(
                    f"{at}.values", "Forbidden", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                )
        else:
            yield invalid(f"{at}.operator", each.operator, "not a valid selector operator")
        for text in qualified_name_errors(each.key):
            yield invalid(f"{at}.key", each.key, text)
        for number, value in enumerate(each.values):
            for text in label_value_errors(value):
                yield invalid(f"{at}.values[{number}]", value, text)


def selector_matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Tell whether labels fit a selector."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    for each in selector.match_expressions:
        value = labels.get(each.key)
        match each.operator:
            case "In":
                fits = value is not None and value in each.values
            case "NotIn":
                fits = value is None or value not in each.values
            case "Exists":
                fits = value is not None
            case _:
                fits = value is None
        if not fits:
            return False
    return True
