"""Names of certificate signers and trust bundles. Source: kubernetes v1.36 ValidateSignerName, KEP-3257, KEP-4317."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.manifests.validation.faults import Fault, invalid, required, too_long
from kubelet_emu.manifests.validation.names import label_errors, subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONGEST_DOMAIN = 253
_LONGEST_PATH = _LONGEST_DOMAIN + 63 + 1


def validate_signer_name(name: str, path: str) -> Iterator[Fault]:
    """Check the name of a signer, `example.com/signer`."""
    if not name:
        yield required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        yield invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    if len(domain.encode()) > _LONGEST_DOMAIN:
        yield too_long(path, _LONGEST_DOMAIN)
    yield from _validate_parts(domain, label_errors, path)
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _validate_parts(rest, subdomain_errors, path)
    if len(name.encode()) > _LONGEST_DOMAIN + _LONGEST_PATH + 1:
        yield too_long(path, _LONGEST_DOMAIN + _LONGEST_PATH + 1)


def _validate_parts(text: str, errors: Callable[[str], list[str]], path: str) -> Iterator[Fault]:
    """Check what stands between dots; the first faulty part is told, the others would say the same again."""
    for part in text.split("."):
        if found := errors(part):
            yield from (invalid(path, text, f"validating label {quote(part)}: {each}") for each in found)
            return


def is_kubernetes_signer(name: str) -> bool:
    """Tell whether a signer is one of Kubernetes' own."""
    return f".{name.partition('/')[0]}".endswith(".kubernetes.io")


def trust_bundle_errors(name: str) -> list[str]:
    """Check the name of a ClusterTrustBundle; one of a signer begins with the signer's name, `:` for each `/`."""
    prefix, colon, rest = name.rpartition(":")
    return subdomain_errors(rest) if colon and prefix else subdomain_errors(name)
