"""Capabilities: what containerd makes of the names to add and to drop, and who has one then."""

from __future__ import annotations

import pytest

from runtime.api import LinuxSecurityContext
from runtime.api.capabilities import ALL, KNOWN, USUAL, capability_changes, has_capability

ROWS = [
    ("nothing is asked for", (), (), (), ()),
    ("one comes, one goes", ("SYS_TIME",), ("CHOWN",), ("SYS_TIME",), ("CHOWN",)),
    ("what is in both goes", ("CHOWN", "KILL"), ("CHOWN",), ("KILL",), ("CHOWN",)),
    ("ALL goes before single ones come", ("NET_BIND_SERVICE",), ("ALL",), ("NET_BIND_SERVICE",), ("ALL",)),
    ("single ones go after single ones came", ("CHOWN", "KILL"), ("ALL", "CHOWN"), ("KILL",), ("ALL",)),
    ("ALL comes but for one", ("ALL", "KILL"), ("CHOWN",), ("ALL",), ("CHOWN",)),
    ("ALL comes and goes", ("ALL", "KILL"), ("ALL",), ("KILL",), ("ALL",)),
    ("letters may be small", ("kill",), ("all",), ("KILL",), ("ALL",)),
    ("unknown names have no effect", ("FOO", "CAP_KILL", "KILL"), ("BAR", "CAP_CHOWN"), ("KILL",), ()),
]


@pytest.mark.parametrize(("why", "add", "drop", "added", "dropped"), ROWS, ids=[row[0] for row in ROWS])
def test_changes(
    why: str, add: tuple[str, ...], drop: tuple[str, ...], added: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    security = LinuxSecurityContext(add_capabilities=add, drop_capabilities=drop)
    assert capability_changes(security) == (added, dropped)


@pytest.mark.parametrize(("why", "add", "drop", "added", "dropped"), ROWS, ids=[row[0] for row in ROWS])
def test_who_has_one(
    why: str, add: tuple[str, ...], drop: tuple[str, ...], added: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    security = LinuxSecurityContext(add_capabilities=add, drop_capabilities=drop)
    begin = set() if ALL in dropped else set(KNOWN) if ALL in added else set(USUAL)
    assert {name for name in KNOWN if has_capability(security, name)} == (begin | set(added) - {ALL}) - set(dropped)


def test_a_privileged_container_has_all() -> None:
    security = LinuxSecurityContext(privileged=True, drop_capabilities=("ALL",))
    assert all(has_capability(security, name) for name in KNOWN)
