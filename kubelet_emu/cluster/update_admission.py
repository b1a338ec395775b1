"""What an API server makes of a change of a pod or a Job: refused, or stored with its defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.apiserver.errors import InvalidError
from kubelet_emu.manifests.validation.objects import prepare, update_faults

if TYPE_CHECKING:
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests.loading import APIObject as Written
    from kubelet_emu.manifests.validation.objects import Subresource

_CHECKED = ("Pod", "Job")


def admit_update(old: APIObject, new: APIObject, subresource: str, features: FeatureGates) -> APIObject:
    """Return the object to store; InvalidError for a change that a server refuses.

    Only specs of Pods and Jobs have rules here. Source: kubernetes v1.36 ValidatePodUpdate, ValidatePodResize,
    ValidatePodEphemeralContainersUpdate, ValidateJobUpdate.
    """
    if new.kind not in _CHECKED or getattr(new, "spec", None) == getattr(old, "spec", None):
        return new
    wanted, given = cast("Written", new), cast("Written", old)
    faults = update_faults(wanted, given, features, cast("Subresource", subresource))
    if faults:
        metadata = new.metadata
        causes = tuple(f"{fault.path}: {fault.text}" for fault in faults)
        raise InvalidError(new.kind, metadata.namespace or "", metadata.name or "", causes)
    return cast("APIObject", prepare(wanted, features)) if new.kind == "Pod" else new
