"""Manifests: YAML with positions to typed objects, defaults, validation, workloads."""

from kubelet_emu.api.codec import decode_mapping, encode
from kubelet_emu.manifests.loading import Loaded, LoadResult, load, load_text, load_within
from kubelet_emu.manifests.problems import Problem, Source, format_problem

__all__ = [
    "LoadResult",
    "Loaded",
    "Problem",
    "Source",
    "decode_mapping",
    "encode",
    "format_problem",
    "load",
    "load_text",
    "load_within",
]
