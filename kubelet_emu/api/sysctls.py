"""Names of kernel settings: how they are written, and which namespace has its own of them. Pure.

Source: kubernetes v1.36 component-helpers/node/util/sysctl.
"""

from __future__ import annotations

import re

LONGEST_NAME = 253
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
NAME = rf"({_SEGMENT}[\./])*{_SEGMENT}"
PATTERN = rf"({_SEGMENT}[\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]"
"""A name, or the beginning of names with `*` behind it."""

NET, IPC = "Net", "IPC"
_PREFIXES = {"kernel.shm": IPC, "kernel.msg": IPC, "fs.mqueue.": IPC, "net.": NET}
_SWAPPED = str.maketrans("./", "/.")


def normalize_name(name: str) -> str:
    """Return a name with dots between its parts: which of `.` and `/` parts it is said by the first one.

    `net/ipv4/conf/eth0.1/forwarding` is `net.ipv4.conf.eth0/1.forwarding` (NormalizeName).
    """
    first = re.search("[./]", name)
    return name if first is None or first[0] == "." else name.translate(_SWAPPED)


def namespaced_by(name: str) -> str:
    """Return the namespace that has its own value of a setting, empty for none; `name` is normalized (NamespacedBy)."""
    if name == "kernel.sem":
        return IPC
    return next((namespace for prefix, namespace in _PREFIXES.items() if name.startswith(prefix)), "")
