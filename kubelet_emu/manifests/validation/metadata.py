"""Object metadata, labels and annotations. Source: kubernetes v1.36 ValidateObjectMeta, ValidateObjectMetaUpdate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, required, too_long
from kubelet_emu.manifests.validation.names import (
    label_errors,
    label_value_errors,
    prefix_errors,
    qualified_name_errors,
    subdomain_errors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference

IMMUTABLE = "field is immutable"
_LONGEST_BASE = 58
_MOST_ANNOTATION_BYTES = 256 * 1024
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_STANDARD_FINALIZERS = ("kubernetes", _ORPHAN, _FOREGROUND)


def validate_metadata(metadata: ObjectMeta, path: str = "metadata") -> Iterator[Fault]:
    """Check the metadata of an object that is created."""
    yield from _validate_name(metadata, path)
    for text in label_errors(metadata.namespace) if metadata.namespace else ():
        yield invalid(f"{path}.namespace", metadata.namespace, text)
    yield from validate_labels(metadata.labels, f"{path}.labels")
    yield from validate_annotations(metadata.annotations, f"{path}.annotations")
    yield from _validate_owners(metadata.owner_references, f"{path}.ownerReferences")
    yield from _validate_finalizers(metadata.finalizers, f"{path}.finalizers")


def _validate_name(metadata: ObjectMeta, path: str) -> Iterator[Fault]:
    base = metadata.generate_name or ""
    errors = prefix_errors(base) if base else []
    for text in errors:
        yield invalid(f"{path}.generateName", base, text)
    if metadata.name:
        for text in subdomain_errors(metadata.name):
            yield invalid(f"{path}.name", metadata.name, text)
    elif not base:
        yield required(f"{path}.name", "name or generateName is required")
    elif not errors:  # the prefix passes without its last two letters, the name that is made of it may not
        generated = f"{base[:_LONGEST_BASE]}xxxxx"
        for text in subdomain_errors(generated):
            yield invalid(f"{path}.name", generated, text, at=f"{path}.generateName")


def validate_labels(labels: Mapping[str, str], path: str) -> Iterator[Fault]:
    """Check labels; the server's path has no key."""
    for key, value in labels.items():
        at = f"{path}[{key}]"
        for text in qualified_name_errors(key):
            yield invalid(path, key, text, at=at)
        for text in label_value_errors(value):
            yield invalid(path, value, text, at=at)


def validate_annotations(annotations: Mapping[str, str], path: str) -> Iterator[Fault]:
    """Check annotations: their keys, whose case doesn't matter, and their size in all."""
    for key in annotations:
        for text in qualified_name_errors(key.lower()):
            yield invalid(path, key, text, at=f"{path}[{key}]")
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _MOST_ANNOTATION_BYTES:
        yield too_long(path, _MOST_ANNOTATION_BYTES)


def _validate_owners(owners: tuple[OwnerReference, ...], path: str) -> Iterator[Fault]:
    """Check owner references; the server's paths have no index."""
    controller = ""
    for index, owner in enumerate(owners):
        at = f"{path}[{index}]"
        group, slash, version = owner.api_version.rpartition("/")
        if not version or (slash and "/" in group):
            yield invalid(f"{path}.apiVersion", owner.api_version, "version must not be empty", at=f"{at}.apiVersion")
        for name, value in (("kind", owner.kind), ("name", owner.name), ("uid", owner.uid)):
            if not value:
                yield invalid(f"{path}.{name}", value, "must not be empty", at=f"{at}.{name}")
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            yield invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner", at=at)
        if owner.controller:
            this = f"{owner.kind}/{owner.name}"
            if controller:
                text = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {this}'
                )
                yield invalid(path, owners, text, at=at)
            else:
                controller = this


def _validate_finalizers(finalizers: tuple[str, ...], path: str) -> Iterator[Fault]:
    for index, name in enumerate(finalizers):
        for text in qualified_name_errors(name):
            yield invalid(path, name, text, at=f"{path}[{index}]")
    if _ORPHAN in finalizers and _FOREGROUND in finalizers:
        yield invalid(path, finalizers, f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set")
    for index, name in enumerate(finalizers):
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"{path}[{index}]", name, text)


def validate_metadata_update(new: ObjectMeta, old: ObjectMeta, path: str = "metadata") -> Iterator[Fault]:
    """Check a change of metadata: what names an object stays, and one that is being deleted gets no finalizers."""
    added = [name for name in new.finalizers if name not in old.finalizers]
    if old.deletion_timestamp is not None and added:
        listed = ", ".join(f'"{name}"' for name in sorted(set(added)))
        text = "no new finalizers can be added if the object is being deleted, found new finalizers "
        yield forbidden(f"{path}.finalizers", f"{text}[]string{{{listed}}}")
    for name, value, before in (
        ("name", new.name, old.name),
        ("namespace", new.namespace or "default", old.namespace or "default"),
        ("uid", new.uid, old.uid),
    ):
        if value != before:
            yield invalid(f"{path}.{name}", value or "", IMMUTABLE)


def validate_template_metadata(metadata: ObjectMeta, path: str) -> Iterator[Fault]:
    """Check the metadata of a claim template: labels and annotations only."""
    yield from validate_annotations(metadata.annotations, f"{path}.annotations")
    yield from validate_labels(metadata.labels, f"{path}.labels")
    for name, value in (
        ("name", metadata.name),
        ("generateName", metadata.generate_name),
        ("namespace", metadata.namespace),
        ("selfLink", metadata.self_link),
        ("uID", metadata.uid),
        ("resourceVersion", metadata.resource_version),
        ("generation", metadata.generation),
        ("ownerReferences", metadata.owner_references),
        ("finalizers", metadata.finalizers),
    ):
        if value:
            at = f"{path}.uid" if name == "uID" else ""
            yield forbidden(f"{path}.{name}", "cannot be set", at=at)


def validate_selector(selector: LabelSelector, path: str) -> Iterator[Fault]:
    """Check a label selector."""
    yield from validate_labels(selector.match_labels, f"{path}.matchLabels")
    for index, each in enumerate(selector.match_expressions):
        yield from _validate_requirement(each, f"{path}.matchExpressions[{index}]")


def _validate_requirement(requirement: LabelSelectorRequirement, path: str) -> Iterator[Fault]:
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if requirement.values:
                yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        case operator:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    for text in qualified_name_errors(requirement.key):
        yield invalid(f"{path}.key", requirement.key, text)
    for number, value in enumerate(requirement.values):
        for text in label_value_errors(value):
            yield invalid(f"{path}.values[{number}]", value, text)


def selector_matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Tell whether labels fit a selector."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    return all(_requirement_holds(each, labels.get(each.key)) for each in selector.match_expressions)


def _requirement_holds(requirement: LabelSelectorRequirement, value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "Gt" | "Lt":
            return _compares(requirement, value)
        case _:
            return value is None


def _compares(requirement: LabelSelectorRequirement, value: str | None) -> bool:
    """Tell whether a label is a whole number above or below that of `Gt` or `Lt` (apimachinery Requirement.Matches)."""
    if value is None or not re.fullmatch(r"[-+]?[0-9]+", value):
        return False
    found, bound = int(value), int(requirement.values[0])
    return found > bound if requirement.operator == "Gt" else found < bound
