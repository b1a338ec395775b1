"""Files in volumes: keys of ConfigMaps and Secrets, downward API files, projected sources.

Source: kubernetes v1.36 validateKeyToPath, validateDownwardAPIVolumeFile, validateProjectionSources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.environment import (
    VOLUME_FIELDS,
    validate_field_ref,
    validate_resource_field_ref,
)
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, required, unsupported
from kubelet_emu.manifests.validation.metadata import validate_selector
from kubelet_emu.manifests.validation.names import file_path_errors, qualified_name_errors
from kubelet_emu.manifests.validation.signers import is_kubernetes_signer, trust_bundle_errors, validate_signer_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_volumes import (
        ClusterTrustBundleProjection,
        ConfigMapProjection,
        DownwardAPIVolumeFile,
        KeyToPath,
        PodCertificateProjection,
        ProjectedVolumeSource,
        SecretProjection,
        ServiceAccountTokenProjection,
        VolumeProjection,
    )

_MODE_RULE = "must be a number between 0 and 0777 (octal), both inclusive"
_SHORTEST_TOKEN_SECONDS = 600
_LONGEST_TOKEN_SECONDS = 2**32
_SHORTEST_CERTIFICATE_SECONDS = 3600
_LONGEST_CERTIFICATE_SECONDS = 91 * 86400
_LONGEST_KUBERNETES_CERTIFICATE_SECONDS = 86400
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")


def validate_mode(mode: int | None, path: str) -> Iterator[Fault]:
    """Check the mode of a file."""
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(path, mode, _MODE_RULE)


def validate_items(items: tuple[KeyToPath, ...], path: str) -> Iterator[Fault]:
    """Check which keys become which files."""
    for index, item in enumerate(items):
        yield from _validate_item(item, f"{path}[{index}]")


def _validate_item(item: KeyToPath, path: str) -> Iterator[Fault]:
    if not item.key:
        yield required(f"{path}.key")
    yield from _validate_path(item.path, f"{path}.path")
    yield from validate_mode(item.mode, f"{path}.mode")


def _validate_path(file: str, path: str, *, at: str = "") -> Iterator[Fault]:
    if not file:
        yield required(path, at=at)
        return
    for text in file_path_errors(file):
        yield invalid(path, file, text, at=at)


def validate_downward_files(items: tuple[DownwardAPIVolumeFile, ...], path: str) -> Iterator[Fault]:
    """Check downward API files; the server's paths have no index."""
    for index, item in enumerate(items):
        yield from _validate_downward_file(item, path, f"{path}.items[{index}]")


def _validate_downward_file(item: DownwardAPIVolumeFile, path: str, at: str) -> Iterator[Fault]:
    for fault in _downward_faults(item, path):
        yield Fault(fault.path, fault.type, fault.detail, at + fault.path.removeprefix(path), fault.hint)


