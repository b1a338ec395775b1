"""Run Kubernetes Pod and Job manifests on one machine with the kubelet's lifecycle rules.

What is named in `__all__` is for programs and tests; everything else may change. Importing this package imports nothing
else: each name is loaded when it is used first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubelet_emu.embedding.errors import ManifestError
    from kubelet_emu.embedding.objects import WaitError
    from kubelet_emu.embedding.pod_log import PodLog
    from kubelet_emu.embedding.surface import load, node, open_node, run
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.lifecycle.reading import read_logs
    from kubelet_emu.lifecycle.recounting import recount
    from kubelet_emu.lifecycle.verification import verify

__version__ = "0.1.0"
__all__ = [
    "LifecycleLog",
    "ManifestError",
    "PodLog",
    "WaitError",
    "__version__",
    "load",
    "node",
    "open_node",
    "read_logs",
    "recount",
    "run",
    "verify",
]

_HOMES = {
    "LifecycleLog": "kubelet_emu.lifecycle.log",
    "ManifestError": "kubelet_emu.embedding.errors",
    "PodLog": "kubelet_emu.embedding.pod_log",
    "WaitError": "kubelet_emu.embedding.objects",
    "load": "kubelet_emu.embedding.surface",
    "node": "kubelet_emu.embedding.surface",
    "open_node": "kubelet_emu.embedding.surface",
    "read_logs": "kubelet_emu.lifecycle.reading",
    "recount": "kubelet_emu.lifecycle.recounting",
    "run": "kubelet_emu.embedding.surface",
    "verify": "kubelet_emu.lifecycle.verification",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'kubelet_emu' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - importing this package is free

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
