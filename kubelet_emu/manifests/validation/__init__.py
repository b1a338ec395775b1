"""Validation of Pods, Jobs and pod templates as a v1.36 API server does it, with its paths and texts."""

from kubelet_emu.manifests.validation.faults import Fault
from kubelet_emu.manifests.validation.objects import object_faults, object_warnings, update_faults, validate

__all__ = ["Fault", "object_faults", "object_warnings", "update_faults", "validate"]