def _downward_faults(item: DownwardAPIVolumeFile, path: str) -> Iterator[Fault]:
    yield from _validate_path(item.path, f"{path}.path")
    if item.field_ref is not None:
        yield from validate_field_ref(item.field_ref, f"{path}.fieldRef", VOLUME_FIELDS)
        if item.resource_field_ref is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.resource_field_ref is not None:
        yield from validate_resource_field_ref(item.resource_field_ref, f"{path}.resourceFieldRef", in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from validate_mode(item.mode, f"{path}.mode")


def validate_projected(source: ProjectedVolumeSource, path: str) -> Iterator[Fault]:
    """Check a projected volume: one kind in each source, no file twice but that of a token."""
    yield from validate_mode(source.default_mode, f"{path}.defaultMode")
    seen: set[str] = set()
    for index, projection in enumerate(source.sources):
        at = f"{path}.sources[{index}]"
        yield from _validate_projection(projection, path, at, seen)
        kinds = (
            projection.secret,
            projection.config_map,
            projection.downward_api,
            projection.service_account_token,
            projection.cluster_trust_bundle,
            projection.pod_certificate,
        )
        if sum(each is not None for each in kinds) > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")


def _validate_projection(projection: VolumeProjection, path: str, at: str, seen: set[str]) -> Iterator[Fault]:
    """Check the parts of one source; `seen` are the files so far, to which it adds its own."""
    if projection.secret is not None:
        yield from _validate_keys(projection.secret, path, f"{at}.secret", seen)
    if projection.config_map is not None:
        yield from _validate_keys(projection.config_map, path, f"{at}.configMap", seen)
    for index, item in enumerate(projection.downward_api.items if projection.downward_api is not None else ()):
        where = f"{at}.downwardAPI.items[{index}]"
        yield from _validate_downward_file(item, f"{at}.downwardAPI", where)
        if item.path:
            yield from _twice(item.path, item.path, seen, path, f"{where}.path")
    if projection.service_account_token is not None:
        yield from _validate_token(projection.service_account_token, f"{at}.serviceAccountToken", path)
    if projection.cluster_trust_bundle is not None:
        yield from _validate_trust_bundle(projection.cluster_trust_bundle, f"{at}.clusterTrustBundle", path, seen)
    if projection.pod_certificate is not None:
        yield from _validate_certificate(projection.pod_certificate, f"{at}.podCertificate", path, seen)


def _validate_keys(
    source: SecretProjection | ConfigMapProjection, path: str, at: str, seen: set[str]
) -> Iterator[Fault]:
    if not source.name:
        yield required(f"{at}.name")
    for index, item in enumerate(source.items):
        where = f"{at}.items[{index}]"
        yield from _validate_item(item, where)
        if item.path:
            yield from _twice(item.path, source.name or "", seen, path, f"{where}.path")


def _twice(file: str, shown: str, seen: set[str], path: str, at: str) -> Iterator[Fault]:
    """Check that no other source has this file; the server names the volume."""
    if file in seen:
        yield invalid(path, shown, "conflicting duplicate paths", at=at)
    seen.add(file)


def _validate_token(token: ServiceAccountTokenProjection, at: str, path: str) -> Iterator[Fault]:
    """Check a token's life and file; its file is reported at the volume (the server's path)."""
    seconds = token.expiration_seconds
    if seconds is not None and seconds < _SHORTEST_TOKEN_SECONDS:
        yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > _LONGEST_TOKEN_SECONDS:
        yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    yield from _validate_path(token.path, f"{path}.path", at=f"{at}.path")


def _validate_trust_bundle(bundle: ClusterTrustBundleProjection, at: str, path: str, seen: set[str]) -> Iterator[Fault]:
    """Check the reference to trust anchors (KEP-3257)."""
    if bundle.name is not None and bundle.signer_name is not None:
        yield invalid(at, bundle, "only one of name and signerName may be used")
    elif bundle.name is not None:
        if not bundle.name:
            yield required(f"{at}.name", "must be a valid object name")
        for text in trust_bundle_errors(bundle.name):
            yield invalid(f"{at}.name", bundle.name, f"not a valid clustertrustbundlename: {text}")
        if bundle.label_selector is not None:
            text = "labelSelector must be unset if name is specified"
            yield invalid(f"{at}.labelSelector", bundle.label_selector, text)
    elif bundle.signer_name is not None:
        if not bundle.signer_name:
            yield required(f"{at}.signerName", "must be a valid signer name")
        yield from validate_signer_name(bundle.signer_name, f"{at}.signerName")
        if bundle.label_selector is not None:
            yield from validate_selector(bundle.label_selector, f"{at}.labelSelector")
    else:
        yield required(at, "either name or signerName must be specified")
    yield from _validate_path(bundle.path, f"{at}.path")
    yield from _twice(bundle.path, bundle.path, seen, path, f"{at}.path")


def _validate_certificate(certificate: PodCertificateProjection, at: str, path: str, seen: set[str]) -> Iterator[Fault]:
    """Check the request for a certificate (KEP-4317)."""
    yield from validate_signer_name(certificate.signer_name, f"{at}.signerName")
    for key in certificate.user_annotations:
        where = f"{at}.userAnnotations"
        errors = qualified_name_errors(key.lower())
        if not errors and "/" not in key:
            errors = ['must be a domain-prefixed key (such as "acme.io/foo")']
        for text in errors:
            yield invalid(where, key.lower(), text, at=f"{where}[{key}]")
    if certificate.key_type not in _KEY_TYPES:
        yield unsupported(f"{at}.keyType", certificate.key_type, _KEY_TYPES)
    yield from _validate_life(certificate, f"{at}.maxExpirationSeconds")
    files = (
        ("credentialBundlePath", certificate.credential_bundle_path),
        ("keyPath", certificate.key_path),
        ("certificateChainPath", certificate.certificate_chain_path),
    )
    for name, file in files:
        if file:
            yield from _validate_path(file, f"{at}.{name}")
            yield from _twice(file, file, seen, path, f"{at}.{name}")
    if not any(file for _name, file in files):
        yield required(at, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")


def _validate_life(certificate: PodCertificateProjection, path: str) -> Iterator[Fault]:
    seconds = certificate.max_expiration_seconds
    if seconds is None:
        return
    is_own = is_kubernetes_signer(certificate.signer_name)
    most = _LONGEST_KUBERNETES_CERTIFICATE_SECONDS if is_own else _LONGEST_CERTIFICATE_SECONDS
    if seconds < _SHORTEST_CERTIFICATE_SECONDS:
        text = f"if provided, maxExpirationSeconds must be >= {_SHORTEST_CERTIFICATE_SECONDS}"
        yield invalid(path, seconds, text)
    if seconds > most:
        yield invalid(path, seconds, f"if provided, maxExpirationSeconds must be <= {most}")
