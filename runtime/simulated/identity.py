"""Ids and addresses that follow from who an object is, never from the order in which objects were made.

Two pods that start at the same instant get the same ids whichever comes first, and a new pod changes no other's.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

_NETWORK = "10.244"


def make_id(seed: int, kind: str, *parts: object) -> str:
    """Return 64 hexadecimal digits for one object."""
    return _digest(seed, kind, *parts).hex()


def make_address(seed: int, uid: str, attempt: int, taken: Container[str]) -> str:
    """Return a free IPv4 address of the pod network for a sandbox."""
    start = int.from_bytes(_digest(seed, "address", uid, attempt)[:2], "big")
    for step in range(1 << 16):
        third, fourth = divmod((start + step) % (1 << 16), 256)
        address = f"{_NETWORK}.{third}.{fourth}"
        if fourth not in {0, 1, 255} and address not in taken:
            return address
    raise RuntimeError("the pod network is full")


def _digest(seed: int, *parts: object) -> bytes:
    text = "\0".join(str(part) for part in (seed, *parts))
    return hashlib.sha256(text.encode()).digest()
