"""Defaults as the API server sets them, by kind.

Pure: objects in, objects out; nothing is generated here (names, uids: `workloads`). What Secrets and Services get is
here, what pods and their makers get in `pod_defaults` and `workload_defaults`. Source: kubernetes v1.36 SetDefaults_*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from kubelet_emu.manifests.changing import changed
from kubelet_emu.manifests.pod_defaults import default_pod

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod, Secret
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.manifests.workload_defaults import Workload

T = TypeVar("T")

_WORKLOADS = ("Job", "CronJob", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


def set_defaults(obj: T) -> T:
    """Return the object with the API server's defaults; kinds without any are returned as they are."""
    kind = getattr(obj, "kind", "")
    if kind == "Pod":
        return cast("T", default_pod(cast("Pod", obj)))
    if kind in _WORKLOADS:
        from kubelet_emu.manifests.workload_defaults import default_workload  # noqa: PLC0415 - a pod needs none

        return cast("T", default_workload(cast("Workload", obj)))
    if kind == "Service":
        from kubelet_emu.manifests.service_defaults import default_service  # noqa: PLC0415 - few have one

        return cast("T", default_service(cast("Service", obj)))
    if kind == "Secret":
        return cast("T", _default_secret(cast("Secret", obj)))
    return obj


def _default_secret(secret: Secret) -> Secret:
    """Return the secret with `stringData` put into `data`, which it wins over, and its type (core.v1 conversion)."""
    written = {key: text.encode() for key, text in secret.string_data.items()}
    data = {**secret.data, **written} if written else secret.data
    return changed(secret, data=data, string_data={}, type=secret.type or "Opaque")
