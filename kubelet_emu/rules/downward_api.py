"""Values of the downward API: fields of a pod as text.

Source: kubernetes v1.36 pkg/fieldpath, kubelet podFieldSelectorRuntimeValue.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.gotext import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import Pod

_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]", re.DOTALL)


@frozen(kw_only=True)
class RuntimeFacts:
    """What is known of a pod beside its spec when one of its containers is made."""

    node_name: str = ""
    pod_ips: tuple[str, ...] = ()
    host_ips: tuple[str, ...] = ()


class FieldError(ValueError):
    """A field path that the downward API doesn't offer; the text is the kubelet's."""


def field_value(pod: Pod, path: str, facts: RuntimeFacts) -> str:
    """Return one field as text, empty for a label or annotation that the pod lacks; FieldError.

    Source: kubernetes v1.36 ExtractFieldPathAsString, kubelet podFieldSelectorRuntimeValue.
    """
    match path:
        case "spec.nodeName":
            return facts.node_name or pod.spec.node_name or ""
        case "spec.serviceAccountName":
            return pod.spec.service_account_name or ""
        case "status.hostIP":
            return facts.host_ips[0] if facts.host_ips else ""
        case "status.hostIPs":
            return ",".join(facts.host_ips)
        case "status.podIP":
            return facts.pod_ips[0] if facts.pod_ips else ""
        case "status.podIPs":
            return ",".join(facts.pod_ips)
        case _:
            return _metadata_value(pod, path)


def format_map(values: Mapping[str, str]) -> str:
    """Return a map as sorted lines `key="escaped value"` (kubernetes v1.36 fieldpath FormatMap)."""
    return "\n".join(f"{key}={quote(values[key])}" for key in sorted(values))


def _metadata_value(pod: Pod, path: str) -> str:
    meta = pod.metadata
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript is not None:
        values = meta.labels if subscript[1] == "labels" else meta.annotations
        return values.get(subscript[2], "")
    match path:
        case "metadata.name":
            return meta.name or ""
        case "metadata.namespace":
            return meta.namespace or ""
        case "metadata.uid":
            return meta.uid or ""
        case "metadata.labels":
            return format_map(meta.labels)
        case "metadata.annotations":
            return format_map(meta.annotations)
        case _:
            raise FieldError(f"unsupported fieldPath: {path}")
