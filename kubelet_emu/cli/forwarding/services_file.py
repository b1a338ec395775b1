"""The Services of a run, in its state folder, for `port-forward svc/NAME` of another process.

The file is readable by its owner alone, and goes with the folder.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.manifests.workloads import Stored

FILE = "services.json"


def write_services(folder: Path, stored: Iterable[Stored]) -> None:
    """Write the Services among the objects of a run, if there are any; OSError."""
    services = [each for each in stored if each.kind == "Service"]
    if services:
        from kubelet_emu.api.codec import encode

        descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump([encode(each) for each in services], file)


def read_services(folder: Path) -> tuple[Service, ...]:
    """Return the Services that a run has; none where nothing of them can be read."""
    from kubelet_emu.api.codec import decode_mapping
    from kubelet_emu.api.v1_services import Service

    try:
        found = json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return ()
    return tuple(decode_mapping(Service, each) for each in found)
