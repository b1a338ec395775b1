"""The claim that an ephemeral volume makes. Source: kubernetes v1.36 ValidatePersistentVolumeClaimSpec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import canonical_quantity, parse_quantity
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, required, unsupported
from kubelet_emu.manifests.validation.metadata import validate_selector, validate_template_metadata
from kubelet_emu.manifests.validation.names import label_errors, subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_claims import (
        PersistentVolumeClaimSpec,
        PersistentVolumeClaimTemplate,
        TypedLocalObjectReference,
        TypedObjectReference,
    )

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE = "ReadWriteOncePod"
_VOLUME_MODES = ("Block", "Filesystem")


def validate_claim_template(template: PersistentVolumeClaimTemplate, path: str) -> Iterator[Fault]:
    """Check the claim that an ephemeral volume makes (KEP-1698)."""
    if template.metadata is not None:
        yield from validate_template_metadata(template.metadata, f"{path}.metadata")
    at = f"{path}.spec"
    if template.spec is None:
        yield required(f"{at}.accessModes", "at least 1 access mode is required")
        yield required(f"{at}.resources[storage]", at=f"{at}.resources.requests")
        return
    yield from validate_claim_spec(template.spec, at)


def validate_claim_spec(spec: PersistentVolumeClaimSpec, path: str) -> Iterator[Fault]:
    """Check a claim's spec."""
    if not spec.access_modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    if spec.selector is not None:
        yield from validate_selector(spec.selector, f"{path}.selector")
    for mode in spec.access_modes:
        if mode not in _ACCESS_MODES:
            yield unsupported(f"{path}.accessModes", mode, _ACCESS_MODES)
    if _ALONE in spec.access_modes and {*spec.access_modes} & {*_ACCESS_MODES} - {_ALONE}:
        yield forbidden(f"{path}.accessModes", f"may not use {_ALONE} with other access modes")
    yield from _validate_storage(spec, path)
    for text in subdomain_errors(spec.storage_class_name) if spec.storage_class_name else ():
        yield invalid(f"{path}.storageClassName", spec.storage_class_name, text)
    if spec.volume_mode is not None and spec.volume_mode not in _VOLUME_MODES:
        yield unsupported(f"{path}.volumeMode", spec.volume_mode, _VOLUME_MODES)
    yield from _validate_data_sources(spec, path)
    for text in subdomain_errors(spec.volume_attributes_class_name) if spec.volume_attributes_class_name else ():
        yield invalid(f"{path}.volumeAttributesClassName", spec.volume_attributes_class_name, text)


def _validate_storage(spec: PersistentVolumeClaimSpec, path: str) -> Iterator[Fault]:
    """Check how much is asked for; the server's path leaves `requests` out."""
    requests = spec.resources.requests if spec.resources is not None else {}
    name, at = f"{path}.resources[storage]", f"{path}.resources.requests"
    if "storage" not in requests:
        yield required(name, at=at)
    elif parse_quantity(requests["storage"]) <= 0:
        shown = canonical_quantity(requests["storage"])
        yield invalid(name, shown, "must be greater than zero", at=f"{at}[storage]")


def _validate_data_sources(spec: PersistentVolumeClaimSpec, path: str) -> Iterator[Fault]:
    source, ref = spec.data_source, spec.data_source_ref
    if source is not None:
        yield from _validate_data_source(source, f"{path}.dataSource")
    if ref is not None:
        yield from _validate_data_source(ref, f"{path}.dataSourceRef")
        for text in label_errors(ref.namespace) if ref.namespace else ():
            yield invalid(f"{path}.dataSourceRef.namespace", ref.namespace, text)
    if source is None or ref is None:
        return
    if ref.namespace:
        text = "may not be specified when dataSourceRef.namespace is specified"
        yield invalid(path, f"{path}.dataSource", text, at=f"{path}.dataSource")
    elif (source.api_group, source.kind, source.name) != (ref.api_group, ref.kind, ref.name):
        yield invalid(path, f"{path}.dataSource", "must match dataSourceRef", at=f"{path}.dataSource")


def _validate_data_source(source: TypedLocalObjectReference | TypedObjectReference, path: str) -> Iterator[Fault]:
    if not source.name:
        yield required(f"{path}.name")
    if not source.kind:
        yield required(f"{path}.kind")
    if not source.api_group and source.kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield invalid(path, source.kind, text)
    for text in subdomain_errors(source.api_group) if source.api_group else ():
        yield invalid(f"{path}.apiGroup", source.api_group, text)
