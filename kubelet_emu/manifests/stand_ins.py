"""What a cluster has in every namespace, and what takes its place here where no manifest has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.root_ca import ROOT_CA_CONFIG_MAP
from kubelet_emu.manifests.missing_references import CONFIG_MAP, absent_references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Expansion


def stand_ins(expansion: Expansion) -> Iterator[Problem]:
    """Yield a warning for each pod or workload that gets the stand-in of kube-root-ca.crt."""
    for needed in absent_references(expansion):
        if needed.is_stood_in:
            yield needed.runnable.loaded.problem(
                f"{needed.runnable.spec_path}.{needed.reference.path}",
                "Not emulated",
                f"{CONFIG_MAP} {ROOT_CA_CONFIG_MAP!r} is in none of the manifests: a stand-in is used, "
                "with a certificate whose key nobody has",
                hint="name a file with this ConfigMap to use another",
                severity="warning",
            )
