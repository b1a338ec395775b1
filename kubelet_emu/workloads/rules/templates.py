"""Pods from templates: names, labels, owners, hashes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubelet_emu.api.codec import encode
from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Pod
from kubelet_emu.manifests.defaults import set_defaults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.controller_ref import Owner
    from kubelet_emu.api.v1 import PodTemplateSpec

SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def pod_from_template(owner: Owner, template: PodTemplateSpec, labels: Mapping[str, str] | None = None) -> Pod:
    """Return a pod as a controller asks for it and a server completes it, named by generateName.

    Source: kubernetes v1.36 controller.GetPodFromTemplate, SetDefaults_Pod. `labels` come on top of the template's.
    """
    metadata = ObjectMeta(
        generate_name=f"{owner.metadata.name}-",
        namespace=owner.metadata.namespace,
        labels={**template.metadata.labels, **(labels or {})},
        annotations=dict(template.metadata.annotations),
        finalizers=template.metadata.finalizers,
        owner_references=(new_controller_ref(owner),),
    )
    return set_defaults(Pod(metadata=metadata, spec=template.spec))


def template_hash(template: PodTemplateSpec) -> str:
    """Return the hash of a pod template, as pod-template-hash and controller-revision-hash have it.

    Differs: the controllers hash Go's print of the struct, this one hashes the API's JSON form.
    Source: kubernetes v1.36 controller.ComputeHash: FNV-1a of 32 bits, its decimal digits in the safe alphabet.
    """
    value = _FNV_OFFSET
    for byte in json.dumps(encode(template), sort_keys=True, separators=(",", ":")).encode():
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return safe_encode(str(value))


def safe_encode(text: str) -> str:
    """Return a text in characters that spell no word (rand.SafeEncodeString)."""
    return "".join(SAFE_ALPHABET[ord(character) % len(SAFE_ALPHABET)] for character in text)
